/* activity.txt of a run: what each rank did when, as the result's time_s adds it up
 * (docs/trace.md).
 */
#ifndef RECLINE_ACTIVITY_H
#define RECLINE_ACTIVITY_H

#include "sim/host/rank/rank.h"

/* Begins the file of a run of so many ranks, `before` seconds after another one has begun, from
 * which it goes on (0: none): times in it count from there. The other functions do nothing unless
 * this was called.
 */
void activity_open(const char *file, int ranks, double before);

/* The rank has been in its activity from r->since to `now`, in seconds. */
void activity_note(const struct rank *r, double now);

/* The rank goes back to how it was at the time `to`, in seconds: what it did since is lost. */
void activity_back(const struct rank *r, double now, double to);

/* Ends the file at the end of the run. A file that cannot be written ends the run. */
void activity_close(double now);

#endif
