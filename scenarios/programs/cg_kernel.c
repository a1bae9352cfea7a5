/* The kernel of cg; cg.c describes the method and names its source. */
#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cg_kernel.h"
#include "cg_matrix.h"

enum { INNER_ITERATIONS = 25, TAG_REDUCE = 1, TAG_TRANSPOSE = 2, TAG_DOT = 3 };

static const double TOLERANCE = 1e-10;

/* FLOPS_OF_NUMBER is the number of charged operations that take as long as printing one number by
 * "%12.16e" into a file, in unoptimised code as in the paper. One processor takes 184 ns to print
 * and 1.36 ns for an operation (glibc 2.36, gcc -O0). */
static const double FLOPS_OF_NUMBER = 135.0;

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
static const struct cg_options *options;
static const struct cg_calls *calls;

/* Holds the progress of the program: first numbers of type int, then numbers of type double. */
static struct progress {
  unsigned mark; /* mark of the iteration or step that begins next, or 0 before the timed ones */
  int iteration; /* number of the outer iteration, from 1 */
  int step;      /* number of the step of the conjugate gradient method, from 0 */
  double rho;    /* r . r */
  double start, seconds; /* start and duration of the timed part */
  double zeta, residual;
  double writing; /* seconds spent in write_vectors() */
} progress;
static bool resumes; /* true if the kernel goes on in the middle of solve() */

/* Counts the operations that this rank has done since it last communicated. No other rank can see
 * when they happened, so one simulated computation for all of them costs the same time and is
 * simulated faster. */
static double uncharged_flops;

static void charge(double flops)
{
  uncharged_flops += flops;
}

void cg_compute_charged(void)
{
  if (uncharged_flops > 0.0) {
    const double flops = uncharged_flops;
    uncharged_flops = 0.0;
    smpi_execute_flops(flops);
  }
}

/* Marks the beginning of a timed outer iteration, or of a timed step, as the options ask. */
static void begin(bool step)
{
  if (step == options->steps && progress.mark > 0) {
    cg_compute_charged();
    calls->begin(progress.mark);
    progress.mark++;
  }
}

/* ---- the grid ---- */

/* Makes a grid of one row for any number of ranks. Each rank has all rows of its columns. */
static void make_row(int rank, int ranks, int order)
{
  grid = (struct grid){.rank = rank,
                       .ranks = ranks,
                       .rows = 1,
                       .columns = ranks,
                       .column = rank,
                       .transpose_partner = rank,
                       .block = (order + ranks - 1) / ranks};
}

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

static void exchange(int partner, int tag, const double *out, double *in, int count)
{
  cg_compute_charged();
  calls->exchange(partner, tag, out, in, count);
}

/* Sums values over the grid row. Both sides of an exchange add the same two numbers, so all ranks
 * of the row, and all rows, end with the same bits. */
static void sum_along_row(double *values, int count)
{
  double theirs[2];
  if (options->distributed) {
    cg_compute_charged();
    calls->sum(values, count);
    return;
  }
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

/* Computes out = A in. Both vectors are the block of this rank's grid column. On the diagonal of a
 * square grid a rank is its own partner, and sends its block to itself, as in NPB. */
static void multiply(const double *in, double *out)
{
  multiply_locally(in, vectors.product);
  if (options->distributed) {
    cg_compute_charged();
    calls->sum_blocks(vectors.product, out, grid.block);
    return;
  }
  const double *mine = reduce_product();
  exchange(grid.transpose_partner, TAG_TRANSPOSE, mine, out, grid.block);
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

/* Makes one step of the conjugate gradient method. `rho` is r . r before the step; returns r . r
 * after the step. */
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

/* Returns |x - A z|, which tells how well the system was solved. */
static double residual_norm(void)
{
  multiply(vectors.z, vectors.r);
  for (int i = 0; i < grid.block; i++) {
    vectors.r[i] = vectors.x[i] - vectors.r[i];
  }
  charge(grid.block);
  return sqrt(dot(vectors.r, vectors.r));
}

/* Charges the time to write z, p, r and q as text, and writes nothing. The program of Dichev and
 * Nikolopoulos (EuroMPI 2019, reference 2) writes its checkpoint like this. */
static void write_vectors(void)
{
  cg_compute_charged();
  const double start = MPI_Wtime();
  smpi_execute_flops(4.0 * FLOPS_OF_NUMBER * grid.block);
  progress.writing += MPI_Wtime() - start;
}

/* Solves A z = x approximately, and returns the norm of the residual. */
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
    if (options->writes && progress.step == 0 && progress.mark > 0) {
      write_vectors();
    }
  }
  begin(true);
  return residual_norm();
}

/* Makes one step of the inverse power method; returns the new estimate. */
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
  return options->spec->shift + 1.0 / sums[0];
}

/* Sets x to (1, ..., 1), with 0 in the padding. */
static void set_ones(void)
{
  for (int i = 0; i < grid.block; i++) {
    vectors.x[i] = grid.column * grid.block + i < options->spec->order ? 1.0 : 0.0;
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
}

void cg_free(void)
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

bool cg_make(const struct cg_options *wanted, const struct cg_calls *program, int rank, int ranks)
{
  options = wanted;
  calls = program;
  if (options->distributed) {
    make_row(rank, ranks, options->spec->order);
  } else if (!make_grid(rank, ranks, options->spec->order)) {
    return false;
  }
  charge(make_matrix(options->spec, &grid, options->skeleton, &matrix));
  make_vectors();
  return true;
}

/* An outer iteration computes z, p and r from x, so x is the only vector that must be restored. */
int cg_changed(struct cg_changed changed[CG_CHANGED])
{
  enum {
    WHOLE = 3,
    REAL = (sizeof(struct progress) - offsetof(struct progress, rho)) / sizeof(double)
  };
  double *const vector[] = {vectors.x, vectors.z, vectors.p, vectors.r};
  const int count = options->steps ? 4 : 1;
  changed[0] = (struct cg_changed){&progress.mark, WHOLE, false, false};
  changed[1] = (struct cg_changed){&progress.rho, REAL, true, false};
  for (int i = 0; i < count; i++) {
    changed[2 + i] = (struct cg_changed){vector[i], grid.block, true, true};
  }
  return 2 + count;
}

void cg_part(long long *whole, long long *first, long long *part)
{
  const long long order = options->spec->order, block = grid.block;
  *whole = order;
  *first = grid.column * block < order ? grid.column * block : order;
  *part = order - *first < block ? order - *first : block;
}

/* An outer iteration copies x. A step copies z and r, works on the copies, and copies them back at
 * its end, as the paper's program does (reference 2). A step changes p last, so p needs no copy. */
unsigned long long cg_copied_bytes(void)
{
  return (options->steps ? 4 : 1) * (unsigned long long)grid.block * sizeof(double);
}

/* Returns the time of this rank. With -d returns the time of rank 0, because all ranks then protect
 * the same time. */
static double now(void)
{
  double time = options->distributed && grid.rank > 0 ? 0.0 : MPI_Wtime();
  if (options->distributed) {
    calls->sum(&time, 1);
  }
  return time;
}

static void iterate_to_end(void)
{
  for (; progress.iteration <= options->iterations; progress.iteration++) {
    begin(false);
    progress.zeta = iterate(&progress.residual);
    if (options->verbose && grid.rank == 0) {
      printf("iteration: %d residual %.17g zeta %.17g\n", progress.iteration, progress.residual,
             progress.zeta);
    }
  }
  cg_compute_charged();
  progress.seconds = now() - progress.start;
}

void cg_go_on(void)
{
  resumes = options->steps;
  iterate_to_end();
}

void cg_run_timed(void)
{
  calls->meet();
  progress.start = now();
  progress.mark = 1;
  iterate_to_end();
}

/* Runs the one untimed iteration that the specification asks for first. */
void cg_run(void)
{
  memset(&progress, 0, sizeof progress); /* the kernel may have run before */
  set_ones();
  iterate(&progress.residual);
  set_ones();
  cg_compute_charged();
  progress.iteration = 1;
  cg_run_timed();
}

double cg_seconds(void)
{
  return progress.seconds;
}

void cg_print_time(double seconds)
{
  if (grid.rank == 0) {
    printf("time: %.9f s\n", seconds);
    if (options->writes) {
      printf("writing: %.9f s\n", progress.writing);
    }
  }
}

bool cg_print_result(void)
{
  const struct class_spec *spec = options->spec;
  const double error = fabs(progress.zeta - spec->reference_zeta) / spec->reference_zeta;
  const bool comparable = options->iterations >= spec->outer_iterations && !options->skeleton;
  const bool verified = error <= TOLERANCE; /* false when zeta is not a number */
  if (grid.rank == 0) {
    printf("class: %c, order %d, %d iterations\n", spec->name, spec->order, options->iterations);
    printf("ranks: %d, grid %d x %d\n", grid.ranks, grid.rows, grid.columns);
    printf("residual: %.17g\n", progress.residual);
    printf("zeta: %.17g %a\n", progress.zeta, progress.zeta);
    printf("error: %.3e\n", error);
    if (comparable) {
      printf("verification: %s\n", verified ? "PASS" : "FAIL");
    } else {
      printf("verification: SKIP (the reference is for %d iterations)\n", spec->outer_iterations);
    }
  }
  return !comparable || verified;
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

bool cg_parse(int count, char **words, struct cg_options *read)
{
  int next = 0;
  read->verbose = next < count && strcmp(words[next], "-v") == 0;
  next += read->verbose;
  read->steps = next < count && strcmp(words[next], "-s") == 0;
  next += read->steps;
  read->skeleton = next < count && strcmp(words[next], "-k") == 0;
  next += read->skeleton;
  read->writes = next < count && strcmp(words[next], "-w") == 0;
  next += read->writes;
  read->distributed = next < count && strcmp(words[next], "-d") == 0;
  next += read->distributed;
  read->spec = count - next == 1 || count - next == 2 ? find_class(words[next]) : NULL;
  if (read->spec == NULL) {
    return false;
  }
  read->iterations = read->spec->outer_iterations;
  if (count - next == 2) {
    char *end;
    const long iterations = strtol(words[next + 1], &end, 10);
    read->iterations = (int)iterations;
    return *end == '\0' && iterations > 0 && iterations <= 1000000;
  }
  return true;
}
