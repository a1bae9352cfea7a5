/* A pipelined wavefront over a grid cut in two dimensions, in the manner of NAS LU: a lower sweep
 * from one corner, plane by plane, and an upper sweep back, with many small blocking messages;
 * borders are then exchanged by receives from any source, told apart by tag. It computes with
 * integers, so the serial program, which every rank runs at the end, must agree exactly.
 *
 *     wavefront [SWEEPS]
 *
 * It uses a Cartesian topology, derived vectors, blocking sends, wildcards, and C99 arrays on the
 * stack. */
#include "suite.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 48, NY = 36, NZ = 6, WEST = 1, NORTH = 2, BACK = 10 };

/* Holds a block of columns, with a frame of one cell. */
struct block {
  int x, y, nx, ny; /* first cell of the block in the grid, and size of the block */
  uint32_t *cell;
};

static uint32_t *at(const struct block *b, int i, int j, int k)
{
  return &b->cell[((size_t)k * (size_t)(b->ny + 2) + (size_t)(j + 1)) * (size_t)(b->nx + 2) +
                  (size_t)(i + 1)];
}

static struct block block_new(int x, int y, int nx, int ny)
{
  struct block b = {x, y, nx, ny, calloc((size_t)(nx + 2) * (size_t)(ny + 2) * NZ, 4)};
  for (int k = 0; k < NZ; k++)
    for (int j = 0; j < ny; j++)
      for (int i = 0; i < nx; i++)
        *at(&b, i, j, k) = (uint32_t)suite_hash((uint64_t)(((y + j) * NX + x + i) * NZ + k));
  return b;
}

static void relax(struct block *b, int k, int step)
{
  for (int n = 0; n < b->nx * b->ny; n++) {
    int m = step > 0 ? n : b->nx * b->ny - 1 - n, i = m % b->nx, j = m / b->nx;
    uint32_t behind = k - step >= 0 && k - step < NZ ? *at(b, i, j, k - step) : 11;
    *at(b, i, j, k) =
        *at(b, i, j, k) * 3 + *at(b, i - step, j, k) * 5 + *at(b, i, j - step, k) * 7 + behind;
  }
}

/* Sweeps one plane. Frames are zero at the border of the grid, as in a serial program. */
static void sweep_plane(struct block *b, MPI_Comm grid, MPI_Datatype column, int k, int step)
{
  int west, east, north, south, tag = 10 * k + (step > 0 ? 0 : BACK * NZ);
  MPI_Cart_shift(grid, 0, step, &west, &east);
  MPI_Cart_shift(grid, 1, step, &north, &south);
  int first_x = step > 0 ? 0 : b->nx - 1, first_y = step > 0 ? 0 : b->ny - 1;
  int last_x = b->nx - 1 - first_x, last_y = b->ny - 1 - first_y;
  MPI_Recv(at(b, first_x - step, 0, k), 1, column, west, tag + WEST, grid, MPI_STATUS_IGNORE);
  MPI_Recv(at(b, 0, first_y - step, k), b->nx, MPI_UINT32_T, north, tag + NORTH, grid,
           MPI_STATUS_IGNORE);
  relax(b, k, step);
  MPI_Send(at(b, last_x, 0, k), 1, column, east, tag + WEST, grid);
  MPI_Send(at(b, 0, last_y, k), b->nx, MPI_UINT32_T, south, tag + NORTH, grid);
}

/* Exchanges sums of blocks with all neighbours, in the order in which they answer. Returns the
 * number of errors. */
static long exchange_sums(const struct block *b, MPI_Comm grid)
{
  uint32_t sum = 0, other, all = 0;
  int neighbour[4], real = 0, dims[2], periods[2], coords[2];
  long wrong = 0;
  for (int k = 0; k < NZ; k++)
    sum += *at(b, 0, 0, k);
  MPI_Cart_get(grid, 2, dims, periods, coords);
  MPI_Cart_shift(grid, 0, 1, &neighbour[0], &neighbour[1]);
  MPI_Cart_shift(grid, 1, 1, &neighbour[2], &neighbour[3]);
  for (int n = 0; n < 4; n++)
    MPI_Send(&sum, 1, MPI_UINT32_T, neighbour[n], 1000 + n, grid);
  for (int n = 0; n < 4; n++)
    real += neighbour[n] != MPI_PROC_NULL;
  for (int n = 0; n < real; n++) {
    MPI_Status status;
    MPI_Recv(&other, 1, MPI_UINT32_T, MPI_ANY_SOURCE, MPI_ANY_TAG, grid, &status);
    wrong += status.MPI_SOURCE != neighbour[(status.MPI_TAG - 1000) ^ 1];
    all += other;
  }
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT32_T, MPI_SUM, grid);
  uint32_t weighted = sum * (uint32_t)real, expected;
  MPI_Allreduce(&weighted, &expected, 1, MPI_UINT32_T, MPI_SUM, grid);
  return wrong + (all != expected);
}

static long compare(const struct block *mine, int sweeps)
{
  struct block whole = block_new(0, 0, NX, NY);
  long wrong = 0;
  for (int sweep = 0; sweep < sweeps; sweep++) {
    for (int k = 0; k < NZ; k++)
      relax(&whole, k, 1);
    for (int k = NZ - 1; k >= 0; k--)
      relax(&whole, k, -1);
  }
  for (int k = 0; k < NZ; k++)
    for (int j = 0; j < mine->ny; j++)
      for (int i = 0; i < mine->nx; i++)
        wrong += *at(mine, i, j, k) != *at(&whole, mine->x + i, mine->y + j, k);
  free(whole.cell);
  return wrong;
}

static void clear_frame(struct block *b)
{
  for (int k = 0; k < NZ; k++)
    for (int j = -1; j <= b->ny; j++)
      for (int i = -1; i <= b->nx; i++)
        if (i < 0 || j < 0 || i == b->nx || j == b->ny)
          *at(b, i, j, k) = 0;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int sweeps = argc > 1 ? atoi(argv[1]) : 6, ranks, me;
  int dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2];
  long wrong = 0;
  MPI_Comm grid;
  MPI_Datatype column;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &me);
  MPI_Cart_coords(grid, me, 2, coords);
  int x = NX * coords[0] / dims[0], y = NY * coords[1] / dims[1];
  struct block b =
      block_new(x, y, NX * (coords[0] + 1) / dims[0] - x, NY * (coords[1] + 1) / dims[1] - y);
  MPI_Type_vector(b.ny, 1, b.nx + 2, MPI_UINT32_T, &column);
  MPI_Type_commit(&column);
  for (int sweep = 0; sweep < sweeps; sweep++) {
    clear_frame(&b);
    for (int k = 0; k < NZ; k++)
      sweep_plane(&b, grid, column, k, 1);
    clear_frame(&b);
    for (int k = NZ - 1; k >= 0; k--)
      sweep_plane(&b, grid, column, k, -1);
    wrong += exchange_sums(&b, grid);
  }
  wrong += compare(&b, sweeps);
  free(b.cell);
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  int status = suite_verdict("wavefront", wrong);
  MPI_Finalize();
  return status;
}
