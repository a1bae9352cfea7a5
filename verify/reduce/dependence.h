/* Tells which actions of an abstraction commute, and which can enable which. The answer belongs to
 * a value of a rank, its state in the abstraction, and is valid in all states that can follow. To
 * find it, two edges of the abstraction are followed in both orders; each edge is a step of the
 * real protocol.
 *
 * Two actions commute at a node if both orders can be taken, lead to the same node, send the same
 * and do the same to what all ranks share. They also commute if both orders violate a property.
 * To send a message commutes with receiving another one, because channels are queues.
 */
#ifndef RECLINE_DEPENDENCE_H
#define RECLINE_DEPENDENCE_H

#include "verify/reduce/abstraction.h"

/* Holds sets of actions of one rank, with a bit for each action. The sets belong to one value of
 * the rank. All sets but `moves` are valid for the value and for all values that can follow it.
 * Only the search before a crash uses `visible` and the sets after it. */
struct row {
  uint64_t moves;          /* actions that do something at this value, for some order of messages */
  const uint64_t *with;    /* by action: actions that do not commute with it */
  const uint64_t *enables; /* by action: actions that can enable it */
  /* By index (base of rank q + action of q): actions that can send the message that this action of
   * q takes in. */
  const uint64_t *sends;
  uint64_t visible;       /* actions that change what a crash leaves, except storage (visible.h) */
  const uint64_t *stores; /* by action: checkpoints whose durable records it changes */
  uint64_t uncommitting;  /* actions that need not come before the next commit of the rank */
  /* By the same index as `sends`: actions that need not come before that message is sent. */
  const uint64_t *unsending;
};

struct dependence {
  const struct abstraction *abstraction;
  uint32_t ranks;
  uint32_t *base;      /* for each rank: the number of actions of all earlier ranks */
  struct intern *rows; /* for each rank: uint64_t[], as struct row */
  uint32_t *
      *row_of; /* [rank][GLOBAL, value]: a number in `rows`; only the coordinator has GLOBALs */
  /* [base of a rank + action][another rank]: actions of the other rank that do not commute with
   * the action */
  uint64_t *others;
};

/* Returns NULL and sets *refused if the dependence cannot be found. If `blind`, which is for tests
 * only, everything commutes. */
struct dependence *dependence_new(const struct abstraction *, bool blind, const char **refused);
void dependence_free(struct dependence *);

/* Returns the row with that number. 0 is the number of no row. */
struct row dependence_row(const struct dependence *, uint32_t rank, uint32_t number);

/* Returns the number of the row of a value. `global` is an entry of GLOBAL. */
uint32_t dependence_row_of(const struct dependence *, uint32_t rank, uint32_t value,
                           uint32_t global);

/* Returns the number of the row of a rank that does nothing any more. */
uint32_t dependence_row_of_dead(const struct dependence *, uint32_t rank);

#endif
