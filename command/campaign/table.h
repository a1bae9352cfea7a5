/* Means over the runs of each cell, with confidence intervals, and differences between cells. As
 * all cells have the same seeds, differences are taken run by run: what two cells have in common,
 * the failures, cancels out. */
#ifndef RECLINE_TABLE_H
#define RECLINE_TABLE_H

#include "command/campaign/estimate.h"
#include "command/campaign/runs.h"

struct table {
  const struct runs *runs;
  unsigned count; /* runs of each cell */
};

/* Estimates the mean of a field in a cell, over the runs whose program ended. */
struct estimate table_mean(const struct table *, unsigned cell, int field);

/* Estimates the mean difference between two cells, over the seeds whose programs ended in both. */
struct estimate table_difference(const struct table *, unsigned cell, unsigned from, int field);

/* The runs of a cell whose program ended; those not as expected. */
unsigned table_ended(const struct table *, unsigned cell);
unsigned table_unexpected(const struct table *, unsigned cell);
unsigned table_failed(const struct table *, unsigned cell); /* of these, without a result */

/* The largest half width of a confidence interval of any cell, relative to its mean. */
double table_width(const struct table *, int field);

/* The values of a cell, "c3 30s"; for g_free(). Empty without sweeps. */
char *table_cell_name(const struct table *, unsigned cell);

/* A line for each cell and field. */
bool table_write_csv(const struct table *, const char *file, GError **error);

/* For a person, and as one JSON object, on standard output: of one field. */
void table_print(const struct table *, int field);
void table_print_json(const struct table *, int field);

#endif
