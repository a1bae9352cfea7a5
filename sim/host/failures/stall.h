/* The watch for programs that wait for ever. As long as checkpoints are taken, timers keep the
 * simulation alive, so that SimGrid does not report the deadlock. */
#ifndef RECLINE_STALL_H
#define RECLINE_STALL_H

#include "sim/host/rank/rank.h"

/* After each event of the run: ends it (run_stuck) when it shows that no program will ever go on.
 */
void watch_event(const struct move *);

/* The end of limits.simulated: ends the run. */
void watch_limit(void);

#endif
