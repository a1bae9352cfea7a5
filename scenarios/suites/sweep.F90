! Sweeps of a transport code in eight directions, in the manner of Sweep3D and SNAP: Fortran with
! derived types and the preprocessor around a kernel in C, which does its own MPI on a communicator
! that Fortran has made. Whole numbers, so that the serial sweep must agree exactly.
!
!     sweep [ROUNDS]
!
! It has Fortran and C in one program, allocatable components, pointers, MPI_Comm_f2c and Cart_sub.
#define NX 12
#define NY 10
#define PLANES 4
module transport
  use iso_c_binding
  use mpi
  implicit none
  type domain
    integer :: comm, coords(2), dims(2), first(2), size(2)
    integer(c_int64_t), allocatable :: flux(:, :, :)
  end type domain
  interface
    subroutine sweep_planes(comm, flux, nx, ny, planes, sx, sy, sz) bind(c)
      import
      integer, value :: comm
      integer(c_int), value :: nx, ny, planes, sx, sy, sz
      integer(c_int64_t) :: flux(nx, ny, planes)
    end subroutine sweep_planes
  end interface
contains

  elemental integer(c_int64_t) function source(x, y, z)
    integer, intent(in) :: x, y, z
    source = 1000_c_int64_t*x + 37*y + z
  end function source

  subroutine new_domain(d, comm, dims, coords)
    type(domain), intent(out) :: d
    integer, intent(in) :: comm, dims(2), coords(2)
    integer :: x, y, z, whole(2) = [NX, NY]
    d%comm = comm
    d%dims = dims
    d%coords = coords
    d%first = whole*coords/dims
    d%size = whole*(coords + 1)/dims - d%first
    allocate (d%flux(d%size(1), d%size(2), PLANES))
    do concurrent(x=1:d%size(1), y=1:d%size(2), z=1:PLANES)
      d%flux(x, y, z) = source(d%first(1) + x, d%first(2) + y, z)
    end do
  end subroutine new_domain

  subroutine sweep_all(d, rounds)
    type(domain), intent(inout), target :: d
    integer, intent(in) :: rounds
    integer :: round, octant
    integer(c_int64_t), pointer :: flux(:, :, :)
    flux => d%flux
    do round = 1, rounds
      do octant = 0, 7
        call sweep_planes(d%comm, flux, d%size(1), d%size(2), PLANES, 1 - 2*mod(octant, 2), &
                          1 - 2*mod(octant/2, 2), 1 - 2*(octant/4))
      end do
    end do
  end subroutine sweep_all

  ! Checks a sub-grid of processes: this rank's number in it, and a sum over its members.
  integer function check_rows(d) result(wrong)
    type(domain), intent(in) :: d
    integer :: line, me, ranks, all(1), error
    call MPI_Cart_sub(d%comm, [.true., .false.], line, error)
    call MPI_Comm_rank(line, me, error)
    call MPI_Comm_size(line, ranks, error)
    all = d%coords(2)
    call MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INTEGER, MPI_SUM, line, error)
    wrong = merge(0, 1, all(1) == ranks*d%coords(2) .and. me == d%coords(1))
    call MPI_Comm_free(line, error)
  end function check_rows
end module transport

program main
  use transport
  implicit none
  type(domain) :: mine, whole
  integer :: ranks, me, comm, rounds, wrong, error, dims(2), coords(2), self
  character(len=:), allocatable :: text
  character(8) :: argument
  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, argument)
  rounds = 3
  if (argument /= '') read (argument, *) rounds
  dims = 0
  call MPI_Dims_create(ranks, 2, dims, error)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., comm, error)
  call MPI_Comm_rank(comm, me, error)
  call MPI_Cart_coords(comm, me, 2, coords, error)
  call new_domain(mine, comm, dims, coords)
  call sweep_all(mine, rounds)
  wrong = check_rows(mine)
  call MPI_Cart_create(MPI_COMM_SELF, 2, [1, 1], [.false., .false.], .false., self, error)
  call new_domain(whole, self, [1, 1], [0, 0])
  call sweep_all(whole, rounds)
  wrong = wrong + count(mine%flux /= whole%flux(mine%first(1) + 1:mine%first(1) + mine%size(1), &
                                                mine%first(2) + 1:mine%first(2) + mine%size(2), :))
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  text = 'sweep: verification: '//trim(merge('PASS', 'FAIL', wrong == 0))
  if (me == 0) write (*, '(a)') text
  call MPI_Finalize(error)
  if (wrong /= 0) error stop 1
end program main
