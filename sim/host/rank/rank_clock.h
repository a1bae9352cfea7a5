/* Gives ranks clocks, for protocols that need them (protocols/protocol.h).
 *
 * The clock of a rank differs from simulated time by up to the scenario's clocks.skew, by the seed.
 * The instant of a checkpoint is a time that all clocks show, sooner or later.
 */
#ifndef RECLINE_RANK_CLOCK_H
#define RECLINE_RANK_CLOCK_H

#include "sim/host/rank/rank.h"

/* Returns the simulated time, in seconds, at which that alarm (SET_TIMER) goes off at the rank; it
 * may have passed. The first alarm of a checkpoint in an incarnation puts its instant one interval
 * ahead. */
double clock_alarm(const struct rank *, const struct rcl_action *alarm);

#endif
