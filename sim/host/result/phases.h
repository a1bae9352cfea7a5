/* How long the phases of checkpoints and recoveries take, as the protocol names them. */
#ifndef RECLINE_PHASES_H
#define RECLINE_PHASES_H

#include "sim/host/rank/rank.h"

/* A step that the rank's protocol takes now, with the actions that it has answered. */
void phases_step(const struct rank *, const struct rcl_event *, const struct rcl_actions *);

/* Into the result: of each phase of each checkpoint, over the ranks that were in it. Where a
 * checkpoint was taken again or gone back to again, the last time counts. */
void phases_report(struct result *);

#endif
