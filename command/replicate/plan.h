/* Reads the runs that yield the published values: a key file (scenarios/replication/plan.ini).
 *
 *     [run t1-{ethernet,infiniband}-{none,bookmark}]   a run for each combination
 *     scenario = ring.yaml                             beside this file
 *     set = platform.interconnect=$1 protocol.name=$2  $1: what the first braces came to
 *
 *     [row bookmark.t1a.{infiniband,ethernet-tcp=ethernet}.cr]   "text=other": $1 is "other"
 *     value = 1e6 * [t1-$1-bookmark out.hop_s]         in the unit of the published value (below)
 *
 *     [input bookmark.t1a.infiniband.base]             behind its row
 *                           it went into a platform or a scenario, so it is no result
 *     [derived bookmark.t1b.infiniband.cr]             behind its row
 *                           an input, or another row, decides it, so that it says little
 *     [shared bookmark.t2.ethernet.total]              behind its row
 *                           one constant, fitted to rows like it, decides all of them
 *     [why bookmark.t1a.{infiniband,myrinet-mx}.cr]    behind their rows
 *     text = ...            why they are missed, as tested; or why there is no value
 *     tried LABEL = ...     another expression, whose values are shown with the reason;
 *                           @CONSTANT:FACTOR: its own with that constant changed (below)
 *
 *     [bound processes-{ethernet,infiniband}]   rows with the same causes (bound.c)
 *     text = ...                     which
 *     row ID = 2 * send + 1          what each row is of unknowns that they share, in the unit of
 * the published value: a FORM, or FORM / FORM
 *
 *     [constant sif.disk]   of a platform of recline
 *     platform = sif.xml
 *     find = write_bw="([0-9.]+)   a regular expression; its group is the number, wherever it is
 *     kind = estimate       or derived, published
 *     text = ...            from which row, or why
 *     runs = ^f3-           the only runs that it concerns; without: all of the platform
 *
 *     [figure c3-bcast]     drawn as c3-bcast.svg if some of its runs are there
 *     title, x, y = text    x and y: of the axes; log = yes: both logarithmic
 *     at = 4 64 1024        points, the % of its lines
 *     line NAME = [c3-bcast-none out.us_%]
 *
 * [published ID] is the published value itself. [RUN@CONSTANT:0.5 FIELD] is of the same run on the
 * platform with the constant, in all places, times 0.5; :TEXT puts the
 * text in its place.
 * A reference [RUN FIELD] is a number of that run: of result.json ("time_s.mpi"), a phase
 * ("phase.suspend.max", the mean over its checkpoints), or of a line "NAME: NUMBER ..." that the
 * program has printed ("out.NAME"). @(a b c: text) is the text once for each word, with it in the
 * place of %, joined by commas. Sizes are in bytes. A claim's value is true if it is not 0. */
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
  char *id, *value;            /* value: an expression; NULL: none */
  char *why;                   /* NULL */
  char **tried, **tried_value; /* labels and expressions; end with NULL; NULL: none */
  bool input;
  enum row_kind kind; /* never ZERO, which only the published value tells */
};

struct plan_constant {
  char *name, *platform, *find, *kind, *text;
  char *runs; /* expression that matches names of runs; NULL: all runs */
};

struct plan_figure {
  char *name, *title, *x, *y;
  bool log;
  char **at;
  char **line, **value; /* names and expressions; end with NULL */
};

/* A set of rows that every model with the same causes must compute from the same unknowns. */
struct plan_bound {
  char *name, *text;
  char **row, **form; /* ids, and forms of the same unknowns; end with NULL */
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

/* Returns the name of the platform of a run; NULL: unknown. The caller frees it. */
char *run_platform(const struct plan_run *);

#endif
