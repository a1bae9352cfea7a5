/* A part of a long trace: some of its time, some of its ranks. */
#ifndef RECLINE_PART_H
#define RECLINE_PART_H

#include "plots/history.h"

/* The part as a user gives it; NULL: all. Times are steps of a counterexample, or seconds of a run,
 * or have a unit (12ms); ranks are numbers and ranges: 0-3,7. */
struct part {
  char *from, *to, *ranks;
};

/* Returns the history of those lines, with a trace of its own, to be freed by part_free() before
 * the whole; sets `outside` to the number of messages with only one end in the part, which are left
 * out. NULL with `error` set to one line if the part is wrong or empty. */
struct history *part_of(const struct history *whole, const struct part *, unsigned *outside,
                        GError **error);
void part_free(struct history *);

#endif
