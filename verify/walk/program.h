/* Programs that are drawn. Whatever order messages take, they end without failures: operations are
 * drawn in an order in which the whole can run, and all receives of a rank name messages in one
 * way, so that none takes a message that another needs. */
#ifndef RECLINE_PROGRAM_H
#define RECLINE_PROGRAM_H

#include "verify/walk/dice.h"
#include "verify/walk/draft.h"

/* Draws the operations of draft->ranks ranks into draft->ops, of draft->families, in about `steps`
 * steps. Families that the program has no use of are left as they are. */
void program_draw(struct draft *draft, struct dice *dice, unsigned steps);

#endif
