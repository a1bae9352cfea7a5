/* Measures the phases of checkpoints in a run (world/result/phases.h). */
#ifndef RECLINE_RUN_PHASES_H
#define RECLINE_RUN_PHASES_H

#include "sim/host/rank/rank.h"

/* Must be called for each step of the rank's protocol, with the event and the actions of the
 * answer. */
void run_phases_step(const struct rank *, const struct rcl_event *, const struct rcl_actions *);

/* Writes the phases into the result. */
void run_phases_report(struct result *);

#endif
