! Tests Fortran calls of the layer. All calls are in a loop, so that crashes and checkpoints fall
! everywhere, and every result is checked. Usage: layer-fortran ROUNDS [all | time]. The last line of
! output is the same for every correct run with the same numbers of ranks and rounds. With `all` it
! also tests what plain SMPI 3.32 gets wrong; with `time` it prints how long it took.

module state
  implicit none
  integer, allocatable :: history(:)
  integer :: failures = 0
  logical :: everything = .false.
  integer :: me, ranks, up, down, round
contains
  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    failures = failures + 1
    write (*, '(a,i0,a,i0,2a)') 'rank ', me, ', round ', round, ': ', what
  end subroutine expect

  ! Appends a value to the history, which takes new memory and gives back the old memory.
  subroutine remember(value)
    integer, intent(in) :: value
    if (allocated(history)) then
      history = [history, value]
    else
      history = [value]
    end if
  end subroutine remember
end module state

! Tests calls in the old style, with mpif.h, a COMMON block and implicit interfaces.
subroutine old_style
  use state, only: expect, remember, me, ranks, up, down, round
  implicit none
  include 'mpif.h'
  integer :: calls, last
  double precision :: field(6000)
  common /kept/ field, calls, last
  integer :: status(MPI_STATUS_SIZE), error, out, in, n
  logical :: found
  calls = calls + 1
  out = 1000*round + me
  call MPI_SENDRECV(out, 1, MPI_INTEGER, up, 3, in, 1, MPI_INTEGER, down, 3, MPI_COMM_WORLD, &
                    status, error)
  call MPI_GET_COUNT(status, MPI_INTEGER, n, error)
  call expect(in == 1000*round + down .and. n == 1, 'sendrecv')
  call expect(status(MPI_SOURCE) == down .and. status(MPI_TAG) == 3, 'sendrecv: status')
  ! beyond every eager threshold
  field = field + me + 1
  if (mod(me, 2) == 0) then
    call MPI_SSEND(field, 6000, MPI_DOUBLE_PRECISION, up, 4, MPI_COMM_WORLD, error)
    call MPI_RECV(field, 6000, MPI_DOUBLE_PRECISION, down, 4, MPI_COMM_WORLD, &
                  MPI_STATUS_IGNORE, error)
  else
    call big_other_way(field)
  end if
  last = int(field(6000))
  call expect(field(1) == field(6000), 'large')
  ! wildcards, and a probe for what has come
  if (me == 0) then
    do n = 1, ranks - 1
      call MPI_PROBE(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, status, error)
      in = status(MPI_SOURCE)
      call MPI_RECV(out, 1, MPI_INTEGER, in, MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
      call expect(out == in*7 .and. status(MPI_TAG) == 5, 'wildcard')
    end do
  else
    call MPI_SEND(me*7, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, error)
  end if
  call MPI_IPROBE(MPI_PROC_NULL, 9, MPI_COMM_WORLD, found, MPI_STATUS_IGNORE, error)
  call expect(found, 'iprobe')
  call remember(last + calls)
contains
  subroutine big_other_way(values)
    double precision, intent(inout) :: values(:)
    double precision, allocatable :: got(:)
    allocate (got(size(values)))
    call MPI_RECV(got, 6000, MPI_DOUBLE_PRECISION, down, 4, MPI_COMM_WORLD, status, error)
    call MPI_SEND(values, 6000, MPI_DOUBLE_PRECISION, up, 4, MPI_COMM_WORLD, error)
    values = got
  end subroutine big_other_way
end subroutine old_style

subroutine nonblocking
  use mpi
  use state
  implicit none
  integer :: requests(4), statuses(MPI_STATUS_SIZE, 4), status(MPI_STATUS_SIZE), indices(4)
  integer :: error, in(4), out(4), i, taken, left
  logical :: done
  do i = 1, 4
    call mpi_irecv(in(i), 1, MPI_INTEGER, down, 10 + i, MPI_COMM_WORLD, requests(i), error)
  end do
  call smpi_execute_flops(1d5)
  out = [(round*10 + i, i=1, 4)]
  do i = 4, 1, -1
    call mpi_send(out(i), 1, MPI_INTEGER, up, 10 + i, MPI_COMM_WORLD, error)
  end do
  call mpi_waitany(4, requests, i, status, error)
  call expect(i >= 1 .and. i <= 4, 'waitany: index')
  call expect(in(i) == out(i) .and. requests(i) == MPI_REQUEST_NULL, 'waitany: value')
  call expect(status(MPI_TAG) == 10 + i, 'waitany: status')
  call mpi_waitsome(4, requests, taken, indices, statuses, error)
  call expect(taken >= 1 .and. taken <= 3, 'waitsome: number')
  do i = 1, taken
    call expect(statuses(MPI_TAG, i) == 10 + indices(i), 'waitsome: index')
  end do
  left = 3 - taken
  do while (left > 0)
    call mpi_testany(4, requests, i, done, MPI_STATUS_IGNORE, error)
    if (done) left = left - 1
  end do
  call expect(all(in == out) .and. all(requests == MPI_REQUEST_NULL), 'all of them')
  call mpi_testany(4, requests, i, done, status, error)
  call expect(i == MPI_UNDEFINED .and. done, 'testany: nothing left')
  call mpi_irecv(in, 4, MPI_INTEGER, down, 20, MPI_COMM_WORLD, requests(1), error)
  call mpi_isend(out, 4, MPI_INTEGER, up, 20, MPI_COMM_WORLD, requests(2), error)
  call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
  done = .false.
  call mpi_irecv(in, 4, MPI_INTEGER, down, 21, MPI_COMM_WORLD, requests(1), error)
  call mpi_issend(out, 4, MPI_INTEGER, up, 21, MPI_COMM_WORLD, requests(2), error)
  do while (.not. done)
    call mpi_testall(2, requests, done, statuses, error)
  end do
  if (everything) call expect(statuses(MPI_SOURCE, 1) == down, 'testall: status')
  call mpi_wait(requests(1), status, error)
  call remember(sum(in))
end subroutine nonblocking

! Tests persistent requests that live through all rounds.
subroutine persistent(first, last)
  use mpi
  use state
  implicit none
  logical, intent(in) :: first, last
  integer, save :: requests(2), in, out
  integer :: error
  if (first) then
    call mpi_recv_init(in, 1, MPI_INTEGER, down, 30, MPI_COMM_WORLD, requests(1), error)
    call mpi_send_init(out, 1, MPI_INTEGER, up, 30, MPI_COMM_WORLD, requests(2), error)
  end if
  out = round + me
  call mpi_startall(2, requests, error)
  call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call expect(in == round + down .and. all(requests /= MPI_REQUEST_NULL), 'persistent')
  if (last) then
    call mpi_request_free(requests(1), error)
    call mpi_request_free(requests(2), error)
    if (everything) call expect(all(requests == MPI_REQUEST_NULL), 'persistent: freed')
  end if
end subroutine persistent

subroutine largest(in, inout, count, type)
  implicit none
  integer, intent(in) :: count, type, in(count)
  integer, intent(inout) :: inout(count)
  if (type == type) inout = max(in, inout)
end subroutine largest

subroutine collectives
  use mpi
  use state
  implicit none
  external :: largest
  integer :: error, i, op, column, value, table(4, 3), got(3)
  integer :: counts(ranks), starts(ranks), all_of_them(ranks), spread(ranks)
  double precision :: total
  character(len=12) :: text
  call mpi_allreduce(dble(me), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(total == dble(ranks*(ranks - 1)/2), 'allreduce')
  value = me
  call mpi_allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
  call expect(value == ranks - 1, 'allreduce in place')
  text = ''
  if (me == mod(round, ranks)) write (text, '(a,i0)') 'round ', round
  call mpi_bcast(text, 12, MPI_CHARACTER, mod(round, ranks), MPI_COMM_WORLD, error)
  read (text(7:), *) value
  call expect(value == round, 'bcast')
  call mpi_gather(me, 1, MPI_INTEGER, all_of_them, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  if (me == 0) call expect(all(all_of_them == [(i, i=0, ranks - 1)]), 'gather')
  call mpi_scatter(all_of_them, 1, MPI_INTEGER, value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call expect(value == me, 'scatter')
  counts = 1
  starts = [(i, i=ranks - 1, 0, -1)]
  call mpi_allgatherv(me, 1, MPI_INTEGER, spread, counts, starts, MPI_INTEGER, MPI_COMM_WORLD, error)
  call expect(spread(1) == ranks - 1 .and. spread(ranks) == 0, 'allgatherv')
  call mpi_alltoall(spread, 1, MPI_INTEGER, all_of_them, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  call expect(all(all_of_them == ranks - 1 - me), 'alltoall')
  call mpi_scan(1, value, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(value == me + 1, 'scan')
  call mpi_op_create(largest, .true., op, error)
  call mpi_reduce(mod(me, 3), value, 1, MPI_INTEGER, op, 0, MPI_COMM_WORLD, error)
  if (me == 0) call expect(value == min(2, ranks - 1), 'operation of its own')
  call mpi_op_free(op, error)
  ! a row of a matrix
  table = reshape([(me*100 + i, i=1, 12)], [4, 3])
  call mpi_type_vector(3, 1, 4, MPI_INTEGER, column, error)
  call mpi_type_commit(column, error)
  call mpi_sendrecv(table(2, 1), 1, column, up, 40, got, 3, MPI_INTEGER, down, 40, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call mpi_type_free(column, error)
  call expect(all(got == down*100 + [2, 6, 10]), 'derived type')
  if (everything) call expect(column == MPI_DATATYPE_NULL .and. op == MPI_OP_NULL, 'freed')
  call remember(got(1))
  call mpi_barrier(MPI_COMM_WORLD, error)
end subroutine collectives

subroutine communicators(kept)
  use mpi
  use state
  implicit none
  integer, intent(in) :: kept ! a communicator from before the first round
  integer :: error, half, copy, alone, rank, n, group, value, result
  call mpi_comm_split(kept, mod(me, 2), -me, half, error)
  call mpi_comm_rank(half, rank, error)
  call mpi_comm_size(half, n, error)
  call expect(n == (ranks + 1 - mod(me, 2))/2, 'split: size')
  call mpi_allreduce(1, value, 1, MPI_INTEGER, MPI_SUM, half, error)
  call expect(value == n, 'split: allreduce')
  call mpi_comm_dup(half, copy, error)
  call mpi_comm_compare(half, copy, result, error)
  call expect(result == MPI_CONGRUENT .and. copy /= half, 'dup')
  call mpi_comm_group(copy, group, error)
  call mpi_group_rank(group, value, error)
  call expect(value == rank, 'group')
  call mpi_group_free(group, error)
  if (everything) then
    call mpi_comm_split(kept, merge(0, MPI_UNDEFINED, me == 0), 0, alone, error)
    call expect((alone /= MPI_COMM_NULL) .eqv. (me == 0), 'split: undefined')
    if (me == 0) call mpi_comm_free(alone, error)
  end if
  call mpi_comm_free(copy, error)
  call mpi_comm_free(half, error)
  if (everything) call expect(half == MPI_COMM_NULL, 'free')
  call mpi_comm_size(MPI_COMM_SELF, n, error)
  call expect(n == 1, 'self')
end subroutine communicators

! Tests grids, with arguments that are logicals, names and attributes.
subroutine grids
  use mpi
  use state
  implicit none
  integer, parameter :: no_function = 0, as_it_is = 1 ! as in SimGrid's mpif.h
  integer :: error, grid, row, sizes(2), here(2), rank, from, to, n, key, value, kind
  logical :: periodic(2), found
  character(len=MPI_MAX_OBJECT_NAME) :: name
  sizes = [1, ranks]
  call mpi_cart_create(MPI_COMM_WORLD, 2, sizes, [.false., .true.], .false., grid, error)
  call mpi_cart_shift(grid, 1, 1, from, to, error)
  call expect(from == down .and. to == up, 'cart_shift')
  call mpi_cart_shift(grid, 0, 1, from, to, error)
  call expect(from == MPI_PROC_NULL .and. to == MPI_PROC_NULL, 'cart_shift: edge')
  call mpi_cart_get(grid, 2, sizes, periodic, here, error)
  call expect(all(here == [0, me]) .and. periodic(2) .and. .not. periodic(1), 'cart_get')
  call mpi_cart_rank(grid, here, rank, error)
  call expect(rank == me, 'cart_rank')
  call mpi_cart_sub(grid, [.true., .false.], row, error)
  call mpi_comm_size(row, n, error)
  call expect(n == 1, 'cart_sub')
  if (everything) then
    call mpi_topo_test(grid, kind, error)
    call expect(kind == MPI_CART, 'topo_test')
    call mpi_comm_set_name(grid, 'a grid', error)
    call mpi_comm_get_name(grid, name, n, error)
    call expect(name == 'a grid' .and. n == 6, 'name')
    call mpi_comm_create_keyval(as_it_is, no_function, key, 0, error)
    call mpi_comm_set_attr(grid, key, me, error)
    call mpi_comm_free(row, error)
    call mpi_comm_dup(grid, row, error)
    call mpi_comm_get_attr(row, key, value, found, error)
    call expect(found .and. value == me, 'attribute')
    call mpi_comm_delete_attr(grid, key, error)
    call mpi_comm_get_attr(grid, key, value, found, error)
    call expect(.not. found, 'attribute: deleted')
  end if
  call mpi_comm_free(row, error)
  call mpi_comm_free(grid, error)
end subroutine grids

program layer_fortran
  use mpi
  use state
  implicit none
  integer :: error, rounds, kept, kept_at, sum_of_all, failures_of_all
  double precision :: began
  character(len=16) :: argument, what = ''
  logical :: started
  integer :: calls, last
  double precision :: field(6000)
  common /kept/ field, calls, last
  call mpi_init(error)
  call mpi_initialized(started, error)
  began = mpi_wtime()
  call mpi_comm_rank(MPI_COMM_WORLD, me, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  up = mod(me + 1, ranks)
  down = mod(me + ranks - 1, ranks)
  argument = '4'
  if (command_argument_count() > 0) call get_command_argument(1, argument)
  read (argument, *) rounds
  if (command_argument_count() > 1) call get_command_argument(2, what)
  everything = what == 'all'
  calls = 0
  field = 0
  call expect(started, 'initialized')
  call mpi_comm_dup(MPI_COMM_WORLD, kept, error)
  kept_at = kept
  do round = 1, rounds
    call old_style
    call nonblocking
    call persistent(round == 1, round == rounds)
    call collectives
    call communicators(kept)
    call grids
    call smpi_execute(2d-3)
    if (me == 0) write (*, '(a,i0,a,f8.1)') 'round ', round, ' done ', field(1)
  end do
  call expect(kept == kept_at .and. size(history) == 3*rounds, 'what is kept')
  call expect(mpi_wtime() > began, 'time')
  call mpi_reduce(sum(history), sum_of_all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  call mpi_reduce(failures, failures_of_all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (me == 0 .and. what == 'time') print *, mpi_wtime() - began
  if (me == 0) print '(a,i0,a,i0,a,i0,a)', 'layer-fortran: ', ranks, ' ranks, history ', &
    sum_of_all, ', ', failures_of_all, ' failures'
  call mpi_finalize(error)
end program layer_fortran
