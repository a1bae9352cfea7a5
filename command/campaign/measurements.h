/* Makes single runs of one scenario with different settings, several at once, and shows how many
 * are done. Theory takes the costs of checkpoints and recoveries from such runs. */
#ifndef RECLINE_MEASUREMENTS_H
#define RECLINE_MEASUREMENTS_H

#include <json-glib/json-glib.h>
#include <stdbool.h>

/* Describes a run. The owner frees it with measurement_clear(). */
struct measurement {
  char **set;       /* settings besides the scenario's, as for --set; ends with NULL */
  JsonNode *result; /* result of the run, or NULL if the run did not end as expected */
  char *problem;    /* text that the run wrote to standard error, if there is no result */
};

struct measurements {
  const char *file;   /* the scenario */
  unsigned jobs;      /* runs at once, at least 1 */
  bool silent;        /* progress is shown on a terminal only */
  unsigned done, all; /* runs that have ended, and runs that the command will make */
  double each;        /* seconds that a run took, with `jobs` at once, on average */
  gint64 began, told; /* microseconds: when the first run began, and when progress was last told */
};

/* Makes `count` runs. Returns 0; the signal that stopped them; or -1 after reporting that no
 * process could be started. Runs that failed have a `problem`. */
int measurements_make(struct measurements *, struct measurement *, unsigned count);

void measurement_clear(struct measurement *);

/* Returns the number `name`, or `group`.`name`, of a result, or NAN if the result has none. */
double measured_number(JsonNode *result, const char *group, const char *name);

#endif
