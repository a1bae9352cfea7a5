/* Holds a run under way: its world, and what it has shown. The code that draws moves (walker.c) and
 * the code that follows given moves (follow.c) share it. */
#ifndef RECLINE_TRIP_H
#define RECLINE_TRIP_H

#include "verify/walk/walker.h"
#include "world/rules/in_place.h"

enum { TRIP_RANKS = 128 }; /* largest number of ranks of a world */

struct trip {
  const struct course *course;
  struct run *run;
  struct world world;
  struct parts parts;
  struct rcl_actions actions;
  unsigned horizon; /* rough number of moves of the programs */
  unsigned most;    /* largest number of moves of the run */
  bool judges_line; /* property line-invariant is judged; with many ranks, only in some states */
  bool ended;       /* there was a state in which all programs had finished, and it was judged */
  /* by rank: its safe points change nothing until another move changes something */
  bool idle[TRIP_RANKS];
};

void trip_begin(struct trip *, const struct course *, struct run *);
void trip_end(struct trip *);

/* Takes a move and judges the step. Returns false if the run is over, as run->ending says. */
bool trip_take(struct trip *, struct move *);

/* Judges a state that only a fault can change. Returns false if the run is over, with a
 * violation. */
bool trip_judge_rest(struct trip *);

/* Returns whether a crash may still happen. */
bool trip_may_crash(const struct trip *);

/* Returns whether the move need not ever happen, like a crash, a fault, or a false detection. */
bool trip_is_fault(const struct move *);

/* Returns whether the move is a safe point that was tried in this state and changed nothing. */
bool trip_is_idle(const struct trip *, const struct move *);

#endif
