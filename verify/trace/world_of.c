#include "verify/trace/world_of.h"

static const enum crash_leaves needs[] = {[STORAGE_MEMORY] = CRASH_LEAVES_ALL,
                                          [STORAGE_LOCAL] = CRASH_LEAVES_DISKS,
                                          [STORAGE_NFS] = CRASH_LEAVES_NOTHING};

_Static_assert((int)LEVELS_MAX <= (int)WORLD_LEVELS, "the world holds the levels of a scenario");

void world_of_levels(struct world *world, const struct scenario *scenario)
{
  const struct level *level;
  bool lost = false;
  for (unsigned i = 0; (level = scenario_level(scenario, i)); i++)
    lost |= level->storage != STORAGE_NFS;
  for (unsigned i = 0; i < scenario->failures_count; i++)
    lost |= scenario->failures[i].returns == RETURNS_EMPTY;
  world->stored_per_node = scenario_stored_per_node(scenario);
  for (unsigned i = 0; lost && (level = scenario_level(scenario, i)); i++)
    world_add_level(world, (struct world_level){.every = (uint32_t)level->every,
                                                .needs = (uint8_t)needs[level->storage],
                                                .ring = level->redundancy == REDUNDANCY_PARTNER,
                                                .set = (int16_t)level->group,
                                                .losses = (int16_t)level->losses});
}
