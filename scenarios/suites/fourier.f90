! A spectral solution of the heat equation on a square, in the manner of NAS FT: transforms along
! rows, transposition by an all-to-all of blocks, transforms along what were columns, decay of each
! mode, and back. The initial temperature is made of random modes, so the solution is known.
!
!     fourier [ROWS PER RANK]
!
! It uses modules, allocatable arrays, a namelist that rank 0 reads, RANDOM_NUMBER on each rank,
! derived types, vectors as datatypes, CPU_TIME, SYSTEM_CLOCK, the command line and STOP.
module field
  use mpi
  implicit none
  integer, parameter :: real8 = kind(1d0)
  real(real8), parameter :: pi = acos(-1d0)
  integer :: me, ranks, n, rows, error
  integer :: steps = 1
  real(real8) :: decay = 1
  complex(real8), allocatable :: value(:, :)      ! (along the row, row of this rank)
  type mode
    integer :: kx, ky
    real(real8) :: size
  end type mode
  type(mode), allocatable :: modes(:)
contains

  subroutine read_problem
    integer :: unit, problem_error
    namelist /problem/ steps, decay
    if (me == 0) then
      open (newunit=unit, file='fourier.nml', status='old', action='read', iostat=problem_error)
      if (problem_error /= 0) call MPI_Abort(MPI_COMM_WORLD, 2, error)
      read (unit, nml=problem)
      close (unit)
    end if
    call MPI_Bcast(steps, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call MPI_Bcast(decay, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  end subroutine read_problem

  ! Each rank draws one mode, and draws again at the end.
  subroutine draw_modes(drawn)
    type(mode), intent(out) :: drawn(0:)
    real(real8) :: number(3)
    integer :: k, seed_size
    integer, allocatable :: seed(:)
    real(real8), allocatable :: all(:, :)
    call random_seed(size=seed_size)
    allocate (seed(seed_size), all(3, 0:ranks - 1))
    seed = 17*me + 5
    call random_seed(put=seed)
    do k = 1, 3
      call random_number(number(k))
      call MPI_Barrier(MPI_COMM_WORLD, error)
    end do
    call MPI_Allgather(number, 3, MPI_DOUBLE_PRECISION, all, 3, MPI_DOUBLE_PRECISION, &
                       MPI_COMM_WORLD, error)
    do k = 0, ranks - 1
      drawn(k) = mode(int(all(1, k)*n), int(all(2, k)*n), all(3, k) + 1)
    end do
  end subroutine draw_modes

  ! Transforms a row: by the definition if its length is odd, by halves otherwise.
  recursive function transformed(row, sign) result(out)
    complex(real8), intent(in) :: row(:)
    integer, intent(in) :: sign
    complex(real8) :: out(size(row)), even(size(row)/2), odd(size(row)/2), factor
    integer :: k, j, m
    m = size(row)
    if (mod(m, 2) == 1) then
      do k = 1, m
        out(k) = sum([(row(j)*exp(cmplx(0, sign*2*pi*(j - 1)*(k - 1)/m, real8)), j=1, m)])
      end do
      return
    end if
    even = transformed(row(1::2), sign)
    odd = transformed(row(2::2), sign)
    do k = 1, m/2
      factor = exp(cmplx(0, sign*2*pi*(k - 1)/m, real8))
      out(k) = even(k) + factor*odd(k)
      out(k + m/2) = even(k) - factor*odd(k)
    end do
  end function transformed

  subroutine transform_rows(sign)
    integer, intent(in) :: sign
    integer :: j
    do j = 1, rows
      value(:, j) = transformed(value(:, j), sign)/sqrt(real(n, real8))
    end do
  end subroutine transform_rows

  ! Block (p, q) of rows x rows goes from rank q to rank p, which has transposed it before.
  subroutine transpose_all
    complex(real8), allocatable :: turned(:, :, :), received(:, :, :)
    integer :: p
    allocate (turned(rows, rows, 0:ranks - 1), received(rows, rows, 0:ranks - 1))
    do p = 0, ranks - 1
      turned(:, :, p) = transpose(value(p*rows + 1:(p + 1)*rows, :))
    end do
    call MPI_Alltoall(turned, rows*rows, MPI_DOUBLE_COMPLEX, received, rows*rows, &
                      MPI_DOUBLE_COMPLEX, MPI_COMM_WORLD, error)
    do p = 0, ranks - 1
      value(p*rows + 1:(p + 1)*rows, :) = received(:, :, p)
    end do
  end subroutine transpose_all

  subroutine step
    integer :: i, j
    call transform_rows(-1)
    call transpose_all
    call transform_rows(-1)
    do j = 1, rows
      do i = 1, n
        value(i, j) = value(i, j)*exp(-decay*rate(i - 1, me*rows + j - 1))
      end do
    end do
    call transform_rows(1)
    call transpose_all
    call transform_rows(1)
  end subroutine step

  pure real(real8) function rate(kx, ky)
    integer, intent(in) :: kx, ky
    rate = sin(pi*kx/n)**2 + sin(pi*ky/n)**2
  end function rate

  complex(real8) function expected(x, y, time)
    integer, intent(in) :: x, y, time
    integer :: k
    expected = 0
    do k = 0, ranks - 1
      associate (m => modes(k))
        expected = expected + m%size*exp(-decay*time*rate(m%kx, m%ky)) &
                   *exp(cmplx(0, 2*pi*(m%kx*x + m%ky*y)/n, real8))
      end associate
    end do
  end function expected

  subroutine set_or_check(time, wrong)
    integer, intent(in) :: time
    integer, intent(inout) :: wrong
    integer :: i, j
    do j = 1, rows
      do i = 1, n
        if (time == 0) value(i, j) = expected(i - 1, me*rows + j - 1, 0)
        if (.not. abs(value(i, j) - expected(i - 1, me*rows + j - 1, time)) < 1d-9) &
          wrong = wrong + 1
      end do
    end do
  end subroutine set_or_check
end module field

program fourier
  use field
  implicit none
  type(mode), allocatable :: again(:)
  character(8) :: argument
  integer :: time, wrong = 0, total, provided
  integer(8) :: began, ended, ticks
  real(real8) :: cpu(2), passed, most
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  rows = 4
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) rows
  end if
  n = rows*ranks
  call read_problem
  allocate (value(n, rows), modes(0:ranks - 1), again(0:ranks - 1))
  call draw_modes(modes)
  call system_clock(began, ticks)
  call cpu_time(cpu(1))
  call set_or_check(0, wrong)
  do time = 1, steps
    call step
    call set_or_check(time, wrong)
  end do
  call system_clock(ended)
  call cpu_time(cpu(2))
  passed = real(ended - began, real8)/ticks
  call MPI_Reduce(passed, most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
  if (me == 0 .and. .not. (most >= passed .and. passed > 0)) wrong = wrong + 1
  if (cpu(2) < cpu(1)) wrong = wrong + 1
  call draw_modes(again)
  if (any(again%size /= modes%size) .or. any(again%kx /= modes%kx)) wrong = wrong + 1
  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  if (me == 0 .and. total == 0) print '(a)', 'fourier: verification: PASS'
  if (me == 0 .and. total /= 0) print '(a, i0)', 'fourier: verification: FAIL ', total
  if (total /= 0) stop 1
  stop
end program fourier
