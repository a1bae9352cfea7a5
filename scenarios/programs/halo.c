/* halo: a typical time step of a simulation, for measuring the cost of the MPI layer.
 *
 *     halo BYTES STEPS [FLOPS]
 *
 * The ranks form a torus, as square as their number allows. In each step a rank exchanges BYTES
 * with its four neighbours (nonblocking), computes FLOPS operations (by default 50 for each byte),
 * and agrees with all on the smallest time step. It announces its steps as iterations (tell.h). At
 * the end rank 0 prints a checksum of the data received by all ranks.
 */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tell.h"

enum { SIDES = 4, FLOPS_PER_BYTE = 50 };

struct grid {
  int rank, ranks;
  /* west, east, north, south; side s of a rank touches side s ^ 1 of its neighbour */
  int neighbour[SIDES];
  int bytes;
  unsigned char *out[SIDES], *in[SIDES];
};

/* Holds all that a checkpoint at the application level needs, because each step fills the buffers
 * again. */
static struct {
  int step;
  uint64_t sum; /* checksum of the data received */
  double least; /* smallest time step */
} progress;

static void place(struct grid *g)
{
  MPI_Comm_rank(MPI_COMM_WORLD, &g->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g->ranks);
  int rows = 1;
  for (int i = 1; i * i <= g->ranks; i++)
    if (g->ranks % i == 0)
      rows = i;
  int columns = g->ranks / rows, row = g->rank / columns, column = g->rank % columns;
  g->neighbour[0] = row * columns + (column + columns - 1) % columns;
  g->neighbour[1] = row * columns + (column + 1) % columns;
  g->neighbour[2] = (row + rows - 1) % rows * columns + column;
  g->neighbour[3] = (row + 1) % rows * columns + column;
}

static void allocate(struct grid *g)
{
  for (int side = 0; side < SIDES; side++) {
    g->out[side] = calloc(1, (size_t)g->bytes);
    g->in[side] = calloc(1, (size_t)g->bytes);
    if (g->out[side] == NULL || g->in[side] == NULL)
      MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void exchange(struct grid *g, int step)
{
  MPI_Request requests[2 * SIDES];
  for (int side = 0; side < SIDES; side++)
    MPI_Irecv(g->in[side], g->bytes, MPI_BYTE, g->neighbour[side], side ^ 1, MPI_COMM_WORLD,
              &requests[side]);
  for (int side = 0; side < SIDES; side++) {
    memset(g->out[side], (g->rank + step + side) & 0xff, (size_t)g->bytes);
    MPI_Isend(g->out[side], g->bytes, MPI_BYTE, g->neighbour[side], side, MPI_COMM_WORLD,
              &requests[SIDES + side]);
  }
  MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
}

static void run(struct grid *g, int steps, double flops)
{
  for (; progress.step < steps; progress.step++) {
    tell_iteration((unsigned)progress.step + 1);
    exchange(g, progress.step);
    for (int side = 0; side < SIDES; side++)
      progress.sum = progress.sum * 31 + g->in[side][0] + g->in[side][g->bytes - 1];
    smpi_execute_flops(flops);
    double mine = 1.0 / (1 + (g->rank + progress.step) % g->ranks);
    MPI_Allreduce(&mine, &progress.least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  }
}

static void report(const struct grid *g)
{
  uint64_t total = 0;
  MPI_Reduce(&progress.sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (g->rank == 0)
    printf("checksum: %016llx least step %g\n", (unsigned long long)total, progress.least);
}

int main(int argc, char **argv)
{
  struct grid g = {0};
  MPI_Init(&argc, &argv);
  bool right = argc == 3 || argc == 4;
  int steps = right ? atoi(argv[2]) : 0;
  g.bytes = right ? atoi(argv[1]) : 0;
  if (g.bytes < 1 || steps < 1) {
    fprintf(stderr, "halo: expected BYTES, STEPS and perhaps FLOPS\n");
    MPI_Abort(MPI_COMM_WORLD, 64);
  }
  double flops = argc == 4 ? atof(argv[3]) : (double)FLOPS_PER_BYTE * g.bytes;
  place(&g);
  allocate(&g);
  tell_items(1, &progress.step, 1, RECLINE_INT32);
  tell_items(2, &progress.sum, 1, RECLINE_INT64);
  tell_doubles(3, &progress.least, 1);
  if (tell_restore() != RECLINE_AT_END) {
    run(&g, steps, flops);
    report(&g);
  }
  MPI_Finalize();
  return 0;
}
