/* Has the rules about clocks, for protocols that use clocks (protocol.h).
 *
 * The world has no clock; all it knows follows from the bounds. An alarm goes off within the
 * deviation D of its time, and a message takes between S and L. So an alarm x certainly comes
 * before an alarm y of another clock when
 *
 *     time of x + D <= time of y - D
 *
 * A message that was sent before x has certainly come before y if time of x + D + L <= time of y -
 * D. A message that was sent after x certainly has not come before y if time of x - D + S >= time
 * of y + D. A time is the instant of a checkpoint plus a multiple of each bound; an inequality
 * counts when it holds for all D >= 0 and L >= S >= 0. Alarms of a later checkpoint come after
 * everything of an earlier one.
 *
 * The explorer takes no move that contradicts these rules; in a run such a move violates property
 * `bounds`. A bound that the claim lists in `check.exceeds` is not used.
 */
#include "world/rules/world_parts.h"

/* Returns whether x, moved by these multiples of the bounds, is never later than y, whatever the
 * bounds are. */
static bool precedes(const struct world_alarm *x, int deviations, int longest, int shortest,
                     const struct world_alarm *y)
{
  if (x->checkpoint != y->checkpoint)
    return x->checkpoint < y->checkpoint;
  int d = y->after[RCL_BOUND_DEVIATION] - x->after[RCL_BOUND_DEVIATION] - deviations;
  int l = y->after[RCL_BOUND_LONGEST] - x->after[RCL_BOUND_LONGEST] - longest;
  int s = y->after[RCL_BOUND_SHORTEST] - x->after[RCL_BOUND_SHORTEST] - shortest;
  return d >= 0 && l >= 0 && l + s >= 0;
}

static bool holds(const struct world *w, enum rcl_bound bound)
{
  return !(w->exceeds & 1u << bound);
}

bool world_needs_timer(const struct world *w, int rank)
{
  return !w->protocol->clocks || read_rank_head(w, rank).set.checkpoint >
                                     read_rank_head(w, RCL_COORDINATOR_RANK).rung.checkpoint;
}

/* Returns whether the ranks wait for each other: only running ranks of the same incarnation do. */
static bool in_step(const struct world_head *me, const struct world_head *other)
{
  return (other->phase == RANK_RUNNING || other->phase == RANK_CAPTURING) &&
         other->incarnation == me->incarnation;
}

/* Returns whether a message that was sent before an alarm of its sender must be here before y. */
static bool is_awaited(const struct world *w, int peer, int rank, const struct world_alarm *y)
{
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, WORLD_CHANNEL, peer, rank, &count);
  for (uint32_t i = 0; i < count; i++)
    if (channel[i].before.checkpoint && world_exists(read_rank(w, rank), &channel[i]) &&
        precedes(&channel[i].before, 2, 1, 0, y))
      return true;
  return false;
}

const char *world_too_early(const struct world *w, int rank)
{
  const struct world_head me = read_rank_head(w, rank);
  const struct world_alarm y = me.set;
  for (int peer = 0; peer < w->ranks && holds(w, RCL_BOUND_DEVIATION); peer++) {
    const struct world_head other = read_rank_head(w, peer);
    if (peer != rank && in_step(&me, &other)) {
      if (other.set.checkpoint < y.checkpoint && other.rung.checkpoint < y.checkpoint)
        return "another rank has not set its clock yet";
      if (other.set.checkpoint && precedes(&other.set, 2, 0, 0, &y))
        return "the alarm of another rank comes first";
    }
    if (holds(w, RCL_BOUND_LONGEST) && is_awaited(w, peer, rank, &y))
      return "a message must have come before";
  }
  return NULL;
}

const char *world_too_fast(const struct world *w, int rank, const struct world_message *message)
{
  const struct world_alarm y = read_rank_head(w, rank).set, *x = &message->after;
  if (!x->checkpoint || !y.checkpoint || !holds(w, RCL_BOUND_DEVIATION))
    return NULL;
  /* A message that was sent after an alarm two deviations or more behind `latest` cannot be here
   * before y. */
  struct world_alarm latest = y;
  latest.after[RCL_BOUND_SHORTEST] -= holds(w, RCL_BOUND_SHORTEST);
  return precedes(&latest, 2, 0, 0, x) ? "it was sent too late to be here before the alarm" : NULL;
}
