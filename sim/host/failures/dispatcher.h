/* Runs the dispatcher, one MPI rank more than the program has, on a service host. It owns the
 * failures of the scenario, finds the dead, tells the others, starts the dead again, and ends the
 * run. The program sees a world without it.
 *
 *     crash ----- detection -----> detect ----- repair -----> restart notice
 *                                    | down notices to the living, at once
 *
 * With a fault-tolerant runtime the restart waits for the living as well: ulfm.h.
 */
#ifndef RECLINE_DISPATCHER_H
#define RECLINE_DISPATCHER_H

#include "sim/host/rank/rank.h"

/* Sets up the network, the nodes, and the failures that have a time. Call it once, before any rank
 * begins. The functions are as in struct network. No other actor runs meanwhile. */
void dispatcher_begin(bool (*expects)(const struct message *),
                      bool (*is_awaited)(const struct message *));
/* Runs the dispatcher on its rank. Returns when all programs have ended. */
void dispatcher_run(void);

/* Lets failures strike that the scenario sets at points of the protocol. A rank calls it after each
 * of its steps. */
void dispatcher_point(int rank, const struct rcl_event *);

/* Call dispatcher_cut() before the step of a rank. If the rank is to crash within the step, it cuts
 * the move short (world_cut()) and returns the failure, which dispatcher_crash_in_step() gets after
 * the remaining actions; else it returns NULL. */
const struct failure *dispatcher_cut(struct move *);
void dispatcher_crash_in_step(int rank, const struct failure *);

/* Crashes the calling rank, which ends its own process. */
void dispatcher_crash_itself(int rank);

/* Returns whether the run is over for good: all programs have ended, none is held, and the
 * schedule, if there is one, is complete. */
bool dispatcher_is_over(void);

/* Returns whether any rank has been told to go back. */
bool dispatcher_has_recovered(void);

#endif
