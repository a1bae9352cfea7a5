/* Has functions that look at ranks, for clauses of line invariants (line.h). The protocols take
 * coordinated checkpoints, and their ranks all go back together.
 *
 * A protocol includes this file after its own state, a `struct state` with `phase`, whose first
 * phase is RUNNING, and its `enum control`. C is the committed checkpoint, and C1 the next one, the
 * only one that can be under way. A rank that still has to start from C (RCL_STANDS_BEHIND) counts
 * as being in the state to which its START will bring it. */
#ifndef RECLINE_WHOLE_RANKS_H
#define RECLINE_WHOLE_RANKS_H

#include "protocols/line.h"

static const struct state *state_of(const struct rcl_whole *w, int i)
{
  return w->rank[i].state;
}

static bool is_behind(const struct rcl_whole *w, int i)
{
  return w->rank[i].standing == RCL_STANDS_BEHIND;
}

static uint32_t phase_of(const struct rcl_whole *w, int i)
{
  return is_behind(w, i) ? RUNNING : state_of(w, i)->phase;
}

static uint32_t next_of(const struct rcl_whole *w)
{
  return w->committed + 1;
}

static const struct rcl_whole_control *under_way(const struct rcl_whole *w, int from, int to,
                                                 enum control kind)
{
  return &rcl_whole_between(w, from, to)->control[kind];
}

#endif
