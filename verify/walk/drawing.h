/* Draws worlds. */
#ifndef RECLINE_DRAWING_H
#define RECLINE_DRAWING_H

#include "verify/walk/dice.h"
#include "verify/walk/draft.h"

/* What worlds are drawn for. */
struct drawing {
  const struct rcl_protocol *protocol;
  const char *file;            /* its shared object; NULL: recline's own */
  int least_ranks, most_ranks; /* from 2 to 64 */
};

/* Returns a world that the protocol takes, for draft_clear(). */
struct draft drawing_draw(const struct drawing *, struct dice *);

#endif
