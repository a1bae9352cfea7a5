/* Runs the dispatcher, one MPI rank more than the program has, on a service host. The dispatcher
 * owns the failures of the scenario, finds dead ranks, tells the other ranks, starts the dead ranks
 * again, and ends the run. The program does not see the dispatcher in its communicators.
 *
 *     crash ----- detection -----> detect ----- repair -----> restart notice
 *                                    | down notices to the living, at once
 *
 * With a fault-tolerant runtime (ulfm.h) the restart waits for the living ranks as well. */
#ifndef RECLINE_DISPATCHER_H
#define RECLINE_DISPATCHER_H

#include "sim/host/rank/rank.h"

/* Sets up the network, the nodes, and the failures that have a time. It must be called once, before
 * any rank begins and while no other actor runs. `expects` and the other functions are as in struct
 * network. */
void dispatcher_begin(bool (*expects)(const struct message *),
                      bool (*is_awaited)(const struct message *));
/* Runs the dispatcher on its rank. Returns when all programs have ended. */
void dispatcher_run(void);

/* Lets failures strike that the scenario ties to events of the protocol. A rank calls this function
 * after each of its steps. */
void dispatcher_point(int rank, const struct rcl_event *);

/* Call dispatcher_cut() before the step of a rank. If the rank is to crash within the step, it cuts
 * the move short (world_cut()) and returns the failure, which must be given to
 * dispatcher_crash_in_step() after the remaining actions. Otherwise it returns NULL. */
const struct failure *dispatcher_cut(struct move *);
void dispatcher_crash_in_step(int rank, const struct failure *);

/* Crashes `rank`, which must be the calling rank. The rank's process ends. */
void dispatcher_crash_itself(int rank);

/* Returns whether the run is over for good: all programs have ended, none is held, and the
 * schedule, if there is one, is complete. */
bool dispatcher_is_over(void);

/* Returns whether any rank has been told to go back. */
bool dispatcher_has_recovered(void);

#endif
