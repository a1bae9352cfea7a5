/* Places: what a term over the words of a whole speaks of. A question about few places needs the
 * clauses about these alone, which is what makes it quick, and independent of how many ranks there
 * are besides.
 *
 * Places are: the words of all, the words of each rank, each of its memories, each channel. */
#ifndef RECLINE_PLACES_H
#define RECLINE_PLACES_H

#include "prove/whole.h"

enum { PLACE_WORDS = 2 };

/* A set of places. */
struct places {
  uint64_t bits[PLACE_WORDS];
};

/* Returns the places of a term; those of terms that were asked for are kept until whole_clear(). */
struct places places_of(struct whole *, Z3_ast);

static inline struct places places_joined(struct places a, struct places b)
{
  return (struct places){{a.bits[0] | b.bits[0], a.bits[1] | b.bits[1]}};
}

static inline struct places places_everywhere(void)
{
  return (struct places){{UINT64_MAX, UINT64_MAX}};
}

static inline bool places_are_within(struct places a, struct places b)
{
  return !(a.bits[0] & ~b.bits[0]) && !(a.bits[1] & ~b.bits[1]);
}

#endif
