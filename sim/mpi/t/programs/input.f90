! Reads 150 numbers from the standard input of rank 0 and broadcasts them. At the end rank 0 prints
! a checksum. input.t runs this program.
program input
  use mpi
  implicit none
  integer :: error, rank, i, number
  integer(8) :: total
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  total = 0
  do i = 1, 150
    if (rank == 0) read (*, *) number
    call mpi_bcast(number, 1, mpi_integer, 0, mpi_comm_world, error)
    call mpi_barrier(mpi_comm_world, error) ! the reader does not run ahead
    total = mod(3 * total + number, 1000003_8)
  end do
  if (rank == 0) print '("150 numbers, ", i0)', total
  call mpi_finalize(error)
end program
