! Tests that SLEEP and the clocks of GNU Fortran go by the time of the simulation.
program sleeps
  use mpi
  implicit none
  integer :: error, rank, wrong = 0, total, count, rate, values(8), other(8)
  integer(8) :: long_count, long_rate
  real :: cpu, later, parts(2)
  double precision :: began
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  began = mpi_wtime()
  call system_clock(count, rate)
  call system_clock(long_count, long_rate)
  call cpu_time(cpu)
  call date_and_time(values=values)
  call sleep(2)
  call near('sleep', mpi_wtime() - began)
  call near('system_clock', dble(ticks(rate) - count) / rate)
  call near('system_clock of 8 bytes', dble(long_ticks() - long_count) / long_rate)
  call cpu_time(later)
  call near('cpu_time', dble(later - cpu))
  call near('etime', dble(etime(parts) - cpu))
  call date_and_time(values=other)
  call near('date_and_time', dble(other(7) - values(7)) + dble(other(8) - values(8)) / 1000)
  call mpi_allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0 .and. total == 0) print '(a)', 'all are right'
  if (rank == 0 .and. total /= 0) print '(a)', 'WRONG'
  call mpi_finalize(error)

contains

  subroutine near(what, found)
    character(*), intent(in) :: what
    double precision, intent(in) :: found
    if (abs(found - 2) <= 2e-3) return
    wrong = wrong + 1
    print '(a,i0,3a,g0)', 'rank ', rank, ': ', what, ' says ', found
  end subroutine near

  integer function ticks(rate)
    integer, intent(out) :: rate
    call system_clock(ticks, rate)
  end function ticks

  integer(8) function long_ticks()
    call system_clock(long_ticks)
  end function long_ticks

end program sleeps
