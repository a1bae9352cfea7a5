/* The activity of each rank over time: from activity.txt of a run (docs/trace.md) or, if there is
 * none, as far as a trace tells it. */
#ifndef RECLINE_PERIODS_H
#define RECLINE_PERIODS_H

#include "plots/history.h"

enum doing {
  DOING_COMPUTE, /* only in traces: any other activity */
  DOING_MPI,
  DOING_PROTOCOL,
  DOING_CHECKPOINT, /* only in traces: the program is held */
  DOING_RESTART,
  DOING_LOST,
  DOINGS
};

extern const char *const doing_names[DOINGS];

/* Lasts until the next period of its rank, or the end. */
struct period {
  gint64 from; /* nanoseconds, or steps */
  enum doing doing;
};

struct periods {
  int ranks;
  GArray **of; /* struct period, by rank */
  bool ended;  /* the times come from the file, */
  gint64 end;  /* of all */
};

/* Returns seconds with up to nine digits after the point as nanoseconds, and the number of a step
 * as it is. */
gint64 instant_of(const char *time);

/* Both fill periods that periods_clear() frees. They return false with `error` set to one line on
 * what is wrong with the file.
 */
bool periods_load(const char *file, int ranks, struct periods *, GError **error);
void periods_of_history(const struct history *, struct periods *);
void periods_clear(struct periods *);

#endif
