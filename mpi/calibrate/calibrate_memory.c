/* Measures copies and computation. All processes do them at the same time, as in a run. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/calibrate/calibrate_inside.h"

static void put_copies(struct calibration *c)
{
  char head[TEXT];
  size_t size = (size_t)c->largest;
  char *from = memory_grow(NULL, size), *to = memory_grow(NULL, size);
  double *seconds = calibrate_room(c->repetitions);
  memset(from, 1, size);
  memset(to, 2, size);
  for (int i = 0; i < c->repetitions; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    memcpy(to, from, size);
    seconds[i] = MPI_Wtime() - begin;
    from[0] = to[size - 1]; /* uses the copy, so that the compiler does not remove it */
  }
  snprintf(head, sizeof head, "copy bytes=%zu", size);
  calibrate_put(c, head, seconds, c->repetitions);
  free(from);
  free(to);
  free(seconds);
}

/* relax() updates each point from its neighbours, as stencil codes of five points do, with 4
 * operations for each point. */
enum { ROWS = 512, COLUMNS = 512, OPERATIONS = 4 };

static double relax(double (*field)[COLUMNS], double (*next)[COLUMNS])
{
  double begin = MPI_Wtime();
  for (int i = 1; i < ROWS - 1; i++)
    for (int j = 1; j < COLUMNS - 1; j++)
      next[i][j] = 0.25 * (field[i - 1][j] + field[i + 1][j] + field[i][j - 1] + field[i][j + 1]);
  return MPI_Wtime() - begin;
}

static void put_speed(struct calibration *c)
{
  char head[TEXT];
  double(*field)[COLUMNS] = memory_table(ROWS, sizeof *field);
  double(*next)[COLUMNS] = memory_table(ROWS, sizeof *next);
  double *seconds = calibrate_room(c->repetitions);
  for (int i = 0; i < ROWS * COLUMNS; i++)
    field[i / COLUMNS][i % COLUMNS] = i % 7;
  relax(field, next); /* touches the pages before the measurement */
  for (int i = 0; i < c->repetitions; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    seconds[i] = i % 2 ? relax(next, field) : relax(field, next);
  }
  snprintf(head, sizeof head, "relaxation flops=%d", OPERATIONS * (ROWS - 2) * (COLUMNS - 2));
  calibrate_put(c, head, seconds, c->repetitions);
  free(field);
  free(next);
  free(seconds);
}

void calibrate_memory(struct calibration *c)
{
  put_copies(c);
  put_speed(c);
}
