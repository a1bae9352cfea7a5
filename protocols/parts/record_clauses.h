/* Has clauses of line invariants (line.h) about ranks below the matching. These ranks record late
 * messages, and no message is early at their line.
 *
 * A protocol includes this file as it would include log_clauses.h. Its state has `captured`, the
 * last checkpoint captured, and it defines recorded_in(). */
#ifndef RECLINE_RECORD_CLAUSES_H
#define RECLINE_RECORD_CLAUSES_H

#include "protocols/parts/log_clauses.h" /* C, C1 */
#include "protocols/parts/mailbox.h"

static uint32_t captured_in(const struct state *state)
{
  return state->captured;
}

/* Returns how many messages of rank i are recorded in a state of rank j. */
static uint32_t recorded_in(const struct rcl_whole *w, int i, int j, const struct state *state);

/* ---- looking at ranks ---- */

/* Counts the messages of a rank in a mailbox. */
static uint32_t kept_from(const struct rcl_kept *item, uint32_t used, uint32_t capacity, int rank)
{
  uint32_t count = 0;
  for (uint32_t k = 0; k < capacity; k++)
    count += (k < used) & (item[k].peer == rank);
  return count;
}

/* Returns how many messages of i the START of j will deliver. */
static uint32_t to_deliver(const struct rcl_whole *w, int i, int j)
{
  return is_behind(w, j) ? recorded_in(w, i, j, state_of(w, j)) : 0;
}

/* ---- one rank ---- */

static bool checkpoint_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  uint32_t phase = phase_of(w, i);
  bool last = captured_in(state_of(w, i)) == w->committed;
  return last ? phase == RUNNING || phase == CAPTURING
              : has_captured(w, i) && phase <= WRITING && phase != CAPTURING;
}

static bool timer_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return !w->rank[i].timer || (i == RCL_COORDINATOR_RANK && !has_captured(w, i) &&
                               phase_of(w, i) == RUNNING && !w->committing);
}

/* A capture of C1 erases the checkpoint before C. */
static bool bounded_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct rcl_whole_rank *rank = &w->rank[i];
  uint32_t most = is_behind(w, i) || (!has_captured(w, i) && w->committed > 1);
  return rank->older <= most && rank->older + (rank->storing || rank->durable) <= 1;
}

/* ---- from rank i to rank j ---- */

static bool begun_holds(const struct rcl_whole *w, int i, int j)
{
  return i != RCL_COORDINATOR_RANK || i == j || has_captured(w, i) ||
         !(has_captured(w, j) || phase_of(w, j) == CAPTURING);
}

static bool line_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct state *from = w->rank[i].committed, *to = w->rank[j].committed;
  return !from || !to ||
         channel->committed.sent == channel->committed.given + recorded_in(w, i, j, to);
}

#endif
