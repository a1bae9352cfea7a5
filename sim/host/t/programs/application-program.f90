! Takes checkpoints at the application level in Fortran, as application-program.c does in C.
module protected ! in a module, because the compiler then expects calls to change the data
  implicit none
  integer, parameter :: count = 200
  integer :: first
  real(8) :: x(count), sums
end module

program application
  use protected
  implicit none
  include 'mpif.h'
  integer, parameter :: steps = 24
  integer :: error, rank, ranks, step, place, status(MPI_STATUS_SIZE)
  integer, external :: recline_restarts, recline_restore
  integer(8), external :: recline_protected_bytes
  real(8) :: left, total

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  first = 1
  sums = 0
  x = rank + 1
  call recline_protect(1, first, 4_8)
  call recline_protect_items(2, x, int(count, 8), 5)
  call recline_protect_items(3, sums, 1_8, 5)
  if (recline_restarts() /= 0) then
    if (recline_protected_bytes(2) /= 8 * count) stop 9
  end if
  place = recline_restore()
  if (place /= 3) then
    do step = first, steps
      first = step
      call recline_iteration(step)
      call smpi_execute_flops(4d5)
      call MPI_Sendrecv(x(step), 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, left, 1, &
                        MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, status, error)
      x = 0.5d0 * x + 0.25d0 * left
      call MPI_Allreduce(x(1), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
      sums = sums + total
    end do
    print '(A,I3,2Z17)', 'rank', rank, sum(x), sums
  end if
  call MPI_Finalize(error)
end program
