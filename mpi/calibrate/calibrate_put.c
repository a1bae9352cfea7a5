/* Writes samples of all processes into one file of rank 0, and ends all processes after an
 * error. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "mpi/calibrate/calibrate_inside.h"

void calibrate_die(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fputs("recline calibrate: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  MPI_Abort(MPI_COMM_WORLD, 64);
  abort();
}

double *calibrate_room(int count)
{
  return memory_table((size_t)count + 1, sizeof(double));
}

void calibrate_put(struct calibration *c, const char *head, const double *values, int count)
{
  int *counts = memory_table((size_t)c->ranks, sizeof *counts);
  int *at = memory_table((size_t)c->ranks + 1, sizeof *at);
  MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < c->ranks; i++)
    at[i + 1] = at[i] + counts[i];
  double *all = calibrate_room(at[c->ranks]);
  MPI_Gatherv(values, count, MPI_DOUBLE, all, counts, at, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (c->output) {
    FILE *file = output_stream(c->output);
    fprintf(file, "sample %s :", head);
    for (int i = 0; i < at[c->ranks]; i++)
      fprintf(file, " %.4g", all[i]);
    fputc('\n', file);
  }
  free(all);
  free(at);
  free(counts);
}
