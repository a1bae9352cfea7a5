/* `recline prove PROTOCOL` proves that the line invariant of a protocol holds in every reachable
 * state of the whole, that is of all ranks, channels and stored checkpoints (whole.h): it holds
 * before the first move, and each move keeps it.
 *
 * Three kinds of clauses are proved: the clauses that the world judges as property `line-invariant`
 * (protocols/line.h), the protocol's numbered invariants, and clauses that hold whatever the
 * protocol is (whole_shape.c). The proof executes the compiled code of a step. It also judges the
 * memory that this code uses, and its list of actions. */
#ifndef RECLINE_PROVE_LINE_PROOF_H
#define RECLINE_PROVE_LINE_PROOF_H

#include "prove/whole.h"

/* Holds a counterexample to induction: a clause that fails after a move. */
struct line_failure {
  char *clause, *text, *who; /* the clause's name, its text, and its ranks: "0 and 1", or "" */
  char *move;                /* the move after which the clause does not hold */
  char *event;               /* the event as text, or "" if there is none */
  /* Texts of several lines, for the first failure only: the words of the whole that are not zero
   * before the move, the words that the move changes, and the actions. */
  GString *before, *after, *actions;
};

struct line_proof {
  /* `clauses` is the number of clauses; `instances` counts a clause once for each rank or pair
   * of ranks of which it speaks */
  unsigned clauses, instances;
  unsigned moves; /* number of moves that can happen */
  unsigned kept;  /* number of moves that an earlier run has proved, or found impossible */
  uint64_t paths, queries, gave_up;
  GPtrArray *never; /* char *: names of moves that cannot happen */
  /* struct line_failure: the clauses that fail after the first move after which any clause fails */
  GPtrArray *failed;
  char *undecided; /* why the proof is undecided, or NULL if it is not */
};

/* Holds the options of a proof. */
struct line_asked {
  struct prove_worlds worlds;
  const char *without; /* name of the clause that is left out, or NULL if there is none */
  const char *keep;    /* folder for moves that were proved (kept.h), or NULL if there is none */
  gint64 until;        /* monotonic time in microseconds, or 0 for no bound */
};

/* Proves the line invariant and fills in `proof`, which the caller clears with line_proof_clear().
 * `module` is cloned. */
void line_prove(LLVMModuleRef module, const char *protocol, const struct line_asked *,
                struct line_proof *proof);
void line_proof_clear(struct line_proof *);

#endif
