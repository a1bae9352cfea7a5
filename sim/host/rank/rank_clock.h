/* Gives ranks clocks, for protocols that need them (protocols/protocol.h).
 *
 * The clock of a rank differs from simulated time by at most the scenario's clocks.skew; the seed
 * decides by how much. The instant of a checkpoint is a time that all clocks show, sooner or
 * later. */
#ifndef RECLINE_RANK_CLOCK_H
#define RECLINE_RANK_CLOCK_H

#include "sim/host/rank/rank.h"

/* Returns the simulated time, in seconds, at which the alarm of a SET_TIMER goes off at the rank;
 * this time may have passed. The first alarm of a checkpoint in an incarnation sets the
 * checkpoint's instant to one interval later. */
double clock_alarm(const struct rank *, const struct rcl_action *alarm);

#endif
