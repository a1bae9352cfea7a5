/* Questions to Z3 about states before a move. The fewer clauses it is given, the quicker it
 * answers; what is impossible with some of them is impossible with all. */
#ifndef RECLINE_LINE_ASK_H
#define RECLINE_LINE_ASK_H

#include "prove/line_goals.h"
#include "prove/places.h"

bool line_is_left_out(const struct proving *, const struct told *);

/* Returns whether a term is possible with all clauses; then *model, for the caller to release, is
 * one of it. First those are tried that speak of nothing but `about` and the places of all. */
bool line_is_possible(struct proving *, Z3_ast term, struct places about, Z3_model *model);

/* The same, for a term that may be possible in a state that was seen in an earlier answer. */
bool line_was_possible(struct proving *, Z3_ast term, Z3_model *model);

#endif
