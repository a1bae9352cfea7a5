! Tests what MPI tells Fortran about types, and products of complex numbers of all kinds.
program types_fortran
  use mpi
  implicit none
  integer :: error, rank, ranks, wrong = 0, total
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  call test_sizes()
  call test_kinds()
  call test_old_calls()
  call test_contents()
  call test_complex()
  call test_pairs()
  call test_calls()
  call mpi_reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0 .and. total == 0) print '(a)', 'fortran: all are right'
  if (rank == 0 .and. total /= 0) print '(a)', 'fortran: WRONG'
  call mpi_finalize(error)

contains

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    print '(a,i0,2a)', 'rank ', rank, ': not right: ', what
  end subroutine expect

  subroutine size_is(type, right, what)
    integer, intent(in) :: type, right
    character(*), intent(in) :: what
    integer :: bytes
    integer(MPI_ADDRESS_KIND) :: low, extent
    call mpi_type_size(type, bytes, error)
    call expect(bytes == right, 'size of '//what)
    call mpi_type_get_extent(type, low, extent, error)
    call expect(low == 0 .and. extent == right, 'extent of '//what)
    call mpi_type_get_true_extent(type, low, extent, error)
    call expect(low == 0 .and. extent == right, 'true extent of '//what)
  end subroutine size_is

  subroutine test_sizes()
    call size_is(MPI_BYTE, 1, 'MPI_BYTE')
    call size_is(MPI_PACKED, 1, 'MPI_PACKED')
    call size_is(MPI_CHARACTER, 1, 'MPI_CHARACTER')
    call size_is(MPI_LOGICAL, 4, 'MPI_LOGICAL')
    call size_is(MPI_INTEGER, 4, 'MPI_INTEGER')
    call size_is(MPI_INTEGER1, 1, 'MPI_INTEGER1')
    call size_is(MPI_INTEGER2, 2, 'MPI_INTEGER2')
    call size_is(MPI_INTEGER4, 4, 'MPI_INTEGER4')
    call size_is(MPI_INTEGER8, 8, 'MPI_INTEGER8')
    call size_is(MPI_REAL, 4, 'MPI_REAL')
    call size_is(MPI_REAL4, 4, 'MPI_REAL4')
    call size_is(MPI_REAL8, 8, 'MPI_REAL8')
    call size_is(MPI_REAL16, 16, 'MPI_REAL16')
    call size_is(MPI_DOUBLE_PRECISION, 8, 'MPI_DOUBLE_PRECISION')
    call size_is(MPI_COMPLEX, 8, 'MPI_COMPLEX')
    call size_is(MPI_COMPLEX8, 8, 'MPI_COMPLEX8')
    call size_is(MPI_COMPLEX16, 16, 'MPI_COMPLEX16')
    call size_is(MPI_COMPLEX32, 32, 'MPI_COMPLEX32')
    call size_is(MPI_DOUBLE_COMPLEX, 16, 'MPI_DOUBLE_COMPLEX')
    call size_is(MPI_2REAL, 8, 'MPI_2REAL')
    call size_is(MPI_2DOUBLE_PRECISION, 16, 'MPI_2DOUBLE_PRECISION')
    call size_is(MPI_2INTEGER, 8, 'MPI_2INTEGER')
    call size_is(MPI_AINT, 8, 'MPI_AINT')
    call size_is(MPI_OFFSET, 8, 'MPI_OFFSET')
    call size_is(MPI_COUNT, 8, 'MPI_COUNT')
  end subroutine test_sizes

  ! Tests types that are chosen by digits, as selected_real_kind and selected_int_kind choose kinds.
  subroutine test_kinds()
    integer :: type, digits, integers, addresses, types, combiner, again
    real(8) :: own(2), sum(2)
    do digits = 1, 18
      call mpi_type_create_f90_integer(digits, type, error)
      call size_is(type, selected_int_kind(digits), 'an integer of some digits')
    end do
    do digits = 1, 33
      call mpi_type_create_f90_real(digits, MPI_UNDEFINED, type, error)
      call size_is(type, merge(16, selected_real_kind(digits), digits > 15), 'a real')
      call mpi_type_create_f90_complex(digits, MPI_UNDEFINED, type, error)
      call size_is(type, 2 * merge(16, selected_real_kind(digits), digits > 15), 'a complex')
    end do
    call mpi_type_create_f90_real(15, 307, type, error)
    call mpi_type_create_f90_real(15, 307, again, error)
    call expect(type == again, 'the same real again')
    call mpi_type_get_envelope(type, integers, addresses, types, combiner, error)
    call expect(integers == 2 .and. addresses == 0 .and. types == 0 .and. &
        combiner == MPI_COMBINER_F90_REAL, 'envelope of a real')
    own = [1d0, dble(rank)]
    call mpi_allreduce(own, sum, 2, type, MPI_SUM, MPI_COMM_WORLD, error)
    call expect(sum(1) == ranks .and. sum(2) == ranks * (ranks - 1) / 2, 'sum of such reals')
  end subroutine test_kinds

  ! Tests calls of MPI 1, whose addresses are default integers. The memory behind such an integer must
  ! not change.
  subroutine test_old_calls()
    integer :: type, told(2)
    call mpi_type_struct(2, [1, 2], [8, 16], [MPI_INTEGER, MPI_REAL8], type, error)
    told = -7
    call mpi_type_extent(type, told(1), error)
    call expect(told(1) == 24 .and. told(2) == -7, 'mpi_type_extent')
    call mpi_type_lb(type, told(1), error)
    call expect(told(1) == 8 .and. told(2) == -7, 'mpi_type_lb')
    call mpi_type_ub(type, told(1), error)
    call expect(told(1) == 32 .and. told(2) == -7, 'mpi_type_ub')
    call mpi_type_hindexed(2, [1, 1], [0, 12], MPI_INTEGER, type, error)
    call mpi_type_extent(type, told(1), error)
    call expect(told(1) == 16, 'mpi_type_hindexed')
    call mpi_type_hvector(3, 1, 16, MPI_INTEGER, type, error)
    call mpi_type_extent(type, told(1), error)
    call expect(told(1) == 36, 'mpi_type_hvector')
  end subroutine test_old_calls

  subroutine test_contents()
    integer :: type, integers, addresses, types, combiner, numbers(8), parts(2)
    integer(MPI_ADDRESS_KIND) :: places(2)
    call mpi_type_create_struct(1, [2], [8_MPI_ADDRESS_KIND], [MPI_REAL8], type, error)
    call mpi_type_get_envelope(type, integers, addresses, types, combiner, error)
    call expect(integers == 2 .and. addresses == 1 .and. types == 1 .and. &
        combiner == MPI_COMBINER_STRUCT, 'envelope of a struct of one block')
    call mpi_type_get_contents(type, 2, 1, 1, numbers, places, parts, error)
    call expect(numbers(2) == 2 .and. places(1) == 8 .and. parts(1) == MPI_REAL8, 'its contents')
    call mpi_type_create_indexed_block(2, 1, [0, 1], MPI_INTEGER, type, error)
    call mpi_type_get_envelope(type, integers, addresses, types, combiner, error)
    call expect(integers == 4 .and. combiner == MPI_COMBINER_INDEXED_BLOCK, 'an indexed block')
  end subroutine test_contents

  subroutine test_complex()
    complex(4) :: single, single_right, single_all
    complex(8) :: double, double_right, double_all
    complex(16) :: quad, quad_right, quad_all
    integer :: i, single_type(2), double_type(2)
    single_type = [MPI_COMPLEX, MPI_COMPLEX8]
    double_type = [MPI_DOUBLE_COMPLEX, MPI_COMPLEX16]
    single_right = 1
    double_right = 1
    quad_right = 1
    do i = 0, ranks - 1
      single_right = single_right * cmplx(1 + i, 2 - i)
      double_right = double_right * cmplx(1 + i, 2 - i, 8)
      quad_right = quad_right * cmplx(1 + i, 2 - i, 16)
    end do
    do i = 1, 2
      single = cmplx(1 + rank, 2 - rank)
      double = cmplx(1 + rank, 2 - rank, 8)
      call mpi_allreduce(single, single_all, 1, single_type(i), MPI_PROD, MPI_COMM_WORLD, error)
      call expect(single_all == single_right, 'product of complex(4)')
      call mpi_allreduce(double, double_all, 1, double_type(i), MPI_PROD, MPI_COMM_WORLD, error)
      call expect(double_all == double_right, 'product of complex(8)')
    end do
    quad = cmplx(1 + rank, 2 - rank, 16)
    call mpi_allreduce(quad, quad_all, 1, MPI_COMPLEX32, MPI_PROD, MPI_COMM_WORLD, error)
    call expect(quad_all == quad_right, 'product of complex(16)')
  end subroutine test_complex

  subroutine test_pairs()
    integer :: own(2), best(2), i
    integer(1) :: small, sum, all_small(16)
    own = [mod(rank, 2), 9 - rank]
    call mpi_allreduce(own, best, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, error)
    call expect(best(1) == 0 .and. best(2) == 9 - (ranks - 1) / 2 * 2, 'minloc')
    small = int(rank + 1, 1)
    call mpi_allreduce(small, sum, 1, MPI_INTEGER1, MPI_SUM, MPI_COMM_WORLD, error)
    call expect(sum == ranks * (ranks + 1) / 2, 'sum of integer(1)')
    all_small = -1
    call mpi_allgather(small, 1, MPI_INTEGER1, all_small, 1, MPI_INTEGER1, MPI_COMM_WORLD, error)
    call expect(all(int(all_small(:ranks)) == [(i, i = 1, ranks)]) .and. &
        all(all_small(ranks + 1:) == -1), 'integer(1) of all')
  end subroutine test_pairs

  ! Tests that a type has that extent, in integers, and that it holds `count` integers.
  subroutine integers_in(type, extent, count, what)
    integer, intent(in) :: type, extent, count
    character(*), intent(in) :: what
    integer :: bytes
    integer(MPI_ADDRESS_KIND) :: low, found
    call mpi_type_size(type, bytes, error)
    call mpi_type_get_extent(type, low, found, error)
    call expect(found == 4 * extent .and. bytes == 4 * count, what)
  end subroutine integers_in

  subroutine test_calls()
    integer :: type, other, bytes, status(MPI_STATUS_SIZE), count, group, made, sizes(2), own(2)
    integer(MPI_ADDRESS_KIND) :: places(2), four = 4
    places = [0, 12]
    call mpi_type_contiguous(3, MPI_INTEGER, type, error)
    call integers_in(type, 3, 3, 'contiguous')
    call mpi_type_vector(2, 1, 3, MPI_INTEGER, type, error)
    call integers_in(type, 4, 2, 'vector')
    call mpi_type_dup(type, other, error)
    call integers_in(other, 4, 2, 'dup')
    call mpi_type_free(other, error)
    call mpi_type_create_hvector(2, 1, 4 * four, MPI_INTEGER, type, error)
    call integers_in(type, 5, 2, 'create_hvector')
    call mpi_type_indexed(2, [1, 2], [0, 4], MPI_INTEGER, type, error)
    call integers_in(type, 6, 3, 'indexed')
    call mpi_type_create_indexed(2, [1, 2], [0, 4], MPI_INTEGER, type, error)
    call integers_in(type, 6, 3, 'create_indexed')
    call mpi_type_create_hindexed(2, [1, 2], places, MPI_INTEGER, type, error)
    call integers_in(type, 5, 3, 'create_hindexed')
    call mpi_type_create_hindexed_block(2, 1, places, MPI_INTEGER, type, error)
    call integers_in(type, 4, 2, 'create_hindexed_block')
    call mpi_type_create_subarray(2, [4, 5], [2, 3], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, type, &
        error)
    call integers_in(type, 20, 6, 'create_subarray')
    call mpi_type_create_resized(MPI_INTEGER, -four, 3 * four, type, error)
    call integers_in(type, 3, 1, 'create_resized')
    call mpi_type_commit(type, error)
    call mpi_status_set_elements(status, type, 2, error)
    call mpi_get_count(status, MPI_INTEGER, count, error)
    call expect(count == 2, 'status_set_elements')
    sizes = 0
    call mpi_dims_create(36, 2, sizes, error)
    call expect(all(sizes == 6), 'dims_create')
    call mpi_comm_group(MPI_COMM_WORLD, group, error)
    call mpi_group_excl(group, 1, [0], made, error)
    call mpi_group_intersection(made, group, other, error)
    call mpi_group_size(other, bytes, error)
    call expect(bytes == ranks - 1, 'group_excl and group_intersection')
    own = [3, 4]
    call mpi_reduce_local([1, 2], own, 2, MPI_INTEGER, MPI_SUM, error)
    call expect(own(1) == 4 .and. own(2) == 6, 'reduce_local')
  end subroutine test_calls

end program types_fortran
