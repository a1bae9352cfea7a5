/* recline replicate: the published values beside simulated ones. */
#ifndef RECLINE_REPLICATE_H
#define RECLINE_REPLICATE_H

#include <stdio.h>

#include "base/glib/command_line.h"
#include "command/replicate/expression.h"
#include "command/replicate/plan.h"
#include "command/replicate/published.h"

/* `data`: the folder with scenarios/replication. */
extern const struct about about_replicate;
int command_replicate(int argc, char **argv, const char *data);

enum row_verdict {
  ROW_WITHIN, /* a result within 15 per cent of what was published, or within its rounding */
  ROW_MISSED,
  ROW_TRUE, /* a claim that is true of what was simulated, by the rule that is its value */
  ROW_FALSE,
  ROW_INPUT,  /* it went into the platform or the scenario */
  ROW_FAILED, /* its run has failed */
  ROW_ABSENT, /* nothing simulates it */
  ROW_VERDICTS
};

/* A published value as it was replicated. */
struct replica {
  const struct published *published;
  const struct plan_row *row; /* NULL: the plan does not have it */
  enum row_verdict verdict;
  double value; /* simulated; NAN: none */
  char *failed; /* why the run has no value */
};

struct replicas {
  unsigned count;
  struct replica *item;
};

/* ---- published.c ---- */

/* Judges a result or a claim that came out as `value`. */
enum row_verdict replica_judge(const struct published *, double value);

/* A number that is neither an input nor absent. */
bool replica_is_result(const struct replica *);

/* NULL: it is not among them. */
const struct replica *replica_named(const struct replicas *, const char *id);

/* ---- replicas.c ---- */

struct outcomes;
struct reachable;

const char *row_verdict_name(enum row_verdict);

/* Returns whether the plan says what came out: each miss explained, and nothing else. */
bool replica_is_expected(const struct replica *);

void report_print(const struct replicas *, const struct reachable *);
void report_print_json(const struct replicas *, const struct reachable *);
bool report_write(const struct replicas *, struct outcomes *, const char *file,
                  GError **error); /* Markdown */

/* ---- outcomes.c ---- */

/* The runs that the rows of a plan need, in a folder of their own each. */
struct outcomes {
  const struct plan *plan;
  const char *out;            /* the folder */
  const char *data;           /* with the folder of platforms */
  bool sensitivity;           /* also with estimated constants halved and doubled */
  const GPtrArray *published; /* all of them */
  GHashTable *items;          /* name -> struct outcome */
  unsigned ran;               /* by this process */
  int signal;                 /* that has stopped it; 0: none */
};

/* Runs what has not been run, so many at once. False with `error`, or with `signal`. */
bool outcomes_run(struct outcomes *, const struct replicas *, unsigned jobs, GError **error);
void outcomes_clear(struct outcomes *);

/* NAME.gp and NAME.svg of each figure that has points, in the folder. */
bool figures_draw(struct outcomes *, GError **error);

/* expression_lookup; data: struct outcomes. */
bool outcomes_lookup(void *data, const char *run, const char *field, double *value, GError **error);

/* ---- constants.c ---- */

/* Writes the platform of "CONSTANT:FACTOR" into the folder of the outcomes. Its path, to be freed;
 * NULL with `error`. */
char *constant_platform(const struct outcomes *, const char *variation, GError **error);

/* Evaluates what was tried of a row: an expression, or its own value with a constant changed. */
bool tried_value(struct outcomes *, const struct plan_row *, unsigned index, expression_lookup *,
                 double *value, GError **error);

/* The value of a row (that has one) with a constant times a factor, where it concerns its runs. */
#define HALVED "0.5"
#define DOUBLED "2"
bool varied_value(struct outcomes *, const struct plan_row *, const struct plan_constant *,
                  const char *factor, expression_lookup *, double *value, GError **error);

/* Calls `note_run` for each run that is needed for the values with constants halved and doubled. */
void sensitivity_note(struct outcomes *, const struct replicas *, expression_lookup *note_run);
void constants_write(FILE *, const struct outcomes *); /* Markdown: where they come from */

/* ---- bound.c ---- */

/* How many of the results, and of these and the inputs together, can be met at most. */
struct reachable {
  bool good;
  unsigned results, results_met, numbers, numbers_met;
};

/* Finds what the rows in one bound can reach; not good, with `error`, where the bound cannot be
 * read. */
struct reachable bound_reach(const struct plan_bound *, const struct replicas *, GError **error);

/* Adds up all bounds of the plan; each row is in one at most. False with `error`. */
bool bounds_total(const struct outcomes *, const struct replicas *, struct reachable *total,
                  GError **error);

void bounds_write(FILE *, const struct outcomes *, const struct replicas *); /* Markdown */

/* ---- sensitivity.c ---- */

/* Markdown: how many verdicts of that paper each estimated constant changes. */
void sensitivity_write(FILE *, struct outcomes *, const struct replicas *, const char *source);

#endif
