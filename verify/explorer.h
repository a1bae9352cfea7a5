/* The explorer: every state that a world can reach, breadth first.
 *
 * A state of the world is the tuple of its parts. Each part's bytes are interned, so that the tuple
 * is one of small numbers, folded pairwise into a root of two numbers: 8 bytes a state. Steps are
 * memoised on what they read: the rules of the world and the protocol run once for each distinct
 * (move, values of the parts that it looked at), everything else is table look-ups.
 * docs/explorer.md has the pictures.
 *
 * Same world, same options: same numbers of states and transitions, same counterexample.
 */
#ifndef RECLINE_EXPLORER_H
#define RECLINE_EXPLORER_H

#include "intern.h"
#include "world.h"

enum explorer_verdict {
  EXPLORER_HOLDS,       /* every reachable state was seen, no property is violated */
  EXPLORER_VIOLATED,    /* a shortest run to a violation was found */
  EXPLORER_INCONCLUSIVE /* a bound was hit first */
};

struct explorer_options {
  /* Names of the properties to check, ends with NULL; NULL: explorer_defaults. */
  const char *const *properties;
  /* Histories that a failure-free run can end with (property outcome): tuples of one uint32_t per
   * rank. NULL: outcome is not checked. */
  struct intern *outcomes;
  bool collect;        /* add to `outcomes` instead of checking against it */
  uint64_t max_states; /* stop there; 0: no bound */
  uint64_t max_bytes;  /* stop when the tables take more; 0: no bound */
  /* Called now and then; may be NULL. */
  void (*progress)(void *data, uint64_t states, uint64_t transitions, unsigned depth);
  void *progress_data;
};

struct exploration {
  enum explorer_verdict verdict;
  uint64_t states;
  uint64_t transitions; /* moves taken, also those to a state already known */
  uint64_t steps;       /* times that world_step() really ran */
  uint64_t rests;       /* states that nothing but a crash or a lie leaves */
  unsigned depth;       /* moves on a shortest way to the farthest state seen */
  uint64_t bytes;       /* of all tables at the end */
  double seconds;
  const char *bound;  /* INCONCLUSIVE: "max-states" or "memory" */
  struct verdict why; /* VIOLATED */
  struct move *moves; /* VIOLATED: the run from the beginning; free with exploration_clear() */
  unsigned moves_count;
};

/* Every property that can be checked, and those that are when a claim names none; end with NULL. */
extern const char *const explorer_properties[];
extern const char *const explorer_defaults[];

/* Explores `world`, which the caller has set up but for its memory, from world_begin(crashes,
 * timers) on. world->memory is of no use afterwards. Aborts on a breach: the world refuses a move
 * that it has listed, or looks at anything but its parts. */
void explore(struct world *world, unsigned crashes, unsigned timers,
             const struct explorer_options *, struct exploration *);
void exploration_clear(struct exploration *);

#endif
