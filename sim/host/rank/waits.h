/* What the program of each rank waits for, by its own words: told where all wait for ever. */
#ifndef RECLINE_WAITS_H
#define RECLINE_WAITS_H

#include "sim/host/rank/rank.h"

/* The rank waits, within its call, for the request, NULL: for none, or for one of so many others as
 * well. */
void waits_for(struct rank *, const struct request *, int others);

/* For a message with that source, a rank of the program or RCL_ANY, and tag. */
void waits_for_message(struct rank *, const struct comm *, int peer, int tag);

/* Adds a note for each rank to the result of the run: the call, since when, for what. */
void waits_report(void);

#endif
