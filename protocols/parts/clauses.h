/* Has clauses of line invariants (line.h) about ranks that a checkpoint holds until the coordinator
 * releases them.
 *
 * A protocol includes this file in the place that whole_ranks.h describes. Its state has
 * `captured`, its phases include CAPTURING, WRITING (the image) and WAITING (for the commit), and
 * its `enum control` has RELEASE and DONE. */
#ifndef RECLINE_CLAUSES_H
#define RECLINE_CLAUSES_H

#include "protocols/parts/whole_ranks.h" /* C, C1 */

/* ---- looking at ranks ---- */

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

/* While a rank waits for the release of C, it keeps the image of the checkpoint before C, and has
 * no image of C1. */
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
