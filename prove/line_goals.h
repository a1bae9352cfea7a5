/* What has to hold behind a move, at the end of each path of its step: asked at once, as Z3 takes
 * longer to prepare a question than to answer it. */
#ifndef RECLINE_PROVE_LINE_GOALS_H
#define RECLINE_PROVE_LINE_GOALS_H

#include "prove/line_moves.h"
#include "prove/line_proof.h"

struct proving {
  struct whole *h;
  struct line_proof *proof;
  const char *without; /* name of a clause that is left out; NULL: none */
  const char *keep;    /* folder of moves that were proved; NULL: none */
  char *kept;          /* the hash of this proof (kept.h); NULL: none */
  bool assumes;        /* clauses hold before the move */
  GPtrArray *ends;     /* of the move, in line_goals.c */
  GPtrArray *seen;     /* Z3_ast *: states before moves that were found to be possible */
  struct line_move *move;
};

/* Returns whether the path can be taken; then it has a model of it. */
bool line_path_is_possible(struct proving *, struct path *);

/* Adds a path and the words behind it, of which `duties` and all clauses that speak of changed
 * words have to hold; both are copied. `at_first`: of all words. */
void line_goals_add(struct proving *, const struct path *, const Z3_ast *now, const GArray *duties,
                    bool at_first);

/* Proves what was added for the move, and forgets it; what fails is told to g->proof. */
void line_goals_prove(struct proving *);

/* Tells that the path, which has a model, does what it must not. */
void line_tell_fault(struct proving *, struct path *, const char *aspect);

/* ---- line_ask.c ---- */

/* Questions to Z3 about states before a move. The fewer clauses it is given, the quicker it
 * answers; what is impossible with some of them is impossible with all. */

bool line_is_left_out(const struct proving *, const struct told *);

/* Returns whether a term is possible with all clauses; then *model, for the caller to release, is
 * one of it. First those are tried that speak of nothing but `about` and the places of all. */
bool line_is_possible(struct proving *, Z3_ast term, struct places about, Z3_model *model);

/* The same, for a term that may be possible in a state that was seen in an earlier answer. */
bool line_was_possible(struct proving *, Z3_ast term, Z3_model *model);

#endif
