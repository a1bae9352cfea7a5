/* patterns: the messages of applications, with their sizes, counts and order, around a computation
 * that only takes time.
 *
 *     patterns lu|ep|bt|sp|gromacs|matmul|neuron STEPS FLOPS
 *     patterns gauss STEPS FLOPS EQUATIONS
 *     patterns disks STEPS FLOPS EDGE
 *
 * Each rank computes FLOPS in each of STEPS time steps. LU, BT and SP have NAS class C (162^3) and
 * EP has class D, by the benchmarks' specification (NAS-95-020) and their published sources.
 * GROMACS DPPC (121,856 atoms) has the decomposition of version 3: particles go half round a ring.
 * A step is
 *
 *     lu       for each of 160 planes, from one corner of the grid of ranks to the other and back,
 *              an edge of 5 values to two neighbours; then two layers of each face
 *     bt, sp   6 faces; then, in each of 3 directions, the values of a block's face in one stage
 *              after the other, forth and back. The ranks are a square, each with a diagonal of
 *              blocks
 *     ep       nothing; three sums follow the last step
 *     gromacs  coordinates half round the ring, forces back, sums of energies
 *
 * and, for the programs of the Event Logging paper (section 6.2),
 *
 *     matmul   4 columns of N for the next slave in turn: 2 N^2 bytes, as the paper says; then 4
 *              columns of results come back. N is four times the steps
 *     gauss    a block of columns of a system of equations: an allreduce sends the rows of its
 *              pivots. The number of messages is the same for each system, as the paper says
 *     neuron   five allgathers and a gather of 1000 neurons
 *     disks    a sweep of EDGE x EDGE hard disks: each slave gets the coordinates of its share, and
 *              sends them back when it has moved the disks
 *
 * Data are bytes that say where they come from; each rank adds up what it receives, in order. At
 * the end rank 0 prints the checksum of all and the seconds that the steps took.
 */
#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  NEURONS = 1000,
  POINTS = 162,
  PLANES = 160,
  VALUES = 5,
  WORD = 8,
  ATOMS = 121856,
  COORDINATES = 12,
  PLACE = 2 * WORD /* bytes of the position of a disk */
};

struct state {
  int rank, ranks;
  int columns, rows, column, row; /* size of the grid of ranks, and position of this rank */
  unsigned char *out, *in;
  uint64_t sum;
  int step, steps;
  int share; /* number of bytes of a slave's disks */
  int block; /* bytes of the rows of a block of pivots */
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

/* Sends to one neighbour, and receives the same number of bytes from another. */
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
  /* a rank exchanges with one partner at a time, in an order without a circle of waiting ranks */
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

/* Agrees on the ranks that take part, as BT and SP do at their start (setup_mpi.f). */
static void set_up(void)
{
  MPI_Comm all;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &all);
  MPI_Comm_free(&all);
}

static void multipartition(double flops, int there, int back)
{
  static const int way[3][2] = {{0, 1}, {1, 0}, {1, -1}};
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

/* BT sends blocks of 5 x 5 and right sides forth, and solutions back. */
static void bt(double flops)
{
  multipartition(flops, VALUES * VALUES + VALUES, VALUES);
}

/* SP sends the diagonals and right sides of two points forth, and their solutions back. */
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

/* ---- the Event Logging paper's ---- */

static void matmul(double flops)
{
  int slaves = s.ranks - 1, slave = 1 + s.step % slaves, columns = 4 * s.steps;
  int there = 2 * columns * columns, back = 4 * WORD * columns;
  if (s.rank == 0) {
    if (s.step >= slaves)
      get(slave, back, 2);
    put(slave, there, 1);
  } else if (s.rank == slave) {
    get(0, there, 1);
    smpi_execute_flops(flops);
    put(0, back, 2);
  }
  /* first task whose result has not come back */
  int first = s.steps > slaves ? s.steps - slaves : 0;
  for (int unit = first; s.rank == 0 && s.step + 1 == s.steps && unit < s.steps; unit++)
    get(1 + unit % slaves, back, 2);
}

/* All slaves work at the same time, and the master only distributes the disks. */
static void disks(double flops)
{
  if (s.rank > 0) {
    get(0, s.share, 1);
    smpi_execute_flops(flops);
    put(0, s.share, 2);
  }
  for (int slave = 1; s.rank == 0 && slave < s.ranks; slave++)
    put(slave, s.share, 1);
  for (int slave = 1; s.rank == 0 && slave < s.ranks; slave++)
    get(slave, s.share, 2);
}

static void gauss(double flops)
{
  memset(s.out, 0, (size_t)s.block);
  if (s.step % s.ranks == s.rank)
    fill(s.block, 1);
  MPI_Allreduce(s.out, s.in, s.block, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  take(s.block);
  smpi_execute_flops(flops);
}

static void neuron(double flops)
{
  int bytes = NEURONS / s.ranks * WORD;
  for (int part = 0; part < 5; part++) {
    fill(bytes, part);
    MPI_Allgather(s.out, bytes, MPI_BYTE, s.in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    take(bytes * s.ranks);
    smpi_execute_flops(flops / 5);
  }
  MPI_Gather(s.out, bytes, MPI_BYTE, s.in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* ---- all ---- */

static const struct {
  const char *name;
  void (*step)(double flops);
  int square; /* true if the number of ranks must be a square */
} kernels[] = {{"lu", lu, 0},       {"ep", ep, 0},           {"bt", bt, 1},
               {"sp", sp, 1},       {"gromacs", gromacs, 0}, {"matmul", matmul, 0},
               {"gauss", gauss, 0}, {"neuron", neuron, 0},   {"disks", disks, 0}};

/* Arranges the ranks in a grid, as near to a square as their number allows. `edge` is the edge of a
 * system of disks, and `equations` the size of a system of equations; the number that does not
 * apply is 0. */
static void lay_out(int steps, int edge, int equations)
{
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
  for (int rows = 1; rows * rows <= s.ranks; rows++)
    if (s.ranks % rows == 0)
      s.rows = rows;
  s.columns = s.ranks / s.rows;
  s.row = s.rank / s.columns;
  s.column = s.rank % s.columns;
  s.steps = steps;
  size_t most = (size_t)2 * VALUES * WORD * POINTS * POINTS, columns = 4 * (size_t)steps;
  most = columns <= 4096 && most < 2 * columns * columns ? 2 * columns * columns : most;
  s.share = PLACE * edge * edge / (s.ranks > 1 ? s.ranks - 1 : 1);
  s.block = steps ? (equations + steps - 1) / steps * equations * WORD : 0;
  most = most < (size_t)s.share ? (size_t)s.share : most;
  most = most < (size_t)s.block ? (size_t)s.block : most;
  s.out = room(most + ATOMS * COORDINATES);
  s.in = room(most + ATOMS * COORDINATES);
}

static void run(void (*step)(double), double flops)
{
  double sums[10] = {0}, all[10] = {0};
  uint64_t total = 0;
  if (step == bt || step == sp)
    set_up();
  MPI_Barrier(MPI_COMM_WORLD);
  double began = MPI_Wtime();
  for (s.step = 0; s.step < s.steps; s.step++)
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

static bool is_gauss(int argc, char **argv)
{
  return argc > 1 && !strcmp(argv[1], "gauss");
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  bool disks = argc > 1 && !strcmp(argv[1], "disks"), sized = disks || is_gauss(argc, argv);
  bool good = argc == (sized ? 5 : 4);
  int steps = good ? atoi(argv[2]) : 0, size = good && sized ? atoi(argv[4]) : 0;
  if (steps < 0 || size < 0 || size > (disks ? 8192 : 4 * steps) || (good && sized && size == 0))
    steps = size = 0;
  lay_out(steps, disks ? size : 0, disks ? 0 : size);
  double flops = good ? atof(argv[3]) : -1.0;
  for (size_t i = 0; steps > 0 && flops >= 0.0 && i < sizeof kernels / sizeof *kernels; i++)
    if (!strcmp(argv[1], kernels[i].name) && (!kernels[i].square || s.rows == s.columns)) {
      run(kernels[i].step, flops);
      MPI_Finalize();
      return 0;
    }
  if (s.rank == 0)
    fprintf(stderr, "patterns: expected lu|ep|bt|sp|gromacs|matmul|neuron STEPS FLOPS, "
                    "gauss STEPS FLOPS EQUATIONS or disks STEPS FLOPS EDGE; bt and sp on a "
                    "square\n");
  MPI_Finalize();
  return 64;
}
