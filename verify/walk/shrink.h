/* Turns a violation in a large world into one in a small world: ranks, messages, crashes and moves
 * are taken out as long as the same property is violated. */
#ifndef RECLINE_SHRINK_H
#define RECLINE_SHRINK_H

#include "verify/walk/dice.h"
#include "verify/walk/draft.h"
#include "verify/walk/walker.h"

/* Shrinks `draft`, in which `run` violates a property, together with the run. Replaces both. The
 * result depends on `dice` alone, not on time. */
void shrink(struct draft *draft, struct run *run, struct dice *dice);

/* Takes moves out of a run. The world stays as it is. */
void shrink_moves(const struct course *, struct run *run);

#endif
