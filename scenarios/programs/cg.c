/* cg: conjugate gradient, the CG kernel of the NAS Parallel Benchmarks.
 *
 * Written from the specification, not from the NPB source:
 *   D. H. Bailey et al., "The NAS Parallel Benchmarks", NASA Ames, RNR-94-007 (1994), section 2.6
 *   (the kernel) and 2.3 (the random numbers); the classes and reference values are those published
 *   with the NPB.
 *
 * Algorithm: it estimates the largest eigenvalue of a sparse symmetric positive definite matrix
 * by the inverse power method. Every outer iteration solves A z = x with 25 steps of the conjugate
 * gradient method, computes zeta = shift + 1 / (x . z) and continues with x = z / |z|.
 *
 * Distribution: a power of two ranks as a grid of rows x columns, columns = rows or 2 x rows. Each
 * rank holds one block of the matrix. A vector has as many blocks as the grid has columns; all
 * ranks of a grid column hold the same block. The product A p is summed along the grid row and then
 * exchanged with the transpose partner, which needs that block. This and the dot products use
 * MPI_Irecv, MPI_Send and MPI_Wait with named partners.
 *
 * Use: failure-free overheads and recoveries are measured with it. Computation is charged by its
 * number of floating-point operations, so with `--cfg=smpi/simulate-computation:no` the simulated
 * time of a run is the same on every machine.
 *
 * It announces iterations (tell.h): the timed outer ones, or with -s their 26 steps of the
 * conjugate gradient method (the last computes the residual). The paper of the hybrid protocol
 * calls such a step an iteration of CG: the payload that it publishes for one (Table 3) is that of
 * a step.
 *
 * Checkpoints at the application level have x and the progress, with -s also z, p and r: what a
 * step changes. All else is made again at a restart.
 *
 * Usage: cg [-v] [-s] [-k] CLASS [ITERATIONS]
 *   -v prints zeta after every outer iteration. ITERATIONS replaces the number of the class; with
 *   fewer, zeta cannot be compared with the reference and the verification prints SKIP.
 *   -k, a skeleton: a diagonal matrix in the place of the class's, with the operations and messages
 *   of that, but without its memory; there is nothing to verify.
 * Exit code, the same on all ranks: 0 verified or skipped, 1 not verified, 64 usage.
 */
#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cg_matrix.h"
#include "tell.h"

enum {
  EXIT_VERIFIED = 0,
  EXIT_NOT_VERIFIED = 1,
  EXIT_USAGE = 64,
  INNER_ITERATIONS = 25,
  TAG_REDUCE = 1,
  TAG_TRANSPOSE = 2,
  TAG_DOT = 3,
  MEMORY_PROGRESS = 1,
  MEMORY_VECTORS = 2, /* and the next three */
};

static const double TOLERANCE = 1e-10;

static const struct class_spec CLASSES[] = {
    {'S', 1400, 7, 15, 10.0, 8.5971775078648},     {'W', 7000, 8, 15, 12.0, 10.362595087124},
    {'A', 14000, 11, 15, 20.0, 17.130235054029},   {'B', 75000, 13, 75, 60.0, 22.712745482631},
    {'C', 150000, 15, 75, 110.0, 28.973605592845}, {'D', 1500000, 21, 100, 500.0, 52.514532105794},
};

struct vectors {
  double *x, *z, *p, *q, *r; /* one block each */
  double *product;           /* A p of this rank's matrix block: one row block */
  double *received;          /* from a partner: one block */
};

static struct grid grid;
static struct matrix matrix;
static struct vectors vectors;
static const struct class_spec *spec;
static bool mark_steps, skeleton;

/* How far the program has come. */
static struct {
  unsigned mark; /* of the iteration or step that begins next; 0: before the timed ones */
  int iteration; /* outer, from 1 */
  int step;      /* of the conjugate gradient method, from 0 */
  int code;      /* of the program's end */
  double rho;    /* r . r */
  double start;  /* time */
  double zeta, residual;
} progress;
static bool resumes; /* in the middle of solve() */

/* Operations done since this rank last communicated. Nobody can see when they happened within that
 * time, so one simulated computation for all of them costs the same and simulates faster. */
static double uncharged_flops;

static void charge(double flops)
{
  uncharged_flops += flops;
}

static void compute_charged(void)
{
  if (uncharged_flops > 0.0) {
    const double flops = uncharged_flops;
    uncharged_flops = 0.0;
    smpi_execute_flops(flops);
  }
}

/* An outer iteration begins, or a step of one: whichever is marked, once they are timed. */
static void begin(bool step)
{
  if (step == mark_steps && progress.mark > 0) {
    compute_charged();
    tell_iteration(progress.mark);
    progress.mark++;
  }
}

/* ---- the grid ---- */

static bool make_grid(int rank, int ranks, int order)
{
  if (ranks < 1 || (ranks & (ranks - 1)) != 0) {
    return false;
  }
  grid.rank = rank;
  grid.ranks = ranks;
  grid.rows = 1;
  while (4 * grid.rows * grid.rows <= ranks) {
    grid.rows *= 2;
  }
  grid.columns = ranks / grid.rows;
  grid.row = rank / grid.columns;
  grid.column = rank % grid.columns;
  grid.block = (order + grid.columns - 1) / grid.columns;
  if (grid.columns == grid.rows) {
    grid.half = 0;
    grid.transpose_partner = grid.column * grid.columns + grid.row;
  } else {
    /* A row block is two vector blocks wide: after the reduction, even columns have the first. */
    grid.half = grid.column % 2;
    grid.transpose_partner = (grid.column / 2) * grid.columns + 2 * grid.row + grid.half;
  }
  return true;
}

/* ---- communication ---- */

/* Sends one buffer to the partner and receives its counterpart. */
static void exchange(int partner, int tag, const double *out, double *in, int count)
{
  MPI_Request request;
  compute_charged();
  MPI_Irecv(in, count, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &request);
  MPI_Send(out, count, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Sums values over the grid row. Both sides of an exchange add the same two numbers, so all ranks
 * of the row, and all rows, end with the same bits. */
static void sum_along_row(double *values, int count)
{
  double theirs[2];
  for (int distance = 1; distance < grid.columns; distance *= 2) {
    exchange(grid.rank ^ distance, TAG_DOT, values, theirs, count);
    for (int i = 0; i < count; i++) {
      values[i] += theirs[i];
    }
  }
}

static void add_block(double *restrict sum, const double *restrict other)
{
  for (int i = 0; i < grid.block; i++) {
    sum[i] += other[i];
  }
  charge(grid.block);
}

/* Sums the product over the grid row; returns the block of it that this rank keeps. */
static double *reduce_product(void)
{
  double *mine = vectors.product + (size_t)grid.half * (size_t)grid.block;
  int distance = 1;
  if (grid.columns != grid.rows) { /* the neighbour keeps the other half */
    const double *theirs = vectors.product + (size_t)(1 - grid.half) * (size_t)grid.block;
    exchange(grid.rank ^ 1, TAG_REDUCE, theirs, vectors.received, grid.block);
    add_block(mine, vectors.received);
    distance = 2;
  }
  for (; distance < grid.columns; distance *= 2) {
    exchange(grid.rank ^ distance, TAG_REDUCE, mine, vectors.received, grid.block);
    add_block(mine, vectors.received);
  }
  return mine;
}

/* ---- the kernel ---- */

static void multiply_locally(const double *restrict in, double *restrict out)
{
  for (int row = 0; row < matrix.rows; row++) {
    double sum = 0.0;
    for (int64_t i = matrix.row_start[row]; i < matrix.row_start[row + 1]; i++) {
      sum += matrix.value[i] * in[matrix.column[i]];
    }
    out[row] = sum;
  }
  charge(2.0 * (double)matrix.nonzeros);
}

/* out = A in, both as the block of this rank's grid column. */
static void multiply(const double *in, double *out)
{
  multiply_locally(in, vectors.product);
  const double *mine = reduce_product();
  if (grid.transpose_partner == grid.rank) {
    memcpy(out, mine, (size_t)grid.block * sizeof *out);
  } else {
    exchange(grid.transpose_partner, TAG_TRANSPOSE, mine, out, grid.block);
  }
}

static double dot_locally(const double *restrict a, const double *restrict b)
{
  double sum = 0.0;
  for (int i = 0; i < grid.block; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

static double dot(const double *a, const double *b)
{
  double sum = dot_locally(a, b);
  charge(2.0 * grid.block);
  sum_along_row(&sum, 1);
  return sum;
}

/* One step of the conjugate gradient method; rho is r . r, before and after. */
static double improve_solution(double rho)
{
  double *restrict z = vectors.z;
  double *restrict p = vectors.p;
  double *restrict q = vectors.q;
  double *restrict r = vectors.r;
  multiply(p, q);
  const double alpha = rho / dot(p, q);
  for (int i = 0; i < grid.block; i++) {
    z[i] += alpha * p[i];
    r[i] -= alpha * q[i];
  }
  charge(4.0 * grid.block);
  const double rho_next = dot(r, r);
  const double beta = rho_next / rho;
  for (int i = 0; i < grid.block; i++) {
    p[i] = r[i] + beta * p[i];
  }
  charge(2.0 * grid.block);
  return rho_next;
}

/* |x - A z|: how well the system was solved. */
static double residual_norm(void)
{
  multiply(vectors.z, vectors.r);
  for (int i = 0; i < grid.block; i++) {
    vectors.r[i] = vectors.x[i] - vectors.r[i];
  }
  charge(grid.block);
  return sqrt(dot(vectors.r, vectors.r));
}

/* Solves A z = x, approximately; returns the norm of what is left. */
static double solve(void)
{
  const size_t bytes = (size_t)grid.block * sizeof(double);
  if (!resumes) {
    memset(vectors.z, 0, bytes);
    memcpy(vectors.r, vectors.x, bytes);
    memcpy(vectors.p, vectors.x, bytes);
    progress.rho = dot(vectors.r, vectors.r);
    progress.step = 0;
  }
  resumes = false;
  for (; progress.step < INNER_ITERATIONS; progress.step++) {
    begin(true);
    progress.rho = improve_solution(progress.rho);
  }
  begin(true);
  return residual_norm();
}

/* One step of the inverse power method; returns the new estimate. */
static double iterate(double *residual)
{
  *residual = solve();
  double sums[2] = {dot_locally(vectors.x, vectors.z), dot_locally(vectors.z, vectors.z)};
  charge(4.0 * grid.block);
  sum_along_row(sums, 2);
  const double scale = 1.0 / sqrt(sums[1]);
  for (int i = 0; i < grid.block; i++) {
    vectors.x[i] = scale * vectors.z[i];
  }
  charge(grid.block);
  return spec->shift + 1.0 / sums[0];
}

/* x = (1, ..., 1), and 0 where it is padding. */
static void set_ones(void)
{
  for (int i = 0; i < grid.block; i++) {
    vectors.x[i] = grid.column * grid.block + i < spec->order ? 1.0 : 0.0;
  }
}

static void make_vectors(void)
{
  double **const blocks[] = {&vectors.x, &vectors.z, &vectors.p,
                             &vectors.q, &vectors.r, &vectors.received};
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
    *blocks[i] = allocate((size_t)grid.block, sizeof(double));
  }
  vectors.product = allocate((size_t)matrix.rows, sizeof(double));
  /* x lives from one iteration to the next; z, p and r from one step to the next. */
  tell_bytes((mark_steps ? 3 : 1) * (unsigned long long)grid.block * sizeof(double), 0);
}

static void free_all(void)
{
  double *const blocks[] = {vectors.x, vectors.z,       vectors.p,       vectors.q,
                            vectors.r, vectors.product, vectors.received};
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
    free(blocks[i]);
  }
  free(matrix.row_start);
  free(matrix.column);
  free(matrix.value);
}

/* ---- the program ---- */

/* Prints the time of the slowest rank, which is no part of the result. */
static void report_time(double seconds)
{
  double slowest = 0.0;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (grid.rank == 0) {
    printf("time: %.9f s\n", slowest);
  }
}

static int report_result(double zeta, double residual, int iterations)
{
  const double error = fabs(zeta - spec->reference_zeta) / spec->reference_zeta;
  const bool comparable = iterations >= spec->outer_iterations && !skeleton;
  const bool verified = error <= TOLERANCE; /* false when zeta is not a number */
  if (grid.rank == 0) {
    printf("class: %c, order %d, %d iterations\n", spec->name, spec->order, iterations);
    printf("ranks: %d, grid %d x %d\n", grid.ranks, grid.rows, grid.columns);
    printf("residual: %.17g\n", residual);
    printf("zeta: %.17g %a\n", zeta, zeta);
    printf("error: %.3e\n", error);
    if (comparable) {
      printf("verification: %s\n", verified ? "PASS" : "FAIL");
    } else {
      printf("verification: SKIP (the reference is for %d iterations)\n", spec->outer_iterations);
    }
  }
  return !comparable || verified ? EXIT_VERIFIED : EXIT_NOT_VERIFIED;
}

/* What a step changes, or an outer iteration: z, p and r begin anew in each. */
static void protect(void)
{
  double *const changed[] = {vectors.x, vectors.z, vectors.p, vectors.r};
  tell_protected(MEMORY_PROGRESS, &progress, sizeof progress);
  for (int i = 0; i < (mark_steps ? 4 : 1); i++) {
    tell_doubles(MEMORY_VECTORS + i, changed[i], grid.block);
  }
}

/* The specification wants one untimed iteration. */
static void warm_up(void)
{
  set_ones();
  iterate(&progress.residual);
  set_ones();
  compute_charged();
  progress.iteration = 1;
}

static void begin_timed(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  progress.start = MPI_Wtime();
  progress.mark = 1;
}

/* From the beginning, or from where the checkpoint was taken from which the rank restarts. */
static void run_from(enum recline_place place, int iterations, bool verbose)
{
  if (place == RECLINE_NO_RESTART) {
    warm_up();
  }
  if (place != RECLINE_AT_CHECKPOINT) {
    begin_timed();
  }
  resumes = mark_steps && place == RECLINE_AT_CHECKPOINT;
  for (; progress.iteration <= iterations; progress.iteration++) {
    begin(false);
    progress.zeta = iterate(&progress.residual);
    if (verbose && grid.rank == 0) {
      printf("iteration: %d residual %.17g zeta %.17g\n", progress.iteration, progress.residual,
             progress.zeta);
    }
  }
  compute_charged();
  report_time(MPI_Wtime() - progress.start);
  progress.code = report_result(progress.zeta, progress.residual, iterations);
}

static int run(int iterations, bool verbose)
{
  charge(make_matrix(spec, &grid, skeleton, &matrix));
  make_vectors();
  protect();
  if (tell_restarts() != RECLINE_NO_RESTART) {
    compute_charged();
  }
  const enum recline_place place = tell_restore();
  if (place != RECLINE_AT_END) {
    run_from(place, iterations, verbose);
  }
  free_all();
  return progress.code;
}

static const struct class_spec *find_class(const char *name)
{
  for (size_t i = 0; i < sizeof CLASSES / sizeof CLASSES[0]; i++) {
    if (name[0] == CLASSES[i].name && name[1] == '\0') {
      return &CLASSES[i];
    }
  }
  return NULL;
}

/* Returns the number of outer iterations, or 0 if the arguments make no sense; sets the class and
 * what is marked. */
static int parse_arguments(int argc, char **argv, bool *verbose)
{
  int next = 1;
  *verbose = next < argc && strcmp(argv[next], "-v") == 0;
  next += *verbose;
  mark_steps = next < argc && strcmp(argv[next], "-s") == 0;
  next += mark_steps;
  skeleton = next < argc && strcmp(argv[next], "-k") == 0;
  next += skeleton;
  if (argc - next < 1 || argc - next > 2) {
    return 0;
  }
  spec = find_class(argv[next]);
  if (spec == NULL) {
    return 0;
  }
  if (argc - next == 1) {
    return spec->outer_iterations;
  }
  char *end;
  const long iterations = strtol(argv[next + 1], &end, 10);
  return *end == '\0' && iterations > 0 && iterations <= 1000000 ? (int)iterations : 0;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bool verbose;
  int code = EXIT_USAGE;
  const int iterations = parse_arguments(argc, argv, &verbose);
  if (iterations == 0) {
    if (rank == 0) {
      fprintf(stderr, "cg: expected [-v] [-s] [-k] CLASS [ITERATIONS], CLASS one of S W A B C D\n");
    }
  } else if (!make_grid(rank, ranks, spec->order)) {
    if (rank == 0) {
      fprintf(stderr, "cg: %d ranks, expected a power of two\n", ranks);
    }
  } else {
    code = run(iterations, verbose);
  }
  MPI_Finalize();
  return code;
}
