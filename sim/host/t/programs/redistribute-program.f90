! Changes the items of a matrix in each step; its columns are spread over any number of ranks. Fortran's
! first dimension is the one without gaps, and recline counts the first item from 1. Prints the sum of
! all items, each times its indices, which is exact in integers.
module field
  implicit none
  integer, parameter :: rows = 5, columns = 23, steps = 40
  integer :: step = 1
  integer(8), allocatable :: part(:, :)
end module

program redistribute
  use mpi
  use field
  implicit none
  integer, external :: recline_restore
  integer, parameter :: int32 = 2, int64 = 3
  integer :: rank, ranks, first, mine, i, j, error, place
  integer(8) :: sum, all
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  first = rank * columns / ranks
  mine = (rank + 1) * columns / ranks - first
  allocate (part(rows, mine))
  do j = 1, mine
    do i = 1, rows
      part(i, j) = 100 * (first + j) + i
    end do
  end do
  call recline_protect_items(1, step, 1_8, int32)
  call recline_protect_distributed(2, part, int64, 2, [int(rows, 8), int(columns, 8)], &
                                   [1_8, int(first + 1, 8)], [int(rows, 8), int(mine, 8)])
  place = recline_restore()
  do while (step <= steps)
    call recline_iteration(step)
    part = mod(part * 3 + step, 1000003_8)
    call smpi_execute_flops(4d5)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    step = step + 1
  end do
  sum = 0
  do j = 1, mine
    do i = 1, rows
      sum = sum + part(i, j) * (first + j) * i
    end do
  end do
  call MPI_Reduce(sum, all, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0)', 'sum ', all
  call MPI_Finalize(error)
end program
