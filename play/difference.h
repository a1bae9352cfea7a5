/* Compares a mutant, step by step, with the protocol that has the rule which the mutant lacks. */
#ifndef RECLINE_DIFFERENCE_H
#define RECLINE_DIFFERENCE_H

#include "play/session.h"

/* Finds the protocol that has the rule, if the session's protocol is a mutant. Real programs are
 * left out, because a trial would copy their memory, and so are mutants that have another state. */
void difference_find(struct session *);
void difference_clear(struct session *);

/* Lets the protocol that has the rule take the move, and undoes the move. Returns the protocol's
 * state after the move, at the rank of the move, as session_put_state() prints states; the caller
 * frees the text with free(). Returns NULL if there is no such protocol or if it cannot take the
 * move. */
char *difference_try(struct session *, const struct move *);

/* Notes how the mutant, which has just taken the move at `rank`, differs. `intact` is what
 * difference_try() has returned. */
void difference_note(struct session *, int rank, const char *intact);

#endif
