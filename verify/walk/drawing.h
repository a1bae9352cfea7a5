/* Draws worlds. */
#ifndef RECLINE_DRAWING_H
#define RECLINE_DRAWING_H

#include "verify/walk/dice.h"
#include "verify/walk/draft.h"

/* Holds the limits within which worlds are drawn. */
struct drawing {
  const struct rcl_protocol *protocol;
  /* the shared object of the protocol, or NULL if it is recline's own */
  const char *file;
  int least_ranks, most_ranks; /* from 2 to 64 */
};

/* Returns a world that the protocol accepts. The caller ends with draft_clear(). */
struct draft drawing_draw(const struct drawing *, struct dice *);

#endif
