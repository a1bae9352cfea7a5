/* Finds the times at which checkpoints are requested. */
#include "world/scenario/instants.h"

#include <stdlib.h>

bool scenario_asks(const struct scenario *scenario)
{
  return scenario->checkpoint.every > 0.0 || scenario->checkpoint.instants_count > 0 ||
         scenario->checkpoint.calls == CALLS_TAKEN;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static bool read_instants(struct scenario *scenario, GError **error)
{
  unsigned count = scenario->checkpoint.at ? g_strv_length(scenario->checkpoint.at) : 0;
  double *instants = scenario->checkpoint.instants = g_new0(double, count + 1);
  for (unsigned i = 0; i < count; i++) {
    g_autoptr(GError) problem = NULL;
    g_autofree char *path = g_strdup_printf("checkpoint.at.%u", i);
    if (!scenario_seconds(scenario->checkpoint.at[i], &instants[i], &problem))
      return scenario_complain(scenario, path, error, "%s", problem->message);
  }
  qsort(instants, count, sizeof *instants, by_time);
  scenario->checkpoint.instants_count = count;
  return true;
}

bool instants_judge(struct scenario *scenario, GError **error)
{
  if (!read_instants(scenario, error))
    return false;
  bool counted = scenario->checkpoint.count > 0, called = scenario->checkpoint.calls == CALLS_TAKEN;
  const char *key = scenario->checkpoint.instants_count ? "checkpoint.at"
                    : called                            ? "checkpoint.calls"
                    : counted                           ? "checkpoint.count"
                                                        : NULL;
  if (!key || !rcl_protocol_named(scenario->protocol.name)->clocks)
    return true;
  return scenario_complain(scenario, key, error,
                           "%s has clocks that ask by themselves, expected checkpoint.every alone",
                           scenario->protocol.name);
}
