/* Runs real programs by schedule: the programs follow a trace, in its order.
 *
 * The trace is a counterexample of the explorer. It names each event of each rank, and each crash
 * and detection. In the run the network, storage and the clock still take their time, but each of
 * their events waits for its turn. Timers go off and ranks fail when it is their turn. A run that
 * cannot follow the trace ends. When the schedule has ended, the run goes on freely, unless a
 * property is violated; then the run stops. */
#ifndef RECLINE_SCHEDULE_H
#define RECLINE_SCHEDULE_H

#include "sim/host/rank/rank.h"

/* Reads the scenario's schedule, if it has one; ends the run if the schedule cannot be followed in
 * this run. */
void schedule_begin(void);

/* Returns whether there is a schedule that has not ended. */
bool schedule_on(void);

/* Returns whether there was a schedule. */
bool schedule_had(void);

/* Returns the next move if it is that rank's turn, otherwise NULL. The rank layer.ranks stands for
 * the dispatcher, which takes crashes and detections. */
const struct move *schedule_turn(int who);

/* Returns whether the next move is an event that the rank's program brings about. */
bool schedule_is_program(const struct rank *);

/* schedule_holds_back() returns whether the message brings an event to the rank, so that the
 * message waits for its turn. schedule_brings() returns whether the message brings the given
 * event. */
bool schedule_holds_back(const struct rank *, const struct message *);
bool schedule_brings(const struct message *, const struct rcl_event *);

/* Ends the run unless the given move comes next. */
void schedule_check(const struct move *);

/* Goes on to the next step. It must be called when a move has happened. */
void schedule_next(void);

/* Returns the number of steps that have happened. */
unsigned schedule_position(void);

#endif
