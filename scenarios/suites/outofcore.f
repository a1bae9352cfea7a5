C     Time steps on data that do not fit into memory, in the manner of
C     NAS BT-IO and of older codes that keep their arrays on disk: each
C     rank reads, changes and writes back every block in every step.
C     Each step reads its driving force from a file, and writes a log.
C     All numbers are integers, so the serial program, which every rank
C     runs at the end, must agree exactly.
C
C     FORTRAN 77: a generated include file, units of the same numbers in
C     all ranks, direct access, sequential scratch files, REWIND, ENDFILE,
C     BACKSPACE, appending, list-directed and formatted READ, TIMER.FLAG,
C     MPI_DOUBLE_COMPLEX, MPI_BCAST of what one rank has read.
      PROGRAM OOC
      INCLUDE 'mpif.h'
      INCLUDE 'oocparams.h'
      INTEGER V(NWORDS), HALO, FORCE, STEP, B, I, IERR, IBAD, IALL, IOS
      INTEGER ISTAT(MPI_STATUS_SIZE), ME, NP
      DOUBLE COMPLEX SUM1, SUM2
      COMMON /WORK/ V, HALO
      COMMON /RANKS/ ME, NP
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, ME, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, NP, IERR)
      IBAD = 0
      OPEN (UNIT=2, FILE='timer.flag', STATUS='OLD', IOSTAT=IOS)
      IF (IOS .EQ. 0) CLOSE (2)
      CALL SETUP
      DO 40 STEP = 1, NSTEPS
        IF (ME .EQ. 0) READ (20, *) IOS, FORCE
        IF (ME .EQ. 0 .AND. IOS .NE. STEP) IBAD = IBAD + 1
        CALL MPI_BCAST(FORCE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, IERR)
        DO 30 B = 1, NBLOCK
          READ (21, REC=B) V
          CALL MPI_SENDRECV(V(NWORDS), 1, MPI_INTEGER, MOD(ME+1, NP),
     &      B, HALO, 1, MPI_INTEGER, MOD(ME+NP-1, NP), B,
     &      MPI_COMM_WORLD, ISTAT, IERR)
          DO 20 I = 1, NWORDS
            V(I) = MOD(3*V(I) + HALO + FORCE + I, MODUL)
   20     CONTINUE
          WRITE (21, REC=B) V
   30   CONTINUE
        CALL KEEP(STEP, FORCE, IBAD)
        SUM1 = DCMPLX(DBLE(V(1)), DBLE(STEP))
        CALL MPI_ALLREDUCE(SUM1, SUM2, 1, MPI_DOUBLE_COMPLEX, MPI_SUM,
     &                     MPI_COMM_WORLD, IERR)
        IF (NINT(DIMAG(SUM2)) .NE. NP*STEP) IBAD = IBAD + 1
   40 CONTINUE
      CALL CHECK(IBAD)
      CALL MPI_ALLREDUCE(IBAD, IALL, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, IERR)
      IF (ME .EQ. 0 .AND. IALL .EQ. 0) WRITE (*, 900) 'PASS', IALL
      IF (ME .EQ. 0 .AND. IALL .NE. 0) WRITE (*, 900) 'FAIL', IALL
  900 FORMAT (' outofcore: verification: ', A4, / ' wrong', I8)
      CALL MPI_FINALIZE(IERR)
      CLOSE (21)
      IF (IALL .NE. 0) STOP 1
      END

      INTEGER FUNCTION INITIAL(IRANK, B, I)
      INTEGER IRANK, B, I
      INITIAL = MOD(17*IRANK + 5*B + I, 101)
      END

      INTEGER FUNCTION IFORCE(STEP)
      INTEGER STEP
      IFORCE = MOD(STEP*STEP*7, 59)
      END

C     Rank 0 writes the file that it will read.
      SUBROUTINE SETUP
      INCLUDE 'oocparams.h'
      INTEGER V(NWORDS), HALO, B, I, ME, NP, INITIAL, IFORCE
      CHARACTER*40 NAME
      COMMON /WORK/ V, HALO
      COMMON /RANKS/ ME, NP
      IF (ME .EQ. 0) THEN
        WRITE (NAME, '(A, I4.4)') 'ooc-force.', NP
        OPEN (UNIT=20, FILE=NAME, STATUS='UNKNOWN', FORM='FORMATTED')
        DO 10 I = 1, NSTEPS
          WRITE (20, '(1X, I5, '','', I5)') I, IFORCE(I)
   10   CONTINUE
        ENDFILE (20)
        REWIND 20
      END IF
      OPEN (UNIT=21, STATUS='SCRATCH', ACCESS='DIRECT', RECL=4*NWORDS)
      DO 30 B = 1, NBLOCK
        DO 20 I = 1, NWORDS
          V(I) = INITIAL(ME, B, I)
   20   CONTINUE
        WRITE (21, REC=B) V
   30 CONTINUE
      OPEN (UNIT=22, STATUS='SCRATCH', FORM='UNFORMATTED')
      WRITE (NAME, '(A, I4.4, A, I4.4)') 'ooc-log.', NP, '.', ME
      OPEN (UNIT=23, FILE=NAME, STATUS='REPLACE')
      CLOSE (23)
      END

C     Writes a record of the history on unit 22 and reads it again, in
C     every fourth step all records. Adds a line to the log.
      SUBROUTINE KEEP(STEP, FORCE, IBAD)
      INCLUDE 'oocparams.h'
      INTEGER STEP, FORCE, IBAD, I, J, K, ME, NP, IFORCE
      CHARACTER*40 NAME
      COMMON /RANKS/ ME, NP
      WRITE (22) STEP, FORCE
      BACKSPACE 22
      READ (22) I, J
      IF (I .NE. STEP .OR. J .NE. FORCE) IBAD = IBAD + 1
      IF (MOD(STEP, 4) .EQ. 0) THEN
        REWIND 22
        DO 10 K = 1, STEP
          READ (22) I, J
          IF (I .NE. K .OR. J .NE. IFORCE(K)) IBAD = IBAD + 1
   10   CONTINUE
      END IF
      WRITE (NAME, '(A, I4.4, A, I4.4)') 'ooc-log.', NP, '.', ME
      OPEN (UNIT=23, FILE=NAME, STATUS='OLD', POSITION='APPEND')
      WRITE (23, '(A, I6, F10.3)') 'step', STEP, STEP*0.125D0
      CLOSE (23)
      END

C     Compares the blocks with the serial program, and checks the log.
      SUBROUTINE CHECK(IBAD)
      INCLUDE 'oocparams.h'
      INTEGER V(NWORDS), HALO, IBAD, B, I, K, STEP, ME, NP, IFORCE
      INTEGER W(NWORDS, 0:MAXNP-1), LAST(0:MAXNP-1), INITIAL
      DOUBLE PRECISION X
      CHARACTER*40 NAME
      CHARACTER*4 WORD
      COMMON /WORK/ V, HALO
      COMMON /RANKS/ ME, NP
      DO 80 B = 1, NBLOCK
        DO 20 K = 0, NP - 1
          DO 10 I = 1, NWORDS
            W(I, K) = INITIAL(K, B, I)
   10     CONTINUE
   20   CONTINUE
        DO 60 STEP = 1, NSTEPS
          DO 30 K = 0, NP - 1
            LAST(K) = W(NWORDS, K)
   30     CONTINUE
          DO 50 K = 0, NP - 1
            DO 40 I = 1, NWORDS
              W(I, K) = MOD(3*W(I, K) + LAST(MOD(K+NP-1, NP))
     &                      + IFORCE(STEP) + I, MODUL)
   40       CONTINUE
   50     CONTINUE
   60   CONTINUE
        READ (21, REC=B) V
        DO 70 I = 1, NWORDS
          IF (V(I) .NE. W(I, ME)) IBAD = IBAD + 1
   70   CONTINUE
   80 CONTINUE
      WRITE (NAME, '(A, I4.4, A, I4.4)') 'ooc-log.', NP, '.', ME
      OPEN (UNIT=23, FILE=NAME, STATUS='OLD')
      DO 90 STEP = 1, NSTEPS
        READ (23, '(A, I6, F10.3)', END=100) WORD, I, X
        IF (I .NE. STEP .OR. X .NE. STEP*0.125D0) IBAD = IBAD + 1
   90 CONTINUE
      READ (23, '(A)', END=110) WORD
  100 IBAD = IBAD + 1
  110 CLOSE (23, STATUS='DELETE')
      END
