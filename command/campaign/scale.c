#include "command/campaign/scale.h"

#include <string.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "command/campaign/costs.h"
#include "command/campaign/numbers.h"
#include "world/scenario/scenario.h"

enum { MANY = 64, FEW = 16 }; /* ranks */

static void add(GPtrArray *settings, const char *key, double value, const char *unit)
{
  g_ptr_array_add(settings, g_strdup_printf("%s=%.9g%s", key, value, unit));
}

/* Adds the laws of the failures. An mtbf of the whole machine is stated, too, because its default
 * follows from the number of nodes. */
static void add_laws(GPtrArray *settings, const struct scenario *scenario, double nodes)
{
  for (unsigned i = 0; i < scenario->failures_count; i++) {
    const struct failure *failure = &scenario->failures[i];
    if (failure->trigger != TRIGGER_LAW || failure->kills == KILLS_SERVER)
      continue;
    g_autofree char *key = g_strdup_printf("failures.%u.mtbf", i);
    add(settings, key, failure->mtbf * (failure->of == OF_PLATFORM ? 1.0 : nodes), "s");
  }
}

/* Returns whether the scenario can be scaled to that many ranks. */
static bool fits(const struct scenario *scenario, int ranks, GError **error)
{
  int per_node = scenario->platform.layout.per_node;
  if (!scenario->platform.machine.nodes)
    return scenario_complain(scenario, "platform", error,
                             "--scale: a SimGrid platform, expected a machine described by its "
                             "amounts (docs/platform.md)");
  if (ranks >= 1 && ranks <= scenario->program.ranks && ranks % per_node == 0)
    return true;
  return scenario_complain(scenario, "program.ranks", error,
                           "--scale %d, expected at most %d ranks, and a multiple of the %d on a "
                           "node",
                           ranks, scenario->program.ranks, per_node);
}

static char **scaled_settings(const char *file, char *const *set, int ranks, bool silent,
                              GError **error)
{
  GPtrArray *settings = g_ptr_array_new();
  struct scenario *scenario = scenario_load(file, (const char *const *)set, error);
  if (!scenario || !fits(scenario, ranks, error)) {
    scenario_free(scenario);
    g_ptr_array_free(settings, TRUE);
    return NULL;
  }
  const struct machine *machine = &scenario->platform.machine;
  const struct layout *layout = &scenario->platform.layout;
  int before = layout_nodes(layout, scenario->program.ranks), after = layout_nodes(layout, ranks);
  double part = (double)ranks / scenario->program.ranks;
  for (; set && *set; set++)
    g_ptr_array_add(settings, g_strdup(*set));
  add(settings, "program.ranks", ranks, "");
  add(settings, "platform.nodes", after + scenario->platform.spares, "");
  add(settings, "platform.storage.bandwidth", machine->storage.bandwidth * part, "Bps");
  add(settings, "platform.storage.read_bandwidth", machine->storage.read_bandwidth * part, "Bps");
  add_laws(settings, scenario, (double)after / before);
  g_ptr_array_add(settings, NULL);
  g_autofree char *mtbf = number_digits(costs_mtbf(scenario) / 3600.0, 3);
  if (!silent)
    g_printerr("scaled from %d to %d ranks: a checkpoint takes as long to write, and the machine "
               "fails as often, once in %s h\n",
               scenario->program.ranks, ranks, mtbf);
  scenario_free(scenario);
  return (char **)g_ptr_array_free(settings, FALSE);
}

static void hint(const char *file, char *const *set)
{
  struct scenario *scenario = scenario_load(file, (const char *const *)set, NULL);
  if (scenario && scenario->program.ranks >= MANY && scenario->platform.machine.nodes)
    g_printerr("hint: runs of %d ranks take long; --scale %d keeps the write time of a checkpoint "
               "and the MTBF of the machine\n",
               scenario->program.ranks, FEW);
  scenario_free(scenario);
}

/* Returns whether `key` is the key `whole`, or the key of a part of its value. */
static bool is_within(const char *key, const char *whole)
{
  size_t length = strlen(whole);
  return g_str_has_prefix(key, whole) && (key[length] == '\0' || key[length] == '.');
}

/* Returns the first sweep whose values would replace what is scaled, or would not be scaled; NULL
 * if there is none. */
static const char *first_unscaled(char *const *sweeps)
{
  static const char *const scaled[] = {"program.ranks",
                                       "platform.nodes",
                                       "platform.per_node",
                                       "platform.spares",
                                       "platform.storage.bandwidth",
                                       "platform.storage.read_bandwidth",
                                       "platform.mtbf",
                                       "failures"};
  for (; sweeps && *sweeps; sweeps++) {
    g_autofree char *key = g_strndup(*sweeps, strcspn(*sweeps, "="));
    for (size_t i = 0; i < G_N_ELEMENTS(scaled); i++)
      if (is_within(key, scaled[i]) || is_within(scaled[i], key))
        return *sweeps;
  }
  return NULL;
}

int scale_options(char ***set, char *const *sweeps, const char *file, int ranks, bool silent)
{
  g_autoptr(GError) error = NULL;
  const char *unscaled = ranks ? first_unscaled(sweeps) : NULL;
  if (unscaled)
    return bad_input("--sweep %.*s with --scale, which scales that key, expected one of them, or "
                     "--set in place of --sweep",
                     (int)strcspn(unscaled, "="), unscaled);
  if (ranks == 0) {
    if (!silent)
      hint(file, *set);
    return EXIT_FINE;
  }
  char **scaled = scaled_settings(file, *set, ranks, silent, &error);
  if (!scaled)
    return bad_input("%s", error->message);
  g_strfreev(*set);
  *set = scaled;
  return EXIT_FINE;
}
