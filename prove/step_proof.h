/* `recline prove --memory`: one step of a protocol, from every state of a rank and for every event.
 *
 * Proved of all states that keep the numbered invariants, whose lists are within their rooms, and
 * of all events with all contents that the door allows: no undefined behaviour, no access outside
 * of an object, no write to what a protocol may only read, no more actions than there is room for,
 * no list of actions that the grammar refuses. */
#ifndef RECLINE_PROVE_STEP_PROOF_H
#define RECLINE_PROVE_STEP_PROOF_H

#include "prove/prove_rank.h"

/* Kinds of errors of a step: with memory and numbers, or in its list of actions. */
enum aspect { ASPECT_MEMORY, ASPECT_ACTIONS, ASPECTS };

/* The first counterexample that was found to an aspect. */
struct counterexample {
  char *what;       /* and its place; NULL: there is none */
  char *event;      /* as text */
  GString *state;   /* its words that are not zero */
  GString *actions; /* as text, a line each */
  int self, ranks;  /* of whom, in which world */
  uint32_t capacity;
};

/* The result for one rank of one world, or for several. */
struct memory_proof {
  uint64_t paths, queries;
  unsigned worlds; /* number of ranks of worlds that were examined */
  struct counterexample found[ASPECTS];
  char *undecided; /* why nothing more is known; NULL: all is known */
};

/* Proves it for one rank. `module` has the protocol and door_bitcode.c; `until` is a monotonic time
 * in microseconds. Adds to `proof`; nothing is done where both aspects have failed or it is
 * undecided.
 */
void memory_prove(LLVMModuleRef module, const char *protocol, int self, int ranks,
                  uint32_t capacity, gint64 until, struct memory_proof *proof);
void memory_proof_clear(struct memory_proof *);

#endif
