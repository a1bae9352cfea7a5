/* The dispatcher: one MPI rank more than the program has, on a service host. It owns the failures
 * of the scenario, finds the dead, tells the others, starts the dead again, and ends the run. The
 * program sees a world without it.
 *
 *     crash ----- detection -----> detect ----- repair -----> restart notice
 *                                    | down notices to the living, at once
 *
 * With a fault-tolerant runtime the restart waits for the living as well: ulfm.h.
 */
#ifndef RECLINE_DISPATCHER_H
#define RECLINE_DISPATCHER_H

#include "sim/host/rank/rank.h"

/* To be called once, before any rank begins: sets up the network, the nodes, and the failures that
 * have a time. The functions are as in struct network. No other actor runs meanwhile. */
void dispatcher_begin(bool (*expects)(const struct message *),
                      bool (*is_awaited)(const struct message *));
/* Runs the dispatcher, on its rank; returns when all programs have ended. */
void dispatcher_run(void);

/* To be called by a rank after each step: failures at points of the protocol strike here. */
void dispatcher_point(int rank, const struct rcl_event *);

/* To be called before the step of a rank. If the rank crashes within the step, changes the move
 * accordingly (world_cut()) and returns the failure, for dispatcher_crash_in_step() after the
 * remaining actions; else NULL. */
const struct failure *dispatcher_cut(struct move *);
void dispatcher_crash_in_step(int rank, const struct failure *);

/* To be called by a rank that ends its own process. */
void dispatcher_crash_itself(int rank);

/* Returns whether the run is over for good: all programs have ended, none was held, and a schedule
 * was complete. */
bool dispatcher_is_over(void);

/* Returns whether any rank has been told to go back. */
bool dispatcher_has_recovered(void);

#endif
