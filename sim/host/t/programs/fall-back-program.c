/* Has a fault in its memory that shows several steps later: then rank 1 ends itself. A checkpoint
 * that is taken in between contains the damage, so each restart from this checkpoint ends in the
 * same way. After the time of the fault the program is sound. Arguments: the last time of the
 * fault in ms, or 0 if there is none, and how the rank ends: abort, fault, exit, job, or early.
 * With `early`, a restart before twice that time also ends before its data are put back. */
#include <mpi.h>
#include <recline.h>
#include <signal.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 24, HIT = 7, SHOWS = 16 };

static int rank, size, step;
static double x, until;
static const char *how;

static void end_itself(void)
{
  volatile int *nowhere = NULL;
  if (!strcmp(how, "fault"))
    *nowhere = 1;
  if (!strcmp(how, "exit"))
    exit(3);
  if (!strcmp(how, "job"))
    MPI_Abort(MPI_COMM_WORLD, 4);
  abort();
}

static void advance(void)
{
  double left;
  smpi_execute_flops(1e6);
  MPI_Sendrecv(&x, 1, MPI_DOUBLE, (rank + 1) % size, 5, &left, 1, MPI_DOUBLE,
               (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  x = 0.5 * (x + left) + rank;
  if (rank == 1 && step == HIT && MPI_Wtime() < until)
    x = -1e9;
  printf("rank %d step %d: %a\n", rank, step, x);
  if (rank == 1 && step >= SHOWS && x < 0)
    end_itself();
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  until = 1e-3 * atof(argv[1]);
  how = argv[2];
  x = rank;
  step = 1;
  recline_protect_items(1, &step, 1, RECLINE_INT32);
  recline_protect_items(2, &x, 1, RECLINE_DOUBLE);
  if (!strcmp(how, "early") && rank == 1 && recline_restarts() && MPI_Wtime() < 2 * until)
    abort();
  enum recline_place place = recline_restore();
  for (; step <= STEPS; step++) {
    if (place == RECLINE_NO_RESTART)
      recline_iteration((unsigned)step);
    place = RECLINE_NO_RESTART;
    MPI_Barrier(MPI_COMM_WORLD);
    advance();
  }
  MPI_Finalize();
  return 0;
}
