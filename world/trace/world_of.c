#include "world/trace/world_of.h"

#include <string.h>

#include "base/breach.h"
#include "protocols/neighbours.h"
#include "world/scenario/parameters.h"

static const enum crash_leaves needs[] = {[STORAGE_MEMORY] = CRASH_LEAVES_ALL,
                                          [STORAGE_LOCAL] = CRASH_LEAVES_DISKS,
                                          [STORAGE_NFS] = CRASH_LEAVES_NOTHING};

_Static_assert((int)LEVELS_MAX <= (int)WORLD_LEVELS, "the world holds the levels of a scenario");

void world_of_protocol(struct world *world, const struct scenario *scenario)
{
  const char *name;
  uint32_t value;
  for (unsigned i = 0; (name = parameter_at(scenario, i, &value)); i++)
    world_set_parameter(world, name, value);
  char problem[NEIGHBOURS_PROBLEM];
  if (!world_set_topology(world, scenario->program.topology, problem))
    breach("topology: %s", problem);
}

void world_of_levels(struct world *world, const struct scenario *scenario)
{
  const struct level *level;
  bool lost = false;
  for (unsigned i = 0; (level = scenario_level(scenario, i)); i++)
    lost |= level->storage != STORAGE_NFS;
  for (unsigned i = 0; i < scenario->failures_count; i++)
    lost |= scenario->failures[i].returns == RETURNS_EMPTY;
  lost |= scenario->recovery.attempts > 0;
  world->attempts = (uint32_t)scenario->recovery.attempts;
  world->stored_per_node = scenario_stored_per_node(scenario);
  for (unsigned i = 0; lost && (level = scenario_level(scenario, i)); i++)
    world_add_level(world, (struct world_level){.every = (uint32_t)level->every,
                                                .needs = (uint8_t)needs[level->storage],
                                                .ring = level->redundancy == REDUNDANCY_PARTNER,
                                                .set = (int16_t)level->group,
                                                .losses = (int16_t)level->losses});
}

void world_of_load_beside(const char *trace)
{
  g_autofree char *base = g_path_get_basename(trace), *folder = g_path_get_dirname(trace);
  g_autofree char *stem = g_strndup(base, strcspn(base, "."));
  g_autofree char *name = g_str_equal(base, "trace.txt")
                              ? g_strdup("scenario.yaml")
                              : g_strconcat(stem, ".scenario.yaml", NULL);
  g_autofree char *file = g_build_filename(folder, name, NULL);
  scenario_free(scenario_load(file, NULL, NULL)); /* the call loads it */
}
