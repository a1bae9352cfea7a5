! Tests intercommunicators in Fortran, as layer-intercomm.c does in C. Usage: layer-intercomm ROUNDS
program layer_intercomm
  use mpi
  implicit none
  character(len=*), parameter :: test_name = 'layer-intercomm'
  integer :: rank, ranks, rounds, failures, error, round
  integer :: half, between, here, mine, others, odd

  call begin_rounds()
  odd = mod(rank, 2)
  call mpi_comm_split(MPI_COMM_WORLD, odd, rank, half, error)
  call mpi_intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 17, between, error)
  call mpi_comm_rank(between, here, error)
  call mpi_comm_size(between, mine, error)
  call mpi_comm_remote_size(between, others, error)
  do round = 1, rounds
    call smpi_execute_benched(3d-4 * (1 + rank))
    call test_shape()
    call test_messages()
    call test_collectives()
    call test_merged()
    call mpi_barrier(MPI_COMM_WORLD, error)
  end do
  call mpi_comm_free(between, error)
  call expect(between == MPI_COMM_NULL, 'free')
  call end_rounds()

contains
  include 'layer-rounds.inc'

  ! Returns the number that rank `from` of the other group sends in this round.
  integer function number(from)
    integer, intent(in) :: from
    number = 1000 * round + 2 * from + 1 - odd
  end function number

  integer function sum_of_others()
    integer :: i
    sum_of_others = 0
    do i = 0, others - 1
      sum_of_others = sum_of_others + number(i)
    end do
  end function sum_of_others

  subroutine test_shape()
    logical :: inter
    integer :: group, count
    call mpi_comm_test_inter(between, inter, error)
    call expect(inter, 'test_inter')
    call expect(mine + others == ranks, 'sizes')
    call mpi_comm_remote_group(between, group, error)
    call mpi_group_size(group, count, error)
    call expect(count == others, 'remote_group')
    call mpi_group_free(group, error)
  end subroutine test_shape

  subroutine test_messages()
    integer :: out, in, status(MPI_STATUS_SIZE)
    if (here >= others) return
    out = 1000 * round + rank
    call mpi_sendrecv(out, 1, MPI_INTEGER, here, 3, in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, &
        between, status, error)
    call expect(in == number(here) .and. status(MPI_SOURCE) == here, 'sendrecv')
  end subroutine test_messages

  ! Tests collectives whose root is the second of the odd ranks, or of the even ones.
  subroutine test_collectives()
    integer :: root, told, out, total, out_all(8), in_all(8), i
    root = 1
    if (odd == mod(round, 2)) then
      root = MPI_PROC_NULL
      if (here == 1) root = MPI_ROOT
    end if
    out = 1000 * round + rank
    told = -1
    if (root == MPI_ROOT) told = out
    call mpi_bcast(told, 1, MPI_INTEGER, root, between, error)
    if (root == 1) call expect(told == number(1), 'bcast')
    if (root == MPI_PROC_NULL) call expect(told == -1, 'bcast: beside the root')
    total = 0
    call mpi_reduce(out, total, 1, MPI_INTEGER, MPI_SUM, root, between, error)
    if (root == MPI_ROOT) call expect(total == sum_of_others(), 'reduce')
    call mpi_allreduce(out, total, 1, MPI_INTEGER, MPI_SUM, between, error)
    call expect(total == sum_of_others(), 'allreduce')
    out_all = out
    call mpi_alltoall(out_all, 1, MPI_INTEGER, in_all, 1, MPI_INTEGER, between, error)
    call expect(all_are([(in_all(i) == number(i - 1), i = 1, others)]), 'alltoall')
    call mpi_barrier(between, error)
  end subroutine test_collectives

  logical function all_are(right)
    logical, intent(in) :: right(:)
    all_are = count(right) == size(right)
  end function all_are

  subroutine test_merged()
    integer :: merged, at
    logical :: high
    high = odd == 0
    call mpi_intercomm_merge(between, high, merged, error)
    call mpi_comm_rank(merged, at, error)
    if (high) call expect(at == others + here, 'merge: behind')
    if (.not. high) call expect(at == here, 'merge: before')
    call mpi_comm_free(merged, error)
  end subroutine test_merged
end program layer_intercomm
