/* Keeps the wait of each rank's program, in the program's own terms (call, peer, tag), for the
 * report of a run that deadlocks. */
#ifndef RECLINE_WAITS_H
#define RECLINE_WAITS_H

#include "sim/host/rank/rank.h"

/* Notes that the rank waits within its call for `request`, unless that is NULL, or for one of
 * `others` more requests. */
void waits_for(struct rank *, const struct request *, int others);

/* Notes that the rank waits for a message with that source, a rank of the program or RCL_ANY, and
 * tag. */
void waits_for_message(struct rank *, const struct comm *, int peer, int tag);

/* Adds a note for each rank to the result of the run: its call, the time since which the rank
 * waits, and what it waits for. */
void waits_report(void);

#endif
