/* recline replicate: lays simulated values beside published ones. */
#ifndef RECLINE_REPLICATE_H
#define RECLINE_REPLICATE_H

#include <stdio.h>

#include "base/glib/command_line.h"
#include "command/replicate/expression.h"
#include "command/replicate/plan.h"
#include "command/replicate/published.h"

/* `data` is the folder that holds scenarios/replication. */
extern const struct about about_replicate;
int command_replicate(int argc, char **argv, const char *data);

enum row_verdict {
  ROW_WITHIN, /* a result that differs by no more than published_tolerance() */
  ROW_MISSED,
  ROW_TRUE, /* a claim that is true of the simulated values */
  ROW_FALSE,
  ROW_INPUT,  /* the value went into the platform or the scenario */
  ROW_FAILED, /* the run has failed */
  ROW_ABSENT, /* no run simulates the value */
  ROW_VERDICTS
};

/* Holds a published value and its replica. */
struct replica {
  const struct published *published;
  const struct plan_row *row; /* the row of the plan, or NULL if the plan has no such row */
  enum row_verdict verdict;
  double value; /* simulated value, or NAN if there is none */
  char *failed; /* why the run has no value */
};

struct replicas {
  unsigned count;
  struct replica *item;
};

/* ---- published.c ---- */

/* Judges a result or a claim whose simulated value is `value`. */
enum row_verdict replica_judge(const struct published *, double value);

/* Returns whether the value is a number, and is neither an input nor absent. */
bool replica_is_result(const struct replica *);

/* Returns how much a result says. */
enum row_kind replica_kind(const struct replica *);

/* Returns the replica of that name, or NULL if there is none. */
const struct replica *replica_named(const struct replicas *, const char *id);

/* ---- replicas.c ---- */

struct outcomes;
struct reachable;

const char *row_verdict_name(enum row_verdict);

/* Returns whether the replica is as the plan expects: the plan has a reason for a replica that is
 * missed, and none for any other. */
bool replica_is_expected(const struct replica *);

void report_print(const struct replicas *, const struct reachable *);
void report_print_json(const struct replicas *, const struct reachable *);

/* Writes `folder`/replication.md, an index, and in `folder`/replication the pages of papers and of
 * constants, in Markdown. */
bool report_write(const struct replicas *, struct outcomes *, const char *folder, GError **error);

/* ---- outcomes.c ---- */

/* Holds the runs that the rows of a plan need. Each run has a folder of its own. */
struct outcomes {
  const struct plan *plan;
  const char *out;            /* folder for the runs */
  const char *data;           /* data folder with the platforms */
  bool sensitivity;           /* also run with estimated constants halved and doubled */
  const GPtrArray *published; /* all published values */
  GHashTable *items;          /* name -> struct outcome */
  unsigned ran;               /* number of runs that this process has made */
  int signal;                 /* the signal that stopped it, or 0 if there is none */
};

/* Makes the missing runs, `jobs` at once. Returns false with `error` set, or with `signal` set
 * after a signal. */
bool outcomes_run(struct outcomes *, const struct replicas *, unsigned jobs, GError **error);
void outcomes_clear(struct outcomes *);

/* Writes NAME.gp and NAME.svg into the folder, for each figure that has points. */
bool figures_draw(struct outcomes *, GError **error);

/* outcomes_lookup() is an expression_lookup, whose `data` is a struct outcomes. */
bool outcomes_lookup(void *data, const char *run, const char *field, double *value, GError **error);

/* ---- constants.c ---- */

/* Writes the platform with the change "CONSTANT:FACTOR" into the folder of the outcomes. Returns
 * its path, which the caller frees; NULL with `error`. */
char *constant_platform(const struct outcomes *, const char *variation, GError **error);

/* Evaluates a trial of a row: an expression, or the row's own value with a changed constant. */
bool tried_value(struct outcomes *, const struct plan_row *, unsigned index, expression_lookup *,
                 double *value, GError **error);

/* Returns the value of a row (which has one) with a constant times a factor, in the runs that the
 * constant concerns. */
#define HALVED "0.5"
#define DOUBLED "2"
bool varied_value(struct outcomes *, const struct plan_row *, const struct plan_constant *,
                  const char *factor, expression_lookup *, double *value, GError **error);

/* Calls `note_run` for each run that the values with constants halved and doubled need. */
void sensitivity_note(struct outcomes *, const struct replicas *, expression_lookup *note_run);
void constants_write(FILE *,
                     const struct outcomes *); /* writes the origins of constants as Markdown */

/* ---- bound.c ---- */

/* Holds upper bounds: how many results can be met, and how many results and inputs can be met. */
struct reachable {
  bool good;
  unsigned results, results_met, numbers, numbers_met;
};

/* Finds how many rows of one bound can be met. If the bound cannot be read, sets `error`, and the
 * result is not good. */
struct reachable bound_reach(const struct plan_bound *, const struct replicas *, GError **error);

/* Adds up all bounds of the plan. A row is in one bound at most. Returns false with `error`. */
bool bounds_total(const struct outcomes *, const struct replicas *, struct reachable *total,
                  GError **error);

void bounds_write(FILE *, const struct outcomes *, const struct replicas *); /* in Markdown */

/* ---- sensitivity.c ---- */

/* Writes in Markdown how many verdicts of a paper each estimated constant changes. */
void sensitivity_write(FILE *, struct outcomes *, const struct replicas *, const char *source);

#endif
