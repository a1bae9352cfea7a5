! Calls of MPI 4, as layer-mpi4.c, in Fortran 2008. Usage: layer-mpi4 ROUNDS
program layer_mpi4
  use mpi_f08
  implicit none
  character(len=*), parameter :: test_name = 'layer-mpi4'
  integer, parameter :: many = 20000
  integer :: rank, ranks, rounds, failures, error, round, next, previous
  integer :: out(many), in(many)

  call begin_rounds()
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  do round = 1, rounds
    call smpi_execute_benched(1d-4 * (1 + rank))
    call test_exchange()
    call mpi_barrier(MPI_COMM_WORLD)
  end do
  call end_rounds()

contains
  include 'layer-rounds.inc'

  integer elemental function number(from, i)
    integer, intent(in) :: from, i
    number = 10000 * round + 100 * from + i
  end function number

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
end program layer_mpi4
