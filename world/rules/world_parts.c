/* Numbers the parts of the world, and tells which parts make a component. */
#include "world/rules/world_parts.h"

uint32_t world_parts(const struct world *w)
{
  return world_part(w, WORLD_TOKENS, 0, 0) + 1;
}

uint32_t world_component(const struct world *w, uint32_t part)
{
  uint32_t n = (uint32_t)w->ranks;
  if (part < n * WORLD_RANK_PARTS)
    return part / WORLD_RANK_PARTS;
  if (part >= world_part(w, WORLD_GLOBAL, 0, 0))
    return n + n * n;
  return n + (part - n * WORLD_RANK_PARTS) % (n * n);
}

uint32_t world_components(const struct world *w)
{
  return world_component(w, world_part(w, WORLD_GLOBAL, 0, 0)) + 1;
}

struct world_head world_head_of(const struct world_rank *rank)
{
  return (struct world_head){.phase = rank->phase,
                             .declared = rank->declared,
                             .closed = rank->closed,
                             .born = rank->born,
                             .incarnation = rank->incarnation,
                             .noticed = rank->noticed,
                             .set = rank->set,
                             .rung = rank->rung};
}
