/* Runs the timers of ranks. A timer tells a protocol that it is time for a checkpoint. A rank sets
 * its timer (SET_TIMER). The timer goes off (TIMER) after the interval of the scenario, at the
 * scenario's next instant, or when the program calls for a checkpoint, whichever is first. A
 * request that comes while no timer is set, because a checkpoint is under way, waits until the
 * timer is set again. The protocol puts a request off if it does no more than set the timer again;
 * then the timer goes off once more after the protocol's next step. If a failure undoes a
 * requested checkpoint before it is on stable storage, the request is repeated, too. With
 * independent recovery, the program of a rank may have done nothing since its last image; then the
 * rank's timer goes off when the program goes on. */
#ifndef RECLINE_TIMER_H
#define RECLINE_TIMER_H

#include "sim/host/rank/rank.h"

/* Carries out SET_TIMER of a protocol without clocks. */
void timer_set(struct rank *);

/* Returns whether the notice belongs to the timer as it was set last. If so, the timer goes off for
 * the protocol, and the request counts. */
bool timer_goes_off(struct rank *, const struct message *notice);

/* Call it after each step of the rank, with the event and the answer of the protocol. */
void timer_step(struct rank *, const struct rcl_event *, const struct rcl_actions *answer);

/* Returns whether an event of that kind may move the program of a rank on. */
bool timer_moves_program(enum rcl_event_kind);

/* Requests a checkpoint for the program of the rank: of that rank if each rank has a timer,
 * otherwise of all ranks. */
void timer_call(struct rank *);

/* Returns whether a checkpoint that commits now is the last one: the number of requests has come
 * to checkpoint.count, or all instants have passed. Without count and instants the first
 * checkpoint is the last. */
bool timer_was_last(void);

/* Call it when a run stands still. It is a breach if a timer is set and never goes off, although
 * there is a checkpoint to request. */
void timer_require_none(void);

#endif
