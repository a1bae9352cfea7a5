! Tests one-sided communication in Fortran, as layer-windows.c does in C. Usage: layer-windows ROUNDS
program layer_windows
  use mpi
  use iso_c_binding
  implicit none
  character(len=*), parameter :: test_name = 'layer-windows'
  integer, parameter :: cells = 64
  integer, save :: memory(0:cells - 1)
  integer :: rank, ranks, next, previous, rounds, failures, error, round, window
  integer(MPI_ADDRESS_KIND) :: bytes

  call begin_rounds()
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  bytes = 4 * cells
  call mpi_win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  do round = 1, rounds
    call smpi_execute_benched(1d-3)
    call test_fence()
    call test_groups()
    call test_questions()
    call test_attributes()
    call test_dynamic()
  end do
  call mpi_win_free(window, error)
  call expect(window == MPI_WIN_NULL, 'free')
  call end_rounds()

contains
  include 'layer-rounds.inc'

  integer function number(from, at)
    integer, intent(in) :: from, at
    number = 1000 * at + from
  end function number

  subroutine test_fence()
    integer :: in, out, one, old, all, swapped, before
    integer(MPI_ADDRESS_KIND) :: at
    if (round > 1) call expect(memory(0) == number(previous, round - 1), 'of the last round')
    memory(3) = 7
    memory(4) = 5
    memory(5) = 0
    before = memory(1)
    out = number(rank, round)
    one = 1
    call mpi_win_fence(MPI_MODE_NOPRECEDE, window, error)
    at = 0
    call mpi_put(out, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, window, error)
    at = 1
    call mpi_accumulate(one, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, MPI_SUM, window, error)
    at = 3
    call mpi_compare_and_swap(out, 7, swapped, MPI_INTEGER, next, at, window, error)
    at = 4
    call mpi_get_accumulate(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, &
        MPI_SUM, window, error)
    at = 5
    call mpi_fetch_and_op(one, old, MPI_INTEGER, 0, at, MPI_SUM, window, error)
    call mpi_win_fence(0, window, error)
    call expect(memory(0) == number(previous, round), 'put')
    if (rank == 0) call expect(memory(1) == before + ranks, 'accumulate')
    call expect(swapped == 7 .and. memory(3) == number(previous, round), 'compare_and_swap')
    call expect(all == 5 .and. memory(4) == 6, 'get_accumulate')
    call expect(old >= 0 .and. old < ranks, 'fetch_and_op')
    at = 0
    call mpi_get(in, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, window, error)
    call mpi_win_fence(MPI_MODE_NOSUCCEED, window, error)
    call expect(in == out, 'get')
  end subroutine test_fence

  subroutine test_groups()
    type(c_ptr) :: base
    integer, pointer :: own(:)
    integer :: world, to, from, other, out
    integer(MPI_ADDRESS_KIND) :: at
    at = 8
    call mpi_win_allocate(at, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, other, error)
    call c_f_pointer(base, own, (/2/))
    own = -1
    call mpi_win_get_group(other, world, error)
    call mpi_group_incl(world, 1, (/next/), to, error)
    call mpi_group_incl(world, 1, (/previous/), from, error)
    out = number(rank, round)
    at = 1
    call mpi_win_post(from, 0, other, error)
    call mpi_win_start(to, 0, other, error)
    call mpi_put(out, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, other, error)
    call mpi_win_complete(other, error)
    call mpi_win_wait(other, error)
    call expect(own(1) == -1 .and. own(2) == number(previous, round), 'put to a group')
    call mpi_win_free(other, error)
  end subroutine test_groups

  subroutine test_questions()
    integer(MPI_ADDRESS_KIND) :: value
    integer :: length, info, handler
    logical :: found
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call mpi_win_get_attr(window, MPI_WIN_SIZE, value, found, error)
    call expect(found .and. value == 4 * cells, 'get_attr')
    call mpi_win_set_name(window, 'cells', error)
    call mpi_win_get_name(window, name, length, error)
    call expect(length == 5 .and. name == 'cells', 'get_name')
    call mpi_info_create(info, error)
    call mpi_win_set_info(window, info, error)
    call mpi_info_free(info, error)
    call mpi_win_get_info(window, info, error)
    call expect(info /= MPI_INFO_NULL, 'get_info')
    call mpi_info_free(info, error)
  end subroutine test_questions

  subroutine test_attributes()
    integer(MPI_ADDRESS_KIND) :: value
    integer :: key
    logical :: found
    value = 0
    call mpi_win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, value, error)
    value = 17 + round
    call mpi_win_set_attr(window, key, value, error)
    value = 0
    call mpi_win_get_attr(window, key, value, found, error)
    call expect(found .and. value == 17 + round, 'set_attr')
    call mpi_win_delete_attr(window, key, error)
    call mpi_win_get_attr(window, key, value, found, error)
    call expect(.not. found, 'delete_attr')
    call mpi_win_free_keyval(key, error)
  end subroutine test_attributes

  subroutine test_dynamic()
    integer, save, target :: own(2)
    integer :: other, out
    integer(MPI_ADDRESS_KIND) :: here, there, size
    own = -1
    size = 8
    out = number(rank, round)
    call mpi_win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, other, error)
    call mpi_win_attach(other, own, size, error)
    call mpi_get_address(own(2), here, error)
    call mpi_sendrecv(here, 1, MPI_AINT, previous, 60, there, 1, MPI_AINT, next, 60, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call mpi_win_fence(0, other, error)
    call mpi_put(out, 1, MPI_INTEGER, next, there, 1, MPI_INTEGER, other, error)
    call mpi_win_fence(0, other, error)
    call expect(own(1) == -1 .and. own(2) == number(previous, round), 'a dynamic window')
    call mpi_win_detach(other, own, error)
    call mpi_win_free(other, error)
  end subroutine test_dynamic
end program layer_windows
