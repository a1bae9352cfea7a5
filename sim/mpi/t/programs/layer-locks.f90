! Tests one-sided communication in which the target takes no part, in Fortran, as layer-locks.c does.
! Usage: layer-locks ROUNDS
program layer_locks
  use mpi
  implicit none
  character(len=*), parameter :: test_name = 'layer-locks'
  integer, parameter :: cells = 64
  integer, save :: memory(0:cells - 1)
  integer :: rank, ranks, next, previous, rounds, failures, error, round, window
  integer(MPI_ADDRESS_KIND) :: bytes
  integer :: total = 0

  call begin_rounds()
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  bytes = 4 * cells
  memory = 0
  call mpi_win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  do round = 1, rounds
    call smpi_execute_benched(1d-3)
    call test_one()
    call test_all()
    call mpi_barrier(MPI_COMM_WORLD, error)
  end do
  call mpi_win_free(window, error)
  call end_rounds()

contains
  include 'layer-rounds.inc'

  subroutine test_one()
    integer :: out, in
    integer(MPI_ADDRESS_KIND) :: at
    at = 2
    out = 1000 * round + rank
    in = -1
    call mpi_win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window, error)
    call mpi_put(out, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, window, error)
    call mpi_win_flush_local(next, window, error)
    call mpi_win_flush(next, window, error)
    call mpi_get(in, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, window, error)
    call mpi_win_unlock(next, window, error)
    call expect(in == out, 'put, then get')
    call mpi_barrier(MPI_COMM_WORLD, error)
    call expect(memory(2) == 1000 * round + previous, 'what another has put')
  end subroutine test_one

  subroutine test_all()
    integer :: out, in, old, one, before, requests(4)
    integer(MPI_ADDRESS_KIND) :: at
    before = memory(8)
    total = total + 1000 * round + rank
    call mpi_barrier(MPI_COMM_WORLD, error)
    one = 1
    out = 1000 * round + rank
    call mpi_win_lock_all(0, window, error)
    at = 4
    call mpi_rput(out, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, window, requests(1), error)
    call mpi_rget(in, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, window, requests(2), error)
    at = 8
    call mpi_raccumulate(one, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, MPI_SUM, window, &
        requests(3), error)
    at = 9
    call mpi_rget_accumulate(out, 1, MPI_INTEGER, old, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, &
        MPI_SUM, window, requests(4), error)
    call mpi_waitall(4, requests, MPI_STATUSES_IGNORE, error)
    call expect(in == out, 'rput, then rget')
    call expect(old == total - out .and. total > 0, 'rget_accumulate')
    call mpi_win_flush_local_all(window, error)
    call mpi_win_flush_all(window, error)
    call mpi_win_unlock_all(window, error)
    call mpi_barrier(MPI_COMM_WORLD, error)
    if (rank == 0) call expect(memory(8) == before + ranks, 'raccumulate')
  end subroutine test_all
end program layer_locks
