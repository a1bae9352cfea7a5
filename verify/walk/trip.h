/* Holds a run under way: its world, and what it has shown. The code that draws moves (walker.c) and
 * the code that follows given ones (follow.c) share it. */
#ifndef RECLINE_TRIP_H
#define RECLINE_TRIP_H

#include "verify/walk/walker.h"
#include "world/rules/in_place.h"

enum { TRIP_RANKS = 128 }; /* the most ranks of a world */

struct trip {
  const struct course *course;
  struct run *run;
  struct world world;
  struct parts parts;
  struct rcl_actions actions;
  unsigned horizon; /* number of moves of the programs, roughly */
  unsigned most;    /* the most moves of the run */
  bool judges_line; /* property line-invariant is judged; with many ranks in some states only */
  bool ended;       /* all programs have finished in some state, which was judged */
  bool idle[TRIP_RANKS]; /* the rank's safe points change nothing until another move changes
                            something */
};

void trip_begin(struct trip *, const struct course *, struct run *);
void trip_end(struct trip *);

/* Takes a move and judges the step. Returns false if the run is over, as run->ending says. */
bool trip_take(struct trip *, struct move *);

/* Judges a state that nothing but a fault can change. Returns false if the run is over, with a
 * violation. */
bool trip_judge_rest(struct trip *);

/* Returns whether a crash may still happen. */
bool trip_may_crash(const struct trip *);

/* Returns whether the move may never happen: a crash, a fault, a false detection. */
bool trip_is_fault(const struct move *);

/* Returns whether the move is a safe point at which nothing happens, as was tried in this state. */
bool trip_is_idle(const struct trip *, const struct move *);

#endif
