/* Generates the matrix of the CG kernel (RNR-94-007, 2.3 and 2.6), a weighted sum of outer products
 * of sparse random vectors. */
#include "cg_matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* most entries of a generating vector; class E, the largest class, has 26 + 1 */
enum { MAX_VECTOR_ENTRIES = 32 };

static const double RECIPROCAL_CONDITION = 0.1;

/* Holds a generating vector, as the positions and values of its few nonzeros. */
struct sparse_vector {
  int entries;
  int32_t position[MAX_VECTOR_ENTRIES];
  double value[MAX_VECTOR_ENTRIES];
};

void *allocate(size_t count, size_t size)
{
  void *memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "cg: out of memory\n");
    abort();
  }
  return memory;
}

/* Makes the next random number, x <- 5^13 x mod 2^46. Unsigned arithmetic is exact for it, because
 * 2^46 divides 2^64. */
static const uint64_t RANDOM_MULTIPLIER = 1220703125;
static const uint64_t RANDOM_SEED = 314159265;
enum { RANDOM_BITS = 46 };

static uint64_t draw(uint64_t *state)
{
  *state = (*state * RANDOM_MULTIPLIER) & ((UINT64_C(1) << RANDOM_BITS) - 1);
  return *state;
}

/* Returns the state of the generator from which the matrix is drawn. The first number of the stream
 * is discarded. */
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

/* Draws vector number `index`; the value is drawn before its position, even if the position is then
 * rejected. Element `index` is 0.5, whatever was drawn for it. */
static void draw_vector(const struct class_spec *spec, uint64_t *state, int index,
                        struct sparse_vector *vector)
{
  const int position_bits = bits_to_count(spec->order);
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

static bool in_my_rows(const struct grid *grid, const struct matrix *matrix, int32_t position)
{
  return position / matrix->rows == grid->row;
}

static bool in_my_columns(const struct grid *grid, int32_t position)
{
  return position / grid->block == grid->column;
}

/* Counts how many products fall into each row of this rank's block. A position that is repeated
 * counts again. */
static void count_products(const struct class_spec *spec, const struct grid *grid,
                           struct matrix *matrix)
{
  uint64_t state = first_matrix_state();
  struct sparse_vector vector;
  for (int index = 0; index < spec->order; index++) {
    draw_vector(spec, &state, index, &vector);
    int in_columns = 0;
    for (int i = 0; i < vector.entries; i++) {
      in_columns += in_my_columns(grid, vector.position[i]);
    }
    for (int i = 0; i < vector.entries; i++) {
      if (in_my_rows(grid, matrix, vector.position[i])) {
        matrix->row_start[vector.position[i] % matrix->rows + 1] += in_columns;
      }
    }
  }
  for (int row = 0; row < matrix->rows; row++) {
    matrix->row_start[row + 1] += matrix->row_start[row];
  }
}

/* Appends to the rows the part of weight * v v^T that this rank holds. */
static void add_outer_product(const struct class_spec *spec, const struct grid *grid,
                              const struct sparse_vector *vector, int index, double weight,
                              int64_t *row_end, struct matrix *matrix)
{
  for (int i = 0; i < vector->entries; i++) {
    const int32_t row = vector->position[i];
    if (!in_my_rows(grid, matrix, row)) {
      continue;
    }
    for (int j = 0; j < vector->entries; j++) {
      const int32_t column = vector->position[j];
      if (!in_my_columns(grid, column)) {
        continue;
      }
      const int64_t at = row_end[row % matrix->rows]++;
      matrix->column[at] = column % grid->block;
      matrix->value[at] = weight * vector->value[i] * vector->value[j];
      /* this is true once for each element of the diagonal */
      if (row == index && column == index) {
        matrix->value[at] += RECIPROCAL_CONDITION - spec->shift;
      }
    }
  }
}

/* Draws the stream a second time instead of storing it: drawing takes little time, and all
 * simulated ranks share the memory of one machine. */
static void fill_products(const struct class_spec *spec, const struct grid *grid,
                          struct matrix *matrix)
{
  const double ratio = pow(RECIPROCAL_CONDITION, 1.0 / spec->order);
  int64_t *row_end = allocate((size_t)matrix->rows, sizeof *row_end);
  memcpy(row_end, matrix->row_start, (size_t)matrix->rows * sizeof *row_end);
  uint64_t state = first_matrix_state();
  double weight = 1.0;
  struct sparse_vector vector;
  for (int index = 0; index < spec->order; index++) {
    draw_vector(spec, &state, index, &vector);
    add_outer_product(spec, grid, &vector, index, weight, row_end, matrix);
    weight *= ratio;
  }
  free(row_end);
}

/* Adds up entries of the same position and closes the gaps. The columns of a row need no order:
 * entries stay in the order in which their positions were first drawn, so every run has the same
 * one. */
static void merge_repeated(const struct grid *grid, struct matrix *matrix)
{
  int64_t *place =
      /* by column: position of its entry in this row, plus 1 */
      allocate((size_t)grid->block, sizeof *place);
  int64_t end = 0;
  int64_t next = 0;
  for (int row = 0; row < matrix->rows; row++) {
    const int64_t start = end;
    for (; next < matrix->row_start[row + 1]; next++) {
      const int32_t column = matrix->column[next];
      if (place[column] > start) {
        matrix->value[place[column] - 1] += matrix->value[next];
      } else {
        matrix->column[end] = column;
        matrix->value[end] = matrix->value[next];
        place[column] = ++end;
      }
    }
    matrix->row_start[row] = start;
  }
  matrix->row_start[matrix->rows] = end;
  matrix->nonzeros = end;
  free(place);
}

/* Makes a diagonal matrix. It counts as many operations as the matrix of the class. */
static void make_skeleton(const struct class_spec *spec, const struct grid *grid,
                          struct matrix *matrix)
{
  matrix->column = allocate((size_t)matrix->rows, sizeof *matrix->column);
  matrix->value = allocate((size_t)matrix->rows, sizeof *matrix->value);
  int64_t end = 0;
  for (int row = 0; row < matrix->rows; row++) {
    const int32_t position = grid->row * matrix->rows + row;
    if (position < spec->order && in_my_columns(grid, position)) {
      matrix->column[end] = position % grid->block;
      matrix->value[end++] = 1.0 + position % 97;
    }
    matrix->row_start[row + 1] = end;
  }
  const double entries = spec->vector_entries + 1;
  matrix->nonzeros = (int64_t)(entries * entries * spec->order / grid->ranks);
}

double make_matrix(const struct class_spec *spec, const struct grid *grid, bool skeleton,
                   struct matrix *matrix)
{
  matrix->rows = grid->block * (grid->columns / grid->rows);
  matrix->row_start = allocate((size_t)matrix->rows + 1, sizeof *matrix->row_start);
  if (skeleton) {
    make_skeleton(spec, grid, matrix);
    return 0.0;
  }
  count_products(spec, grid, matrix);
  const int64_t products = matrix->row_start[matrix->rows];
  matrix->column = allocate((size_t)products, sizeof *matrix->column);
  matrix->value = allocate((size_t)products, sizeof *matrix->value);
  fill_products(spec, grid, matrix);
  merge_repeated(grid, matrix);
  /* This estimates the untimed work: a draw multiplies, masks and scales a 46-bit number, about
   * half of the pairs are rejected, and each product takes three operations. */
  const double draws = 2.0 * 2.0 * spec->order * (spec->vector_entries + 1);
  return 4.0 * draws + 3.0 * (double)products;
}
