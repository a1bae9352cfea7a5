/* Has clauses of line invariants (line.h) about ranks above the matching. These ranks log late
 * messages in a mailbox, and drop orphans, which are sent again after a restart.
 *
 * A protocol includes this file as it would include log_clauses.h. Its state has `epoch`, the last
 * checkpoint captured, `wanted`, `commit` and a mailbox. */
#ifndef RECLINE_ORPHAN_CLAUSES_H
#define RECLINE_ORPHAN_CLAUSES_H

#include "protocols/parts/envelopes.h"
#include "protocols/parts/log_clauses.h" /* C, C1 */
#include "protocols/parts/mailbox.h"

static uint32_t captured_in(const struct state *state)
{
  return state->epoch;
}

/* ---- looking at ranks ---- */

/* Counts the messages with rank i in a log of envelopes. */
static uint32_t total_of(const struct rcl_envelope *item, uint32_t used, uint32_t capacity, int i)
{
  uint32_t count = 0;
  for (uint32_t k = 0; k < capacity; k++)
    count += ((k < used) & (item[k].peer == i)) ? item[k].count : 0;
  return count;
}

/* Returns how many messages of i the log in a state of j has. */
static uint32_t logged_in(const struct rcl_whole *w, int i, int j, const struct state *state)
{
  const struct rcl_config *config = w->rank[j].config;
  const struct rcl_kept *kept = kept_of(config, state);
  uint32_t count = 0;
  for (uint32_t k = 0; k < config->capacity; k++)
    count += (k < state->kept) & (kept[k].peer == i) & (kept[k].late != 0);
  return count;
}

/* Returns how many messages of i the rank j keeps for its program. */
static uint32_t kept_for(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_config *config = w->rank[j].config;
  const struct state *state = state_of(w, j);
  const struct rcl_kept *kept = kept_of(config, state);
  uint32_t count = 0;
  if (is_behind(w, j))
    return logged_in(w, i, j, state);
  for (uint32_t k = 0; k < config->capacity; k++)
    count += (k < state->kept) & (kept[k].peer == i) & (kept[k].given == 0);
  return count;
}

/* ---- one rank ---- */

static bool bounded_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct rcl_whole_rank *rank = &w->rank[i];
  bool last = !has_captured(w, i) && !state_of(w, i)->wanted && w->committed > 1;
  return rank->older <= (is_behind(w, i) || last) &&
         rank->older + (rank->storing || rank->durable) <= 1;
}

/* ---- all ranks ---- */

static bool count_holds(const struct rcl_whole *w, int i, int j)
{
  (void)i, (void)j;
  uint32_t counted = 0;
  for (int each = 0; each < w->ranks; each++)
    counted += is_counted(w, each);
  return is_behind(w, RCL_COORDINATOR_RANK) ||
         state_of(w, RCL_COORDINATOR_RANK)->commit.done == counted;
}

#endif
