/* Relaxes a grid whose rows are spread over the processes: `jacobi [ROWS [STEPS]]`. Prints a digest
 * of the field at the end. The same source runs under SMPI. */
#include <mpi.h>
#include <recline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, BARRIER_EVERY = 8 };
enum { ID_STEP = 1, ID_FIELD, ID_RESIDUAL };

static int rank, size, rows;

/* Exchanges the rows above and below. */
static void exchange(double (*field)[WIDTH])
{
  int above = rank ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  MPI_Request requests[2];
  MPI_Irecv(field[0], WIDTH, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(field[rows + 1], WIDTH, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(field[1], WIDTH, MPI_DOUBLE, above, 2, MPI_COMM_WORLD);
  MPI_Send(field[rows], WIDTH, MPI_DOUBLE, below, 1, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* This call charges the time of the computation in a simulation. */
#pragma weak smpi_execute_flops
void smpi_execute_flops(double flops);

enum { OPERATIONS = 8 }; /* operations for each point */

static double relax(double (*field)[WIDTH], double (*next)[WIDTH])
{
  double change = 0;
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j < WIDTH - 1; j++) {
      next[i][j] = 0.25 * (field[i - 1][j] + field[i + 1][j] + field[i][j - 1] + field[i][j + 1]);
      change += (next[i][j] - field[i][j]) * (next[i][j] - field[i][j]);
    }
  for (int i = 1; i <= rows; i++)
    memcpy(&field[i][1], &next[i][1], (WIDTH - 2) * sizeof(double));
  if (smpi_execute_flops)
    smpi_execute_flops((double)OPERATIONS * rows * (WIDTH - 2));
  return change;
}

static void fill(double (*field)[WIDTH])
{
  for (int i = 0; i < rows + 2; i++)
    for (int j = 0; j < WIDTH; j++)
      field[i][j] = (rank * rows + i) % 7 + j % 5;
}

static void print(double (*field)[WIDTH], int step, double residual)
{
  double sum = 0, all;
  for (int i = 1; i <= rows; i++)
    for (int j = 0; j < WIDTH; j++)
      sum += field[i][j] * (i + j);
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d steps: %a, residual %a\n", step, all, residual);
}

int main(int argc, char **argv)
{
  int step = 0, steps = argc > 2 ? atoi(argv[2]) : 400;
  double residual = 0, change;
  rows = argc > 1 ? atoi(argv[1]) : 32;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double(*field)[WIDTH] = calloc((size_t)rows + 2, sizeof *field);
  double(*next)[WIDTH] = calloc((size_t)rows + 2, sizeof *next);
  recline_protect(ID_STEP, &step, sizeof step);
  recline_protect_items(ID_FIELD, field, ((size_t)rows + 2) * WIDTH, RECLINE_DOUBLE);
  recline_protect_items(ID_RESIDUAL, &residual, 1, RECLINE_DOUBLE);
  enum recline_place place = recline_restore();
  if (place == RECLINE_NO_RESTART)
    fill(field);
  else if (rank == 0)
    fprintf(stderr, "restart at step %d\n", step);
  for (; step < steps; step++) {
    if (place != RECLINE_AT_BARRIER) {
      recline_iteration((unsigned)step + 1);
      exchange(field);
      change = relax(field, next);
      MPI_Allreduce(&change, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (step % BARRIER_EVERY == 0)
      MPI_Barrier(MPI_COMM_WORLD);
    place = RECLINE_NO_RESTART;
  }
  if (place != RECLINE_AT_END) /* otherwise an earlier life of the process has printed it */
    print(field, step, residual);
  MPI_Finalize(); /* a checkpoint may be taken in this call, so the protected data must still exist
                   */
  free(field);
  free(next);
  return 0;
}
