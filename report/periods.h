/* What each rank did when: from activity.txt of a run (docs/trace.md), or, where there is none, as
 * far as a trace tells it. */
#ifndef RECLINE_PERIODS_H
#define RECLINE_PERIODS_H

#include "plots/history.h"

enum doing {
  DOING_COMPUTE, /* of a trace alone: anything else */
  DOING_MPI,
  DOING_PROTOCOL,
  DOING_CHECKPOINT, /* of a trace alone: the program is held */
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
  bool ended;  /* the file says when, */
  gint64 end;  /* of all */
};

/* Seconds with up to nine digits behind the point as nanoseconds; a number of a step as it is. */
gint64 instant_of(const char *time);

/* periods_clear() frees what these give. False: `error` says in one line what is wrong with the
 * file.
 */
bool periods_load(const char *file, int ranks, struct periods *, GError **error);
void periods_of_history(const struct history *, struct periods *);
void periods_clear(struct periods *);

#endif
