! Writes three files by units: the first is flushed, the second is not, the third is opened for each line.
program output_files
  use mpi
  implicit none
  integer :: rank, ranks, i, error, sent, received, status(MPI_STATUS_SIZE)
  character(len=40) :: flushed, kept, again
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  write (flushed, '(a,i0)') 'log.flushed.', rank
  write (kept, '(a,i0)') 'log.kept.', rank
  write (again, '(a,i0)') 'log.again.', rank
  open (unit=11, file=trim(flushed), status='replace')
  open (unit=12, file=trim(kept), status='replace', action='write')
  sent = 0
  do i = 1, 6
    call smpi_execute_flops(2d6)
    call MPI_Sendrecv(sent, 1, MPI_INTEGER, mod(rank + 1, ranks), 0, received, 1, MPI_INTEGER, &
                      mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, status, error)
    sent = received + 1
    write (11, '(a,i0,a,i0)') 'rank ', rank, ' flushes ', sent
    flush (11)
    write (12, '(a,i0,a,i0)') 'rank ', rank, ' keeps ', sent
    open (unit=13, file=trim(again), position='append')
    write (13, '(a,i0,a,i0)') 'rank ', rank, ' opens ', sent
    close (13)
  end do
  call MPI_Finalize(error)
  write (11, '(a,i0,a)') 'rank ', rank, ' ends'
end program output_files
