! A unit that is open over a rollback: nothing of it is put back. Rank 0 writes a line in every step,
! and the line again that it had written before it was rolled back.
program files
  use mpi
  implicit none
  integer :: rank, error, step, total
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  if (rank == 0) open (unit=20, file='unit.txt', action='write', status='replace')
  do step = 1, 20
    if (rank == 0) write (20, '(a, i0)') 'step ', step
    if (rank == 0 .and. mod(step, 5) == 0) flush (20)
    call smpi_execute_benched(1d-3)
    call mpi_allreduce(step, total, 1, mpi_integer, mpi_sum, mpi_comm_world, error)
    if (total /= 3*step) stop 'wrong sum'
  end do
  if (rank == 0) close (20)
  if (rank == 0) print '(a)', 'done'
  call mpi_finalize(error)
end program files
