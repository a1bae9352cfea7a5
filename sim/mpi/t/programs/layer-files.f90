! Tests every call of MPI-IO in Fortran, as layer-files.c does in C.
! Usage: layer-files ROUNDS FOLDER
program layer_files
  use mpi
  implicit none
  character(len=*), parameter :: test_name = 'layer-files'
  integer, parameter :: block = 3, rows = 4, tile = rows * block
  integer :: rank, ranks, next, rounds, failures, error, round, matrix
  character(len=200) :: folder

  call begin_rounds()
  call get_command_argument(2, folder)
  next = mod(rank + 1, ranks)
  call open_file(MPI_COMM_WORLD, 'matrix', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), matrix)
  do round = 1, rounds
    call test_matrix()
    call smpi_execute_benched(1d-3)
    call test_pointers()
    call test_own()
    call smpi_execute_benched(1d-3)
    call test_later()
    call test_questions()
  end do
  call mpi_file_close(matrix, error)
  call expect(matrix == MPI_FILE_NULL, 'close')
  call end_rounds()

contains
  include 'layer-rounds.inc'

  subroutine open_file(comm, name, amode, file)
    integer, intent(in) :: comm, amode
    character(len=*), intent(in) :: name
    integer, intent(out) :: file
    call mpi_file_open(comm, trim(folder)//'/'//name//' ', amode, MPI_INFO_NULL, file, error)
    call expect(error == MPI_SUCCESS, 'open '//name)
  end subroutine open_file

  integer function number(from, at, i)
    integer, intent(in) :: from, at, i
    number = 100000 * at + 1000 * from + i
  end function number

  subroutine columns_of(owner, columns)
    integer, intent(in) :: owner
    integer, intent(out) :: columns
    call mpi_type_create_subarray(2, (/ranks * block, rows/), (/block, rows/), &
        (/owner * block, 0/), MPI_ORDER_FORTRAN, MPI_INTEGER, columns, error)
    call mpi_type_commit(columns, error)
    call test_type(columns)
  end subroutine columns_of

  subroutine test_type(type)
    integer, intent(in) :: type
    integer :: integers, addresses, types, combiner, integer(8), part(1)
    integer(MPI_ADDRESS_KIND) :: address(1)
    call mpi_type_get_envelope(type, integers, addresses, types, combiner, error)
    call expect(integers == 8 .and. addresses == 0 .and. types == 1, 'get_envelope')
    call mpi_type_get_contents(type, integers, addresses, types, integer, address, part, error)
    call expect(integer(1) == 2 .and. integer(2) * integer(3) == ranks * tile .and. &
        integer(8) == MPI_ORDER_FORTRAN .and. part(1) == MPI_INTEGER, 'get_contents')
  end subroutine test_type

  subroutine test_matrix()
    integer :: out(tile), in(tile), columns, i, status(MPI_STATUS_SIZE), count
    integer(MPI_OFFSET_KIND) :: at, start
    start = 8
    call columns_of(rank, columns)
    call mpi_file_set_view(matrix, start, MPI_INTEGER, columns, 'native', MPI_INFO_NULL, error)
    if (round > 1) then
      at = 0
      call mpi_file_read_at(matrix, at, in, tile, MPI_INTEGER, status, error)
      call expect(in(1) == number(rank, round - 1, 1) .and. &
          in(tile) == number(rank, round - 1, tile), 'the matrix of the last round')
    end if
    out = (/(number(rank, round, i), i = 1, tile)/)
    at = 0
    call mpi_file_write_at_all(matrix, at, out, tile, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    at = round * tile
    call mpi_file_write_at(matrix, at, out, tile, MPI_INTEGER, status, error)
    call mpi_get_count(status, MPI_INTEGER, count, error)
    call expect(count == tile, 'count')
    call mpi_file_sync(matrix, error)
    call mpi_type_free(columns, error)
    call columns_of(next, columns)
    call mpi_file_set_view(matrix, start, MPI_INTEGER, columns, 'native', MPI_INFO_NULL, error)
    call mpi_file_read_at_all(matrix, at, in, tile, MPI_INTEGER, status, error)
    call expect(all_are(in, next), 'the columns of the neighbour')
    call mpi_type_free(columns, error)
  end subroutine test_matrix

  logical function all_are(in, from)
    integer, intent(in) :: in(tile), from
    integer :: i
    all_are = all_true((/(in(i) == number(from, round, i), i = 1, tile)/))
  end function all_are

  logical function all_true(each)
    logical, intent(in) :: each(:)
    all_true = count(each) == size(each)
  end function all_true

  subroutine test_pointers()
    integer :: file, out(4), in(4), i, status(MPI_STATUS_SIZE)
    integer(MPI_OFFSET_KIND) :: at
    call open_file(MPI_COMM_WORLD, 'pointers', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), file)
    at = rank * 16
    call mpi_file_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
    out = (/(number(rank, round, i), i = 1, 4)/)
    call mpi_file_write(file, out, 1, MPI_INTEGER, status, error)
    call mpi_file_write_all(file, out(2), 3, MPI_INTEGER, status, error)
    call mpi_file_get_position(file, at, error)
    call expect(at == 4, 'get_position')
    at = 1
    call mpi_file_seek(file, at, MPI_SEEK_SET, error)
    call mpi_file_read(file, in, 2, MPI_INTEGER, status, error)
    call mpi_file_read_all(file, in(3), 1, MPI_INTEGER, status, error)
    call expect(all_true(in(1:3) == out(2:4)), 'read')
    call mpi_file_close(file, error)
    call open_file(MPI_COMM_WORLD, 'ordered', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), file)
    at = 0
    call mpi_file_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
    call mpi_file_write_ordered(file, out, 2, MPI_INTEGER, status, error)
    call mpi_file_write_ordered_begin(file, out, 1, MPI_INTEGER, error)
    call mpi_file_write_ordered_end(file, out, status, error)
    call mpi_file_get_position_shared(file, at, error)
    call expect(at == 3 * ranks, 'get_position_shared')
    at = 0
    call mpi_file_seek_shared(file, at, MPI_SEEK_SET, error)
    call mpi_file_read_ordered(file, in, 2, MPI_INTEGER, status, error)
    call mpi_file_read_ordered_begin(file, in(3), 1, MPI_INTEGER, error)
    call mpi_file_read_ordered_end(file, in(3), status, error)
    call expect(all_true(in(1:3) == (/out(1), out(2), out(1)/)), 'read_ordered')
    call mpi_file_close(file, error)
  end subroutine test_pointers

  subroutine test_own()
    integer :: file, out(6), in(6), i, requests(2)
    integer(MPI_OFFSET_KIND) :: at, bytes
    character(len=20) :: name
    write (name, '(a,i0)') 'own-', rank
    call open_file(MPI_COMM_SELF, trim(name), ior(ior(MPI_MODE_CREATE, MPI_MODE_EXCL), &
        MPI_MODE_RDWR), file)
    out = (/(number(rank, round, i), i = 1, 6)/)
    at = 0
    call mpi_file_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
    call mpi_file_iwrite_at(file, at, out, 2, MPI_INTEGER, requests(1), error)
    at = 2
    call mpi_file_seek(file, at, MPI_SEEK_SET, error)
    call mpi_file_iwrite(file, out(3), 2, MPI_INTEGER, requests(2), error)
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
    at = 4
    call mpi_file_seek_shared(file, at, MPI_SEEK_SET, error)
    call mpi_file_write_shared(file, out(5), 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call mpi_file_iwrite_shared(file, out(6), 1, MPI_INTEGER, requests(1), error)
    call mpi_wait(requests(1), MPI_STATUS_IGNORE, error)
    call mpi_file_get_size(file, bytes, error)
    call expect(bytes == 24, 'get_size')
    call mpi_file_seek_shared(file, at, MPI_SEEK_SET, error)
    at = 0
    call mpi_file_seek(file, at, MPI_SEEK_SET, error)
    call mpi_file_iread(file, in, 2, MPI_INTEGER, requests(1), error)
    at = 2
    call mpi_file_iread_at(file, at, in(3), 2, MPI_INTEGER, requests(2), error)
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
    call mpi_file_read_shared(file, in(5), 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call mpi_file_iread_shared(file, in(6), 1, MPI_INTEGER, requests(1), error)
    call mpi_wait(requests(1), MPI_STATUS_IGNORE, error)
    call expect(all_true(in == out), 'what was written')
    call mpi_file_close(file, error)
    call mpi_file_delete(trim(folder)//'/'//trim(name), MPI_INFO_NULL, error)
    call expect(error == MPI_SUCCESS, 'delete')
  end subroutine test_own

  subroutine test_later()
    integer :: file, out, in(4), requests(2), i
    integer(MPI_OFFSET_KIND) :: at
    call open_file(MPI_COMM_WORLD, 'later', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), file)
    at = 0
    call mpi_file_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
    out = number(rank, round, 0)
    at = ranks + rank
    call mpi_file_seek(file, at, MPI_SEEK_SET, error)
    at = rank
    call mpi_file_iwrite_at_all(file, at, out, 1, MPI_INTEGER, requests(1), error)
    call mpi_file_iwrite_all(file, out, 1, MPI_INTEGER, requests(2), error)
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
    at = 2 * ranks + rank
    call mpi_file_write_at_all_begin(file, at, out, 1, MPI_INTEGER, error)
    call mpi_file_write_at_all_end(file, out, MPI_STATUS_IGNORE, error)
    at = 3 * ranks + rank
    call mpi_file_seek(file, at, MPI_SEEK_SET, error)
    call mpi_file_write_all_begin(file, out, 1, MPI_INTEGER, error)
    call mpi_file_write_all_end(file, out, MPI_STATUS_IGNORE, error)
    at = ranks + next
    call mpi_file_seek(file, at, MPI_SEEK_SET, error)
    at = next
    call mpi_file_iread_at_all(file, at, in(1), 1, MPI_INTEGER, requests(1), error)
    call mpi_file_iread_all(file, in(2), 1, MPI_INTEGER, requests(2), error)
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
    at = 2 * ranks + next
    call mpi_file_read_at_all_begin(file, at, in(3), 1, MPI_INTEGER, error)
    call mpi_file_read_at_all_end(file, in(3), MPI_STATUS_IGNORE, error)
    at = 3 * ranks + next
    call mpi_file_seek(file, at, MPI_SEEK_SET, error)
    call mpi_file_read_all_begin(file, in(4), 1, MPI_INTEGER, error)
    call mpi_file_read_all_end(file, in(4), MPI_STATUS_IGNORE, error)
    call expect(all_true((/(in(i) == number(next, round, 0), i = 1, 4)/)), 'of the neighbour')
    call mpi_file_close(file, error)
  end subroutine test_later

  subroutine test_questions()
    integer :: file, amode, group, members, info, handler, etype, filetype, other
    logical :: atomic
    integer(MPI_OFFSET_KIND) :: bytes, place
    integer(MPI_ADDRESS_KIND) :: extent
    character(len=20) :: representation
    call open_file(MPI_COMM_WORLD, 'questions', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), file)
    bytes = 100
    call mpi_file_set_size(file, bytes, error)
    bytes = 120
    call mpi_file_preallocate(file, bytes, error)
    bytes = 0
    call mpi_file_get_size(file, bytes, error)
    call expect(bytes == 120, 'get_size')
    call mpi_file_get_amode(file, amode, error)
    call mpi_file_get_group(file, group, error)
    call mpi_group_size(group, members, error)
    call expect(amode == ior(MPI_MODE_CREATE, MPI_MODE_RDWR) .and. members == ranks, 'get_group')
    call mpi_file_set_atomicity(file, .false., error)
    atomic = .true.
    call mpi_file_get_atomicity(file, atomic, error)
    call expect(.not. atomic, 'get_atomicity')
    call mpi_info_create(info, error)
    call mpi_file_set_info(file, info, error)
    call mpi_file_get_info(file, other, error)
    call expect(error == MPI_SUCCESS .and. other /= MPI_INFO_NULL, 'get_info')
    call mpi_info_free(info, error)
    call mpi_file_set_errhandler(file, MPI_ERRORS_RETURN, error)
    call mpi_file_get_errhandler(file, handler, error)
    call expect(handler == MPI_ERRORS_RETURN, 'get_errhandler')
    bytes = 4
    call mpi_file_set_view(file, bytes, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
    call mpi_file_get_view(file, place, etype, filetype, representation, error)
    call expect(place == 4 .and. etype == MPI_INTEGER .and. representation == 'native', 'get_view')
    call mpi_file_get_byte_offset(file, bytes, place, error)
    call mpi_file_get_type_extent(file, MPI_INTEGER, extent, error)
    call expect(place == 20 .and. extent == 4, 'get_byte_offset')
    call mpi_file_close(file, error)
  end subroutine test_questions
end program layer_files
