/* Draws programs. Without failures, these programs end with every order of messages, for two
 * reasons: operations are drawn in an order in which all of them can run, and all receives of a
 * rank name messages in one way, so that no receive takes a message that another receive needs. */
#ifndef RECLINE_PROGRAM_H
#define RECLINE_PROGRAM_H

#include "verify/walk/dice.h"
#include "verify/walk/draft.h"

/* Draws operations for draft->ranks ranks from draft->families into draft->ops, in about `steps`
 * steps. Families that do not concern the program stay as they are. */
void program_draw(struct draft *draft, struct dice *dice, unsigned steps);

#endif
