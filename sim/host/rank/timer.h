/* Timers of ranks: when the protocol is told that it is time for a checkpoint. A rank sets its
 * timer (SET_TIMER), and is told (TIMER) after the interval of the scenario, at the next of its
 * instants, or when the program calls for a checkpoint, whichever is first. What comes while no
 * timer is set, as a checkpoint is under way, is told when it is set again, once. What a protocol
 * puts off, as it does no more than to set the timer again, is told again behind its next step,
 * until which it would be put off again; so is what a failure has undone before it was on stable
 * storage. With independent recovery a rank whose program has done nothing since its last image is
 * told when that goes on. */
#ifndef RECLINE_TIMER_H
#define RECLINE_TIMER_H

#include "sim/host/rank/rank.h"

/* SET_TIMER of a protocol without clocks. */
void timer_set(struct rank *);

/* Returns whether that notice is of the timer as it was set last; then it is told, and counts. */
bool timer_goes_off(struct rank *, const struct message *notice);

/* After each step of the rank: the event, and how the protocol has answered. */
void timer_step(struct rank *, const struct rcl_event *, const struct rcl_actions *answer);

/* Returns whether behind such an event the program of a rank may be elsewhere than before it. */
bool timer_moves_program(enum rcl_event_kind);

/* The program of the rank calls for a checkpoint: of that rank where each has a timer, else of all.
 */
void timer_call(struct rank *);

/* Returns whether a checkpoint that commits now is the last one: all that checkpoint.count allows
 * have been asked for, all instants have passed. Without both the first is. */
bool timer_was_last(void);

/* A run that stands still: a breach, where a timer is set and never goes off, though there is
 * something to ask for. */
void timer_require_none(void);

#endif
