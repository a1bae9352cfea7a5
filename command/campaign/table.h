/* Computes means over the runs of each cell, with confidence intervals, and differences between
 * cells. All cells have the same seeds, so differences are taken run by run: the failures that two
 * cells have in common cancel out. */
#ifndef RECLINE_TABLE_H
#define RECLINE_TABLE_H

#include <json-glib/json-glib.h>

#include "command/campaign/estimate.h"
#include "command/campaign/runs.h"

/* Says what the scenario of a cell lets expect. */
struct outlook {
  double every; /* seconds between checkpoints, or 0 if it does not ask for them by time alone */
  double each;  /* checkpoints that a request makes: 1, or one for each rank */
  double mtbf;  /* seconds between failures by law, of the whole machine; INFINITY without laws */
};

struct table {
  const struct runs *runs;
  unsigned count;                /* number of runs of each cell */
  const struct outlook *outlook; /* by cell */
};

/* Sets `due` to the mean number of checkpoints for which it was time in a run, without the time
 * that was lost or spent at checkpoints, and `committed` to the mean number that committed. Returns
 * false if the cell does not ask by time, or if no run ended. */
bool table_checkpoints(const struct table *, unsigned cell, double *due, double *committed);

/* Returns how many failures by law are to be expected in the runs of a cell that ended. */
double table_expected(const struct table *, unsigned cell);

/* Returns whether far fewer checkpoints committed than were due, as for a program whose steps are
 * longer than the interval: then the cell does not show what its interval costs. */
bool table_is_short(const struct table *, unsigned cell);
bool is_short(double due, double committed); /* the same for numbers */

/* Estimates the mean of a field in a cell, over the runs whose program ended. */
struct estimate table_mean(const struct table *, unsigned cell, int field);

/* Estimates the mean difference between two cells, over the seeds whose programs ended in both
 * cells. */
struct estimate table_difference(const struct table *, unsigned cell, unsigned from, int field);

/* table_ended() returns how many runs of a cell have a program that ended; table_unexpected()
 * returns how many runs were not as expected. */
unsigned table_ended(const struct table *, unsigned cell);
unsigned table_unexpected(const struct table *, unsigned cell);
unsigned table_failed(const struct table *, unsigned cell); /* number of runs without a result */

/* Returns the largest half width of a confidence interval of any cell, relative to its mean. */
double table_width(const struct table *, int field);

/* Returns the values of a cell as a text such as "c3 30s", for g_free(). The text is empty without
 * sweeps. */
char *table_cell_name(const struct table *, unsigned cell);

/* Writes a line for each cell and field. */
bool table_write_csv(const struct table *, const char *file, GError **error);

/* Prints the estimates of one field for a person, on standard output. */
void table_print(const struct table *, int field);
/* Adds the member "cells" to an open object. */
void table_add_json(const struct table *, int field, JsonBuilder *);

#endif
