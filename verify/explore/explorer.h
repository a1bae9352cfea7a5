/* Explores every state that a world can reach, breadth first.
 *
 * A state of the world is the tuple of its parts. Each part's bytes are interned, so the tuple
 * consists of small numbers, which are packed into as many bits as they need. Steps and lists of
 * moves are memoised on what they read: the rules of the world and the protocol run once for each
 * pair of a move and the values of the parts that the move has read. Everything else is look-ups in
 * tables. docs/explorer.md has the pictures.
 *
 * Any number of threads share the work, level by level. For the same world and bounds, the numbers
 * of states and transitions and the counterexample are the same, whatever the number of threads.
 */
#ifndef RECLINE_EXPLORER_H
#define RECLINE_EXPLORER_H

#include "verify/state/options.h"
#include "world/rules/world.h"

enum explorer_verdict {
  EXPLORER_HOLDS,       /* every reachable state was seen, and no property is violated */
  EXPLORER_VIOLATED,    /* a shortest run to a violation was found */
  EXPLORER_INCONCLUSIVE /* a bound was hit first */
};

struct exploration {
  /* why the save cannot be used (static; errno may say more), or NULL if it can */
  const char *refused;
  enum explorer_verdict verdict;
  bool cycles; /* property progress was judged */
  bool recurs; /* HOLDS: progress was not judged, and some runs may go round for ever */
  /* `omission` is a bound on the probability that a state was left out, `miss` on the probability
   * that a violation was missed for that reason. Both are 0 if the visited set kept whole
   * states. */
  double omission, miss;
  /* number of all states if the verdict is HOLDS, else of states of the levels that were seen in
   * full */
  uint64_t states;
  uint64_t transitions; /* number of moves taken, including moves to a known state */
  uint64_t steps;       /* how often world_step() really ran */
  uint64_t rests;       /* number of states that only a crash or a fault leaves */
  /* what runs have shown; complete if the verdict is HOLDS, but with stubborn sets or the crash
   * reduction it may show more than occurs */
  struct reached reached;
  unsigned depth;        /* number of moves on a shortest way to the farthest state */
  uint64_t resumed;      /* number of states that came from a save */
  const char *reduction; /* the reduction that was used: none, por, sym, all, recovery */
  /* Why no reduction applies although options ask for one, or NULL if one does. */
  const char *unreduced;
  /* why the crash reduction has no stubborn sets, or NULL if it has them or if options do not ask
   * for them */
  const char *no_stubborn_sets;
  bool spilled;      /* states to be expanded went to disk because memory was short */
  uint64_t archived; /* number of found states that went to disk */
  uint64_t bytes;    /* number of bytes of all tables at the end */
  double seconds;
  const char *bound;  /* INCONCLUSIVE: "max-states", "memory" or "timeout" */
  struct verdict why; /* VIOLATED: the violation */
  struct move *moves; /* VIOLATED: the run from the beginning; free with exploration_clear() */
  unsigned moves_count;
  /* if a run that goes round for ever violates a property: number of moves at its end that
   * repeat; else 0 */
  unsigned again;
  char trivial[256]; /* HOLDS: why the temporal formula says nothing, or "" if it says something */
};

/* Explores `world` from world_begin(crashes, timers) on. The caller has set up the world without
 * its memory, and must not use world->memory afterwards. It is a breach, which ends the process, if
 * the world refuses a move that it has listed, or reads something that is not in its parts. */
void explore(struct world *world, unsigned crashes, unsigned timers,
             const struct explorer_options *, struct exploration *);
void exploration_clear(struct exploration *);

#endif
