/* Declares, for the examination of infinite runs (liveness.c, lasso.c), one worker's state and its
 * functions on states and components. */
#ifndef RECLINE_CYCLES_H
#define RECLINE_CYCLES_H

#include "verify/explore/search.h"

struct places {
  uint64_t *place;
  size_t count, room;
};

/* Holds facts about a move in the component under examination. */
struct chance {
  uint64_t possible; /* number of its states in which the move is possible */
  uint64_t seen;     /* number of the last expansion in which the move was possible */
  bool taken;        /* the move leads from the component to itself */
  bool owed;         /* the lasso must take the move, or reach a state where it is not possible */
};

/* Holds one worker's examination. */
struct cycles {
  struct explorer *e;
  struct worker *w;
  struct transitions transitions;
  const struct recurrence *recurrence; /* NULL: any state may lie on a cycle */
  uint32_t *number; /* by place of the visited set: the component of its state (components.h) */
  uint64_t expanded, expansions; /* the place expanded last, and the number of expansions */
  struct chance *chances;        /* by move */
  uint32_t chances_room;
  struct places touched;       /* moves of which something is known */
  struct places bad;           /* components in which a run can stay and violate `progress` */
  uint64_t components, states; /* components of several states; states in them */
};

void places_add(struct places *, uint64_t place);

/* Lists the transitions of a state in c->transitions, in the world's order of moves. */
void cycles_expand(struct cycles *, uint64_t place);

struct chance *cycles_chance(struct cycles *, uint32_t move);

/* Returns whether the state that was expanded last violates a property when a run comes back to it
 * for ever. */
bool cycles_is_bad(struct cycles *, struct verdict *);

/* Counts, for each move that is not a fault, where it is possible in the component and whether it
 * is taken. Returns whether a fair run that stays here violates `progress`. */
bool cycles_survey(struct cycles *, const uint64_t *state, size_t count, uint32_t component);

/* Returns whether the state at `place` may lie on a cycle with the state that was expanded last. If
 * not, the state may belong to another worker, so its number must not be read. */
bool cycles_are_alike(struct cycles *, uint64_t place);

/* ---- lasso.c ---- */

/* Fills in the run through one of the bad components, which are in falling order. `first` is the
 * place of the first state. */
void lasso_write(struct cycles *, uint64_t first);

#endif
