/* Lists the moves of the world, its transitions, in the form in which a line invariant is proved:
 * which rank takes a step on which event, under which conditions, and what else the move changes.
 * The state of the world, as the proof has it, is an array of Z3 terms, the *words*. */
#ifndef RECLINE_PROVE_LINE_MOVES_H
#define RECLINE_PROVE_LINE_MOVES_H

#include "prove/whole.h"

/* Holds a condition that must be true at a move or an action. If the condition is false, the proof
 * does not know the state after that move or action. */
struct duty {
  const char *name, *text;
  Z3_ast holds; /* a term over the words before the move */
};

struct line_move {
  char name[64]; /* such as "1 control bookmark from 0": rank 1 takes in a message of rank 0 */
  /* the rank that takes a step on the `event` of struct whole, or -1 if all ranks go back and none
   * takes a step */
  int rank;
  enum rcl_event_kind kind;
  enum colour colour; /* SEND, ARRIVED: colour of the message, or ANY_COLOUR if it is not known */
  bool barrier;       /* the event belongs to a barrier of all ranks */
  enum rcl_part part; /* DURABLE: image or log */
  /* Z3_ast: conditions over the words before the move and the fields of the event. */
  GPtrArray *when;
  Z3_ast *now;    /* the words after the move, without the effects of the step's actions */
  GArray *duties; /* struct duty */
};

/* Calls `each` with every move of the world that may change a value that a clause reads. Stops
 * when `each` returns false. */
void line_moves_each(struct whole *, bool (*each)(void *ctx, struct line_move *), void *ctx);

/* Returns the words of the whole, that is, of all ranks and channels, before the first move. The
 * caller frees them with g_free(). */
Z3_ast *line_moves_begin(const struct whole *);

void line_move_duty(struct line_move *, const char *name, const char *text, Z3_ast holds);

/* Changes the words in move->now and adds duties, as the actions of the step ask. Call it when path
 * `p` has come to the end of the step. If the move has a colour, adds to `p` the condition that a
 * message which the step sends has this colour. Returns NULL, or a static text on what the proof
 * does not know. Sets *gives_up if the run ends. */
const char *line_actions_take(struct whole *, struct line_move *, struct path *p, bool *gives_up);

#endif
