! Tests calls with large counts in Fortran 2008, which have the same names as the others: the kind of
! the counts selects them. There is a call for each form of wrapper. Usage: layer-large ROUNDS
program layer_large
  use mpi_f08
  implicit none
  character(len=*), parameter :: test_name = 'layer-large'
  integer, parameter :: large = MPI_COUNT_KIND, address = MPI_ADDRESS_KIND
  integer :: rank, ranks, rounds, failures, error, round, next, previous
  integer :: out(10), in(10)

  call begin_rounds()
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  do round = 1, rounds
    call smpi_execute_benched(1d-4 * (1 + rank))
    call test_messages()
    call test_collectives()
    call test_types()
    call test_windows_and_files()
    call mpi_barrier(MPI_COMM_WORLD)
  end do
  call end_rounds()

contains
  include 'layer-rounds.inc'

  integer elemental function number(from, i)
    integer, intent(in) :: from, i
    number = 10000 * round + 100 * from + i
  end function number

  subroutine fill()
    integer :: i
    out = number(rank, [(i, i = 1, 10)])
    in = -1
  end subroutine fill

  subroutine test_messages()
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status
    type(MPI_Message) :: message
    integer(large) :: got
    call fill()
    call MPI_Irecv(in, 10_large, MPI_INTEGER, previous, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(out, 3_large, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Wait(requests(1), status)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
    call MPI_Get_count(status, MPI_INTEGER, got)
    call expect(got == 3 .and. in(3) == number(previous, 3), 'isend, irecv, get_count')
    call fill()
    call MPI_Isend(out, 2_large, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Mprobe(previous, 2, MPI_COMM_WORLD, message, status)
    call MPI_Mrecv(in, 10_large, MPI_INTEGER, message, status)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call expect(in(2) == number(previous, 2) .and. message == MPI_MESSAGE_NULL, 'mrecv')
    call fill()
    call MPI_Sendrecv(out, 2_large, MPI_INTEGER, previous, 3, in, 10_large, MPI_INTEGER, next, 3, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(in(2) == number(next, 2) .and. in(3) == -1, 'sendrecv')
  end subroutine test_messages

  subroutine test_collectives()
    type(MPI_Request) :: request
    type(MPI_Comm) :: ring
    type(MPI_Datatype) :: types(5)
    integer(large) :: ones(5)
    integer(address) :: starts(5), bytes(5)
    integer :: i
    ones = 1
    starts = [(i, i = 0, 4)]
    bytes = 4 * starts
    types = MPI_INTEGER
    call fill()
    call MPI_Allgatherv(out, 1_large, MPI_INTEGER, in, ones, starts, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(in(:5) == number([(i, i = 0, 4)], 1)), 'allgatherv')
    call fill()
    call MPI_Alltoallw(out, ones, bytes, types, in, ones, bytes, types, MPI_COMM_WORLD)
    call expect(all(in(:5) == number([(i, i = 0, 4)], rank + 1)), 'alltoallw')
    call fill()
    call MPI_Allreduce_init(out, in, 2_large, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    call MPI_Start(request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Request_free(request)
    call expect(in(2) == sum(number([(i, i = 0, 4)], 2)), 'allreduce_init')
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [5], [.true.], .false., ring)
    call fill()
    call MPI_Ineighbor_alltoallw(out, ones, bytes, types, in, ones, bytes, types, ring, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(in(1) == number(previous, 2) .and. in(2) == number(next, 1), 'ineighbor_alltoallw')
    call MPI_Comm_free(ring)
  end subroutine test_collectives

  subroutine test_types()
    type(MPI_Datatype) :: strided, listed
    integer(large) :: size, at
    integer :: packed(10)
    call fill()
    call MPI_Type_vector(3_large, 1_large, 2_large, MPI_INTEGER, strided)
    call MPI_Type_commit(strided)
    call MPI_Type_size(strided, size)
    at = 0
    call MPI_Pack(out, 1_large, strided, packed, 40_large, at, MPI_COMM_WORLD)
    call expect(size == 12 .and. at == 12 .and. all(packed(:3) == out(1:5:2)), 'type_vector, pack')
    call MPI_Type_create_hindexed(2_large, [1_large, 2_large], [0_large, 16_large], MPI_INTEGER, listed)
    call MPI_Type_commit(listed)
    at = 0
    call MPI_Unpack(packed, 12_large, at, in, 1_large, listed, MPI_COMM_WORLD)
    call expect(in(1) == out(1) .and. all(in(5:6) == out(3:5:2)), 'type_create_hindexed, unpack')
    call MPI_Type_free(strided)
    call MPI_Type_free(listed)
  end subroutine test_types

  subroutine test_windows_and_files()
    type(MPI_Win) :: window
    type(MPI_File) :: file
    integer, asynchronous :: memory(4)
    call fill()
    call MPI_Win_create(memory, 16_address, 4_address, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    call MPI_Win_fence(0, window)
    call MPI_Put(out, 2_large, MPI_INTEGER, next, 1_address, 2_large, MPI_INTEGER, window)
    call MPI_Win_fence(0, window)
    call expect(memory(3) == number(previous, 2), 'put')
    call MPI_Win_free(window)
    call MPI_File_open(MPI_COMM_WORLD, 'layer-large-file', ior(MPI_MODE_RDWR, MPI_MODE_CREATE), &
        MPI_INFO_NULL, file)
    call MPI_File_write_at(file, 4_MPI_OFFSET_KIND * rank, out, 1_large, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_read_at(file, 4_MPI_OFFSET_KIND * rank, in, 1_large, MPI_INTEGER, MPI_STATUS_IGNORE)
    call expect(in(1) == out(1), 'file_write_at, file_read_at')
    call MPI_File_close(file)
  end subroutine test_windows_and_files
end program layer_large
