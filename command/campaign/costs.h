/* Measures what checkpoints and recoveries cost, for formulas: they come from a run without a
 * protocol, a run without checkpoints, a run with checkpoints and a run with a crash. */
#ifndef RECLINE_COSTS_H
#define RECLINE_COSTS_H

#include <stdbool.h>

#include "command/campaign/measurements.h"
#include "command/campaign/optimum.h"
#include "command/campaign/sweep.h"
#include "world/scenario/scenario.h"

/* Holds what was measured for one cell. Times are in seconds. */
struct costs {
  struct machine_model model; /* costs of a checkpoint of all ranks and of a recovery of the job */
  double base;                /* time of the program without protocol, checkpoints and failures */
  /* time of the program with the protocol, without checkpoints and failures */
  double work;
  double own;       /* part of model.checkpoint that a rank, on average, spends on its own image */
  double due;       /* number of checkpoints that were due in the run that measured them */
  double committed; /* number of these checkpoints that committed at all ranks */
  bool exponential; /* the formulas apply to the failures and to the levels of storage */
  bool lost;        /* the failures take the only copies of the images, so the job starts over */
  bool alone;       /* only the failed ranks go back (independent recovery) */
  char *problem;    /* a line that says why there are no costs, or NULL if the costs are known */
};

struct cell {
  char **set;                /* settings, as for --set; ends with NULL */
  struct scenario *scenario; /* with these settings, or NULL if they were refused (costs.problem) */
  struct costs costs;
};

/* Returns the mean time in seconds between failures by law, of the nodes in use together, or
 * INFINITY if there is no law. */
double costs_mtbf(const struct scenario *);

/* Returns the cells of a grid, with their scenarios and the laws of their failures, for
 * cells_free(). `first` are settings of all cells. */
struct cell *cells_new(const struct grid *, const char *file, char *const *first);
void cells_free(struct cell *, unsigned count);

/* Measures the costs of the cells of a grid. Cells share runs without checkpoints if they differ
 * only in keys of checkpoints. Collects warnings of the runs. Returns as measurements_make()
 * does. */
int cells_measure(struct cell *, const struct grid *, struct measurements *, GPtrArray *warnings);

/* Returns the number of runs that cells_measure() makes. */
unsigned cells_runs(const struct cell *, const struct grid *);

/* Returns the optimum by the exact formula, in seconds, or 0 if there is none or if no interval
 * helps because images are lost. */
double costs_optimum(const struct costs *);

/* Returns how much longer than `base` the mean time of the job is, as a share of `base`, with a
 * checkpoint after every `interval` seconds of work. With `lost`, the interval does not matter,
 * because the job has no checkpoint to which it can go back. */
double costs_share(const struct costs *, double interval);

/* Sets `from` and `to` to the least and the longest interval, in seconds, with which costs_share()
 * is greater by at most `more` than with the interval `best`. */
void costs_range(const struct costs *, double best, double more, double *from, double *to);

#endif
