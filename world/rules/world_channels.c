/* Puts messages into channels, and takes them out. */
#include "world/rules/world_step.h"

bool world_is_reachable(const struct world *w, int rank, uint16_t incarnation)
{
  const struct world_head to = read_rank_head(w, rank);
  if (to.phase == RANK_DEAD)
    return false;
  bool restarts = to.phase == RANK_RESTARTING || to.phase == RANK_RESTORING;
  if (w->protocol->independent)
    return incarnation >= (restarts ? to.noticed : to.incarnation);
  return incarnation >= (restarts ? read_global(w)->incarnation : to.incarnation);
}

bool world_is_cut_off(const struct step_context *t, int from)
{
  const struct world_head me = read_rank_head(t->w, t->rank);
  return t->w->protocol->independent && me.declared &&
         read_rank_head(t->w, from).noticed >= me.born;
}

void world_put_on(struct step_context *t, enum part_kind kind, int peer,
                  const struct world_message *message)
{
  uint32_t count;
  if (!world_is_reachable(t->w, peer, message->incarnation) || world_is_cut_off(t, peer))
    return;
  struct world_message copy;
  if (t->w->protocol->piggybacks && kind == WORLD_CHANNEL && !control_overtakes(t->w)) {
    copy = *message;
    READ_LIST(struct world_message, t->w, WORLD_CONTROL, t->rank, peer, &copy.behind);
    message = &copy;
  }
  const struct world_message *channel =
      READ_LIST(struct world_message, t->w, kind, t->rank, peer, &count);
  if (is_unordered(t->w, kind)) /* a channel without order is kept sorted, so that channels with
                                   equal messages have equal bytes */
    while (count > 0 && memcmp(&channel[count - 1], message, sizeof *message) > 0)
      count--;
  list_insert(t->w, kind, t->rank, peer, count, message, sizeof *message);
}

void world_remove_message(const struct world *w, enum part_kind kind, int peer, int rank,
                          uint32_t index)
{
  uint32_t count = 0, size = (uint32_t)sizeof(struct world_message);
  list_remove(w, kind, peer, rank, index, size);
  if (!w->protocol->piggybacks || kind != WORLD_CONTROL)
    return;
  READ_LIST(struct world_message, w, WORLD_CHANNEL, peer, rank, &count);
  struct world_message *message =
      count ? world_edit(w, WORLD_CHANNEL, peer, rank, count * size) : NULL;
  for (uint32_t i = 0; i < count; i++)
    message[i].behind -= message[i].behind > index;
}

void world_drop_stale(const struct world *w, enum part_kind kind, int peer, int rank,
                      uint16_t incarnation)
{
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, kind, peer, rank, &count);
  for (uint32_t i = count; i-- > 0;)
    if (channel[i].incarnation < incarnation) {
      world_remove_message(w, kind, peer, rank, i);
      channel = READ_LIST(struct world_message, w, kind, peer, rank, &count);
    }
}
