! Tests calls of MPI 4 in Fortran 2008, as layer-mpi4.c does in C. Usage: layer-mpi4 ROUNDS
program layer_mpi4
  use mpi_f08
  implicit none
  character(len=*), parameter :: test_name = 'layer-mpi4'
  integer, parameter :: many = 20000
  integer :: rank, ranks, rounds, failures, error, round, next, previous
  integer :: shift = 0 ! of all numbers
  integer :: out(many), in(many)

  call begin_rounds()
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  do round = 1, rounds
    call smpi_execute_benched(1d-4 * (1 + rank))
    call test_exchange()
    call test_partitioned()
    call test_collectives()
    call test_infos()
    call test_session()
    call mpi_barrier(MPI_COMM_WORLD)
  end do
  call end_rounds()

contains
  include 'layer-rounds.inc'

  integer elemental function number(from, i)
    integer, intent(in) :: from, i
    number = 10000 * round + 100 * from + i + shift
  end function number

  subroutine test_infos()
    type(MPI_Info) :: info
    type(MPI_Comm) :: copy
    type(MPI_Request) :: request
    character(len=8) :: text
    integer :: room, equal
    logical :: there
    call MPI_Info_create_env(info)
    room = 8
    call MPI_Info_get_string(info, 'maxprocs', room, text, there)
    call expect(there .and. room == 1 .and. text == '5', 'info_create_env, info_get_string')
    call MPI_Info_set(info, 'key', 'value')
    room = 3
    call MPI_Info_get_string(info, 'key', room, text, there)
    call expect(room == 5 .and. text == 'val', 'info_get_string: cut')
    call MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, copy, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Comm_compare(MPI_COMM_WORLD, copy, equal)
    call expect(equal == MPI_CONGRUENT, 'comm_idup_with_info')
    call MPI_Comm_free(copy)
    call MPI_Info_free(info)
  end subroutine test_infos

  subroutine test_session()
    type(MPI_Session) :: session
    type(MPI_Errhandler) :: errors
    type(MPI_Group) :: group
    type(MPI_Comm) :: comm
    type(MPI_Info) :: info
    character(len=MPI_MAX_PSET_NAME_LEN) :: name
    integer :: count, length, got
    logical :: there
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
    call expect(session /= MPI_SESSION_NULL, 'session_init')
    call MPI_Session_get_errhandler(session, errors)
    call expect(errors == MPI_ERRORS_RETURN, 'session_get_errhandler')
    call MPI_Session_set_errhandler(session, MPI_ERRORS_ARE_FATAL)
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, count)
    length = MPI_MAX_PSET_NAME_LEN
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name)
    call expect(count == 2 .and. length == 11 .and. name == 'mpi://WORLD', 'session_get_nth_pset')
    call MPI_Session_get_pset_info(session, name, info)
    call MPI_Info_get(info, 'mpi_size', 8, name, there)
    call expect(there .and. name == '5', 'session_get_pset_info')
    call MPI_Info_free(info)
    call MPI_Session_get_info(session, info)
    call MPI_Info_free(info)
    call MPI_Group_from_session_pset(session, 'mpi://WORLD', group)
    call MPI_Comm_create_from_group(group, 'all', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
    call MPI_Allreduce(rank, got, 1, MPI_INTEGER, MPI_SUM, comm)
    call expect(got == 10, 'comm_create_from_group')
    call MPI_Comm_free(comm)
    call MPI_Group_free(group)
    call MPI_Session_finalize(session)
    call expect(session == MPI_SESSION_NULL, 'session_finalize')
  end subroutine test_session

  subroutine test_exchange()
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: i, got, count
    count = merge(3, many, mod(round, 2) == 1)
    out = number(rank, [(i, i = 1, many)])
    call MPI_Isendrecv(out, count, MPI_INTEGER, next, 1, in, many, MPI_INTEGER, MPI_ANY_SOURCE, 1, &
        MPI_COMM_WORLD, request)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, got)
    call expect(got == count .and. status%MPI_SOURCE == previous, 'isendrecv: status')
    call expect(all(in(:count) == number(previous, [(i, i = 1, count)])), 'isendrecv')
    call MPI_Isendrecv_replace(out, count, MPI_INTEGER, previous, 2, next, 2, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(out(:count) == number(next, [(i, i = 1, count)])), 'isendrecv_replace')
  end subroutine test_exchange

  ! Tests messages to the next rank. The sender divides 6 integers into 3 partitions, the receiver
  ! into 2.
  subroutine test_partitioned()
    type(MPI_Request) :: request(2)
    integer :: i, time
    logical :: there
    call MPI_Psend_init(out, 3, 2_MPI_COUNT_KIND, MPI_INTEGER, next, 3, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(1))
    call MPI_Precv_init(in, 2, 3_MPI_COUNT_KIND, MPI_INTEGER, previous, 3, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(2))
    do time = 1, 2
      out(:6) = number(rank, [(i, i = 1, 6)]) + time
      in(:6) = 0
      call MPI_Startall(2, request)
      call MPI_Pready(1, request(1))
      call MPI_Pready_range(2, 2, request(1))
      call MPI_Pready_list(1, [0], request(1))
      there = .false.
      do while (.not. there)
        call MPI_Parrived(request(2), 1, there)
      end do
      call expect(all(in(4:6) == number(previous, [4, 5, 6]) + time), 'parrived')
      call MPI_Waitall(2, request, MPI_STATUSES_IGNORE)
      call expect(all(in(:6) == number(previous, [(i, i = 1, 6)]) + time), 'partitioned')
    end do
    call MPI_Request_free(request(1))
    call MPI_Request_free(request(2))
  end subroutine test_partitioned

  ! Tests each persistent collective twice, with its own lists. Some arrays of counts are expressions
  ! in the call.
  subroutine test_collectives()
    integer, parameter :: kinds = 22
    type(MPI_Request) :: request(kinds)
    type(MPI_Comm) :: ring
    integer, asynchronous, save :: give(20, kinds), get(20, kinds)
    integer :: i, n, time, ones(5), starts(5), places(5), sums
    integer(MPI_ADDRESS_KIND) :: far(2)
    type(MPI_Datatype) :: types(5)
    n = ranks
    ones = 1
    starts = [(i, i = 0, 4)]
    places = 4 * starts
    far = [0, 4]
    types = MPI_INTEGER
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.true.], .false., ring)
    call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, request(1))
    call MPI_Bcast_init(get(:, 2), 1, MPI_INTEGER, 1, MPI_COMM_WORLD, MPI_INFO_NULL, request(2))
    call MPI_Gather_init(give(:, 3), 1, MPI_INTEGER, get(:, 3), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(3))
    call MPI_Gatherv_init(give(:, 4), 1, MPI_INTEGER, get(:, 4), [(1, i = 1, n)], [(i, i = 0, n - 1)], &
        MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request(4))
    call MPI_Scatter_init(give(:, 5), 1, MPI_INTEGER, get(:, 5), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(5))
    call MPI_Scatterv_init(give(:, 6), [(1, i = 1, n)], [(i, i = 0, n - 1)], MPI_INTEGER, get(:, 6), 1, &
        MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request(6))
    call MPI_Allgather_init(give(:, 7), 1, MPI_INTEGER, get(:, 7), 1, MPI_INTEGER, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(7))
    call MPI_Allgatherv_init(give(:, 8), 1, MPI_INTEGER, get(:, 8), ones, starts, MPI_INTEGER, &
        MPI_COMM_WORLD, MPI_INFO_NULL, request(8))
    call MPI_Alltoall_init(give(:, 9), 1, MPI_INTEGER, get(:, 9), 1, MPI_INTEGER, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(9))
    call MPI_Alltoallv_init(give(:, 10), ones, starts, MPI_INTEGER, get(:, 10), ones, starts, &
        MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request(10))
    call MPI_Alltoallw_init(give(:, 11), ones, places, types, get(:, 11), ones, places, types, &
        MPI_COMM_WORLD, MPI_INFO_NULL, request(11))
    call MPI_Reduce_init(give(:, 12), get(:, 12), 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(12))
    call MPI_Allreduce_init(give(:, 13), get(:, 13), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(13))
    call MPI_Reduce_scatter_init(give(:, 14), get(:, 14), ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(14))
    call MPI_Reduce_scatter_block_init(give(:, 15), get(:, 15), 1, MPI_INTEGER, MPI_SUM, &
        MPI_COMM_WORLD, MPI_INFO_NULL, request(15))
    call MPI_Scan_init(give(:, 16), get(:, 16), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(16))
    call MPI_Exscan_init(give(:, 17), get(:, 17), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request(17))
    call MPI_Neighbor_allgather_init(give(:, 18), 1, MPI_INTEGER, get(:, 18), 1, MPI_INTEGER, ring, &
        MPI_INFO_NULL, request(18))
    call MPI_Neighbor_allgatherv_init(give(:, 19), 1, MPI_INTEGER, get(:, 19), ones, starts, &
        MPI_INTEGER, ring, MPI_INFO_NULL, request(19))
    call MPI_Neighbor_alltoall_init(give(:, 20), 1, MPI_INTEGER, get(:, 20), 1, MPI_INTEGER, ring, &
        MPI_INFO_NULL, request(20))
    call MPI_Neighbor_alltoallv_init(give(:, 21), ones, starts, MPI_INTEGER, get(:, 21), ones, starts, &
        MPI_INTEGER, ring, MPI_INFO_NULL, request(21))
    call MPI_Neighbor_alltoallw_init(give(:, 22), ones, far, types, get(:, 22), ones, far, types, &
        ring, MPI_INFO_NULL, request(22))
    ones = -1 ! the library has copied the arrays of a call
    types = MPI_DATATYPE_NULL
    do time = 1, 2
      shift = 1000000 * time
      do i = 1, kinds
        give(:, i) = 0
        give(:5, i) = number(rank, [1, 2, 3, 4, 5])
      end do
      get = -1
      get(1, 2) = give(1, 2)
      call MPI_Startall(kinds, request)
      call MPI_Waitall(kinds, request, MPI_STATUSES_IGNORE)
      sums = sum(number([(i, i = 0, n - 1)], 1))
      call expect(get(1, 2) == number(1, 1), 'bcast_init')
      if (rank == 0) call expect(all(get(:n, 3:4) == spread([(number(i, 1), i = 0, n - 1)], 2, 2)), 'gather_init')
      call expect(all(get(1, 5:6) == number(0, rank + 1)), 'scatter_init')
      call expect(all(get(:n, 7:8) == spread([(number(i, 1), i = 0, n - 1)], 2, 2)), 'allgather_init')
      call expect(all(get(:n, 9:11) == spread([(number(i, rank + 1), i = 0, n - 1)], 2, 3)), 'alltoall_init')
      if (rank == 0) call expect(get(1, 12) == sums, 'reduce_init')
      call expect(get(1, 13) == sums, 'allreduce_init')
      call expect(all(get(1, 14:15) == sums + n * rank), 'reduce_scatter_init')
      call expect(get(1, 16) == sum([(number(i, 1), i = 0, rank)]), 'scan_init')
      if (rank > 0) call expect(get(1, 17) == sum([(number(i, 1), i = 0, rank - 1)]), 'exscan_init')
      call expect(all(get(1, 18:19) == number(previous, 1)) .and. all(get(2, 18:19) == number(next, 1)), &
          'neighbor_allgather_init')
      call expect(all(get(1, 20:22) == number(previous, 2)) .and. all(get(2, 20:22) == number(next, 1)), &
          'neighbor_alltoall_init')
    end do
    shift = 0
    do i = 1, kinds
      call MPI_Request_free(request(i))
    end do
    call MPI_Comm_free(ring)

  end subroutine test_collectives
end program layer_mpi4
