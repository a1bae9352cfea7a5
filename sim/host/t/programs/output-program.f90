! Tells the outside by a unit, flushed, and by recline_output.
program output
  use mpi
  implicit none
  integer :: rank, ranks, i, error, sent, received, status(MPI_STATUS_SIZE)
  character(len=40) :: line
  external :: recline_output
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  sent = 0
  do i = 1, 6
    call smpi_execute_flops(2d6)
    call MPI_Sendrecv(sent, 1, MPI_INTEGER, mod(rank + 1, ranks), 0, received, 1, MPI_INTEGER, &
                      mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, status, error)
    sent = received + 1
    write (*, '(a,i0,a,i0)') 'rank ', rank, ' writes ', sent
    flush (6)
    write (line, '(a,i0,a,i0)') 'rank ', rank, ' tells ', sent
    call recline_output(trim(line) // new_line('a'))
  end do
  call MPI_Finalize(error)
end program output
