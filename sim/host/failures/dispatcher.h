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

/* Once, before any rank begins: the network, the nodes, and the failures that are due at a time.
 * The functions as in struct network. Lets no other actor run. */
void dispatcher_begin(bool (*expects)(const struct message *),
                      bool (*is_awaited)(const struct message *));
void dispatcher_run(void); /* by its rank: returns when all programs have ended */

/* From a rank, after each step: failures at points of the protocol strike here. */
void dispatcher_point(int rank, const struct rcl_event *);

/* Before the step of a rank: whether it crashes within. The move is made one that does
 * (world_cut()), and the failure is for dispatcher_crash_in_step(), behind the actions that are
 * left; else NULL. */
const struct failure *dispatcher_cut(struct move *);
void dispatcher_crash_in_step(int rank, const struct failure *);

/* From a rank that ends its own process. */
void dispatcher_crash_itself(int rank);

/* All programs have ended, none was held, and there was nothing left of a schedule: for good. */
bool dispatcher_is_over(void);

/* Returns whether any rank has been told to go back. */
bool dispatcher_has_recovered(void);

#endif
