/* The verdict matrix: every protocol in every world of verify/matrix, one verdict in each cell. */
#ifndef RECLINE_MATRIX_H
#define RECLINE_MATRIX_H

#include "verify/check/check.h"

struct matrix;

/* Loads the worlds `files` (their order is that of the columns) once for each protocol of the
 * registry that is no mutant. Cells to explore are appended to `cells` (struct checked); in the
 * other cells the protocol refuses the world. NULL with `error` when a file is wrong. */
struct matrix *matrix_load(GPtrArray *files, GArray *cells, GError **error);
void matrix_free(struct matrix *);

/* Returns a new list of the cells whose checkpoint is never committed, to be explored once more for
 * all other properties. Its claims belong to `cells`; its results are for matrix_add(). */
GArray *matrix_again(struct matrix *, struct checked *cells, unsigned count);
void matrix_add(struct matrix *, struct checked *cells, const GArray *again);

/* Prints it as a table in Markdown, with the worlds under it. */
void matrix_print(const struct matrix *, const struct checked *cells);

#endif
