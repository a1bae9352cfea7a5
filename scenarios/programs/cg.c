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
 * Usage: cg [-v] [-s] [-k] CLASS [ITERATIONS]
 *   -v prints zeta after every outer iteration. ITERATIONS replaces the number of the class; with
 *   fewer, zeta cannot be compared with the reference and the verification prints SKIP. -k, a skeleton: a diagonal matrix in the place of the class's, with the
 *   operations and messages of that, but without its memory; there is nothing to verify.
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

#include "tell.h"

enum {
  EXIT_VERIFIED = 0,
  EXIT_NOT_VERIFIED = 1,
  EXIT_USAGE = 64,
  INNER_ITERATIONS = 25,
  MAX_VECTOR_ENTRIES = 32, /* of a generating vector; class E, the largest, has 26 + 1 */
  TAG_REDUCE = 1,
  TAG_TRANSPOSE = 2,
  TAG_DOT = 3,
};

static const double TOLERANCE = 1e-10;
static const double RECIPROCAL_CONDITION = 0.1;

struct class_spec {
  char name;
  int order;          /* of the matrix */
  int vector_entries; /* nonzeros drawn for each generating vector */
  int outer_iterations;
  double shift;
  double reference_zeta;
};

static const struct class_spec CLASSES[] = {
    {'S', 1400, 7, 15, 10.0, 8.5971775078648},     {'W', 7000, 8, 15, 12.0, 10.362595087124},
    {'A', 14000, 11, 15, 20.0, 17.130235054029},   {'B', 75000, 13, 75, 60.0, 22.712745482631},
    {'C', 150000, 15, 75, 110.0, 28.973605592845}, {'D', 1500000, 21, 100, 500.0, 52.514532105794},
};

/* Where this rank stands. Everything but the numbers of the matrix is known from rank and ranks. */
struct grid {
  int rank, ranks;
  int rows, columns;
  int row, column;
  int half;              /* which half of its row's product this rank keeps; 0 on a square grid */
  int transpose_partner; /* the rank that has the block this rank needs, and needs the one it has */
  int block;             /* elements of a vector block: the padded order / columns */
};

/* Compressed rows. Padding elements (order .. block * columns - 1) have no entry, so they stay 0.
 */
struct matrix {
  int rows;
  int64_t *row_start; /* rows + 1 */
  int32_t *column;    /* within the block of this rank */
  double *value;
  int64_t nonzeros;
};

/* One generating vector: positions and values of its few nonzeros. */
struct sparse_vector {
  int entries;
  int32_t position[MAX_VECTOR_ENTRIES];
  double value[MAX_VECTOR_ENTRIES];
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
static unsigned mark; /* of the one that begins next; 0: before the timed ones */

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
  if (step == mark_steps && mark > 0) {
    compute_charged();
    tell_iteration(mark++);
  }
}

static void *allocate(size_t count, size_t size)
{
  void *memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "cg: out of memory\n");
    abort();
  }
  return memory;
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

/* ---- the matrix ---- */

/* x <- 5^13 x mod 2^46. Unsigned arithmetic is modulo 2^64, of which 2^46 is a divisor. */
static const uint64_t RANDOM_MULTIPLIER = 1220703125;
static const uint64_t RANDOM_SEED = 314159265;
enum { RANDOM_BITS = 46 };

static uint64_t draw(uint64_t *state)
{
  *state = (*state * RANDOM_MULTIPLIER) & ((UINT64_C(1) << RANDOM_BITS) - 1);
  return *state;
}

/* The state from which the matrix is drawn: one draw of the stream is discarded first. */
static uint64_t first_matrix_state(void)
{
  uint64_t state = RANDOM_SEED;
  draw(&state);
  return state;
}

static int bits_to_count(int order)
{
  int bits = 0;
  while ((1 << bits) < order) {
    bits++;
  }
  return bits;
}

static int find_position(const struct sparse_vector *vector, int32_t position)
{
  for (int i = 0; i < vector->entries; i++) {
    if (vector->position[i] == position) {
      return i;
    }
  }
  return -1;
}

/* Draws vector number `index`; the value comes before the position, also when the position turns
 * out to be no good. Element `index` is 0.5, whatever was drawn for it. */
static void draw_vector(uint64_t *state, int index, int position_bits, struct sparse_vector *vector)
{
  vector->entries = 0;
  while (vector->entries < spec->vector_entries) {
    const double value = 0x1p-46 * (double)draw(state);
    const int32_t position = (int32_t)(draw(state) >> (RANDOM_BITS - position_bits));
    if (position < spec->order && find_position(vector, position) < 0) {
      vector->position[vector->entries] = position;
      vector->value[vector->entries] = value;
      vector->entries++;
    }
  }
  int own = find_position(vector, index);
  if (own < 0) {
    own = vector->entries++;
    vector->position[own] = index;
  }
  vector->value[own] = 0.5;
}

static bool in_my_rows(int32_t position)
{
  return position / matrix.rows == grid.row;
}

static bool in_my_columns(int32_t position)
{
  return position / grid.block == grid.column;
}

/* How many products fall into each row of this rank's block, repeated positions counted again. */
static void count_products(void)
{
  const int position_bits = bits_to_count(spec->order);
  uint64_t state = first_matrix_state();
  struct sparse_vector vector;
  for (int index = 0; index < spec->order; index++) {
    draw_vector(&state, index, position_bits, &vector);
    int in_columns = 0;
    for (int i = 0; i < vector.entries; i++) {
      in_columns += in_my_columns(vector.position[i]);
    }
    for (int i = 0; i < vector.entries; i++) {
      if (in_my_rows(vector.position[i])) {
        matrix.row_start[vector.position[i] % matrix.rows + 1] += in_columns;
      }
    }
  }
  for (int row = 0; row < matrix.rows; row++) {
    matrix.row_start[row + 1] += matrix.row_start[row];
  }
}

/* Puts the part of weight * v v^T that this rank holds at the ends of the rows. */
static void add_outer_product(const struct sparse_vector *vector, int index, double weight,
                              int64_t *row_end)
{
  for (int i = 0; i < vector->entries; i++) {
    const int32_t row = vector->position[i];
    if (!in_my_rows(row)) {
      continue;
    }
    for (int j = 0; j < vector->entries; j++) {
      const int32_t column = vector->position[j];
      if (!in_my_columns(column)) {
        continue;
      }
      const int64_t at = row_end[row % matrix.rows]++;
      matrix.column[at] = column % grid.block;
      matrix.value[at] = weight * vector->value[i] * vector->value[j];
      if (row == index && column == index) { /* once for each element of the diagonal */
        matrix.value[at] += RECIPROCAL_CONDITION - spec->shift;
      }
    }
  }
}

/* The stream is drawn again rather than stored: it is cheap, and many ranks share one memory. */
static void fill_products(void)
{
  const int position_bits = bits_to_count(spec->order);
  const double ratio = pow(RECIPROCAL_CONDITION, 1.0 / spec->order);
  int64_t *row_end = allocate((size_t)matrix.rows, sizeof *row_end);
  memcpy(row_end, matrix.row_start, (size_t)matrix.rows * sizeof *row_end);
  uint64_t state = first_matrix_state();
  double weight = 1.0;
  struct sparse_vector vector;
  for (int index = 0; index < spec->order; index++) {
    draw_vector(&state, index, position_bits, &vector);
    add_outer_product(&vector, index, weight, row_end);
    weight *= ratio;
  }
  free(row_end);
}

/* Adds up entries of the same position and closes the gaps. Rows need no order of columns: entries
 * stay in the order in which their position was first drawn, which is the same in every run. */
static void merge_repeated(void)
{
  int64_t *place =
      allocate((size_t)grid.block, sizeof *place); /* of a column in this row, plus 1 */
  int64_t end = 0;
  int64_t next = 0;
  for (int row = 0; row < matrix.rows; row++) {
    const int64_t start = end;
    for (; next < matrix.row_start[row + 1]; next++) {
      const int32_t column = matrix.column[next];
      if (place[column] > start) {
        matrix.value[place[column] - 1] += matrix.value[next];
      } else {
        matrix.column[end] = column;
        matrix.value[end] = matrix.value[next];
        place[column] = ++end;
      }
    }
    matrix.row_start[row] = start;
  }
  matrix.row_start[matrix.rows] = end;
  matrix.nonzeros = end;
  free(place);
}

/* The diagonal, and as many operations as all products would be. */
static void make_skeleton(void)
{
  matrix.column = allocate((size_t)matrix.rows, sizeof *matrix.column);
  matrix.value = allocate((size_t)matrix.rows, sizeof *matrix.value);
  int64_t end = 0;
  for (int row = 0; row < matrix.rows; row++) {
    const int32_t position = grid.row * matrix.rows + row;
    if (position < spec->order && in_my_columns(position)) {
      matrix.column[end] = position % grid.block;
      matrix.value[end++] = 1.0 + position % 97;
    }
    matrix.row_start[row + 1] = end;
  }
  const double entries = spec->vector_entries + 1;
  matrix.nonzeros = (int64_t)(entries * entries * spec->order / grid.ranks);
}

static void make_matrix(void)
{
  matrix.rows = grid.block * (grid.columns / grid.rows);
  matrix.row_start = allocate((size_t)matrix.rows + 1, sizeof *matrix.row_start);
  if (skeleton) {
    make_skeleton();
    return;
  }
  count_products();
  const int64_t products = matrix.row_start[matrix.rows];
  matrix.column = allocate((size_t)products, sizeof *matrix.column);
  matrix.value = allocate((size_t)products, sizeof *matrix.value);
  fill_products();
  merge_repeated();
  /* An estimate, before the timed part: a draw as the multiplication, masking and scaling of 46-bit
   * numbers, about half of the pairs being rejected; and three operations for each product. */
  const double draws = 2.0 * 2.0 * spec->order * (spec->vector_entries + 1);
  charge(4.0 * draws + 3.0 * (double)products);
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
  memset(vectors.z, 0, bytes);
  memcpy(vectors.r, vectors.x, bytes);
  memcpy(vectors.p, vectors.x, bytes);
  double rho = dot(vectors.r, vectors.r);
  for (int i = 0; i < INNER_ITERATIONS; i++) {
    begin(true);
    rho = improve_solution(rho);
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

static int run(int iterations, bool verbose)
{
  make_matrix();
  make_vectors();
  double residual = 0.0;
  double zeta = 0.0;
  set_ones();
  iterate(&residual); /* the specification wants one untimed iteration */
  set_ones();
  compute_charged();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  mark = 1;
  for (int i = 1; i <= iterations; i++) {
    begin(false);
    zeta = iterate(&residual);
    if (verbose && grid.rank == 0) {
      printf("iteration: %d residual %.17g zeta %.17g\n", i, residual, zeta);
    }
  }
  compute_charged();
  report_time(MPI_Wtime() - start);
  const int code = report_result(zeta, residual, iterations);
  free_all();
  return code;
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
