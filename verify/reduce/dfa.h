/* Finite automata of messages: what can come through a queue, in order.
 *
 * A automaton is the state of the smallest automaton that accepts it: its edges, by message, to the
 * automata of what can follow. Equal automata, equal numbers. All are closed under prefixes.
 */
#ifndef RECLINE_DFA_H
#define RECLINE_DFA_H

#include "verify/base/intern.h"

enum { DFA_EMPTY = 1 }; /* nothing comes */

struct dfa_edge {
  uint32_t message, rest;
};

struct dfas {
  struct intern states; /* struct language_edge[], by message */
  struct intern joins;  /* pairs of automata */
  uint32_t *joined;     /* of each pair: their union */
  uint32_t joined_room;
};

void dfas_init(struct dfas *);
void dfas_clear(struct dfas *);

/* `message`, then `rest`. */
uint32_t dfa_prefix(struct dfas *, uint32_t message, uint32_t rest);

uint32_t dfa_union(struct dfas *, uint32_t a, uint32_t b);

/* What can follow `message`; 0: it cannot come. */
uint32_t dfa_after(const struct dfas *, uint32_t dfa, uint32_t message);

#endif
