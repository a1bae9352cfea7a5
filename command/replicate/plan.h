/* Reads the runs that yield the published values: a key file (scenarios/replication/plan.ini).
 *
 *     [run t1-{ethernet,infiniband}-{none,bookmark}]   a run for each combination
 *     scenario = ring.yaml                             beside this file
 *     set = platform.interconnect=$1 protocol.name=$2  $1: what the first braces came to
 *
 *     [row bookmark.t1a.{infiniband,ethernet-tcp=ethernet}.cr]   "text=other": $1 is "other"
 *     value = 1e6 * [t1-$1-bookmark out.hop_s]         in the unit of the published value (below)
 *
 *     [input bookmark.t1a.infiniband.base]             comes after its row, as the next three do:
 *                           the value went into a platform or a scenario, so it is no result
 *     [derived bookmark.t1b.infiniband.cr]
 *                           an input or another row decides the value, so it says little
 *     [shared bookmark.t2.ethernet.total]
 *                           one constant, fitted to rows like this one, decides all of them
 *     [why bookmark.t1a.{infiniband,myrinet-mx}.cr]
 *     text = ...            why the values are missed, as tested; or why there is no value
 *     tried LABEL = ...     another expression, whose values are shown with the reason;
 *                           @CONSTANT:FACTOR: the row's own expression with that constant changed
 *
 *     [bound processes-{ethernet,infiniband}]   rows whose values have the same causes (bound.c)
 *     text = ...                     names the causes
 *     row ID = 2 * send + 1          the value of a row, in its published unit, as a FORM of
 *                                    unknowns that the rows share, or as FORM / FORM
 *
 *     [constant sif.disk]   a constant of a platform of recline
 *     platform = sif.xml
 *     find = write_bw="([0-9.]+)   a regular expression; its group is the number, wherever it is
 *     kind = estimate       or derived, published
 *     text = ...            from which row the constant comes, or why it has this value
 *     runs = ^f3-           the runs that the constant concerns; without `runs`, all on the
 * platform
 *
 *     [figure c3-bcast]     drawn as c3-bcast.svg if some of its runs are there
 *     title, x, y = text    x and y name the axes; log = yes makes both logarithmic
 *     at = 4 64 1024        the points; each replaces % in the expressions of the lines
 *     line NAME = [c3-bcast-none out.us_%]
 *
 * A reference [RUN FIELD] is a number of that run: of result.json ("time_s.mpi"), of a phase
 * ("phase.suspend.max", the mean over its checkpoints; "phase.suspend.rank0"), or of a line "NAME:
 * NUMBER ..." that the program has printed ("out.NAME"). [RUN@CONSTANT:0.5 FIELD] is the number of
 * the same run on a platform in which the constant is halved wherever it stands; @CONSTANT:TEXT
 * puts the text in its place. [published ID] is the published value itself. @(a b c: text) stands
 * for the text once for each word, joined by commas, with the word in place of %. Sizes are in
 * bytes. A claim's value is true if it is not 0. */
#ifndef RECLINE_PLAN_H
#define RECLINE_PLAN_H

#include <glib.h>
#include <stdbool.h>

struct plan_run {
  char *name, *scenario; /* the scenario's path */
  char **set;            /* KEY=VALUE; ends with NULL */
};

/* Tells how much a result says. It says less if it is published as zero, if an input or another row
 * decides it, or if it shares its one constant with other results. */
enum row_kind { KIND_INFORMATIVE, KIND_ZERO, KIND_DERIVED, KIND_SHARED, ROW_KINDS };

struct plan_row {
  char *id, *value; /* value: an expression, or NULL if there is none */
  /* why the simulated value misses the published one, or is absent, or NULL if no reason is
   * given */
  char *why;
  /* labels and expressions, two lists that end with NULL; both are NULL if there are none */
  char **tried, **tried_value;
  bool input;
  enum row_kind kind; /* never KIND_ZERO, because only the published value tells that */
};

struct plan_constant {
  char *name, *platform, *find, *kind, *text;
  char *runs; /* regular expression for the names of the runs, or NULL for all runs */
};

struct plan_figure {
  char *name, *title, *x, *y;
  bool log;
  char **at;
  char **line, **value; /* names and expressions, two lists that end with NULL */
};

/* Describes a set of rows that every model with the same causes must compute from the same
 * unknowns. */
struct plan_bound {
  char *name, *text;
  char **row, **form; /* ids, and forms of the same unknowns, two lists that end with NULL */
};

struct plan {
  GHashTable *runs;     /* name -> struct plan_run */
  GHashTable *rows;     /* id -> struct plan_row */
  GPtrArray *figures;   /* struct plan_figure */
  GPtrArray *constants; /* struct plan_constant */
  GPtrArray *bounds;    /* struct plan_bound */
};

bool plan_load(struct plan *, const char *file, GError **error);
void plan_clear(struct plan *);

/* Returns the name of the platform of a run, or NULL if it is unknown. The caller frees it. */
char *run_platform(const struct plan_run *);

#endif
