/* Turns a violation in a large world into a violation in a small world. Ranks, messages, crashes
 * and moves are taken out as long as the same property is violated. */
#ifndef RECLINE_SHRINK_H
#define RECLINE_SHRINK_H

#include "verify/walk/dice.h"
#include "verify/walk/draft.h"
#include "verify/walk/walker.h"

/* Shrinks `draft`, together with `run`, which violates a property in that world. Replaces both. The
 * result does not depend on time: only `dice` makes a difference. */
void shrink(struct draft *draft, struct run *run, struct dice *dice);

/* Takes moves out of a run. The world stays as it is. */
void shrink_moves(const struct course *, struct run *run);

#endif
