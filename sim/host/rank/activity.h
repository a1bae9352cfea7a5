/* Writes activity.txt of a run: what each rank did when. The field time_s of the result has the
 * sums (docs/trace.md).
 */
#ifndef RECLINE_ACTIVITY_H
#define RECLINE_ACTIVITY_H

#include "sim/host/rank/rank.h"

/* Begins the file of a run. If this run continues another run, times count from the beginning of
 * the other run, `before` seconds earlier; else `before` is 0. The other functions do nothing
 * unless activity_open() was called. */
void activity_open(const char *file, int ranks, double before);

/* Adds that the rank has been in its activity from r->since to `now`, in seconds. */
void activity_note(const struct rank *r, double now);

/* Marks as lost what the rank did since the time `to`, in seconds, because the rank goes back to
 * that time. */
void activity_back(const struct rank *r, double now, double to);

/* Ends the file at the end of the run. A file that cannot be written ends the run. */
void activity_close(double now);

#endif
