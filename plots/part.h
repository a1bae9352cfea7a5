/* Cuts a part out of a long trace: a span of its time, some of its ranks. */
#ifndef RECLINE_PART_H
#define RECLINE_PART_H

#include "plots/history.h"

/* Holds a part as a user gives it: texts, or NULL for all of the time or all ranks. A time is a
 * step of a counterexample, or seconds of a run, perhaps with a unit (12ms). Ranks are numbers and
 * ranges: 0-3,7. */
struct part {
  char *from, *to, *ranks;
};

/* Returns the history of the part, with a trace of its own. The caller frees the part with
 * part_free(), before `whole`. Sets `outside` to the number of messages that are left out because
 * only one of their ends is in the part. Returns NULL with `error` set to one line if the part is
 * wrong or empty. */
struct history *part_of(const struct history *whole, const struct part *, unsigned *outside,
                        GError **error);
void part_free(struct history *);

#endif
