/* `recline prove PROTOCOL`: the line invariant of a protocol holds in every reachable state of the
 * whole, as it holds before the first move, and behind each move if before it.
 *
 * The clauses are those that the world judges as property `line-invariant` (protocols/line.h), the
 * protocol's numbered invariants, and what holds of each whole (whole_shape.c). A step is the
 * compiled one; its memory and its list of actions are judged, too. */
#ifndef RECLINE_PROVE_LINE_PROOF_H
#define RECLINE_PROVE_LINE_PROOF_H

#include "prove/whole.h"

/* What fails, and how: a counterexample to induction. */
struct line_failure {
  char *clause, *text, *who; /* its name, what it says, of whom: "0 and 1", "" */
  char *move;                /* behind which it does not hold */
  char *event;               /* as text; "": none */
  /* Of the first failure; of others empty. Lines: words of the whole that are not zero, words that
   * the move changes, actions. */
  GString *before, *after, *actions;
};

struct line_proof {
  unsigned clauses, instances; /* of the protocol and of each whole; for ranks and pairs */
  unsigned moves;              /* that can happen */
  unsigned kept;               /* of all moves, those that an earlier run has proved */
  uint64_t paths, queries, gave_up;
  GPtrArray *never;  /* char *: names of moves that cannot happen */
  GPtrArray *failed; /* struct line_failure: of the first move behind which something fails */
  char *undecided;   /* why nothing more is known; NULL: it is */
};

/* What is asked for. */
struct line_asked {
  int ranks;
  uint32_t capacity;
  const char *without; /* name of a clause that is left out; NULL: none */
  const char *keep;    /* folder of moves that were proved (kept.h); NULL: none */
  gint64 until;        /* monotonic time in microseconds; 0: no bound */
};

/* Proves it; `module` is cloned. `proof` is filled in. */
void line_prove(LLVMModuleRef module, const char *protocol, const struct line_asked *,
                struct line_proof *proof);
void line_proof_clear(struct line_proof *);

#endif
