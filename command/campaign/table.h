/* Means over the runs of each cell, with confidence intervals, and differences between cells. As
 * all cells have the same seeds, differences are taken run by run: the failures, which two cells
 * have in common, cancel out. */
#ifndef RECLINE_TABLE_H
#define RECLINE_TABLE_H

#include <json-glib/json-glib.h>

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

/* Count the runs of a cell whose program ended, and those not as expected. */
unsigned table_ended(const struct table *, unsigned cell);
unsigned table_unexpected(const struct table *, unsigned cell);
unsigned table_failed(const struct table *,
                      unsigned cell); /* the number of these without a result */

/* Returns the largest half width of a confidence interval of any cell, relative to its mean. */
double table_width(const struct table *, int field);

/* Returns the values of a cell, "c3 30s", for g_free(). Empty without sweeps. */
char *table_cell_name(const struct table *, unsigned cell);

/* Writes a line for each cell and field. */
bool table_write_csv(const struct table *, const char *file, GError **error);

/* For a person, on standard output: of one field. */
void table_print(const struct table *, int field);
/* The member "cells" of an object that is open. */
void table_add_json(const struct table *, int field, JsonBuilder *);

#endif
