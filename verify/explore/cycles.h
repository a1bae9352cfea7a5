/* Inside the examination of infinite runs: a worker's, and what it does with states and components;
 * for liveness.c and lasso.c. */
#ifndef RECLINE_CYCLES_H
#define RECLINE_CYCLES_H

#include "verify/explore/search.h"

struct places {
  uint64_t *place;
  size_t count, room;
};

/* Facts about a move in the component under examination. */
struct chance {
  uint64_t possible; /* in so many of its states */
  uint64_t seen;     /* number of the last expansion in which it was possible */
  bool taken;        /* leads from it to itself */
  bool owed;         /* the lasso must take it, or come where it is not possible */
};

/* One worker's examination. */
struct cycles {
  struct explorer *e;
  struct worker *w;
  struct transitions transitions;
  const struct recurrence *recurrence; /* NULL: any state may lie on a cycle */
  uint32_t *number; /* of each place of the visited set: its component (components.h) */
  uint64_t expanded, expansions; /* the last place, and how many there were */
  struct chance *chances;        /* by move */
  uint32_t chances_room;
  struct places touched;       /* moves of which something is known */
  struct places bad;           /* components in which a run can stay against `progress` */
  uint64_t components, states; /* components of several states; states in them */
};

void places_add(struct places *, uint64_t place);

/* The ways out of a state, in c->transitions, in the world's order of moves. */
void cycles_expand(struct cycles *, uint64_t place);

struct chance *cycles_chance(struct cycles *, uint32_t move);

/* Verdict on the state that was expanded last, when a run comes back to it. */
bool cycles_is_bad(struct cycles *, struct verdict *);

/* Counts, for each move that is not a fault, where it is possible in the component and whether it
 * is taken. Returns whether a run that stays here is against `progress`, if it is fair. */
bool cycles_survey(struct cycles *, const uint64_t *state, size_t count, uint32_t component);

/* Returns whether the state at `place` may lie on a cycle with the one that was expanded last. Only
 * then may its number be looked at: else it is another worker's. */
bool cycles_are_alike(struct cycles *, uint64_t place);

/* ---- lasso.c ---- */

/* Fills in the run, by one of the bad components; they are in order, downwards. `first` is the
 * place of the first state. */
void lasso_write(struct cycles *, uint64_t first);

#endif
