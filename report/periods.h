/* Tells the activity of each rank over time. The activity comes from the file activity.txt of a run
 * (docs/trace.md) or, without that file, from the trace, as far as the trace tells it. */
#ifndef RECLINE_PERIODS_H
#define RECLINE_PERIODS_H

#include "plots/history.h"

enum doing {
  DOING_COMPUTE, /* if the period is from a trace: any activity but those below */
  DOING_MPI,
  DOING_PROTOCOL,
  DOING_CHECKPOINT, /* if the period is from a trace: the program is held */
  DOING_RESTART,
  DOING_LOST,
  DOINGS
};

extern const char *const doing_names[DOINGS];

/* Describes a period, which lasts until the next period of its rank, or until the end. */
struct period {
  gint64 from; /* begin of the period, in nanoseconds in a run, in steps in a counterexample */
  enum doing doing;
};

struct periods {
  int ranks;
  GArray **of; /* struct period, by rank */
  bool ended;  /* true if `end` is known because the times come from activity.txt */
  gint64 end;  /* end of all periods */
};

/* Returns a time of a trace as a number: seconds with up to nine digits after the point as
 * nanoseconds, and the number of a step as it is. */
gint64 instant_of(const char *time);

/* Both functions fill in the periods, which the caller frees with periods_clear(). periods_load()
 * returns false with `error` set to one line that says what is wrong with the file. */
bool periods_load(const char *file, int ranks, struct periods *, GError **error);
void periods_of_history(const struct history *, struct periods *);
void periods_clear(struct periods *);

#endif
