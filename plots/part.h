/* Cuts a part out of a long trace: some of its time, some of its ranks. */
#ifndef RECLINE_PART_H
#define RECLINE_PART_H

#include "plots/history.h"

/* A part as a user gives it, or NULL for all. A time is a step of a counterexample, or seconds of a
 * run, perhaps with a unit (12ms). Ranks are numbers and ranges: 0-3,7. */
struct part {
  char *from, *to, *ranks;
};

/* Returns the history of the part, with a trace of its own. The caller frees it by part_free(),
 * before `whole`. Sets `outside` to the number of messages that are left out because the part has
 * only one of their ends. Returns NULL with `error` set to one line if the part is wrong or
 * empty. */
struct history *part_of(const struct history *whole, const struct part *, unsigned *outside,
                        GError **error);
void part_free(struct history *);

#endif
