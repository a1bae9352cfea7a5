/* patterns: the messages of applications, with their sizes, counts and order, around a computation
 * that only takes time.
 *
 *     patterns lu|ep|bt|sp|gromacs STEPS FLOPS
 *
 * Each rank computes FLOPS in each of STEPS time steps. NAS class C of LU, BT and SP (162^3) and D
 * of EP, after the benchmarks' specification (NAS-95-020) and their published sources; GROMACS DPPC
 * (121,856 atoms) with the decomposition of version 3, in which particles go half round a ring.
 *
 *     lu       for each of 160 planes, from one corner of the grid of ranks to the other and back,
 *              an edge of 5 values to two neighbours; then two layers of each face
 *     bt, sp   on a square of ranks, each with a diagonal of blocks: 6 faces, then in each of 3
 *              directions one stage after the other there and back, of the values of a block's face
 *     ep       nothing but three sums, at the end
 *     gromacs  coordinates half round the ring, forces back, sums of energies
 *
 * Data are bytes that say where they come from; each rank adds up what it receives, in order. At
 * the end rank 0 prints the checksum of all and the seconds that the steps took.
 */
#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 162, PLANES = 160, VALUES = 5, WORD = 8, ATOMS = 121856, COORDINATES = 12 };

struct state {
  int rank, ranks;
  int columns, rows, column, row; /* of the grid of ranks */
  unsigned char *out, *in;
  uint64_t sum;
};

static struct state s;

static void *room(size_t bytes)
{
  void *memory = calloc(1, bytes);
  if (memory == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static void fill(int bytes, int tag)
{
  memset(s.out, (s.rank * 7 + tag + (int)(s.sum % 251)) & 0xff, (size_t)bytes);
}

static void take(int bytes)
{
  s.sum = s.sum * 31 + s.in[0] + s.in[bytes - 1];
}

static void put(int peer, int bytes, int tag)
{
  fill(bytes, tag);
  MPI_Send(s.out, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
}

static void get(int peer, int bytes, int tag)
{
  MPI_Recv(s.in, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(bytes);
}

/* To one neighbour, and as much from another. */
static void shift(int to, int from, int bytes, int tag)
{
  MPI_Request request;
  MPI_Irecv(s.in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
  put(to, bytes, tag);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  take(bytes);
}

/* ---- LU ---- */

static int west(void)
{
  return s.column > 0 ? s.rank - 1 : MPI_PROC_NULL;
}
static int east(void)
{
  return s.column + 1 < s.columns ? s.rank + 1 : MPI_PROC_NULL;
}
static int north(void)
{
  return s.row > 0 ? s.rank - s.columns : MPI_PROC_NULL;
}
static int south(void)
{
  return s.row + 1 < s.rows ? s.rank + s.columns : MPI_PROC_NULL;
}

static void edge(int peer, int bytes, int tag, void (*move)(int, int, int))
{
  if (peer != MPI_PROC_NULL)
    move(peer, bytes, tag);
}

static void lu_sweep(double flops, int tag, int from_x, int from_y, int to_x, int to_y)
{
  int x = VALUES * WORD * (POINTS / s.rows), y = VALUES * WORD * (POINTS / s.columns);
  for (int plane = 0; plane < PLANES; plane++) {
    edge(from_x, x, tag, get);
    edge(from_y, y, tag, get);
    smpi_execute_flops(flops / (2 * PLANES));
    edge(to_x, x, tag, put);
    edge(to_y, y, tag, put);
  }
}

static void lu(double flops)
{
  int x = 2 * VALUES * WORD * (POINTS / s.rows) * POINTS;
  int y = 2 * VALUES * WORD * (POINTS / s.columns) * POINTS;
  lu_sweep(flops, 1, west(), north(), east(), south());
  lu_sweep(flops, 2, east(), south(), west(), north());
  /* each exchange with one partner at a time, so that none waits in a circle */
  for (int turn = 0; turn < 2; turn++) {
    int beside = (s.column + turn) % 2 ? west() : east(),
        below = (s.row + turn) % 2 ? north() : south();
    if (beside != MPI_PROC_NULL)
      shift(beside, beside, x, 3);
    if (below != MPI_PROC_NULL)
      shift(below, below, y, 4);
  }
}

/* ---- BT and SP ---- */

static int at(int row, int column)
{
  return (row + s.rows) % s.rows * s.columns + (column + s.columns) % s.columns;
}

static void multipartition(double flops, int there, int back)
{
  static const int way[3][2] = {{0, 1}, {1, 0}, {1, 1}};
  int block = POINTS / s.columns, face = block * block * WORD;
  for (int d = 0; d < 3; d++) {
    int next = at(s.row + way[d][0], s.column + way[d][1]);
    int last = at(s.row - way[d][0], s.column - way[d][1]);
    shift(next, last, face * 2 * VALUES * (s.columns - 1), 1);
    shift(last, next, face * 2 * VALUES * (s.columns - 1), 2);
  }
  for (int d = 0; d < 3; d++) {
    int next = at(s.row + way[d][0], s.column + way[d][1]);
    int last = at(s.row - way[d][0], s.column - way[d][1]);
    for (int stage = 0; stage < 2 * s.columns; stage++) {
      smpi_execute_flops(flops / (6 * s.columns));
      if (stage < s.columns - 1)
        shift(next, last, face * there, 3);
      else if (stage > s.columns)
        shift(last, next, face * back, 4);
    }
  }
}

/* Blocks of 5 x 5 and right sides there, solutions back. */
static void bt(double flops)
{
  multipartition(flops, VALUES * VALUES + VALUES, VALUES);
}

/* Of two points each: the diagonals and right sides there, solutions back. */
static void sp(double flops)
{
  multipartition(flops, 22, 10);
}

/* ---- EP, GROMACS ---- */

static void ep(double flops)
{
  smpi_execute_flops(flops);
}

static void gromacs(double flops)
{
  int bytes = ATOMS / s.ranks * COORDINATES, next = (s.rank + 1) % s.ranks;
  int last = (s.rank + s.ranks - 1) % s.ranks;
  double energies[16] = {0}, all[16];
  for (int hop = 0; hop < s.ranks / 2; hop++)
    shift(next, last, bytes, 1);
  smpi_execute_flops(flops);
  for (int hop = 0; hop < s.ranks / 2; hop++)
    shift(last, next, bytes, 2);
  energies[0] = (double)(s.sum % 1000);
  MPI_Allreduce(energies, all, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  s.sum += (uint64_t)all[0];
}

/* ---- all ---- */

static const struct {
  const char *name;
  void (*step)(double flops);
  int square; /* the ranks must be a square */
} kernels[] = {{"lu", lu, 0}, {"ep", ep, 0}, {"bt", bt, 1}, {"sp", sp, 1}, {"gromacs", gromacs, 0}};

/* As near to a square as their number allows. */
static void lay_out(void)
{
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
  for (int rows = 1; rows * rows <= s.ranks; rows++)
    if (s.ranks % rows == 0)
      s.rows = rows;
  s.columns = s.ranks / s.rows;
  s.row = s.rank / s.columns;
  s.column = s.rank % s.columns;
  size_t most = (size_t)2 * VALUES * WORD * POINTS * POINTS;
  s.out = room(most + ATOMS * COORDINATES);
  s.in = room(most + ATOMS * COORDINATES);
}

static void run(void (*step)(double), int steps, double flops)
{
  double sums[10] = {0}, all[10] = {0};
  uint64_t total = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  double began = MPI_Wtime();
  for (int i = 0; i < steps; i++)
    step(flops);
  for (int i = 0; i < 3; i++)
    MPI_Allreduce(sums, all, i < 2 ? 1 : 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double seconds = MPI_Wtime() - began;
  MPI_Reduce(&s.sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (s.rank == 0) {
    printf("checksum: %016llx\n", (unsigned long long)total);
    printf("seconds: %.9g\n", seconds);
  }
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  lay_out();
  int steps = argc == 4 ? atoi(argv[2]) : 0;
  double flops = argc == 4 ? atof(argv[3]) : -1.0;
  for (size_t i = 0; steps > 0 && flops >= 0.0 && i < sizeof kernels / sizeof *kernels; i++)
    if (!strcmp(argv[1], kernels[i].name) && (!kernels[i].square || s.rows == s.columns)) {
      run(kernels[i].step, steps, flops);
      MPI_Finalize();
      return 0;
    }
  if (s.rank == 0)
    fprintf(stderr, "patterns: expected lu|ep|bt|sp|gromacs STEPS FLOPS; bt and sp on a square\n");
  MPI_Finalize();
  return 64;
}
