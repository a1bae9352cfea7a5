! Tests Fortran calls of MPI that layer-fortran.f90 does not make. All calls are in a loop, so that
! crashes and checkpoints fall everywhere, and every result is checked.
! Plain SMPI 3.32 lacks some of them, and gets others wrong. Usage: layer-fortran-misc ROUNDS.

module state
  implicit none
  integer :: failures = 0, me, ranks, up, down, round
  integer :: queried, freed, cancels, handled, copied, deleted
contains
  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    failures = failures + 1
    write (*, '(a,i0,a,i0,2a)') 'rank ', me, ', round ', round, ': ', what
  end subroutine expect

  ! Returns the value that rank `from` has for rank `to` in this round.
  integer function value(from, to)
    integer, intent(in) :: from, to
    value = 10000*round + 100*from + to
  end function value
end module state

! ---- functions that MPI calls ----

subroutine query(extra, status, error)
  use mpi
  use state, only: queried
  implicit none
  integer(kind=MPI_ADDRESS_KIND) :: extra
  integer :: status(MPI_STATUS_SIZE), error
  call mpi_status_set_elements(status, MPI_BYTE, int(extra), error)
  call mpi_status_set_cancelled(status, .false., error)
  queried = queried + 1
end subroutine query

subroutine release(extra, error)
  use mpi
  use state, only: freed
  implicit none
  integer(kind=MPI_ADDRESS_KIND) :: extra
  integer :: error
  freed = freed + int(extra)
  error = MPI_SUCCESS
end subroutine release

subroutine cancel(extra, complete, error)
  use mpi
  use state, only: cancels
  implicit none
  integer(kind=MPI_ADDRESS_KIND) :: extra
  logical :: complete
  integer :: error
  if (.not. complete) cancels = cancels + int(extra)
  error = MPI_SUCCESS
end subroutine cancel

subroutine handle(comm, code)
  use mpi
  use state, only: handled
  implicit none
  integer :: comm, code, n, error
  call mpi_comm_size(comm, n, error)
  handled = handled + n + code
end subroutine handle

subroutine copy_attribute(comm, key, extra, before, after, flag, error)
  use mpi
  use state, only: copied
  implicit none
  integer :: comm, key, error, n
  integer(kind=MPI_ADDRESS_KIND) :: extra, before, after
  logical :: flag
  call mpi_comm_size(comm, n, error)
  after = before + extra
  flag = .true.
  copied = copied + n
end subroutine copy_attribute

subroutine delete_attribute(comm, key, before, extra, error)
  use mpi
  use state, only: deleted
  implicit none
  integer :: comm, key, error
  integer(kind=MPI_ADDRESS_KIND) :: before, extra
  deleted = deleted + int(before)
  error = MPI_SUCCESS
end subroutine delete_attribute

! Copies an attribute as a function of MPI-1, whose values are default integers.
subroutine copy_old(comm, key, extra, before, after, flag, error)
  use mpi
  implicit none
  integer :: comm, key, extra, before, after, error
  logical :: flag
  after = before + extra
  flag = .true.
  error = MPI_SUCCESS
end subroutine copy_old

! ---- messages ----

! Tests all send modes. A ready send needs a posted receive, so the receiver tells the sender when
! its receives are posted.
subroutine modes
  use mpi
  use state
  implicit none
  integer :: in(8), out(8), receives(8), sends(3), kept(3), statuses(MPI_STATUS_SIZE, 8)
  integer :: indices(8), i, taken, left, token, ready, error, first, again, bytes
  double precision :: second
  logical :: done
  character :: buffer(10000), packed(64)
  do i = 1, 8
    out(i) = value(me, i)
    call mpi_irecv(in(i), 1, MPI_INTEGER, down, 50 + i, MPI_COMM_WORLD, receives(i), error)
  end do
  token = 0
  call mpi_isend(token, 1, MPI_INTEGER, down, 49, MPI_COMM_WORLD, ready, error)
  call mpi_recv(again, 1, MPI_INTEGER, up, 49, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call mpi_wait(ready, MPI_STATUS_IGNORE, error)
  call mpi_buffer_attach(buffer, 10000, error)
  call mpi_bsend(out(1), 1, MPI_INTEGER, up, 51, MPI_COMM_WORLD, error)
  call mpi_rsend(out(2), 1, MPI_INTEGER, up, 52, MPI_COMM_WORLD, error)
  call mpi_ibsend(out(3), 1, MPI_INTEGER, up, 53, MPI_COMM_WORLD, sends(1), error)
  call mpi_irsend(out(4), 1, MPI_INTEGER, up, 54, MPI_COMM_WORLD, sends(2), error)
  call mpi_issend(out(5), 1, MPI_INTEGER, up, 55, MPI_COMM_WORLD, sends(3), error)
  call mpi_bsend_init(out(6), 1, MPI_INTEGER, up, 56, MPI_COMM_WORLD, kept(1), error)
  call mpi_rsend_init(out(7), 1, MPI_INTEGER, up, 57, MPI_COMM_WORLD, kept(2), error)
  call mpi_ssend_init(out(8), 1, MPI_INTEGER, up, 58, MPI_COMM_WORLD, kept(3), error)
  do i = 1, 3
    call mpi_start(kept(i), error)
  end do
  left = 8
  do while (left > 0)
    call mpi_testsome(8, receives, taken, indices, statuses, error)
    do i = 1, taken
      call expect(in(indices(i)) == value(down, indices(i)), 'modes')
    end do
    left = left - taken
  end do
  call mpi_waitall(3, sends, MPI_STATUSES_IGNORE, error)
  call mpi_waitall(3, kept, MPI_STATUSES_IGNORE, error)
  do i = 1, 3
    call mpi_request_free(kept(i), error)
  end do
  call mpi_buffer_detach(buffer, bytes, error)
  call expect(bytes == 10000, 'buffer_detach')
  ! data are packed, and replaced by those that are received
  call mpi_pack_size(1, MPI_INTEGER, MPI_COMM_WORLD, i, error)
  call expect(i >= 4, 'pack_size')
  i = 0
  call mpi_pack(value(me, 1), 1, MPI_INTEGER, packed, 64, i, MPI_COMM_WORLD, error)
  call mpi_pack(me + 0.5d0, 1, MPI_DOUBLE_PRECISION, packed, 64, i, MPI_COMM_WORLD, error)
  call mpi_sendrecv_replace(packed, 64, MPI_PACKED, up, 60, down, 60, MPI_COMM_WORLD, &
                            MPI_STATUS_IGNORE, error)
  i = 0
  call mpi_unpack(packed, 64, i, first, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  call mpi_unpack(packed, 64, i, second, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  call expect(first == value(down, 1) .and. second == down + 0.5d0, 'unpack')
  ! a receive for which no message comes is cancelled
  call mpi_irecv(in, 1, MPI_INTEGER, down, 99, MPI_COMM_WORLD, receives(1), error)
  call mpi_cancel(receives(1), error)
  call mpi_wait(receives(1), statuses, error)
  call mpi_test_cancelled(statuses, done, error)
  call expect(done .and. receives(1) == MPI_REQUEST_NULL, 'cancel')
  call mpi_irecv(in, 1, MPI_INTEGER, down, 61, MPI_COMM_WORLD, receives(1), error)
  call mpi_send(me, 1, MPI_INTEGER, up, 61, MPI_COMM_WORLD, error)
  done = .false.
  do while (.not. done)
    call mpi_request_get_status(receives(1), done, MPI_STATUS_IGNORE, error)
  end do
  call mpi_test(receives(1), done, MPI_STATUS_IGNORE, error)
  call expect(done .and. in(1) == down, 'request_get_status')
end subroutine modes

! ---- collectives ----

subroutine blocking
  use mpi
  use state
  implicit none
  integer :: counts(0:ranks - 1), starts(0:ranks - 1), bytes(0:ranks - 1), types(0:ranks - 1)
  integer :: taken(0:ranks - 1), places(0:ranks - 1)
  integer :: whole(0:2*ranks - 1), in(0:2*ranks - 1), own(2), i, root, error, sum
  root = mod(round, ranks)
  counts = [(1 + mod(i, 2), i=0, ranks - 1)]
  starts(0) = 0
  do i = 1, ranks - 1
    starts(i) = starts(i - 1) + counts(i - 1)
  end do
  own = value(me, 2)
  call mpi_gatherv(own, counts(me), MPI_INTEGER, whole, counts, starts, MPI_INTEGER, root, &
                   MPI_COMM_WORLD, error)
  call mpi_bcast(whole, 2*ranks, MPI_INTEGER, root, MPI_COMM_WORLD, error)
  call expect(all(whole(starts) == [(value(i, 2), i=0, ranks - 1)]), 'gatherv')
  own = 0
  call mpi_scatterv(whole, counts, starts, MPI_INTEGER, own, counts(me), MPI_INTEGER, root, &
                    MPI_COMM_WORLD, error)
  call expect(own(counts(me)) == value(me, 2), 'scatterv')
  call mpi_allgather(me, 1, MPI_INTEGER, in, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  call expect(all(in(0:ranks - 1) == [(i, i=0, ranks - 1)]), 'allgather')
  do i = 0, ranks - 1
    whole(starts(i):starts(i) + counts(i) - 1) = value(me, i)
  end do
  taken = counts(me)
  places = [(i*counts(me), i=0, ranks - 1)]
  call mpi_alltoallv(whole, counts, starts, MPI_INTEGER, in, taken, places, MPI_INTEGER, &
                     MPI_COMM_WORLD, error)
  call expect(all(in(places) == [(value(i, me), i=0, ranks - 1)]), 'alltoallv')
  bytes = 4*places
  types = MPI_INTEGER
  in = 0
  call mpi_alltoallw(whole, counts, 4*starts, types, in, taken, bytes, types, MPI_COMM_WORLD, error)
  call expect(all(in(places) == [(value(i, me), i=0, ranks - 1)]), 'alltoallw')
  whole = me
  sum = ranks*(ranks - 1)/2
  call mpi_reduce_scatter(whole, own, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(own(counts(me)) == sum, 'reduce_scatter')
  call mpi_reduce_scatter_block(whole, own, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(own(1) == sum, 'reduce_scatter_block')
  call mpi_exscan(1, own, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(me == 0 .or. own(1) == me, 'exscan')
end subroutine blocking

! Tests all nonblocking collectives at once.
subroutine nonblocking
  use mpi
  use state
  implicit none
  integer, parameter :: n = 17
  integer :: r(n), counts(0:ranks - 1), starts(0:ranks - 1), types(0:ranks - 1), bytes(0:ranks - 1)
  integer :: ones(0:ranks - 1), out(0:ranks - 1), gathered(0:ranks - 1), varied(0:ranks - 1)
  integer :: whole(0:ranks - 1), whole_varied(0:ranks - 1), swapped(0:ranks - 1), v(0:ranks - 1)
  integer :: w(0:ranks - 1), told, part, parts, at_root, sum, up_to, below, mine, mine_too
  integer :: own, root, error, i, total
  root = mod(round + 1, ranks)
  counts = 1
  starts = [(ranks - 1 - i, i=0, ranks - 1)]
  bytes = 4*starts
  types = MPI_INTEGER
  out = [(value(me, i), i=0, ranks - 1)]
  ones = 1
  own = me
  told = merge(round, -1, me == root)
  call mpi_ibarrier(MPI_COMM_WORLD, r(1), error)
  call mpi_ibcast(told, 1, MPI_INTEGER, root, MPI_COMM_WORLD, r(2), error)
  call mpi_igather(own, 1, MPI_INTEGER, gathered, 1, MPI_INTEGER, root, MPI_COMM_WORLD, r(3), error)
  call mpi_igatherv(own, 1, MPI_INTEGER, varied, counts, starts, MPI_INTEGER, root, &
                    MPI_COMM_WORLD, r(4), error)
  call mpi_iscatter(out, 1, MPI_INTEGER, part, 1, MPI_INTEGER, root, MPI_COMM_WORLD, r(5), error)
  call mpi_iscatterv(out, counts, starts, MPI_INTEGER, parts, 1, MPI_INTEGER, root, &
                     MPI_COMM_WORLD, r(6), error)
  call mpi_iallgather(own, 1, MPI_INTEGER, whole, 1, MPI_INTEGER, MPI_COMM_WORLD, r(7), error)
  call mpi_iallgatherv(own, 1, MPI_INTEGER, whole_varied, counts, starts, MPI_INTEGER, &
                       MPI_COMM_WORLD, r(8), error)
  call smpi_execute_flops(3d4*(me + 1))
  call mpi_ialltoall(out, 1, MPI_INTEGER, swapped, 1, MPI_INTEGER, MPI_COMM_WORLD, r(9), error)
  call mpi_ialltoallv(out, counts, starts, MPI_INTEGER, v, counts, starts, MPI_INTEGER, &
                      MPI_COMM_WORLD, r(10), error)
  call mpi_ialltoallw(out, counts, bytes, types, w, counts, bytes, types, MPI_COMM_WORLD, r(11), &
                      error)
  call mpi_ireduce(own, at_root, 1, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, r(12), error)
  call mpi_iallreduce(own, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(13), error)
  call mpi_iscan(own, up_to, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(14), error)
  call mpi_iexscan(own, below, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(15), error)
  call mpi_ireduce_scatter(ones, mine, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(16), error)
  call mpi_ireduce_scatter_block(ones, mine_too, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(17), &
                                 error)
  call mpi_waitall(n, r, MPI_STATUSES_IGNORE, error)
  total = ranks*(ranks - 1)/2
  call expect(told == round, 'ibcast')
  if (me == root) then
    call expect(all(gathered == [(i, i=0, ranks - 1)]), 'igather')
    call expect(all(varied(starts) == [(i, i=0, ranks - 1)]), 'igatherv')
    call expect(at_root == total, 'ireduce')
  end if
  call expect(part == value(root, me) .and. parts == value(root, ranks - 1 - me), 'iscatter(v)')
  call expect(all(whole == [(i, i=0, ranks - 1)]) .and. all(whole_varied(starts) == whole), 'iallgather(v)')
  call expect(all(swapped == [(value(i, me), i=0, ranks - 1)]), 'ialltoall')
  call expect(all(v(starts) == [(value(i, ranks - 1 - me), i=0, ranks - 1)]), 'ialltoallv')
  call expect(all(w == v), 'ialltoallw')
  call expect(sum == total .and. up_to == me*(me + 1)/2, 'iallreduce, iscan')
  call expect(me == 0 .or. below == me*(me - 1)/2, 'iexscan')
  call expect(mine == ranks .and. mine_too == ranks, 'ireduce_scatter')
end subroutine nonblocking

! ---- the rest ----

subroutine functions
  use mpi
  use state
  implicit none
  character(len=MPI_MAX_ERROR_STRING) :: text
  external :: query, release, cancel, handle, copy_attribute, delete_attribute, copy_old
  integer, parameter :: no_function = 0 ! as in SimGrid's mpif.h
  integer :: request, status(MPI_STATUS_SIZE), n, error, handler, old, found, copy, key, old_key
  integer :: pair, twin, m, code
  integer(kind=MPI_ADDRESS_KIND) :: extra
  logical :: there
  queried = 0
  freed = 0
  cancels = 0
  extra = round
  call mpi_grequest_start(query, release, cancel, extra, request, error)
  call mpi_cancel(request, error)
  call mpi_barrier(MPI_COMM_WORLD, error)
  call mpi_grequest_complete(request, error)
  call mpi_wait(request, status, error)
  call mpi_get_count(status, MPI_BYTE, n, error)
  call mpi_get_elements(status, MPI_BYTE, m, error)
  call expect(queried == 1 .and. freed == round .and. cancels == round, 'grequest: functions')
  call expect(n == round .and. m == round .and. request == MPI_REQUEST_NULL, 'grequest: status')
  call mpi_comm_dup(MPI_COMM_WORLD, copy, error)
  handled = 0
  call mpi_comm_create_errhandler(handle, handler, error)
  call mpi_errhandler_create(handle, old, error)
  call mpi_comm_set_errhandler(copy, handler, error)
  call mpi_comm_call_errhandler(copy, 1000, error)
  call expect(handled == ranks + 1000, 'error handler')
  call mpi_errhandler_set(copy, old, error)
  call mpi_comm_call_errhandler(copy, 1000, error)
  call expect(handled == 2*(ranks + 1000), 'error handler: old')
  call mpi_errhandler_free(old, error)
  call mpi_errhandler_free(handler, error)
  call expect(old == MPI_ERRHANDLER_NULL, 'errhandler_free')
  call mpi_comm_set_errhandler(copy, MPI_ERRORS_RETURN, error)
  call mpi_comm_get_errhandler(copy, found, error)
  call mpi_errhandler_get(copy, old, error)
  call mpi_comm_call_errhandler(copy, 1000, error)
  call expect(handled == 2*(ranks + 1000), 'errors return')
  call mpi_comm_free(copy, error)
  call mpi_error_class(MPI_ERR_TRUNCATE, n, error)
  call expect(n == MPI_ERR_TRUNCATE, 'error_class')
  call mpi_error_string(MPI_ERR_TRUNCATE, text, n, error)
  call expect(n > 0 .and. index(text, 'TRUNCATE') > 0, 'error_string')
  ! distributed in equal blocks (0: by block, -5: the default size), a pair for each rank
  call mpi_type_create_darray(ranks, me, 1, [2*ranks], [0], [-5], [ranks], &
      MPI_ORDER_C, MPI_INTEGER, pair, error)
  call mpi_type_size(pair, n, error)
  call expect(n == 8, 'type_create_darray')
  call mpi_type_free(pair, error)
  call mpi_type_match_size(0, 8, twin, error)
  call mpi_type_size(twin, n, error)
  call expect(n == 8, 'type_match_size')
  call mpi_add_error_class(n, error)
  call mpi_add_error_code(n, code, error)
  call mpi_add_error_string(code, 'too many cooks', error)
  call mpi_error_string(code, text, n, error)
  call expect(n == 14 .and. text == 'too many cooks', 'add_error_string')
  copied = 0
  deleted = 0
  extra = 7
  call mpi_comm_create_keyval(copy_attribute, delete_attribute, key, extra, error)
  call mpi_keyval_create(copy_old, no_function, old_key, 5, error)
  call mpi_comm_dup(MPI_COMM_WORLD, copy, error)
  call mpi_comm_set_attr(copy, key, round, error)
  call mpi_attr_put(copy, old_key, round, error)
  call mpi_comm_dup(copy, found, error)
  call mpi_comm_get_attr(found, key, n, there, error)
  call expect(there .and. n == round + 7 .and. copied == ranks, 'copy function')
  call mpi_attr_get(found, old_key, n, there, error)
  call expect(there .and. n == round + 5, 'copy function: old')
  call mpi_attr_delete(found, old_key, error)
  call mpi_attr_get(found, old_key, n, there, error)
  call expect(.not. there, 'attr_delete')
  call mpi_comm_free(found, error)
  call mpi_comm_free(copy, error)
  call expect(deleted == 2*round + 7, 'delete function')
  call mpi_comm_free_keyval(key, error)
  call mpi_keyval_free(old_key, error)
  call mpi_type_create_keyval(copy_old, no_function, key, extra, error)
  call mpi_type_contiguous(2, MPI_INTEGER, pair, error)
  call mpi_type_set_attr(pair, key, round, error)
  call mpi_barrier(MPI_COMM_WORLD, error)
  call mpi_type_dup(pair, twin, error)
  call mpi_type_get_attr(twin, key, n, there, error)
  call expect(there .and. n == round + 7, 'attribute of a type')
  call mpi_type_delete_attr(twin, key, error)
  call mpi_type_get_attr(twin, key, n, there, error)
  call expect(.not. there, 'attribute of a type: deleted')
  call mpi_type_free(twin, error)
  call mpi_type_free(pair, error)
  call mpi_type_free_keyval(key, error)
end subroutine functions

subroutine communicators
  use, intrinsic :: iso_c_binding
  use mpi
  use state
  implicit none
  integer :: info, twin, copy, made, world, some, range(3, 1), n, error, rank, sizes(2), here(2), grid
  integer :: parent
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  type(c_ptr) :: memory
  integer, pointer :: numbers(:)
  character(len=16) :: text
  logical :: flag, periodic(2)
  call mpi_info_create(info, error)
  call mpi_info_set(info, 'where', ' there  ', error)
  call mpi_barrier(MPI_COMM_WORLD, error)
  call mpi_info_get_valuelen(info, 'where', n, flag, error)
  call expect(flag .and. n == 5, 'info_get_valuelen')
  call mpi_info_dup(info, twin, error)
  call mpi_info_get(twin, 'where', 16, text, flag, error)
  call expect(flag .and. text == 'there', 'info_get')
  call mpi_info_get_nthkey(info, 0, text, error)
  call expect(text == 'where', 'info_get_nthkey')
  call mpi_info_delete(info, 'where', error)
  call mpi_info_get_nkeys(info, n, error)
  call expect(n == 0, 'info_delete')
  call mpi_info_free(twin, error)
  call mpi_comm_dup_with_info(MPI_COMM_WORLD, info, copy, error)
  call mpi_comm_set_info(copy, info, error)
  call mpi_info_free(info, error)
  call mpi_comm_get_info(copy, info, error)
  call mpi_info_free(info, error)
  call mpi_comm_test_inter(copy, flag, error)
  call expect(.not. flag, 'test_inter')
  parent = copy
  call mpi_comm_get_parent(parent, error)
  call expect(parent == MPI_COMM_NULL, 'get_parent')
  call mpi_comm_size(copy, n, error)
  call expect(n == ranks, 'what parent was before is still there')
  call mpi_comm_disconnect(copy, error)
  call expect(copy == MPI_COMM_NULL, 'disconnect')
  call mpi_comm_group(MPI_COMM_WORLD, world, error)
  range(:, 1) = [ranks - 1, 1, -1]
  call mpi_group_range_incl(world, 1, range, some, error)
  call mpi_comm_create(MPI_COMM_WORLD, some, made, error)
  call expect((made == MPI_COMM_NULL) .eqv. (me == 0), 'comm_create')
  if (me /= 0) then
    call mpi_comm_free(made, error)
    call mpi_comm_create_group(MPI_COMM_WORLD, some, 1, made, error)
    call mpi_comm_rank(made, rank, error)
    call expect(rank == ranks - 1 - me, 'comm_create_group')
    call mpi_comm_free(made, error)
  end if
  call mpi_comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made, error)
  call mpi_comm_size(made, n, error)
  call expect(n == 1, 'split_type')
  call mpi_comm_free(made, error)
  sizes = [1, ranks]
  periodic = .true.
  call mpi_cart_create(MPI_COMM_WORLD, 2, sizes, periodic, .false., grid, error)
  call mpi_cart_coords(grid, me, 2, here, error)
  call mpi_cartdim_get(grid, n, error)
  call expect(all(here == [0, me]) .and. n == 2, 'cart_coords')
  call mpi_comm_free(grid, error)
  bytes = 40
  call mpi_alloc_mem(bytes, MPI_INFO_NULL, memory, error)
  call c_f_pointer(memory, numbers, [10])
  numbers = me
  call mpi_barrier(MPI_COMM_WORLD, error)
  call expect(all(numbers == me), 'alloc_mem')
  call mpi_free_mem(numbers, error)
  call mpi_cart_map(MPI_COMM_WORLD, 2, sizes, periodic, n, error)
  call expect(n == me, 'cart_map')
  call mpi_pcontrol(0, error)
end subroutine communicators

! Tests a graph that is a ring.
subroutine graphs
  use mpi
  use state
  implicit none
  integer :: index(ranks), edges(2*ranks), got_index(ranks), got_edges(2*ranks), found(2)
  integer :: graph, n, nodes, mapped, error, i
  index = [(2*i, i=1, ranks)]
  do i = 0, ranks - 1
    edges(2*i + 1) = mod(i + ranks - 1, ranks)
    edges(2*i + 2) = mod(i + 1, ranks)
  end do
  call mpi_graph_create(MPI_COMM_WORLD, ranks, index, edges, .false., graph, error)
  call mpi_graphdims_get(graph, nodes, n, error)
  call expect(nodes == ranks .and. n == 2*ranks, 'graphdims_get')
  call mpi_graph_get(graph, ranks, 2*ranks, got_index, got_edges, error)
  call expect(all(got_index == index) .and. all(got_edges == edges), 'graph_get')
  call mpi_graph_neighbors_count(graph, me, n, error)
  call mpi_graph_neighbors(graph, me, 2, found, error)
  call expect(n == 2 .and. all(found == [down, up]), 'graph_neighbors')
  call mpi_topo_test(graph, n, error)
  call expect(n == MPI_GRAPH, 'topo_test')
  call mpi_graph_map(MPI_COMM_WORLD, ranks, index, edges, mapped, error)
  call expect(mapped == me, 'graph_map')
  call mpi_comm_free(graph, error)
end subroutine graphs

program layer_fortran_rest
  use mpi
  use state
  implicit none
  integer :: error, provided, rounds, all
  character(len=16) :: argument
  call mpi_init_thread(MPI_THREAD_SINGLE, provided, error)
  call mpi_query_thread(provided, error)
  call mpi_comm_rank(MPI_COMM_WORLD, me, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  up = mod(me + 1, ranks)
  down = mod(me + ranks - 1, ranks)
  call get_command_argument(1, argument)
  read (argument, *) rounds
  if (ranks < 3) call mpi_abort(MPI_COMM_WORLD, 1, error)
  do round = 1, rounds
    call modes
    call blocking
    call smpi_execute_flops(1d5*(me + 1))
    call nonblocking
    call functions
    call communicators
    call graphs
  end do
  call mpi_allreduce(failures, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (me == 0) write (*, '(i0,a,i0,a)') rounds, ' rounds, ', all, ' failures'
  call mpi_finalize(error)
end program layer_fortran_rest
