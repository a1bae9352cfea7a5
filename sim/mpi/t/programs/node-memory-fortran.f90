! Tests memory that the ranks of a node share, in Fortran: rank i of the node stores into the part
! of rank i + 1. Prints what each rank has found, which is 100 * (rank before) + 7.
program node_memory_fortran
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  type(MPI_Comm) :: node
  type(MPI_Win) :: window
  type(c_ptr) :: memory
  integer, pointer :: own(:), next(:)
  integer :: rank, here, members, unit, round
  integer(MPI_ADDRESS_KIND) :: bytes
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, node)
  call MPI_Comm_rank(node, here)
  call MPI_Comm_size(node, members)
  call MPI_Win_allocate_shared(16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, node, memory, window)
  call c_f_pointer(memory, own, [4])
  call MPI_Win_shared_query(window, modulo(here + 1, members), bytes, unit, memory)
  call c_f_pointer(memory, next, [4])
  do round = 1, 40
    call MPI_Win_fence(0, window)
    next(3) = next(3) + 10 * rank
    if (round == 1) next(3) = next(3) + 7
    call smpi_execute_flops(5d5)
    call MPI_Win_fence(0, window)
  end do
  print '(a,i0,a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', members, ': ', own(3), ', bytes ', bytes
  call MPI_Win_free(window)
  call MPI_Finalize()
end program node_memory_fortran
