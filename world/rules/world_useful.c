/* Tells whether each stored checkpoint is part of a consistent state of all ranks.
 *
 * A checkpoint that is part of no such state is *useless* (Netzer and Xu, "Necessary and sufficient
 * conditions for consistent global snapshots", IEEE Transactions on Parallel and Distributed
 * Systems 6(2), 1995): wherever the other ranks go back, some rank has received messages that
 * another rank has not sent. This file decides it without zigzag paths: the other ranks go back
 * from their present states until no rank has received too much. */
#include <stdlib.h>

#include "base/memory.h"
#include "world/rules/world_step.h"

/* Describes where a rank stands: at an image, or in its present state. `flows` are the flows of its
 * program at that point. */
struct stand {
  const struct world_flow *flows;
  uint32_t count;      /* number of flows */
  uint32_t checkpoint; /* checkpoint of the image, or UINT32_MAX for the present state */
};

static struct stand now(const struct world *w, int rank)
{
  struct stand stand = {.checkpoint = UINT32_MAX};
  stand.flows = READ_LIST(struct world_flow, w, WORLD_FLOWS, rank, 0, &stand.count);
  return stand;
}

/* Puts the rank at its last checkpoint before `below`, or at the beginning of its program. */
static struct stand at_image(const struct world *w, int rank, uint32_t below)
{
  struct stand stand = {.checkpoint = RCL_FRESH};
  uint32_t count, size;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (stored[i].part != RCL_PART_IMAGE || stored[i].checkpoint >= below ||
        stored[i].checkpoint <= stand.checkpoint)
      continue;
    stand.checkpoint = stored[i].checkpoint;
    stand.flows = world_part_of_image(w, stored[i].image, WORLD_FLOWS, &size);
    stand.count = size / (uint32_t)sizeof *stand.flows;
  }
  return stand;
}

static uint32_t sent_by(const struct stand *sender, int to, const struct world_flow *flow)
{
  for (uint32_t i = 0; i < sender->count; i++)
    if (sender->flows[i].peer == to && sender->flows[i].comm == flow->comm &&
        sender->flows[i].tag == flow->tag)
      return sender->flows[i].sent;
  return 0;
}

/* Returns whether `rank` has received messages that its peers, where they stand, have not sent. */
static bool has_too_much(const struct stand *stand, int rank)
{
  for (uint32_t i = 0; i < stand[rank].count; i++) {
    const struct world_flow *flow = &stand[rank].flows[i];
    if (flow->delivered > sent_by(&stand[flow->peer], rank, flow))
      return true;
  }
  return false;
}

bool world_is_useful(const struct world *w, int of, uint32_t checkpoint)
{
  struct stand *stand = memory_table((size_t)w->ranks, sizeof *stand);
  bool useful = true;
  for (int rank = 0; rank < w->ranks; rank++)
    stand[rank] = rank == of ? at_image(w, rank, checkpoint + 1) : now(w, rank);
  for (bool moved = true; moved && useful;) {
    moved = false;
    for (int rank = 0; rank < w->ranks && useful; rank++) {
      if (!has_too_much(stand, rank))
        continue;
      useful = rank != of;
      stand[rank] = at_image(w, rank, stand[rank].checkpoint);
      moved = true;
    }
  }
  free(stand);
  return useful;
}
