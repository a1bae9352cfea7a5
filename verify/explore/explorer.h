/* The explorer: every state that a world can reach, breadth first.
 *
 * A state of the world is the tuple of its parts. Each part's bytes are interned, so that the tuple
 * is one of small numbers, packed into as many bits as they need. Steps and lists of moves are
 * memoised on what they read: the rules of the world and the protocol run once for each distinct
 * (move, values of the parts that it looked at), everything else is table look-ups.
 * docs/explorer.md has the pictures.
 *
 * Any number of threads share the work, level by level. Same world, same bounds: same numbers of
 * states and transitions, same counterexample, however many they are.
 */
#ifndef RECLINE_EXPLORER_H
#define RECLINE_EXPLORER_H

#include "verify/base/intern.h"
#include "verify/world/world.h"

enum explorer_verdict {
  EXPLORER_HOLDS,       /* every reachable state was seen, no property is violated */
  EXPLORER_VIOLATED,    /* a shortest run to a violation was found */
  EXPLORER_INCONCLUSIVE /* a bound was hit first */
};

struct explorer_progress {
  uint64_t states, transitions;
  uint64_t bytes;         /* of all tables */
  unsigned depth;         /* of the level that is being expanded */
  uint64_t level, before; /* its states, and those of the level before it */
  uint64_t left;          /* its states that nobody has taken yet */
};

enum { EXPLORER_FINGERPRINT = 58 }; /* the most bits that a fingerprint has */

struct explorer_options {
  /* Names of the properties to check, ends with NULL; NULL: explorer_defaults. */
  const char *const *properties;
  /* Histories that a failure-free run can end with (property outcome): tuples of one uint32_t per
   * rank. NULL: outcome is not checked. */
  struct intern *outcomes;
  bool collect;     /* add to `outcomes` instead of checking against it */
  unsigned workers; /* threads; 0: one */
  bool stubborn;    /* take of each state's moves only as many as are needed; where that applies */
  bool symmetry;    /* states that differ in names of ranks only are one; where that applies */
  bool orbits;      /* digests of `rests` are those of such states; where that applies */
  bool blind;       /* tests: a reduction that takes all moves for independent */
  /* Digests of the states at rest, uint64_t each, are added to it; NULL: nobody asks. */
  struct intern *rests;
  /* Hash compaction: the visited set keeps so many bits of a hash in place of states, where nothing
   * needs the states themselves; 0: it keeps states. */
  unsigned fingerprint;
  bool audit;          /* run everything that is remembered again, and compare; slow */
  uint64_t max_states; /* go no deeper when there are more; 0: no bound */
  uint64_t max_bytes;  /* go no deeper when the tables take more; 0: no bound */
  uint64_t max_queue;  /* bytes of states to be expanded that stay in memory; others go to disk; 0:
                          as  many as there is memory for */
  /* Called often, by one thread at a time; may be NULL. */
  void (*progress)(void *data, const struct explorer_progress *);
  void *progress_data;
  /* File for saves: where it exists, the exploration goes on from there; removed when a verdict is
   * reached. NULL: none. */
  const char *save;
  double save_seconds;   /* from one save to the next; between levels only */
  uint64_t world_digest; /* of all that makes the world: a save of another one is refused */
};

struct exploration {
  const char *refused; /* the save cannot be used: why (static; errno may say more); else NULL */
  enum explorer_verdict verdict;
  double omission, miss; /* at most so likely is it that a state was left out; that a violation was
                            missed for that; 0: with states in the visited set */
  uint64_t states;       /* HOLDS: all; else those of all levels that were seen in full */
  uint64_t transitions;  /* moves taken, also those to a state already known */
  uint64_t steps;        /* times that world_step() really ran */
  uint64_t rests;        /* states that nothing but a crash or a lie leaves */
  unsigned depth;        /* moves on a shortest way to the farthest of these states */
  uint64_t resumed;      /* states that came from a save */
  const char *reduction; /* that was used: none, por, sym, all, recovery */
  const char *unreduced; /* why no reduction applies, although one was asked for; NULL: one does */
  bool spilled;          /* states went to disk as memory was short */
  uint64_t bytes;        /* of all tables at the end */
  double seconds;
  const char *bound;  /* INCONCLUSIVE: "max-states" or "memory" */
  struct verdict why; /* VIOLATED */
  struct move *moves; /* VIOLATED: the run from the beginning; free with exploration_clear() */
  unsigned moves_count;
  unsigned again; /* VIOLATED by a run that goes round for ever: its last so many moves; else 0 */
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
