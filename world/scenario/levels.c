/* Judges the rules between the keys of storage levels. */
#include "world/scenario/levels.h"

int scenario_stored_per_node(const struct scenario *scenario)
{
  bool runs = scenario->platform.text && !scenario->schedule;
  return runs ? scenario->platform.layout.per_node : scenario->check.per_node;
}

const struct level *scenario_level(const struct scenario *scenario, unsigned index)
{
  if (!scenario->checkpoint.levels_count)
    return index ? NULL : &scenario->checkpoint.only;
  return index < scenario->checkpoint.levels_count ? &scenario->checkpoint.levels[index] : NULL;
}

const struct level *scenario_level_of(const struct scenario *scenario, uint32_t checkpoint)
{
  const struct level *level = scenario_level(scenario, 0), *of = level;
  for (unsigned i = 0; (level = scenario_level(scenario, i)); i++)
    if (checkpoint % (uint32_t)level->every == 0)
      of = level;
  return of;
}

bool levels_move(const struct scenario *scenario)
{
  const struct level *level;
  for (unsigned i = 0; (level = scenario_level(scenario, i)); i++)
    if (level->storage != STORAGE_NFS)
      return false;
  return true;
}

static bool refuse(const struct scenario *scenario, unsigned index, const char *key, GError **error,
                   const char *format, ...) G_GNUC_PRINTF(5, 6);

static bool refuse(const struct scenario *scenario, unsigned index, const char *key, GError **error,
                   const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *path = g_strdup_printf("checkpoint.levels.%u%s%s", index, *key ? "." : "", key);
  return scenario_complain(scenario, path, error, "%s", what);
}

static bool judge_set(const struct scenario *scenario, unsigned index, struct level *level,
                      GError **error)
{
  int nodes = (scenario->program.ranks - 1) / scenario_stored_per_node(scenario) + 1;
  bool coded = level->redundancy == REDUNDANCY_REED_SOLOMON;
  if (level->storage == STORAGE_NFS)
    return refuse(scenario, index, "redundancy", error, "beside nfs, expected memory or local");
  if (level->redundancy != REDUNDANCY_PARTNER &&
      rcl_protocol_named(scenario->protocol.name)->independent)
    return refuse(scenario, index, "redundancy", error,
                  "ranks take checkpoints apart under %s, expected none or partner",
                  scenario->protocol.name);
  if (level->group == 1)
    level->group = nodes;
  if (nodes < 2 || nodes % level->group)
    return refuse(scenario, index, level->group == nodes ? "redundancy" : "group", error,
                  "sets of %d of %d nodes, expected at least 2 that divide them", level->group,
                  nodes);
  if (level->losses > 1 && !coded)
    return refuse(scenario, index, "losses", error, "%d, expected 1 without reed-solomon",
                  level->losses);
  if (level->losses >= level->group)
    return refuse(scenario, index, "losses", error, "%d of %d nodes, expected fewer", level->losses,
                  level->group);
  if (!level->losses)
    level->losses = coded ? level->group / 2 : 1;
  return true;
}

static bool judge_level(const struct scenario *scenario, unsigned index, struct level *level,
                        GError **error)
{
  if (level->storage == STORAGE_UNSTATED)
    return refuse(scenario, index, "", error, "no storage, expected memory, local or nfs");
  if (index == 0 && level->every != 1)
    return refuse(scenario, index, "every", error, "%d, expected 1: the first level takes the rest",
                  level->every);
  if (index > 0 && level->every <= level[-1].every)
    return refuse(scenario, index, "every", error,
                  "%d, expected more than the %d of the one before", level->every, level[-1].every);
  if (level->redundancy != REDUNDANCY_NONE)
    return judge_set(scenario, index, level, error);
  if (level->group > 1 || level->losses)
    return refuse(scenario, index, level->group > 1 ? "group" : "losses", error,
                  "without redundancy, expected partner, xor or reed-solomon");
  return true;
}

bool levels_judge(struct scenario *scenario, GError **error)
{
  struct level *levels = scenario->checkpoint.levels;
  unsigned count = scenario->checkpoint.levels_count;
  enum storage storage = scenario->checkpoint.storage;
  if (count && storage != STORAGE_UNSTATED)
    return scenario_complain(scenario, "checkpoint.storage", error,
                             "beside levels, expected it in each of them");
  if (count > LEVELS_MAX)
    return scenario_complain(scenario, "checkpoint.levels", error, "%u levels, expected at most %d",
                             count, LEVELS_MAX);
  if (!count && storage == STORAGE_UNSTATED)
    scenario->checkpoint.storage = STORAGE_NFS;
  scenario->checkpoint.only =
      (struct level){.storage = scenario->checkpoint.storage, .every = 1, .group = 1};
  for (unsigned i = 0; i < count; i++)
    if (!judge_level(scenario, i, &levels[i], error))
      return false;
  return true;
}
