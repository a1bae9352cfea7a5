! Reads and writes, in every step, units that are open over a rollback and have the same numbers in
! all ranks: formatted, unformatted, direct, scratch and stream.
!
!     units FOLDER
program files
  use mpi
  implicit none
  integer :: rank, ranks, error, step, total, got, i, stat
  character(200) :: folder, name
  real(8) :: value, four(4)
  integer :: bad = 0
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  call get_command_argument(1, folder)
  write (name, '(a,a,i0)') trim(folder), '/input-', rank
  open (unit=10, file=trim(name), action='read', status='old')
  write (name, '(a,a,i0)') trim(folder), '/out-', rank
  open (unit=11, file=trim(name), status='replace')
  write (name, '(a,a,i0)') trim(folder), '/raw-', rank
  open (unit=12, file=trim(name), form='unformatted', status='replace')
  write (name, '(a,a,i0)') trim(folder), '/direct-', rank
  open (unit=13, file=trim(name), form='unformatted', access='direct', recl=32, status='replace')
  open (unit=14, status='scratch', form='unformatted')
  write (name, '(a,a,i0)') trim(folder), '/stream-', rank
  open (unit=15, file=trim(name), form='unformatted', access='stream', status='replace')
  do step = 1, 20
    read (10, *) got
    if (got /= 100*rank + step) bad = bad + 1
    write (11, '(a, i0, f8.3)') 'step ', step, step*1.5d0
    write (12) step, step*2d0
    four = step
    write (13, rec=mod(step, 7) + 1) four
    write (14) step
    write (15) step
    write (11, '(i0,1x)', advance='no') step
    call smpi_execute_benched(1d-3)
    call mpi_allreduce(step, total, 1, mpi_integer, mpi_sum, mpi_comm_world, error)
    if (total /= ranks*step) stop 'wrong sum'
    write (11, '(a)') ' done'
    read (13, rec=mod(step, 7) + 1) four
    if (any(four /= step)) bad = bad + 1
    if (mod(step, 6) == 0) then
      rewind 14
      do i = 1, step
        read (14) got
        if (got /= i) bad = bad + 1
      end do
    end if
    if (mod(step, 5) == 0) then
      backspace 12
      read (12) got, value
      if (got /= step .or. value /= 2*step) bad = bad + 1
    end if
  end do
  read (10, *, iostat=stat) got
  if (stat == 0) bad = bad + 1
  close (10); close (12); close (13); close (15)
  call mpi_allreduce(bad, total, 1, mpi_integer, mpi_sum, mpi_comm_world, error)
  if (rank == 0) print '(a,i0)', 'wrong: ', total
  call mpi_finalize(error)
  write (11, '(a)') 'after'
end program files
