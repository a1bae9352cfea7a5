/* Asks about a move whether all goals hold after it, at the ends of all paths of its step. One
 * question for many goals saves time, because Z3 takes longer to prepare a question than to answer
 * it. If Z3 does not answer it, each goal has a question of its own. */
#ifndef RECLINE_PROVE_LINE_GOALS_H
#define RECLINE_PROVE_LINE_GOALS_H

#include "prove/line_moves.h"
#include "prove/line_proof.h"

struct proving {
  struct whole *h;
  struct line_proof *proof;
  const char *without; /* name of the clause that is left out, or NULL if there is none */
  const char *keep;    /* folder for moves that were proved, or NULL if there is none */
  char *kept;          /* the hash of this proof (kept.h), or NULL if there is none */
  bool assumes;        /* true if clauses are assumed to hold before the move */
  GPtrArray *ends;     /* the ends of the move's paths (line_goals.c) */
  GPtrArray *seen;     /* Z3_ast *: states before moves that are known to be possible */
  struct line_move *move;
};

/* Returns whether the path can be taken, and gives the path a model if so. */
bool line_path_is_possible(struct proving *, struct path *);

/* Adds copies of a path and of the words at its end, `now`. At the end of the path all `duties`
 * must hold, and all clauses that speak of changed words or, if `at_first`, all clauses. */
void line_goals_add(struct proving *, const struct path *, const Z3_ast *now, const GArray *duties,
                    bool at_first);

/* Proves all goals that were added for the move, and forgets them. Failures go to g->proof. */
void line_goals_prove(struct proving *);

/* Tells that the path, which has a model, does something forbidden. */
void line_tell_fault(struct proving *, struct path *, const char *aspect);

/* ---- line_ask.c ---- */

/* The next functions ask Z3 about states before a move. Z3 answers quicker if it has fewer clauses,
 * and a state that is impossible with some clauses is impossible with all. */

bool line_is_left_out(const struct proving *, const struct told *);

/* Returns whether a term is possible with all clauses. If so, sets *model to a model of the term,
 * which the caller releases. The clauses that speak only of `about` and of words that belong to no
 * rank (places.c) are tried first. */
bool line_is_possible(struct proving *, Z3_ast term, struct places about, Z3_model *model);

/* Does the same for a term that may be possible in a state which an earlier answer has shown. */
bool line_was_possible(struct proving *, Z3_ast term, Z3_model *model);

#endif
