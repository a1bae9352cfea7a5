/* `recline prove --memory` proves one step of a protocol, from every state of a rank, for every
 * event.
 *
 * The states are all states that keep the numbered invariants and whose lists are within their
 * rooms. The events are all events that the door allows, with all contents. The step has no
 * undefined behaviour, accesses nothing outside of an object, writes nothing that a protocol may
 * only read, returns no more actions than there is room for, and returns no list of actions that
 * the grammar refuses. */
#ifndef RECLINE_PROVE_STEP_PROOF_H
#define RECLINE_PROVE_STEP_PROOF_H

#include "prove/prove_rank.h"

/* Names the kinds of errors in a step: errors with memory and numbers, and errors in its list of
 * actions. */
enum aspect { ASPECT_MEMORY, ASPECT_ACTIONS, ASPECTS };

/* Holds the first counterexample that was found for one aspect. */
struct counterexample {
  char *what;       /* the error and its place, or NULL if there is none */
  char *event;      /* the event as text */
  GString *state;   /* the words of the state that are not zero */
  GString *actions; /* the actions as text, one on a line */
  int self, ranks;  /* the rank, and the number of ranks */
  uint32_t capacity;
};

/* Holds the result for one rank of one world, or for several. */
struct memory_proof {
  uint64_t paths, queries;
  unsigned worlds; /* number of examined pairs of a rank and a world */
  struct counterexample found[ASPECTS];
  char *undecided; /* why the proof is undecided, or NULL if it is not */
};

/* Proves the step for one rank, and adds the result to `proof`. `module` has the protocol and
 * door_bitcode.c; `until` is a monotonic time in microseconds. Does nothing if both aspects have
 * failed or `proof` is undecided. */
void memory_prove(LLVMModuleRef module, const char *protocol, int self, const struct prove_worlds *,
                  gint64 until, struct memory_proof *proof);
void memory_proof_clear(struct memory_proof *);

#endif
