/* Keeps finite languages of messages, that is, sets of sequences that can come through a queue.
 *
 * A language is named by the start state of its minimal deterministic automaton. For each message
 * that can come first, the state has an edge to the language of what can follow. Equal languages
 * have equal numbers. All languages are closed under prefixes.
 */
#ifndef RECLINE_DFA_H
#define RECLINE_DFA_H

#include "base/intern.h"

enum { DFA_EMPTY = 1 }; /* the language in which nothing comes */

struct dfa_edge {
  uint32_t message, rest;
};

struct dfas {
  struct intern states; /* struct dfa_edge[], by message */
  struct intern joins;  /* pairs of automata */
  uint32_t *joined;     /* for each pair: their union */
  uint32_t joined_room;
};

void dfas_init(struct dfas *);
void dfas_clear(struct dfas *);

/* Returns the language in which `message` comes first and then a sequence of `rest`. */
uint32_t dfa_prefix(struct dfas *, uint32_t message, uint32_t rest);

uint32_t dfa_union(struct dfas *, uint32_t a, uint32_t b);

/* Returns the language of what can follow `message`, or 0 if the message cannot come. */
uint32_t dfa_after(const struct dfas *, uint32_t dfa, uint32_t message);

#endif
