/* Finite languages of messages: what can come through a queue, in order.
 *
 * A language is the state of the smallest automaton that accepts it: its edges, by message, to the
 * languages of what can follow. Equal languages, equal numbers. All are closed under prefixes.
 */
#ifndef RECLINE_LANGUAGE_H
#define RECLINE_LANGUAGE_H

#include "verify/base/intern.h"

enum { LANGUAGE_EMPTY = 1 }; /* nothing comes */

struct language_edge {
  uint32_t message, rest;
};

struct languages {
  struct intern states; /* struct language_edge[], by message */
  struct intern joins;  /* pairs of languages */
  uint32_t *joined;     /* of each pair: their union */
  uint32_t joined_room;
};

void languages_init(struct languages *);
void languages_clear(struct languages *);

/* `message`, then `rest`. */
uint32_t language_prefix(struct languages *, uint32_t message, uint32_t rest);

uint32_t language_union(struct languages *, uint32_t a, uint32_t b);

/* What can follow `message`; 0: it cannot come. */
uint32_t language_after(const struct languages *, uint32_t language, uint32_t message);

#endif
