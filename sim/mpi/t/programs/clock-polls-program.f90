! Polls for messages and reads the clocks of Fortran between polls; the next message depends on the
! times that were read.
program polls
  use mpi
  implicit none
  integer :: rank, ranks, round, request, error
  integer(8) :: count
  double precision :: total, in, cpu
  logical :: flag
  total = 0d0
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  do round = 1, 6
    call mpi_irecv(in, 1, MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, &
                   request, error)
    if (rank == mod(round, ranks)) call smpi_execute_flops(2d5)
    call mpi_send(total, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 0, MPI_COMM_WORLD, error)
    flag = .false.
    do while (.not. flag)
      call system_clock(count)
      call cpu_time(cpu)
      total = total + dble(count) + cpu + mpi_wtime()
      if (mod(count / 100, 3_8) == 0) call smpi_execute_flops(1d4)
      call mpi_test(request, flag, MPI_STATUS_IGNORE, error)
    end do
    total = total + in
  end do
  print '(i0, a)', rank, ': done'
  call mpi_finalize(error)
end program
