/* Moves of the world as the proof of a line takes them: which rank takes a step on which event,
 * when that may be, and what the move changes besides. */
#ifndef RECLINE_PROVE_LINE_MOVES_H
#define RECLINE_PROVE_LINE_MOVES_H

#include "prove/whole.h"

/* Something that has to hold where a move or an action is, or the proof knows no state behind it.
 */
struct duty {
  const char *name, *text;
  Z3_ast holds; /* over the words before the move */
};

struct line_move {
  char name[64]; /* "1 control bookmark from 0" */
  int rank;      /* that takes a step on the event in w->event; -1: none does, all go back */
  enum rcl_event_kind kind;
  bool barrier;    /* the event is of a barrier of all ranks */
  GPtrArray *when; /* Z3_ast, over the words before it and the fields of the event */
  Z3_ast *now;     /* words behind it, but for what actions of the step change */
  GArray *duties;  /* struct duty */
};

/* Calls `each` with every move of the world that changes what clauses can speak of, or may. Ends
 * where `each` returns false. */
void line_moves_each(struct whole *, bool (*each)(void *ctx, struct line_move *), void *ctx);

/* The words of the whole before the first move; for g_free(). */
Z3_ast *line_moves_begin(const struct whole *);

void line_move_duty(struct line_move *, const char *name, const char *text, Z3_ast holds);

/* Changes the words in move->now, and adds duties, as the actions of the step do that `p` has come
 * to the end of. Returns NULL, or what the proof does not know of; *gives_up: the run ends. */
const char *line_actions_take(struct whole *, struct line_move *, const struct path *p,
                              bool *gives_up);

#endif
