/* Watches for programs that wait for ever. As long as checkpoints are taken, timers keep the
 * simulation alive, so SimGrid does not report the deadlock. */
#ifndef RECLINE_STALL_H
#define RECLINE_STALL_H

#include "sim/host/rank/rank.h"

/* Ends the run (run_stuck()) if this event shows that no program will ever go on. This function
 * must be called after each event of the run. */
void watch_event(const struct move *);

/* Ends the run, because the time limits.simulated is over. */
void watch_limit(void);

#endif
