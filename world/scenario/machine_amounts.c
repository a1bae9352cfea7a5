/* Has the defaults for amounts that a description of a machine does not state. */
#include "world/scenario/machine_amounts.h"

#include <math.h>
#include <stddef.h>

#include "world/scenario/quantity.h"

enum { NO_FIELD = -1, LEAF_NODES = 32 };

/* Gives the default of an amount: `value`, or `share` of another amount. */
static const struct preset {
  const char *key;
  enum quantity kind;
  size_t at;
  double value;
  int of;
  double share;
  enum matters matters;
  bool decisive;
} presets[] = {
#define AT(member) offsetof(struct machine, member)
#define FIXED(key, kind, member, value, matters, decisive)                                         \
  {                                                                                                \
    key, kind, AT(member), value, NO_FIELD, 0.0, matters, decisive                                 \
  }
#define SHARE(key, kind, member, other, share, matters)                                            \
  {                                                                                                \
    key, kind, AT(member), 0.0, (int)AT(other), share, matters, false                              \
  }
    FIXED("speed", QUANTITY_FLOPS, speed, 10e9, MATTERS_ALWAYS, true),
    FIXED("memory", QUANTITY_RATE, memory, 10e9, MATTERS_COPIES, true),
    FIXED("network.latency", QUANTITY_TIME, network.latency, 2e-6, MATTERS_ALWAYS, true),
    FIXED("network.bandwidth", QUANTITY_RATE, network.bandwidth, 12.5e9, MATTERS_ALWAYS, true),
    FIXED("network.overhead", QUANTITY_TIME, network.overhead, 4e-7, MATTERS_ALWAYS, false),
    FIXED("network.eager", QUANTITY_SIZE, network.eager, 8192, MATTERS_ALWAYS, false),
    FIXED("network.hop", QUANTITY_TIME, network.hop, 1e-7, MATTERS_TREE, false),
    FIXED("network.taper", QUANTITY_NUMBER, network.taper, 1, MATTERS_TREE, true),
    FIXED("within_node.latency", QUANTITY_TIME, within_node.latency, 5e-7, MATTERS_WITHIN, false),
    SHARE("within_node.bandwidth", QUANTITY_RATE, within_node.bandwidth, memory, 0.5,
          MATTERS_WITHIN),
    FIXED("storage.bandwidth", QUANTITY_RATE, storage.bandwidth, 1e9, MATTERS_STORAGE, true),
    SHARE("storage.read_bandwidth", QUANTITY_RATE, storage.read_bandwidth, storage.bandwidth, 1.0,
          MATTERS_RESTART_STORAGE),
    FIXED("storage.write_latency", QUANTITY_TIME, storage.write_latency, 5e-3, MATTERS_STORAGE,
          true),
    FIXED("local.bandwidth", QUANTITY_RATE, local.bandwidth, 1e9, MATTERS_LOCAL, true),
    SHARE("local.read_bandwidth", QUANTITY_RATE, local.read_bandwidth, local.bandwidth, 1.0,
          MATTERS_RESTART_LOCAL),
    FIXED("local.write_latency", QUANTITY_TIME, local.write_latency, 5e-3, MATTERS_LOCAL, true)};

static double *amount(struct machine *machine, size_t at)
{
  return (double *)(void *)((char *)machine + at);
}

static double amount_of(const struct machine *machine, size_t at)
{
  return *(const double *)(const void *)((const char *)machine + at);
}

static bool is_stated(const struct preset *preset, double value)
{
  return preset->kind == QUANTITY_NUMBER ? value > 0 : value >= 0;
}

void machine_inherit(struct machine *machine, const struct machine *other)
{
  for (size_t i = 0; i < G_N_ELEMENTS(presets); i++)
    if (!is_stated(&presets[i], amount_of(machine, presets[i].at)))
      *amount(machine, presets[i].at) = amount_of(other, presets[i].at);
  machine->nodes = machine->nodes ? machine->nodes : other->nodes;
  machine->cores = machine->cores ? machine->cores : other->cores;
  machine->topology = machine->topology ? machine->topology : other->topology;
  machine->network.group = machine->network.group ? machine->network.group : other->network.group;
  machine->mtbf = machine->mtbf >= 0 ? machine->mtbf : other->mtbf;
}

/* Returns the number of nodes in a group of the smallest balanced dragonfly that has `nodes` (Kim
 * et al., ISCA 2008: p nodes at each of the 2 p routers of a group, p global links from each
 * router, and one group more than a group has global links). */
static int dragonfly_group(int nodes)
{
  int p = 1;
  while (2.0 * p * p * (2.0 * p * p + 1.0) < nodes)
    p++;
  return 2 * p * p;
}

unsigned machine_complete(struct machine *machine, int per_node)
{
  unsigned presumed = 0;
  for (size_t i = 0; i < G_N_ELEMENTS(presets); i++) {
    const struct preset *preset = &presets[i];
    if (is_stated(preset, amount_of(machine, preset->at)))
      continue;
    *amount(machine, preset->at) = preset->of == NO_FIELD
                                       ? preset->value
                                       : preset->share * amount_of(machine, (size_t)preset->of);
    presumed |= 1u << i;
  }
  machine->cores = machine->cores ? machine->cores : per_node;
  machine->topology = machine->topology ? machine->topology : TOPOLOGY_FLAT;
  if (!machine->network.group && machine->topology != TOPOLOGY_FLAT) {
    machine->network.group =
        machine->topology == TOPOLOGY_FAT_TREE ? LEAF_NODES : dragonfly_group(machine->nodes);
    presumed |= 1u << G_N_ELEMENTS(presets);
  }
  return presumed;
}

struct machine_default machine_presumed(const struct machine *machine, unsigned i)
{
  struct machine_default presumed = {.matters = MATTERS_TREE};
  if (i == G_N_ELEMENTS(presets)) {
    presumed.key = "network.group";
    presumed.taken = g_strdup_printf("%d nodes", machine->network.group);
  } else if (i < G_N_ELEMENTS(presets)) {
    presumed.key = presets[i].key;
    presumed.taken = quantity_text(presets[i].kind, amount_of(machine, presets[i].at));
    presumed.matters = presets[i].matters;
    presumed.decisive = presets[i].decisive;
  }
  return presumed;
}
