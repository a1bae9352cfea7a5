/* A run by schedule: real programs do, in the order of a trace, what it says.
 *
 * The explorer's counterexample names each event of each rank, crashes and detections too. Here the
 * network, the storage and the clock still take their time, but what they bring waits for its turn,
 * and the timer goes off, and ranks fail, when it is the turn of that. A run that cannot follow
 * ends. When the schedule has ended the run goes on freely, unless a property is violated:
 * then it stops.
 */
#ifndef RECLINE_SCHEDULE_H
#define RECLINE_SCHEDULE_H

#include "sim/host/rank/rank.h"

/* Reads the scenario's schedule, if it has one; ends the run when it cannot be followed here. */
void schedule_begin(void);

/* There is one, and it has not ended. */
bool schedule_on(void);

/* There was one. */
bool schedule_had(void);

/* Returns what comes next, if it is for that rank to do, or, as layer.ranks, for the dispatcher
 * (crashes, detections); NULL: it is not. */
const struct move *schedule_turn(int who);

/* The program of the rank is about to bring about what comes next. */
bool schedule_is_program(const struct rank *);

/* Returns whether the message brings an event to the rank, and so waits for its turn; and whether
 * it brings that event. */
bool schedule_holds_back(const struct rank *, const struct message *);
bool schedule_brings(const struct message *, const struct rcl_event *);

/* Ends the run unless that move comes next. */
void schedule_check(const struct move *);

/* It has happened. */
void schedule_next(void);

/* Steps that have happened. */
unsigned schedule_position(void);

#endif
