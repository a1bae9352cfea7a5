/* Reads and completes a machine that the scenario, or a file of its own, describes. Lists its
 * defaults. */
#include <string.h>

#include "world/scenario/keys.h"
#include "world/scenario/machine_file.h"
#include "world/scenario/platform_file.h"
#include "world/scenario/scenario_judge.h"

bool is_machine_file(const char *file)
{
  return g_str_has_suffix(file, ".yaml") || g_str_has_suffix(file, ".yml");
}

bool machine_read(const char *file, struct machine *machine, int *per_node, GError **error)
{
  struct document document;
  struct scenario scratch = {.file = (char *)file};
  if (!document_read(&document, file, error))
    return false;
  bool good = keys_check(&document, machine_keys, error);
  scratch.lines = document.lines;
  good = good && keys_read(&document, machine_keys, &scratch, error);
  if (good && !scratch.platform.stated.nodes)
    good = scenario_complain(&scratch, "nodes", error,
                             "missing, expected the number of nodes of the machine");
  *machine = scratch.platform.stated;
  *per_node = scratch.platform.layout.per_node;
  document_clear(&document);
  return good;
}

char *machine_load(const char *file, GError **error)
{
  struct machine machine;
  int per_node;
  if (!machine_read(file, &machine, &per_node, error))
    return NULL;
  machine_complete(&machine, per_node);
  return machine_xml(&machine);
}

/* Returns the first key of a description that the scenario has, or NULL if there is none. */
static const char *described_by(const struct scenario *scenario, char path[static 64])
{
  for (const struct key *key = machine_keys; key->name; key++) {
    g_snprintf(path, 64, "platform.%s", key->name);
    if (strcmp(key->name, "per_node") != 0 && scenario_given(scenario, path))
      return path;
  }
  return NULL;
}

bool scenario_judge_machine(struct scenario *scenario, GError **error)
{
  char path[64];
  const char *file = scenario->platform.file, *key = described_by(scenario, path);
  struct machine *machine = &scenario->platform.machine;
  int *per_node = &scenario->platform.layout.per_node, own = 1;
  *machine = scenario->platform.stated;
  if (file && !is_machine_file(file))
    return !key || scenario_complain(scenario, key, error,
                                     "beside a SimGrid platform, expected a file that describes a "
                                     "machine (.yaml), or none");
  if (file) {
    struct machine from_file;
    if (!machine_read(file, &from_file, &own, error))
      return false;
    machine_inherit(machine, &from_file);
    if (!scenario_given(scenario, "platform.per_node"))
      *per_node = own;
  } else if (!machine->nodes) {
    return !key || scenario_complain(scenario, "platform.nodes", error,
                                     "missing, expected the number of nodes of the machine");
  }
  scenario->platform.presumed = machine_complete(machine, *per_node);
  scenario->platform.text = machine_xml(machine);
  return true;
}

/* ---- what is told of defaults ---- */

static bool stores_at(const struct scenario *scenario, enum storage where)
{
  const struct level *level;
  bool found = false;
  for (unsigned i = 0; (level = scenario_level(scenario, i)); i++)
    found |= level->storage == where;
  return found;
}

/* Returns whether the latency of storage does not matter, because the write of an image takes
 * long. */
static bool hides_latency(const struct scenario *scenario)
{
  static const double MANY = 20.0;
  const struct machine_disk *disk = &scenario->platform.machine.storage;
  double bytes = scenario->checkpoint.bytes * scenario->program.ranks;
  return bytes / disk->bandwidth > MANY * disk->write_latency;
}

static bool matters_here(const struct scenario *scenario, enum matters matters)
{
  bool asks = scenario_asks(scenario) || scenario->protocol.interval > 0;
  bool restarts = asks && scenario->failures_count > 0;
  switch (matters) {
  case MATTERS_ALWAYS:
    return true;
  case MATTERS_COPIES:
    return asks || strcmp(scenario->protocol.name, "none") != 0;
  case MATTERS_WITHIN:
    return scenario->platform.layout.per_node > 1;
  case MATTERS_TREE:
    return scenario->platform.machine.topology != TOPOLOGY_FLAT;
  case MATTERS_STORAGE:
    return asks && stores_at(scenario, STORAGE_NFS);
  case MATTERS_LOCAL:
    return asks && stores_at(scenario, STORAGE_LOCAL);
  case MATTERS_RESTART_STORAGE:
    return restarts && stores_at(scenario, STORAGE_NFS);
  case MATTERS_RESTART_LOCAL:
    return restarts && stores_at(scenario, STORAGE_LOCAL);
  default:
    return false;
  }
}

struct machine_default scenario_presumed(const struct scenario *scenario, unsigned i)
{
  struct machine_default found;
  for (unsigned bit = 0; (found = machine_presumed(&scenario->platform.machine, bit)).taken;
       bit++) {
    bool told = (scenario->platform.presumed & 1u << bit) && matters_here(scenario, found.matters);
    if (told && i-- == 0)
      break;
    g_free(found.taken);
  }
  if (found.taken && g_str_equal(found.key, "storage.write_latency") && hides_latency(scenario))
    found.decisive = false;
  return found;
}
