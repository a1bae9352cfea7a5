/* Tells which actions of an abstraction commute and which can enable which, from each value of a
 * rank on, in all states that can follow. The answers come from the handlers: an edge of the
 * abstraction is a step of the real rules, so following two edges in either order executes both
 * orders.
 *
 * Two actions commute at a node when either order can be taken and both come to the same node, send
 * the same and do the same to what all share; or when both orders violate a property. Sending and
 * taking in commute, as channels are queues.
 */
#ifndef RECLINE_DEPENDENCE_H
#define RECLINE_DEPENDENCE_H

#include "verify/reduce/abstraction.h"

/* Holds sets of actions of one rank, a bit for each action. They belong to one value of the rank.
 * All but `moves` hold for the value and for all values that can come after it. The sets from
 * `visible` on are used before a crash only. */
struct row {
  uint64_t moves;          /* actions that do something here, for some order of messages */
  const uint64_t *with;    /* [action] actions that do not commute with it */
  const uint64_t *enables; /* [action] actions that can enable it */
  /* [first action of rank q + action of q] actions that can send that message. */
  const uint64_t *sends;
  uint64_t visible;       /* actions that a crash can see, apart from what they store (visible.h) */
  const uint64_t *stores; /* [action] checkpoints whose durable records it changes */
  uint64_t uncommitting;  /* actions that need not come before the next commit of the rank */
  /* [as `sends`] actions that need not come before that message is sent. */
  const uint64_t *unsending;
};

struct dependence {
  const struct abstraction *abstraction;
  uint32_t ranks;
  uint32_t *base;      /* for each rank: the number of actions of all earlier ranks */
  struct intern *rows; /* for each rank: uint64_t[], as struct row */
  uint32_t **row_of;   /* for each rank, GLOBAL (coordinator only) and value: a number in `rows` */
  uint64_t *others;    /* [base of rank + action][rank]: actions of other ranks that do not commute
                          with it */
};

/* Returns NULL and sets *refused if the dependence cannot be found. `blind` (tests only):
 * everything commutes. */
struct dependence *dependence_new(const struct abstraction *, bool blind, const char **refused);
void dependence_free(struct dependence *);

/* Returns the row with that number, which is not 0. */
struct row dependence_row(const struct dependence *, uint32_t rank, uint32_t number);

/* Returns the number of the row of a value. `global`: an entry of GLOBAL. */
uint32_t dependence_row_of(const struct dependence *, uint32_t rank, uint32_t value,
                           uint32_t global);

/* Returns the number of the row of a rank that does nothing any more. */
uint32_t dependence_row_of_dead(const struct dependence *, uint32_t rank);

#endif
