/* Durations of the phases of checkpoints and recoveries, as the protocol names them. */
#ifndef RECLINE_PHASES_H
#define RECLINE_PHASES_H

#include "sim/host/rank/rank.h"

/* To be called with each step of the rank's protocol, and the actions of its answer. */
void phases_step(const struct rank *, const struct rcl_event *, const struct rcl_actions *);

/* Writes into the result the seconds of each phase of each checkpoint, over the ranks that were in
 * it. Where a checkpoint was taken again or restarted again, the last time counts. */
void phases_report(struct result *);

#endif
