/* Reduction: of the moves of a state, those that are enough.
 *
 * A stubborn set: a set of actions such that whatever others do, however long, its members neither
 * become possible that are not, nor are disturbed that are. Then every run from the state can be
 * reordered, step by step as the diamonds of relation.h allow, so that it begins with a member; and
 * the other moves need not be taken here. All states at rest, and some run to each violation, are
 * still reached. Nothing is put off for ever, as no rank comes back to where it was (closure.h).
 *
 *     a member that is possible      brings along those that do not commute with it
 *     a member that is not           brings along those that can make it so: for a message, what is
 *                                    before it in its channel, or those that can send it
 */
#ifndef RECLINE_REDUCTION_H
#define RECLINE_REDUCTION_H

#include <stdbool.h>
#include <stdint.h>

struct closure;
struct model;
struct position;
struct reduction;

/* NULL and *refused where none applies to the explorer's world and properties. */
struct reduction *reduction_new(struct model *, const struct closure *, const char **refused);
void reduction_free(struct reduction *);

/* The action of its rank that move number `move` is, in the state that is loaded. */
uint32_t reduction_action(const struct reduction *, struct model *, uint32_t move);

/* What a worker knows of values. */
struct reducer;
struct reducer *reducer_new(const struct reduction *, const struct position *at);
void reducer_free(struct reducer *);

/* Leaves a stubborn set of `moves` (one set of actions for each rank) of the worker's state. */
void reducer_choose(struct reducer *, uint64_t *moves);

#endif
