/* Makes the verdict matrix: every protocol in every world of verify/matrix, with one verdict in
 * each cell. */
#ifndef RECLINE_MATRIX_H
#define RECLINE_MATRIX_H

#include "verify/check/check.h"

struct matrix;

/* Loads the worlds `files`, which are the columns in that order, for each protocol of the registry
 * that is no mutant and no reference world (`cl-...`). Appends the cells that must be explored to
 * `cells` (struct checked). In all other cells the protocol refuses the world. Returns NULL with
 * `error` set if a file is wrong. */
struct matrix *matrix_load(GPtrArray *files, GArray *cells, GError **error);
void matrix_free(struct matrix *);

/* Returns a new list of the cells that violate `commits`, which must be explored again. Sets their
 * claims to all other properties. The claims belong to `cells`. matrix_add() takes the new
 * results. */
GArray *matrix_again(struct matrix *, struct checked *cells, unsigned count);
void matrix_add(struct matrix *, struct checked *cells, const GArray *again);

/* Prints the matrix as a table in Markdown, with the worlds below it. */
void matrix_print(const struct matrix *, const struct checked *cells);

#endif
