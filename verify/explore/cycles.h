/* Declares what serves the examination of infinite runs (liveness.c, lasso.c): the state of one
 * worker, and its functions on states and components. */
#ifndef RECLINE_CYCLES_H
#define RECLINE_CYCLES_H

#include "verify/explore/search.h"

struct places {
  uint64_t *place;
  size_t count, room;
};

/* Holds facts about a move in the component under examination. */
struct chance {
  uint64_t possible; /* number of states of the component in which the move is possible */
  uint64_t seen;     /* number of the last expansion in which the move was possible */
  bool taken;        /* the move leads from a state of the component to a state of the component */
  /* the lasso must take the move, or reach a state in which the move is not possible */
  bool owed;
};

/* Holds one worker's examination. */
struct cycles {
  struct explorer *e;
  struct worker *w;
  struct transitions transitions;
  /* the states that may lie on a cycle, or NULL if any state may */
  const struct recurrence *recurrence;
  /* by place of the visited set: the component of the state at that place (components.h) */
  uint32_t *number;
  uint64_t expanded, expansions; /* the place expanded last, and the number of expansions */
  struct chance *chances;        /* by move */
  uint32_t chances_room;
  struct places touched; /* moves of which something is known */
  struct places bad;     /* components in which a run can stay and violate `progress` */
  /* number of components of several states, and number of states in them */
  uint64_t components, states;
};

void places_add(struct places *, uint64_t place);

/* Lists the transitions of a state in c->transitions, in the world's order of moves. */
void cycles_expand(struct cycles *, uint64_t place);

struct chance *cycles_chance(struct cycles *, uint32_t move);

/* Returns whether the state that was expanded last violates a property when a run comes back to it
 * for ever. */
bool cycles_is_bad(struct cycles *, struct verdict *);

/* Finds, for each move that is not a fault, in how many states of the component the move is
 * possible and whether it is taken. Returns whether a fair run that stays in the component violates
 * `progress`. */
bool cycles_survey(struct cycles *, const uint64_t *state, size_t count, uint32_t component);

/* Returns whether the state at `place` may lie on a cycle with the state that was expanded last. If
 * not, the state may belong to another worker, so its number must not be read. */
bool cycles_are_alike(struct cycles *, uint64_t place);

/* ---- lasso.c ---- */

/* Fills in a run through one of the bad components, which are in falling order. `first` is the
 * place of the first state of the search. */
void lasso_write(struct cycles *, uint64_t first);

#endif
