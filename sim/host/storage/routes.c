#include "sim/host/storage/routes.h"

#include "sim/memory/die.h"
#include "sim/net/machine.h"
#include "world/scenario/scenario.h"

#include <glib.h>

enum { ALL_PAIRS_MAX = 128 };

static void require(const char *from, const char *to, const char *name)
{
  if (!machine_has_route(from, to))
    die(DIE_INPUT,
        REFUSED "platform.file: %s has no route from %s to %s, expected one between all hosts of "
                "the run",
        name, from, to);
}

void routes_require(const struct scenario *scenario)
{
  const struct layout *layout = &scenario->platform.layout;
  g_autofree char *name = scenario_platform_name(scenario);
  int nodes = layout_nodes(layout, scenario->program.ranks) + scenario->platform.spares;
  bool all_pairs = nodes < ALL_PAIRS_MAX;
  for (int i = 0; i < nodes; i++) {
    const char *node = layout->nodes[i], *dispatcher = scenario_dispatcher(scenario);
    require(node, dispatcher, name);
    require(dispatcher, node, name);
    for (int j = 0; j < (all_pairs ? i : MIN(i, 1)); j++) {
      require(node, layout->nodes[j], name);
      require(layout->nodes[j], node, name);
    }
    if (layout->per_node > 1)
      require(node, node, name);
  }
}
