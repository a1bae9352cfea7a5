/* Reduction: of the moves of a state, those that are enough.
 *
 * A stubborn set: a set of actions such that whatever others do, however long, its members neither
 * become possible that are not, nor are disturbed that are. Then every run from the state can be
 * reordered, step by step as the diamonds of dependence.h allow, so that it begins with a member;
 * and the other moves need not be taken here. All states at rest, and some run to each violation,
 * are still reached. Nothing is put off for ever, as no rank comes back to where it was
 * (abstraction.h).
 *
 *     a member that is possible      brings along those that do not commute with it
 *     a member that is not           brings along those that can make it so: for a message, what is
 *                                    before it in its channel, or those that can send it
 */
#ifndef RECLINE_STUBBORN_H
#define RECLINE_STUBBORN_H

#include <stdbool.h>
#include <stdint.h>

struct abstraction;
struct model;
struct position;
struct stubborn;

/* NULL and *refused where none applies to the explorer's world and properties. */
struct stubborn *stubborn_new(struct model *, const struct abstraction *, const char **refused);
void stubborn_free(struct stubborn *);

/* The action of its rank that move number `move` is, in the state that is loaded. */
uint32_t stubborn_action(const struct stubborn *, struct model *, uint32_t move);

/* What a worker knows of values. */
struct stubborn_worker;
struct stubborn_worker *stubborn_worker_new(const struct stubborn *, const struct position *at);
void stubborn_worker_free(struct stubborn_worker *);

/* Leaves a stubborn set of `moves` (one set of actions for each rank) of the worker's state. */
void stubborn_worker_choose(struct stubborn_worker *, uint64_t *moves);

#endif
