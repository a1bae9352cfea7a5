/* Judges whether a crash, a detection, or an injected fault (a message that the host loses or
 * doubles) can happen. */
#include "world/rules/world_parts.h"

bool world_is_alive(const struct world *w, int rank)
{
  const struct world_rank *me = read_rank(w, rank);
  return !me->declared &&
         (me->phase == RANK_RUNNING || me->phase == RANK_CAPTURING || me->phase == RANK_RESTORING);
}

bool world_crash_is_left(const struct world *w)
{
  return !w->bounded || read_global(w)->crashes;
}

/* Counts the writes under way of the node that begins with `first`. */
static uint32_t unfinished_writes(const struct world *w, int first)
{
  uint32_t count, unfinished = 0;
  for (int rank = first; rank < world_node_end(w, first); rank++) {
    const struct world_record *stored =
        READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
    for (uint32_t i = 0; i < count && world_is_alive(w, rank); i++)
      unfinished += !stored[i].durable;
  }
  return unfinished;
}

uint32_t world_write_ends(const struct world *w, int first)
{
  uint32_t ends = 1;
  if (w->hazards & (HAZARD_WHOLE_WRITES | HAZARD_TORN_WRITES))
    for (uint32_t i = unfinished_writes(w, first); i && ends < UINT32_MAX / WRITE_ENDS; i--)
      ends *= WRITE_ENDS;
  return ends;
}

/* Returns whether the writes under way can end in the way that `ends` says, on this machine. */
static bool may_end(const struct world *w, uint32_t ends)
{
  for (; ends; ends /= WRITE_ENDS)
    if (ends % WRITE_ENDS == WRITE_TORN && !(w->hazards & HAZARD_TORN_WRITES))
      return false;
  return true;
}

bool world_can_crash(const struct world *w, int rank)
{
  return world_is_alive(w, rank) ||
         (w->attempts && read_rank_head(w, rank).phase == RANK_RESTARTING);
}

/* Even if all ranks of a node are dead, the node may crash, and then loses what was stored on
 * it. */
const char *world_refuses_crash(const struct world *w, const struct move *move)
{
  int first = move->rank;
  uint32_t ends = move->index;
  enum crash_leaves leaves = (enum crash_leaves)move->fault;
  if (!world_crash_is_left(w))
    return "no crash is left";
  if (first < 0)
    return w->levels ? NULL : "storage loses nothing";
  if (ends >= world_write_ends(w, first) || !may_end(w, ends))
    return "writes do not end like that";
  if (first % w->per_node)
    return "the node begins with another rank";
  for (int rank = first; rank < world_node_end(w, first); rank++)
    if (world_can_crash(w, rank) || world_has_to_lose(w, rank, leaves))
      return NULL;
  return "the rank does not run";
}

const char *world_refuses_detection(const struct world *w, const struct move *move)
{
  if (move->fault == DETECT_END)
    return move->rank >= 0 && read_rank(w, move->rank)->declared ? NULL
                                                                 : "the rank was not declared dead";
  if (move->fault == DETECT_FALSELY)
    return w->hazards & HAZARD_FALSE_DETECTION && world_crash_is_left(w) &&
                   world_is_alive(w, move->rank)
               ? NULL
               : "the rank is not declared dead";
  if (w->protocol->independent)
    return read_rank(w, move->rank)->phase == RANK_DEAD ? NULL : "the rank is not dead";
  for (int rank = 0; rank < w->ranks; rank++)
    if (read_rank(w, rank)->phase == RANK_DEAD)
      return NULL;
  return "nobody is dead";
}

const char *world_refuses_fault(const struct world *w, const struct move *move)
{
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, WORLD_CHANNEL, move->event.peer, move->rank, &count);
  if (!(w->faults & move->fault) || read_global(w)->injected || move->fault > FAULT_DUPLICATE)
    return "the host does not lie";
  return move->index < count && !is_control(&channel[move->index]) &&
                 world_exists(read_rank(w, move->rank), &channel[move->index])
             ? NULL
             : "there is no such message";
}
