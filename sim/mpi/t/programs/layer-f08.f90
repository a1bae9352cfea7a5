! Tests calls of module mpi_f08, in all that differs from FORTRAN 77: handles as types, statuses,
! arguments that are left out or given by name, buffers of any type and shape, texts, logicals,
! functions of the program, and addresses. Usage: layer-f08 ROUNDS
module f08_functions
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: copied = 0, deleted = 0, handled = 0, queried = 0, released = 0

contains

  subroutine larger(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    if (datatype /= MPI_INTEGER) call MPI_Abort(MPI_COMM_WORLD, 3)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = max(in, inout)
  end subroutine larger

  subroutine copy_next(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, &
      ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copied = copied + 1
    attribute_val_out = attribute_val_in + extra_state
    flag = oldcomm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine copy_next

  subroutine forget(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deleted = deleted + int(attribute_val / attribute_val)
    ierror = MPI_SUCCESS
    if (comm == MPI_COMM_NULL .or. comm_keyval == MPI_KEYVAL_INVALID .or. extra_state /= 5) &
        ierror = MPI_ERR_OTHER
  end subroutine forget

  subroutine of_comm(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    if (comm /= MPI_COMM_NULL .and. error_code == MPI_ERR_RANK) handled = handled + 1
  end subroutine of_comm

  subroutine of_window(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    if (win /= MPI_WIN_NULL .and. error_code == MPI_ERR_DISP) handled = handled + 10
  end subroutine of_window

  subroutine of_file(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
    if (file /= MPI_FILE_NULL .and. error_code == MPI_ERR_AMODE) handled = handled + 100
  end subroutine of_file

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    queried = queried + 1
    status%MPI_SOURCE = int(extra_state)
    status%MPI_TAG = 7
    call MPI_Status_set_cancelled(status, .false.)
    call MPI_Status_set_elements(status, MPI_INTEGER, 3)
    ierror = MPI_SUCCESS
  end subroutine query

  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    released = released + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine release

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, complete .or. extra_state > 0)
  end subroutine cancel
end module f08_functions

program layer_f08
  use f08_functions
  implicit none
  character(len=*), parameter :: test_name = 'layer-f08'
  integer :: rank, ranks, next, previous, rounds, failures, error, round

  call begin_rounds()
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  do round = 1, rounds
    call smpi_execute_benched(1d-3)
    call test_messages()
    call test_matched()
    call test_requests()
    call test_collectives()
    call test_neighbours()
    call test_types()
    call test_comms()
    call test_attributes()
    call test_operation()
    call test_window()
    call test_file()
    call test_handlers()
    call test_texts()
  end do
  call end_rounds()

contains
  include 'layer-rounds.inc'

  subroutine test_messages()
    type(MPI_Status) :: status, statuses(2)
    type(MPI_Request) :: requests(2)
    integer :: grid(4, 4), column(4), count, old(MPI_STATUS_SIZE)
    real(8) :: one, got
    logical :: flag
    complex, allocatable :: points(:)
    one = rank + 0.5d0
    call MPI_Sendrecv(one, 1, MPI_DOUBLE_PRECISION, next, 1, got, 1, MPI_DOUBLE_PRECISION, previous, &
        1, MPI_COMM_WORLD, status)
    call expect(abs(got - previous - 0.5d0) < 1d-9, 'sendrecv of scalars')
    call expect(status%MPI_SOURCE == previous .and. status%MPI_TAG == 1, 'status')
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count)
    call expect(count == 1, 'get_count')
    call MPI_Status_f082f(status, old)
    call expect(old(MPI_SOURCE) == previous .and. old(MPI_TAG) == 1, 'status_f082f')
    old(MPI_TAG) = 5
    call MPI_Status_f2f08(old, status, error)
    call expect(status%MPI_TAG == 5 .and. error == MPI_SUCCESS, 'status_f2f08')

    grid = rank
    grid(2, :) = [1, 2, 3, round]
    call MPI_Irecv(column, 4, MPI_INTEGER, previous, tag=2, comm=MPI_COMM_WORLD, request=requests(1))
    call MPI_Send(grid(2, :), 4, MPI_INTEGER, next, 2, MPI_COMM_WORLD, ierror=error)
    call expect(error == MPI_SUCCESS, 'error by name')
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call expect(all(column == [1, 2, 3, round]), 'a section, packed')
    call expect(requests(1) == MPI_REQUEST_NULL, 'a request that is complete')

    allocate (points(3))
    points = cmplx(rank, round)
    call MPI_Isend(points, 3, MPI_COMPLEX, next, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(grid, 3, MPI_COMPLEX, previous, 3, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, statuses)
    call expect(statuses(2)%MPI_SOURCE == previous, 'statuses')
    call expect(all(requests == MPI_REQUEST_NULL), 'requests compared as an array')
    call expect(abs(real(transfer(grid(1, 1), 1.0)) - previous) < 1e-6, 'complex numbers')

    call MPI_Isend(rank, 1, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(count, 1, MPI_INTEGER, previous, 4, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    call expect(count == previous, 'waitall')
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
    call expect(.not. flag, 'iprobe')
    if (MPI_SUBARRAYS_SUPPORTED .or. MPI_ASYNC_PROTECTS_NONBLOCKING) &
        call expect(.false., 'what is not supported')
    call MPI_F_sync_reg(count)
  end subroutine test_messages

  subroutine test_matched()
    type(MPI_Message) :: message
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: got
    logical :: flag
    call MPI_Send(round, 1, MPI_INTEGER, next, 11, MPI_COMM_WORLD)
    call MPI_Mprobe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, message, status)
    call expect(message /= MPI_MESSAGE_NULL .and. status%MPI_SOURCE == previous, 'mprobe')
    call MPI_Mrecv(got, 1, MPI_INTEGER, message, status)
    call expect(got == round .and. message == MPI_MESSAGE_NULL, 'mrecv')
    call MPI_Send(rank, 1, MPI_INTEGER, next, 12, MPI_COMM_WORLD)
    do
      call MPI_Improbe(previous, 12, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE)
      if (flag) exit
    end do
    call MPI_Imrecv(got, 1, MPI_INTEGER, message, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(got == previous, 'imrecv')
  end subroutine test_matched

  subroutine test_requests()
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status
    integer :: got, which, count, indices(2), i
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: flag
    call MPI_Send_init(round, 1, MPI_INTEGER, next, 21, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(got, 1, MPI_INTEGER, previous, 21, MPI_COMM_WORLD, requests(2))
    do i = 1, 2
      got = 0
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call expect(got == round, 'persistent requests')
    end do
    call MPI_Start(requests(2))
    call MPI_Start(requests(1))
    call MPI_Waitany(2, requests, which, status)
    call expect(which == 1 .or. which == 2, 'waitany counts from 1')
    call MPI_Waitsome(2, requests, count, indices, MPI_STATUSES_IGNORE)
    call expect(count == 1 .and. indices(1) == 3 - which, 'waitsome')
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    extra = round
    call MPI_Grequest_start(query, release, cancel, extra, requests(1))
    call MPI_Test(requests(1), flag, status)
    call expect(.not. flag, 'test')
    call MPI_Grequest_complete(requests(1))
    call MPI_Wait(requests(1), status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(status%MPI_SOURCE == round .and. status%MPI_TAG == 7 .and. count == 3, 'grequest')
    call expect(queried == round .and. released == round * (round + 1) / 2, 'its functions')
  end subroutine test_requests

  subroutine test_collectives()
    integer :: all_of(ranks), sums(2), counts(ranks), places(ranks), mine(ranks), i
    type(MPI_Datatype) :: types(ranks)
    type(MPI_Request) :: request
    integer(8) :: large
    sums = [rank, round]
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(sums(1) == ranks * (ranks - 1) / 2 .and. sums(2) == ranks * round, 'in place')
    call MPI_Allgather(rank, 1, MPI_INTEGER, all_of, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(all_of == [(i, i = 0, ranks - 1)]), 'allgather')
    large = 0
    if (rank == 1) large = 2_8 ** 40 + round
    call MPI_Bcast(large, 1, MPI_INT64_T, 1, MPI_COMM_WORLD)
    call expect(large == 2_8 ** 40 + round, 'bcast of an INT64_T')
    large = rank
    call MPI_Allreduce(MPI_IN_PLACE, large, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD)
    call expect(large == ranks - 1, 'its largest')
    counts = 1
    places = [(4 * i, i = 0, ranks - 1)]
    types = MPI_INTEGER
    mine = [(100 * rank + i, i = 0, ranks - 1)]
    call MPI_Alltoallw(mine, counts, places, types, all_of, counts, places, types, MPI_COMM_WORLD)
    call expect(all(all_of == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoallw')
    call MPI_Iscan(rank, i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(i == rank * (rank + 1) / 2, 'iscan')
    call MPI_Ibarrier(MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine test_collectives

  subroutine test_neighbours()
    type(MPI_Comm) :: ring, cart
    type(MPI_Datatype) :: types(2)
    type(MPI_Request) :: request
    integer :: got(2), sources(1), targets(1), weights(1), other(1), in, out, counts(2), n
    integer(MPI_ADDRESS_KIND) :: places(2)
    logical :: weighted, periods(1), reorder
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [previous], MPI_UNWEIGHTED, 1, [next], &
        MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring)
    call MPI_Dist_graph_neighbors_count(ring, in, out, weighted)
    call expect(in == 1 .and. out == 1 .and. .not. weighted, 'dist_graph: unweighted')
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring)
    call expect(got(1) == previous, 'neighbor_allgather')
    call MPI_Ineighbor_alltoall(round + rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(got(1) == round + previous, 'ineighbor_alltoall')
    call MPI_Comm_free(ring)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [next], [7], MPI_INFO_NULL, .false., &
        ring)
    call MPI_Dist_graph_neighbors(ring, 1, sources, weights, 1, targets, other)
    call expect(sources(1) == previous .and. targets(1) == next, 'dist_graph_neighbors')
    call expect(weights(1) == 7 .and. other(1) == 7, 'weights')
    call MPI_Comm_free(ring)

    periods = .true.
    reorder = .false.
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], periods, reorder, cart)
    call MPI_Topo_test(cart, n)
    call expect(n == MPI_CART, 'topo_test')
    periods = .false.
    call MPI_Cart_get(cart, 1, sources, periods, targets)
    call expect(sources(1) == ranks .and. periods(1) .and. targets(1) == rank, 'cart_get')
    types = MPI_INTEGER
    counts = 1
    places = [0, 4]
    call MPI_Neighbor_alltoallw([rank, -rank], counts, places, types, got, counts, places, types, &
        cart)
    call expect(got(1) == -previous .and. got(2) == next, 'neighbor_alltoallw')
    call MPI_Ineighbor_alltoallw([rank, -rank], counts, places, types, got, counts, places, types, &
        cart, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(got(1) == -previous .and. got(2) == next, 'ineighbor_alltoallw')
    call neighbours_collectives(cart)
    call MPI_Comm_free(cart)
  end subroutine test_neighbours

  ! Tests neighbourhood collectives in a ring: the first neighbour is the rank before this one, the
  ! second is the rank behind it.
  subroutine neighbours_collectives(ring)
    type(MPI_Comm), intent(in) :: ring
    type(MPI_Request) :: request
    integer :: got(2), one(2) = 1, at(2) = [1, 0]
    call MPI_Ineighbor_allgatherv(rank, 1, MPI_INTEGER, got, one, at, MPI_INTEGER, ring, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(got(2) == previous .and. got(1) == next, 'ineighbor_allgatherv')
    call MPI_Neighbor_allgatherv(-rank, 1, MPI_INTEGER, got, one, at, MPI_INTEGER, ring)
    call expect(got(2) == -previous .and. got(1) == -next, 'neighbor_allgatherv')
    call MPI_Ineighbor_allgather(round + rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(got == round + [previous, next]), 'ineighbor_allgather')
    call MPI_Neighbor_alltoall([rank, -rank], 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring)
    call expect(all(got == [-previous, next]), 'neighbor_alltoall')
    call MPI_Neighbor_alltoallv([rank, -rank], one, at, MPI_INTEGER, got, one, at, MPI_INTEGER, ring)
    call expect(all(got == [-next, previous]), 'neighbor_alltoallv')
    call MPI_Ineighbor_alltoallv([rank, round], one, at, MPI_INTEGER, got, one, at, MPI_INTEGER, &
        ring, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(got == [round, previous]), 'ineighbor_alltoallv')
  end subroutine neighbours_collectives

  subroutine test_types()
    type :: item
      sequence
      integer :: number
      real(8) :: weight
      character(len=4) :: name
    end type item
    type(item) :: sent, got
    type(MPI_Datatype) :: type, resized, found(3), integers(3)
    integer(MPI_ADDRESS_KIND) :: places(3), lower, extent, base
    integer(MPI_COUNT_KIND) :: bytes, least
    type(MPI_Status) :: status
    integer :: numbers(3), n, numbers_of(8), size
    call MPI_Get_address(sent, base)
    call MPI_Get_address(sent%number, places(1))
    call MPI_Get_address(sent%weight, places(2))
    call MPI_Get_address(sent%name, places(3))
    places = [(MPI_Aint_diff(places(n), base), n = 1, 3)]
    found = [MPI_INTEGER, MPI_DOUBLE_PRECISION, MPI_CHARACTER]
    call MPI_Type_create_struct(3, [1, 1, 4], places, found, type)
    call MPI_Type_create_resized(type, 0_MPI_ADDRESS_KIND, int(storage_size(sent) / 8, &
        MPI_ADDRESS_KIND), resized)
    call MPI_Type_commit(resized)
    sent = item(round, rank * 2d0, 'abcd')
    call MPI_Sendrecv(sent, 1, resized, next, 31, got, 1, resized, previous, 31, MPI_COMM_WORLD, &
        MPI_STATUS_IGNORE)
    call expect(got%number == round .and. got%name == 'abcd', 'struct')
    call expect(abs(got%weight - previous * 2d0) < 1d-9, 'its weight')
    call MPI_Type_get_extent(resized, lower, extent)
    call expect(lower == 0 .and. extent == storage_size(sent) / 8, 'extent')
    call MPI_Type_size_x(resized, bytes)
    call expect(bytes == 16, 'size_x')
    call MPI_Type_get_extent_x(resized, least, bytes)
    call expect(least == 0 .and. bytes == storage_size(sent) / 8, 'extent_x')
    call MPI_Type_get_true_extent_x(resized, least, bytes)
    call expect(least == 0 .and. bytes >= 16, 'true_extent_x')
    bytes = 3
    call MPI_Status_set_elements_x(status, MPI_INTEGER, bytes)
    bytes = 0
    call MPI_Get_elements_x(status, MPI_INTEGER, bytes)
    call expect(bytes == 3, 'elements_x')
    call MPI_Type_get_contents(type, 4, 3, 3, numbers_of, places, integers)
    call expect(numbers_of(1) == 3 .and. all(integers == found), 'contents')
    call MPI_Type_free(resized)
    call MPI_Type_free(type)
    call expect(type == MPI_DATATYPE_NULL, 'type_free')

    call MPI_Get_address(numbers, places(1))
    call MPI_Type_create_hvector(1, 3, 0_MPI_ADDRESS_KIND, MPI_INTEGER, resized)
    call MPI_Type_create_hindexed(1, [1], places, resized, type)
    call MPI_Type_commit(type)
    numbers = [round, 2, 3]
    if (rank /= 0) numbers = 0
    call MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD)
    call MPI_F_sync_reg(numbers)
    call expect(all(numbers == [round, 2, 3]), 'from the bottom')
    call MPI_Type_free(type)
    call MPI_Type_free(resized)
    call MPI_Sizeof(bytes, n)
    call expect(n == 8, 'sizeof a scalar')
    call MPI_Sizeof(numbers, n, error)
    call expect(n == 4 .and. error == MPI_SUCCESS, 'sizeof an array')
    call MPI_Type_create_f90_real(12, 200, type)
    call MPI_Type_size(type, size)
    call expect(size == 8, 'f90_real')
  end subroutine test_types

  subroutine test_comms()
    type(MPI_Comm) :: half, twin
    type(MPI_Group) :: group, other
    type(MPI_Request) :: request
    integer :: size, outcome
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call expect(half_of(MPI_COMM_WORLD) == MPI_COMM_WORLD%MPI_VAL, 'a constant passed on')
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    call MPI_Comm_size(half, size)
    call expect(size == (ranks + 1 - mod(rank, 2)) / 2, 'split')
    call MPI_Comm_set_name(half, 'half '//'of all  ')
    call MPI_Comm_get_name(half, name, size)
    call expect(name == 'half of all' .and. size == 11, 'names')
    call MPI_Comm_idup(half, twin, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(twin /= half .and. twin /= MPI_COMM_NULL, 'idup')
    call MPI_Comm_compare(half, twin, outcome)
    call expect(outcome == MPI_CONGRUENT, 'compare')
    call MPI_Comm_group(twin, group)
    call MPI_Group_incl(group, 1, [0], other)
    call MPI_Group_size(other, size)
    call expect(size == 1 .and. other /= MPI_GROUP_EMPTY, 'groups')
    call MPI_Group_free(other)
    call MPI_Group_free(group)
    call MPI_Barrier(twin)
    call MPI_Comm_free(twin)
    call MPI_Comm_free(half)
    call expect(half == MPI_COMM_NULL, 'comm_free')
  end subroutine test_comms

  integer function half_of(comm)
    type(MPI_Comm), intent(in) :: comm
    half_of = comm%MPI_VAL
  end function half_of

  subroutine test_attributes()
    type(MPI_Comm) :: comm, twin
    type(MPI_Datatype) :: type
    integer :: key, same, of_type
    integer(MPI_ADDRESS_KIND) :: value, large
    logical :: there
    large = 2_MPI_ADDRESS_KIND ** 40 + rank
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, there)
    call expect(there .and. value >= 32767, 'tag_ub')
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_create_keyval(copy_next, forget, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, same, &
        0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(comm, key, large)
    call MPI_Comm_set_attr(comm, same, large + 1)
    call MPI_Comm_dup(comm, twin)
    call MPI_Comm_get_attr(twin, key, value, there)
    call expect(there .and. value == large + 5, 'copied by a function')
    call MPI_Comm_get_attr(twin, same, value, there)
    call expect(there .and. value == large + 1, 'copied by MPI_COMM_DUP_FN')
    call MPI_Comm_free(twin)
    call MPI_Comm_delete_attr(comm, key)
    call MPI_Comm_get_attr(comm, key, value, there)
    call expect(.not. there, 'deleted')
    call expect(copied == round .and. deleted == 2 * round, 'functions of a key')
    call MPI_Comm_free_keyval(key)
    call expect(key == MPI_KEYVAL_INVALID, 'free_keyval')
    call MPI_Comm_free_keyval(same)
    call MPI_Comm_free(comm)
    call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, of_type, &
        0_MPI_ADDRESS_KIND)
    call MPI_Type_contiguous(2, MPI_INTEGER, type)
    call MPI_Type_set_attr(type, of_type, large)
    call MPI_Type_get_attr(type, of_type, value, there)
    call expect(there .and. value == large, 'of a type')
    call MPI_Type_free(type)
    call MPI_Type_free_keyval(of_type)
  end subroutine test_attributes

  subroutine test_operation()
    type(MPI_Op) :: op
    integer :: all_of(2)
    logical :: commutes
    call MPI_Op_create(larger, commute=.true., op=op)
    call MPI_Op_commutative(op, commutes)
    call expect(commutes, 'op_commutative')
    call MPI_Allreduce([rank, -rank], all_of, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
    call expect(all(all_of == [ranks - 1, 0]), 'an operation of the program')
    call MPI_Op_free(op)
    call expect(op == MPI_OP_NULL, 'op_free')
  end subroutine test_operation

  subroutine test_window()
    type(MPI_Win) :: window
    type(c_ptr) :: memory
    integer, pointer :: cells(:)
    integer :: unit, key, old, swapped
    integer(MPI_ADDRESS_KIND) :: value, size
    logical :: there, ended
    call MPI_Win_allocate(16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, window)
    call c_f_pointer(memory, cells, [4])
    cells = rank
    call MPI_Win_fence(0, window)
    call MPI_Put(round, 1, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
    call MPI_Win_fence(0, window)
    call expect(cells(1) == rank .and. cells(2) == round, 'put')
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window)
    call MPI_Fetch_and_op(5, old, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, MPI_REPLACE, window)
    call MPI_Win_unlock(next, window)
    call expect(old == next, 'fetch_and_op')
    call MPI_Win_sync(window)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window)
    call MPI_Compare_and_swap(6, 5, swapped, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, window)
    call MPI_Win_flush(next, window)
    call MPI_Get_accumulate(0, 0, MPI_INTEGER, old, 1, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, 1, &
        MPI_INTEGER, MPI_NO_OP, window)
    call MPI_Win_unlock(next, window)
    call expect(swapped == 5 .and. old == 6, 'compare_and_swap')
    call MPI_Win_get_attr(window, MPI_WIN_SIZE, value, there)
    call expect(there .and. value == 16, 'size of a window')
    call MPI_Win_get_attr(window, MPI_WIN_BASE, value, there)
    call expect(there .and. value == transfer(memory, value), 'its base')
    call MPI_Win_get_attr(window, MPI_WIN_MODEL, value, there)
    call expect(there .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE), 'its model')
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, &
        0_MPI_ADDRESS_KIND)
    call MPI_Win_set_attr(window, key, 2_MPI_ADDRESS_KIND ** 33)
    call MPI_Win_get_attr(window, key, value, there)
    call expect(there .and. value == 2_MPI_ADDRESS_KIND ** 33, 'an attribute of it')
    call MPI_Win_free_keyval(key)
    call neighbours_epoch(window, ended)
    call expect(ended, 'win_test')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_free(window)
    call MPI_Win_allocate_shared(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, memory, window)
    call MPI_Win_shared_query(window, 0, size, unit, memory)
    call expect(size == 8 .and. unit == 4, 'shared_query')
    call MPI_Win_free(window)
    call expect(window == MPI_WIN_NULL, 'win_free')
  end subroutine test_window

  subroutine neighbours_epoch(window, ended)
    type(MPI_Win), intent(in) :: window
    logical, intent(out) :: ended
    type(MPI_Group) :: all_of, before, after
    call MPI_Comm_group(MPI_COMM_WORLD, all_of)
    call MPI_Group_incl(all_of, 1, [previous], before)
    call MPI_Group_incl(all_of, 1, [next], after)
    call MPI_Win_post(before, 0, window)
    call MPI_Win_start(after, 0, window)
    call MPI_Put(round, 1, MPI_INTEGER, next, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
    call MPI_Win_complete(window)
    do
      call MPI_Win_test(window, ended)
      if (ended) exit
    end do
    call MPI_Group_free(before)
    call MPI_Group_free(after)
    call MPI_Group_free(all_of)
  end subroutine neighbours_epoch

  subroutine test_file()
    type(MPI_File) :: file
    type(MPI_Status) :: status
    type(MPI_Info) :: info
    integer :: written(4), read(4), count
    integer(MPI_OFFSET_KIND) :: at, size
    written = 100 * round + rank
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'access_style', 'write_once')
    call MPI_File_open(MPI_COMM_WORLD, 'layer-f08.data', MPI_MODE_CREATE + MPI_MODE_RDWR, info, file)
    call MPI_Info_free(info)
    at = 16 * rank
    call MPI_File_write_at_all(file, at, written, 4, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(count == 4, 'write_at_all')
    call MPI_File_sync(file)
    at = 16 * next
    call MPI_File_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_read_all(file, read, 4, MPI_INTEGER, MPI_STATUS_IGNORE)
    call expect(all(read == 100 * round + next), 'read_all')
    call MPI_File_get_size(file, size)
    call expect(size == 16 * ranks, 'get_size')
    call MPI_File_close(file)
    call expect(file == MPI_FILE_NULL, 'file_close')
  end subroutine test_file

  subroutine test_handlers()
    type(MPI_Errhandler) :: handler, found
    type(MPI_Comm) :: comm
    type(MPI_Win) :: window
    type(MPI_File) :: file
    integer :: cell
    handled = 0
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_create_errhandler(of_comm, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Comm_call_errhandler(comm, MPI_ERR_RANK)
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(comm)
    call MPI_Win_create(cell, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, window)
    call MPI_Win_create_errhandler(of_window, handler)
    call MPI_Win_set_errhandler(window, handler)
    call MPI_Win_get_errhandler(window, found)
    call expect(found == handler, 'the handler of a window')
    call MPI_Win_call_errhandler(window, MPI_ERR_DISP)
    call MPI_Win_free(window)
    call MPI_File_open(MPI_COMM_SELF, 'layer-f08.data', MPI_MODE_RDONLY, MPI_INFO_NULL, file)
    call MPI_File_create_errhandler(of_file, handler)
    call MPI_File_set_errhandler(file, handler)
    call MPI_File_call_errhandler(file, MPI_ERR_AMODE)
    call MPI_File_close(file)
    call expect(handled == 111, 'handlers of communicators, windows and files')
  end subroutine test_handlers

  subroutine test_texts()
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    character(len=MPI_MAX_OBJECT_NAME) :: type_name
    character(len=20) :: value
    type(MPI_Info) :: info
    integer :: length, level
    logical :: flag
    double precision :: began
    began = MPI_Wtime()
    name = repeat('x', len(name))
    call MPI_Get_processor_name(name, length)
    call expect(length > 0 .and. name(length + 1:) == '', 'processor')
    version = repeat('x', len(version))
    call MPI_Get_library_version(version, length)
    call expect(length > 0 .and. version(length + 1:) == '', 'library_version')
    call MPI_Type_set_name(MPI_REAL4, 'a name')
    type_name = repeat('x', len(type_name))
    call MPI_Type_get_name(MPI_REAL4, type_name, length)
    call expect(length == 6 .and. type_name == 'a name', 'the name of a type')
    call MPI_Error_string(MPI_ERR_RANK, text, length)
    call expect(length > 0, 'error_string')
    call MPI_Info_create(info)
    call MPI_Info_set(info, key='colour', value='blue')
    call MPI_Info_get(info, 'colour', len(value), value, flag)
    call expect(flag .and. value == 'blue', 'info_get')
    call MPI_Info_get(info, 'none', len(value), value, flag)
    call expect(.not. flag, 'info_get of nothing')
    call MPI_Info_free(info)
    call MPI_Initialized(flag)
    call expect(flag, 'initialized')
    call MPI_Query_thread(level)
    call expect(level >= MPI_THREAD_SINGLE, 'query_thread')
    call MPI_Pcontrol(1)
    call expect(MPI_Wtime() >= began .and. MPI_Wtick() > 0, 'clocks')
  end subroutine test_texts
end program layer_f08
