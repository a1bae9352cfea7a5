/* A program with checkpoints at the application level. The program uses communicators, a barrier
 * and a wildcard. After a restart its memory has another size. Its ranks come to the end at
 * different times. With the argument `stack` it keeps its place by a position stack, with the data
 * in frames. Each rank prints what it has computed. */
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 24, COUNT = 500, MORE = 7, LAST = 6 };
enum { ID_STATE = 1, ID_SUM = 2, ID_DATA = 40, ID_STEP = 3, ID_LAST = 4 };

static int rank, size;
static MPI_Comm all, half;
static struct {
  int step, last;
  double sum;
} state;

static void protect_state(void)
{
  recline_protect_items(ID_STATE, &state.step, 2, RECLINE_INT32);
  recline_protect_items(ID_SUM, &state.sum, 1, RECLINE_DOUBLE);
}

/* The value of one neighbour comes in by a wildcard receive; all others come in by a collective. */
static void compute(double *x, int step)
{
  double left = 0.0, sum = 0.0, again = 0.0;
  MPI_Request request;
  smpi_execute_flops(4e5 + 1e4 * rank);
  MPI_Irecv(&left, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 5, all, &request);
  MPI_Send(&x[step % COUNT], 1, MPI_DOUBLE, (rank + 1) % size, 5, all);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < COUNT; i++)
    x[i] = 0.5 * x[i] + 0.25 * left + 1e-3 * i;
  MPI_Allreduce(&x[1], &sum, 1, MPI_DOUBLE, MPI_SUM, half);
  MPI_Comm temporary;
  /* this communicator is freed below, so the next step uses its number again */
  MPI_Comm_dup(half, &temporary);
  MPI_Allreduce(&sum, &again, 1, MPI_DOUBLE, MPI_MAX, temporary);
  MPI_Comm_free(&temporary);
  state.sum += sum + 2.0 * again;
}

static void print(const double *x)
{
  double sum = 0.0;
  for (int i = 0; i < COUNT; i++)
    sum += x[i];
  printf("rank %d: %a %a\n", rank, sum, state.sum);
}

static void fill(double *x)
{
  for (int i = 0; i < COUNT; i++)
    x[i] = rank + 1.0 / (i + 1);
}

/* Writes a line into a file for each step of rank 0. */
static void note(int step)
{
  FILE *file = rank == 0 ? fopen("written", step ? "a" : "w") : NULL;
  if (!file)
    return;
  fprintf(file, "%d\n", step);
  fclose(file);
}

/* ---- by recline_restore() ---- */

static void run(void)
{
  size_t count = COUNT;
  if (recline_restarts() != RECLINE_NO_RESTART)
    count = recline_protected_bytes(ID_DATA) / sizeof(double) + MORE;
  double *x = calloc(count, sizeof *x);
  protect_state();
  recline_protect_items(ID_DATA, x, count, RECLINE_DOUBLE);
  switch (recline_restore()) {
  case RECLINE_NO_RESTART:
    fill(x);
    break;
  case RECLINE_AT_CHECKPOINT:
    break;
  case RECLINE_AT_BARRIER:
    goto barrier;
  case RECLINE_AT_END:
    goto end;
  }
  for (; state.step < STEPS; state.step++) {
    recline_potential_checkpoint();
    note(state.step);
    compute(x, state.step);
    if (state.step % 3 == 2) {
    barrier:
      MPI_Barrier(all);
    }
  }
  /* the other ranks have come to the end */
  for (; rank == 0 && state.last < LAST; state.last++) {
    recline_potential_checkpoint();
    smpi_execute_flops(1e6);
  }
  print(x);
end:
  free(x);
}

/* ---- by a position stack ---- */

enum { IN_STEPS = 1, IN_LAST = 2, AT_PLACE = 1, AT_BARRIER = 2 };

static void make_steps(double *x)
{
  int step = 0;
  recline_protect_items(ID_STEP, &step, 1, RECLINE_INT32);
  int position = recline_resume();
  if (position == AT_PLACE)
    goto place;
  if (position == AT_BARRIER)
    goto barrier;
  for (; step < STEPS; step++) {
    recline_push(AT_PLACE);
  place:
    recline_potential_checkpoint();
    recline_pop();
    compute(x, step);
    if (step % 3 == 2) {
      recline_push(AT_BARRIER);
    barrier:
      MPI_Barrier(all);
      recline_pop();
    }
  }
  recline_unprotect(ID_STEP);
}

static void make_last(void)
{
  int last = 0;
  recline_protect_items(ID_LAST, &last, 1, RECLINE_INT32);
  if (recline_resume() == AT_PLACE)
    goto place;
  for (; rank == 0 && last < LAST; last++) {
    recline_push(AT_PLACE);
  place:
    recline_potential_checkpoint();
    recline_pop();
    smpi_execute_flops(1e6);
  }
  recline_unprotect(ID_LAST);
}

static void run_by_stack(void)
{
  double x[COUNT];
  protect_state();
  recline_protect_items(ID_DATA, x, COUNT, RECLINE_DOUBLE);
  int position = recline_resume();
  if (position == IN_STEPS)
    goto steps;
  if (position == IN_LAST)
    goto last;
  if (recline_restarts() == RECLINE_AT_END)
    return;
  fill(x);
  recline_push(IN_STEPS);
steps:
  make_steps(x);
  recline_pop();
  recline_push(IN_LAST);
last:
  make_last();
  recline_pop();
  print(x);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_split(all, rank % 2, rank, &half);
  smpi_execute_flops(2e5); /* main computes before its data are put back */
  if (argc > 1 && !strcmp(argv[1], "stack"))
    run_by_stack();
  else
    run();
  MPI_Finalize();
  return 0;
}
