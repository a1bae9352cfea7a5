C     Red-black relaxation of Laplace's equation on a square cut into
C     strips, in the manner of older codes: everything lies in COMMON,
C     halos by persistent requests, every tenth sweep by SENDRECV. The
C     boundary is linear, so the solution is: u = x + 2 y.
C
C         relax [SWEEPS]
C
C     FORTRAN 77: COMMON, EQUIVALENCE, DATA, PARAMETER, computed GOTO,
C     statement functions, labels, GETARG, formatted output, STOP.
      PROGRAM RELAX
      INCLUDE 'mpif.h'
      INTEGER N, NR
      PARAMETER (N = 16, NR = 66)
      DOUBLE PRECISION U, DIFF, WORST
      INTEGER ME, NP, FIRST, LAST, SWEEPS
      COMMON /GRID/ U(0:N+1, 0:NR), FIRST, LAST
      COMMON /RANKS/ ME, NP, SWEEPS
      INTEGER IERR, I, J, K, IBAD, IALL, IREQ(4)
      INTEGER ISTAT(MPI_STATUS_SIZE, 4)
      LOGICAL DONE
      DOUBLE PRECISION T0, T1, EXACT
      EXTERNAL EXACT
      DATA DONE /.FALSE./
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, ME, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, NP, IERR)
      CALL PARSE
      T0 = MPI_WTIME()
      CALL SETUP(IREQ)
      DO 30 K = 1, SWEEPS
        IF (MOD(K, 10) .EQ. 0) THEN
          CALL HALO
        ELSE
          CALL MPI_STARTALL(4, IREQ, IERR)
          CALL MPI_WAITALL(4, IREQ, ISTAT, IERR)
        END IF
        CALL SWEEP(MOD(K, 2), DIFF)
        IF (MOD(K, 20) .NE. 0) GO TO 30
        CALL MPI_ALLREDUCE(DIFF, WORST, 1, MPI_DOUBLE_PRECISION,
     &                     MPI_MAX, MPI_COMM_WORLD, IERR)
        IF (WORST .LT. 1D-11) DONE = .TRUE.
        IF (DONE) GO TO 40
   30 CONTINUE
   40 CONTINUE
      DO 50 I = 1, 4
        CALL MPI_REQUEST_FREE(IREQ(I), IERR)
   50 CONTINUE
      T1 = MPI_WTIME()
      IBAD = 0
      DO 70 J = FIRST, LAST
        DO 60 I = 1, N
          IF (ABS(U(I, J - FIRST + 1) - EXACT(I, J)) .GT. 1D-8)
     &      IBAD = IBAD + 1
   60   CONTINUE
   70 CONTINUE
      IF (.NOT. DONE .OR. T1 .LE. T0) IBAD = IBAD + 1
      CALL MPI_REDUCE(IBAD, IALL, 1, MPI_INTEGER, MPI_SUM, 0,
     &                MPI_COMM_WORLD, IERR)
      CALL MPI_BCAST(IALL, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, IERR)
      IF (ME .EQ. 0 .AND. IALL .EQ. 0) WRITE (6, 900) 'PASS', K, IALL
      IF (ME .EQ. 0 .AND. IALL .NE. 0) WRITE (6, 900) 'FAIL', K, IALL
  900 FORMAT ('relax: verification: ', A4, / 'sweeps', I6,
     &        ', wrong', I6)
      CALL MPI_FINALIZE(IERR)
      IF (IALL .NE. 0) STOP 1
      STOP
      END

      SUBROUTINE PARSE
      INTEGER ME, NP, SWEEPS, IERR, KIND
      CHARACTER*16 ARG
      INCLUDE 'mpif.h'
      COMMON /RANKS/ ME, NP, SWEEPS
      KIND = MIN(IARGC(), 1) + 1
      GO TO (10, 20), KIND
   10 SWEEPS = 3000
      GO TO 30
   20 CALL GETARG(1, ARG)
      READ (ARG, *) SWEEPS
   30 CALL MPI_BCAST(SWEEPS, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, IERR)
      RETURN
      END

      DOUBLE PRECISION FUNCTION EXACT(I, J)
      INTEGER I, J
      EXACT = I + 2D0*J
      RETURN
      END

C     N rows of N unknowns, but at least one row for each rank.
      SUBROUTINE SETUP(IREQ)
      INCLUDE 'mpif.h'
      INTEGER N, NR
      PARAMETER (N = 16, NR = 66)
      DOUBLE PRECISION U, EXACT
      INTEGER ME, NP, FIRST, LAST, SWEEPS, IREQ(4)
      COMMON /GRID/ U(0:N+1, 0:NR), FIRST, LAST
      COMMON /RANKS/ ME, NP, SWEEPS
      INTEGER ROWS, I, J, IUP, IDOWN, M, IERR, BOTTOM(2)
      LOGICAL EDGE
      EQUIVALENCE (BOTTOM(1), ROWS)
      EDGE(I, J) = I .EQ. 0 .OR. I .EQ. N + 1 .OR.
     &             J .EQ. 0 .OR. J .EQ. ROWS + 1
      BOTTOM(1) = MAX(N, NP)
      FIRST = ME*ROWS/NP + 1
      LAST = (ME + 1)*ROWS/NP
      DO 20 J = FIRST - 1, LAST + 1
        DO 10 I = 0, N + 1
          U(I, J - FIRST + 1) = 0
          IF (EDGE(I, J)) U(I, J - FIRST + 1) = EXACT(I, J)
   10   CONTINUE
   20 CONTINUE
      IUP = ME + 1
      IDOWN = ME - 1
      IF (IUP .EQ. NP) IUP = MPI_PROC_NULL
      IF (IDOWN .LT. 0) IDOWN = MPI_PROC_NULL
      M = LAST - FIRST + 1
      CALL MPI_RECV_INIT(U(1, 0), N, MPI_DOUBLE_PRECISION, IDOWN, 1,
     &                   MPI_COMM_WORLD, IREQ(1), IERR)
      CALL MPI_RECV_INIT(U(1, M + 1), N, MPI_DOUBLE_PRECISION, IUP, 2,
     &                   MPI_COMM_WORLD, IREQ(2), IERR)
      CALL MPI_SEND_INIT(U(1, M), N, MPI_DOUBLE_PRECISION, IUP, 1,
     &                   MPI_COMM_WORLD, IREQ(3), IERR)
      CALL MPI_SEND_INIT(U(1, 1), N, MPI_DOUBLE_PRECISION, IDOWN, 2,
     &                   MPI_COMM_WORLD, IREQ(4), IERR)
      RETURN
      END

      SUBROUTINE HALO
      INCLUDE 'mpif.h'
      INTEGER N, NR
      PARAMETER (N = 16, NR = 66)
      DOUBLE PRECISION U
      INTEGER ME, NP, FIRST, LAST, SWEEPS, IUP, IDOWN, M, IERR
      INTEGER ISTAT(MPI_STATUS_SIZE)
      COMMON /GRID/ U(0:N+1, 0:NR), FIRST, LAST
      COMMON /RANKS/ ME, NP, SWEEPS
      IUP = ME + 1
      IDOWN = ME - 1
      IF (IUP .EQ. NP) IUP = MPI_PROC_NULL
      IF (IDOWN .LT. 0) IDOWN = MPI_PROC_NULL
      M = LAST - FIRST + 1
      CALL MPI_SENDRECV(U(1, M), N, MPI_DOUBLE_PRECISION, IUP, 3,
     &                  U(1, 0), N, MPI_DOUBLE_PRECISION, IDOWN, 3,
     &                  MPI_COMM_WORLD, ISTAT, IERR)
      CALL MPI_SENDRECV(U(1, 1), N, MPI_DOUBLE_PRECISION, IDOWN, 4,
     &                  U(1, M + 1), N, MPI_DOUBLE_PRECISION, IUP, 4,
     &                  MPI_COMM_WORLD, ISTAT, IERR)
      RETURN
      END

      SUBROUTINE SWEEP(ICOLOR, DIFF)
      INTEGER N, NR
      PARAMETER (N = 16, NR = 66)
      DOUBLE PRECISION U, DIFF, UNEW, OMEGA
      INTEGER FIRST, LAST, ICOLOR, I, J, JJ
      COMMON /GRID/ U(0:N+1, 0:NR), FIRST, LAST
      SAVE OMEGA
      DATA OMEGA /1.6D0/
      DIFF = 0
      DO 20 J = FIRST, LAST
        JJ = J - FIRST + 1
        DO 10 I = 1 + MOD(J + ICOLOR, 2), N, 2
          UNEW = (U(I-1, JJ) + U(I+1, JJ) + U(I, JJ-1) + U(I, JJ+1))/4
          DIFF = MAX(DIFF, ABS(UNEW - U(I, JJ)))
          U(I, JJ) = U(I, JJ) + OMEGA*(UNEW - U(I, JJ))
   10   CONTINUE
   20 CONTINUE
      RETURN
      END
