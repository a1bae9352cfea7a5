/* Clauses of line invariants (line.h) about ranks that take part in coordinated checkpoints,
 * for protocols whose ranks all go back together.
 *
 * A protocol includes this file after its own state, a `struct state` with `phase` and `captured`,
 * and its `enum control` with RELEASE and DONE. Its phases are RUNNING first, and CAPTURING,
 * WRITING (the image) and WAITING (for the commit). C is the committed checkpoint, and C1 the next
 * one, the only one that can be under way. A rank that still has to start from C (standing BEHIND)
 * counts as being in the state that its START will bring it to. */
#ifndef RECLINE_CLAUSES_H
#define RECLINE_CLAUSES_H

#include "protocols/line.h"

/* ---- looking at ranks ---- */

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

/* Returns whether the image of C1 of rank i is durable and C1 is not committed. */
static bool has_reported(const struct rcl_whole *w, int i)
{
  return phase_of(w, i) == WAITING && state_of(w, i)->captured == next_of(w);
}

/* Returns whether rank i waits for the release of C. */
static bool waits(const struct rcl_whole *w, int i)
{
  return phase_of(w, i) == WAITING && state_of(w, i)->captured == w->committed;
}

/* ---- one rank ---- */

static bool timer_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return i == RCL_COORDINATOR_RANK || !w->rank[i].timer;
}

static bool capture_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return w->rank[i].capturing == (phase_of(w, i) == CAPTURING ? next_of(w) : 0);
}

static bool store_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return w->rank[i].storing == (phase_of(w, i) == WRITING ? next_of(w) : 0);
}

static bool durable_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return is_behind(w, i) || w->rank[i].durable == (has_reported(w, i) ? next_of(w) : 0);
}

/* While a rank waits for the release of C it keeps the image before C, and it has none of C1. */
static bool bounded_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct rcl_whole_rank *rank = &w->rank[i];
  uint32_t most = is_behind(w, i) || (waits(w, i) && w->committed > 1);
  return rank->older <= most && rank->older + (rank->storing || rank->durable) <= 1;
}

static bool restorable_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return w->rank[i].restorable;
}

/* ---- between the coordinator and rank j ---- */

static bool release_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *release = under_way(w, i, j, RELEASE);
  if (i != RCL_COORDINATOR_RANK)
    return !release->count;
  return i == j
             ? !waits(w, j) && !release->count
             : release->count == waits(w, j) && (!release->count || release->about == w->committed);
}

static bool done_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *done = under_way(w, i, j, DONE);
  if (j != RCL_COORDINATOR_RANK || i == j)
    return !done->count;
  return done->count <= has_reported(w, i) && (!done->count || done->about == next_of(w));
}

#endif
