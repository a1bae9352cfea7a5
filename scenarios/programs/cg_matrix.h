/* Makes the block of the CG kernel's matrix that a rank holds. */
#ifndef RECLINE_PROGRAMS_CG_MATRIX_H
#define RECLINE_PROGRAMS_CG_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct class_spec {
  char name;
  int order;          /* number of rows of the matrix */
  int vector_entries; /* number of nonzeros that are drawn for each generating vector */
  int outer_iterations;
  double shift;
  double reference_zeta;
};

/* Describes the position of this rank in the grid of ranks. The rank and the number of ranks
 * determine all fields. */
struct grid {
  int rank, ranks;
  int rows, columns;
  int row, column;
  int half; /* half of its row's product that this rank keeps; 0 on a square grid */
  /* rank with which this rank exchanges blocks, as each needs the block of the other */
  int transpose_partner;
  int block; /* number of elements of a vector block: the padded order / columns */
};

/* Holds a matrix as compressed rows. Padding elements (order .. block * columns - 1) have no entry,
 * so they stay 0. */
struct matrix {
  int rows;
  int64_t *row_start; /* rows + 1 */
  int32_t *column;    /* number of the column within the block of this rank */
  double *value;
  int64_t nonzeros;
};

/* Returns zeroed memory, which the caller owns. Ends the program if there is none. */
void *allocate(size_t count, size_t size);

/* Fills `matrix` with the block of the class's matrix that the rank of `grid` has. With `skeleton`
 * the block is a diagonal that counts as many nonzeros. Rows, columns and values come from
 * allocate(), and the caller owns them. Returns the number of floating-point operations that this
 * takes. */
double make_matrix(const struct class_spec *spec, const struct grid *grid, bool skeleton,
                   struct matrix *matrix);

#endif
