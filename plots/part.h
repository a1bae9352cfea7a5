/* A part of a long trace: some of its time, some of its ranks. */
#ifndef RECLINE_PART_H
#define RECLINE_PART_H

#include "plots/history.h"

/* As a user gives it; NULL: all. Times are steps of a counterexample, or seconds of a run, or have
 * a unit (12ms); ranks are numbers and ranges: 0-3,7. */
struct part {
  char *from, *to, *ranks;
};

/* The history of those lines, with a trace of its own; `outside` becomes the number of messages
 * that have one end only in it, and are not in it. To be freed by part_free(), before the whole.
 * NULL: `error` says in one line what is wrong with the part, or that nothing is in it. */
struct history *part_of(const struct history *whole, const struct part *, unsigned *outside,
                        GError **error);
void part_free(struct history *);

#endif
