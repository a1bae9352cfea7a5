/* A stencil of 27 points on a torus cut in three dimensions, in the manner of LULESH and HPCG: each
 * rank has 26 neighbours, reached through persistent requests and subarrays, so that faces, edges
 * and corners are all one kind of message. It computes with integers, so the serial program must
 * agree exactly.
 *
 *     stencil27 [STEPS]
 *
 * It uses Send_init, Recv_init, Startall, Waitall, Testall, subarrays, and a reduction in each
 * step.
 */
#include "suite.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4, FRAMED = N + 2, CELLS = FRAMED * FRAMED * FRAMED, NEIGHBOURS = 26 };

static uint32_t cell[CELLS], next[CELLS];
static MPI_Request request[2 * NEIGHBOURS];
static MPI_Datatype types[2 * NEIGHBOURS];

static int place(int x, int y, int z)
{
  return ((z + 1) * FRAMED + y + 1) * FRAMED + x + 1;
}

/* Returns the part of the block that the neighbour in this direction gets or, if `incoming`,
 * gives. */
static MPI_Datatype region(const int direction[3], int incoming)
{
  int sizes[3] = {FRAMED, FRAMED, FRAMED}, part[3], start[3];
  MPI_Datatype type;
  for (int d = 0; d < 3; d++) {
    int towards = direction[2 - d]; /* the last index of a C array runs fastest */
    part[d] = towards == 0 ? N : 1;
    start[d] = towards == 0 ? 1 : (towards > 0 ? N : 1) + (incoming ? towards : 0);
  }
  MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_C, MPI_UINT32_T, &type);
  MPI_Type_commit(&type);
  return type;
}

static void connect(MPI_Comm torus, const int *coords)
{
  int found = 0;
  for (int code = 0; code < 27; code++) {
    int direction[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1}, there[3], peer;
    if (code == 13)
      continue;
    for (int d = 0; d < 3; d++)
      there[d] = coords[d] + direction[d];
    MPI_Cart_rank(torus, there, &peer);
    types[found] = region(direction, 1);
    types[NEIGHBOURS + found] = region(direction, 0);
    MPI_Recv_init(cell, 1, types[found], peer, 26 - code, torus, &request[found]);
    MPI_Send_init(cell, 1, types[NEIGHBOURS + found], peer, code, torus,
                  &request[NEIGHBOURS + found]);
    found++;
  }
}

static uint32_t initial(const int *dims, int x, int y, int z)
{
  return (uint32_t)suite_hash((uint64_t)((z * dims[1] * N + y) * dims[0] * N + x));
}

static uint32_t renewed(const uint32_t *sum)
{
  return *sum * 2654435761u + 1;
}

static uint32_t step(void)
{
  uint32_t total = 0;
  for (int z = 0; z < N; z++)
    for (int y = 0; y < N; y++)
      for (int x = 0; x < N; x++) {
        uint32_t sum = 0;
        for (int code = 0; code < 27; code++)
          sum += cell[place(x + code % 3 - 1, y + code / 3 % 3 - 1, z + code / 9 - 1)];
        total += next[place(x, y, z)] = renewed(&sum);
      }
  memcpy(cell, next, sizeof cell);
  return total;
}

/* Computes the complete torus on one rank, and returns the number of differences. */
static long compare(const int *dims, const int *coords, int steps)
{
  int nx = dims[0] * N, ny = dims[1] * N, nz = dims[2] * N;
  size_t cells = (size_t)nx * (size_t)ny * (size_t)nz;
  uint32_t *now = malloc(cells * 4), *then = malloc(cells * 4);
  long wrong = 0;
#define AT(A, X, Y, Z) A[((((Z) + nz) % nz) * ny + ((Y) + ny) % ny) * nx + ((X) + nx) % nx]
  for (int i = 0; i < (int)cells; i++)
    now[i] = initial(dims, i % nx, i / nx % ny, i / nx / ny);
  for (int s = 0; s < steps; s++) {
    for (int i = 0; i < (int)cells; i++) {
      uint32_t sum = 0;
      for (int code = 0; code < 27; code++)
        sum += AT(now, i % nx + code % 3 - 1, i / nx % ny + code / 3 % 3 - 1,
                  i / nx / ny + code / 9 - 1);
      then[i] = renewed(&sum);
    }
    uint32_t *swap = now;
    now = then;
    then = swap;
  }
  for (int z = 0; z < N; z++)
    for (int y = 0; y < N; y++)
      for (int x = 0; x < N; x++)
        wrong += cell[place(x, y, z)] !=
                 AT(now, coords[0] * N + x, coords[1] * N + y, coords[2] * N + z);
  free(now);
  free(then);
  return wrong;
}

int main(int argc, char **argv)
{
  int ranks, me, dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1}, coords[3], done;
  long wrong = 0;
  MPI_Comm torus;
  MPI_Init(&argc, &argv);
  int steps = argc > 1 ? atoi(argv[1]) : 12;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &torus);
  MPI_Comm_rank(torus, &me);
  MPI_Cart_coords(torus, me, 3, coords);
  for (int z = 0; z < N; z++)
    for (int y = 0; y < N; y++)
      for (int x = 0; x < N; x++)
        cell[place(x, y, z)] =
            initial(dims, coords[0] * N + x, coords[1] * N + y, coords[2] * N + z);
  connect(torus, coords);
  for (int s = 0; s < steps; s++) {
    MPI_Startall(2 * NEIGHBOURS, request);
    for (done = 0; s % 3 == 0 && !done;)
      MPI_Testall(2 * NEIGHBOURS, request, &done, MPI_STATUSES_IGNORE);
    MPI_Waitall(2 * NEIGHBOURS, request, MPI_STATUSES_IGNORE);
    uint32_t least = step(), found;
    MPI_Allreduce(&least, &found, 1, MPI_UINT32_T, MPI_MIN, torus);
    wrong += found > least;
  }
  for (int i = 0; i < 2 * NEIGHBOURS; i++) {
    MPI_Request_free(&request[i]);
    MPI_Type_free(&types[i]);
  }
  wrong += compare(dims, coords, steps);
  int status = suite_verdict("stencil27", wrong);
  MPI_Finalize();
  return status;
}
