/* The dispatcher: one MPI rank more than the program has, on a service host. It owns the failures
 * of the scenario, finds the dead, tells the others, starts the dead again, and ends the run. The
 * program sees a world without it.
 *
 *     crash ----- detection -----> detect ----- repair -----> restart notice
 *                                    | down notices to the living, at once
 *
 * With a fault-tolerant runtime the restart waits for the living as well: runtime.h.
 */
#ifndef RECLINE_DISPATCHER_H
#define RECLINE_DISPATCHER_H

#include "sim/host/rank.h"

/* Before anybody else uses it. Lets nobody else run. */
void dispatcher_begin(void);
void dispatcher_run(void); /* by its rank: returns when all programs have ended */

/* From any actor: has the dispatcher send a notice (kind and fields of `notice`) to `rank`. */
void dispatcher_tell(int rank, const struct message *notice);

/* From a rank: TIMER after the interval of the scenario. */
void dispatcher_set_timer(struct rank *);

/* From a rank, after each step: failures at points of the protocol strike here. */
void dispatcher_point(int rank, const struct rcl_event *);

/* Runs by schedule: a rank has had its turn. The dispatcher tells whose it is now. */
void dispatcher_turn(void);

void dispatcher_finished(void); /* a program has ended; perhaps the last */

/* All programs have ended, and there is nothing left of a schedule. */
bool dispatcher_is_over(void);

/* For the runtime (runtime.h): its repair ends at `time`; that rank is to start again, unless it
 * has begun another life. */
void dispatcher_repair_at(double time, uint32_t repair);
void dispatcher_restart(int rank, uint32_t life);

/* A rank goes back in this incarnation, as a survivor or as one that died: a rollback is global
 * when survivors took part. To be counted into the result at the end. */
void dispatcher_note_return(uint32_t incarnation, bool survivor);
void dispatcher_count_returns(void);

const char *dispatcher_host(void);
const char *dispatcher_host_of(int rank); /* where the rank runs */
void dispatcher_at_home(int rank, const char *host);

#endif
