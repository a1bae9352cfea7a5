/* Answers by formulas how often to take checkpoints: for one scenario, or for all cells of a sweep,
 * which are then ranked by what they cost. */
#ifndef RECLINE_THEORY_H
#define RECLINE_THEORY_H

#include <json-glib/json-glib.h>

#include "command/campaign/costs.h"

struct theory {
  const char *file;     /* the scenario */
  char **set, **sweeps; /* settings and sweeps of the options, or NULL if there are none */
  const char *out;      /* folder for answer.json, or NULL */
  unsigned jobs;        /* number of runs at once */
  bool json;            /* prints one JSON object and nothing else */
};

/* Measures, and prints the answer. Returns an exit code after reporting an error. Sets `stopped` to
 * the signal that stopped the runs. */
int theory_answer(const struct theory *, int *stopped);

/* Prints the measured costs, and the optima by the formulas. */
void theory_print(const struct costs *);

/* Adds the members "measured" and "theory" to an open object. */
void theory_add_json(const struct costs *, JsonBuilder *);

/* Holds an answer: intervals in seconds, and the cost as a share of the job. */
struct answer {
  const char *sentence;
  double every, from, to, cost; /* NAN if not known */
};

/* Returns a builder whose object is open and has the members of the answer, for the caller to
 * unref. */
JsonBuilder *theory_begin_json(const struct answer *);

#endif
