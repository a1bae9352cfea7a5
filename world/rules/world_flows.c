/* Counts what the program of a rank has sent and was given, by envelope (communicator, tag) and
 * peer. */
#include "world/rules/world_step.h"

static int compare_flows(const struct world_flow *a, int peer, int comm, int tag)
{
  if (a->peer != peer)
    return a->peer < peer ? -1 : 1;
  if (a->comm != comm)
    return a->comm < comm ? -1 : 1;
  return a->tag == tag ? 0 : a->tag < tag ? -1 : 1;
}

const struct world_flow *world_find_flow(const struct world *w, int rank, int peer, int comm,
                                         int tag, uint32_t *place, uint32_t *count)
{
  const struct world_flow *flows = READ_LIST(struct world_flow, w, WORLD_FLOWS, rank, 0, count);
  uint32_t low = 0, high = *count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (compare_flows(&flows[middle], peer, comm, tag) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *place = low;
  return low < *count && !compare_flows(&flows[low], peer, comm, tag) ? &flows[low] : NULL;
}

struct world_flow *world_flow(const struct world *w, int rank, int peer, int comm, int tag)
{
  uint32_t low, count;
  if (!world_find_flow(w, rank, peer, comm, tag, &low, &count)) {
    struct world_flow fresh = {.peer = (int16_t)peer, .comm = (int16_t)comm, .tag = tag};
    list_insert(w, WORLD_FLOWS, rank, 0, low, &fresh, sizeof fresh);
    count++;
  }
  struct world_flow *edited =
      world_edit(w, WORLD_FLOWS, rank, 0, count * (uint32_t)sizeof(struct world_flow));
  return &edited[low];
}

bool world_flow_in(const unsigned char *part, uint32_t size, int peer, int comm, int tag,
                   struct world_flow *flow)
{
  for (uint32_t i = 0; i < size / sizeof *flow; i++) {
    memcpy(flow, part + i * sizeof *flow, sizeof *flow);
    if (!compare_flows(flow, peer, comm, tag))
      return true;
  }
  return false;
}
