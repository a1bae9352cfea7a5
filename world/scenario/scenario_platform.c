/* Judges the rules between the keys of `platform`, and finds files by name. */
#include <string.h>

#include "base/glib/catalogue.h"
#include "world/scenario/platform_file.h"
#include "world/scenario/scenario_judge.h"

const char *scenario_dispatcher(const struct scenario *scenario)
{
  return scenario->platform.dispatcher ? scenario->platform.dispatcher : "service-0";
}

char *scenario_platform_name(const struct scenario *scenario)
{
  const char *file = scenario->platform.file;
  return file ? g_path_get_basename(file) : g_strdup("platform");
}

void scenario_make_absolute(const struct scenario *scenario, char **name)
{
  g_autofree char *bare = *name;
  g_autofree char *path =
      g_path_is_absolute(bare) ? g_strdup(bare) : g_build_filename(scenario->directory, bare, NULL);
  *name = g_canonicalize_filename(path, NULL);
}

bool scenario_find_file(const struct scenario *scenario, const char *path, char **name,
                        const char *expected, GError **error)
{
  g_autofree char *shown = document_quote(*name);
  scenario_make_absolute(scenario, name);
  if (g_file_test(*name, G_FILE_TEST_IS_REGULAR))
    return true;
  return scenario_complain(scenario, path, error, "%s is not there, expected %s", shown, expected);
}

static bool find_platform(struct scenario *scenario, const char *name, GError **error)
{
  const char *folders = g_getenv("RECLINE_PLATFORMS");
  g_autofree char *shown = document_quote(name);
  g_autofree char *guess = catalogue_guess(CATALOGUE_PLATFORMS | CATALOGUE_MACHINES, name);
  scenario->platform.file = platform_find(name, scenario->directory);
  return scenario->platform.file ||
         scenario_complain(scenario, "platform.file", error,
                           "%s is not there, expected a platform beside the scenario%s%s%s", shown,
                           folders && *folders ? " or in " : "", folders ? folders : "", guess);
}

/* Returns the hosts that may have ranks: not service hosts, and not the dispatcher's host. */
static char **nodes_among(char **hosts, const char *dispatcher)
{
  GPtrArray *nodes = g_ptr_array_new();
  for (char **host = hosts; *host; host++)
    if (strcmp(*host, dispatcher) && !platform_is_service(*host))
      g_ptr_array_add(nodes, g_strdup(*host));
  g_ptr_array_add(nodes, NULL);
  return (char **)g_ptr_array_free(nodes, FALSE);
}

bool scenario_judge_layout(const struct scenario *scenario, const char *path, struct layout *layout,
                           GError **error)
{
  g_autoptr(GError) problem = NULL;
  g_autofree char *per_node = g_strconcat(path, ".per_node", NULL);
  g_autofree char *interconnect = g_strconcat(path, ".interconnect", NULL);
  g_autofree char *own = g_strconcat(path, scenario->platform.file ? ".file" : ".nodes", NULL);
  g_auto(GStrv) hosts = platform_hosts(scenario->platform.text, layout->interconnect, &problem);
  if (!hosts)
    return scenario_complain(scenario, interconnect, error, "%s", problem->message);
  layout->nodes = nodes_among(hosts, scenario_dispatcher(scenario));
  unsigned nodes = g_strv_length(layout->nodes);
  unsigned needed =
      (unsigned)layout_nodes(layout, scenario->program.ranks) + (unsigned)scenario->platform.spares;
  if (nodes >= needed)
    return true;
  g_autofree char *name = scenario_platform_name(scenario);
  bool stated = scenario_given(scenario, per_node) || layout->interconnect;
  return scenario_complain(scenario, stated ? per_node : own, error,
                           "%s has %u nodes, expected at least %u for %d ranks and %d spares", name,
                           nodes, needed, scenario->program.ranks, scenario->platform.spares);
}

static bool judge_dispatcher(const struct scenario *scenario, const char *name, GError **error)
{
  const char *host = scenario_dispatcher(scenario);
  g_autoptr(GError) problem = NULL;
  g_auto(GStrv) hosts = platform_hosts(scenario->platform.text, NULL, &problem);
  if (g_error_matches(problem, PLATFORM_ERROR, PLATFORM_ERROR_STATE))
    return scenario_complain(scenario, "platform.file", error, "%s:%s", name, problem->message);
  if (!hosts)
    return scenario_complain(scenario, "platform.file", error,
                             "%s (%s), expected a SimGrid platform file", name,
                             g_strdelimit(problem->message, "\n", ' '));
  return g_strv_contains((const char *const *)hosts, host) ||
         scenario_complain(scenario, "platform.dispatcher", error,
                           "\"%s\" is no host of %s, expected one of its %u hosts", host, name,
                           g_strv_length(hosts));
}

/* Reads the XML of the platform, from a file of that `name` or from a description. */
static bool read_platform(struct scenario *scenario, const char *name, GError **error)
{
  g_autoptr(GError) problem = NULL;
  if (name && !find_platform(scenario, name, error))
    return false;
  if (!scenario_judge_machine(scenario, error))
    return false;
  if (!name || scenario->platform.text)
    return true;
  scenario->platform.text = platform_read(scenario->platform.file, &problem);
  return scenario->platform.text ||
         scenario_complain(scenario, "platform.file", error,
                           "%s (%s), expected a SimGrid platform file", name,
                           g_strdelimit(problem->message, "\n", ' '));
}

static bool judge_placement(struct scenario *scenario, GError **error)
{
  const struct layout *layout = &scenario->platform.layout;
  if (scenario_given(scenario, "platform.placement") &&
      scenario->platform.placement == PLACEMENT_ONE_PER_NODE && layout->per_node != 1)
    return scenario_complain(scenario, "platform.per_node", error,
                             "%d with one-per-node, expected placement: block", layout->per_node);
  scenario->platform.placement = layout->per_node > 1 ? PLACEMENT_BLOCK : PLACEMENT_ONE_PER_NODE;
  return true;
}

bool scenario_judge_platform(struct scenario *scenario, GError **error)
{
  struct layout *layout = &scenario->platform.layout;
  g_autofree char *name = scenario->platform.file;
  scenario->platform.file = NULL;
  if (!read_platform(scenario, name, error))
    return false;
  if (!scenario->platform.text && scenario_given(scenario, "platform"))
    return scenario_complain(scenario, "platform.file", error,
                             "missing, expected a SimGrid platform or a description of a machine, "
                             "or its nodes here");
  if (!scenario->platform.text)
    return !scenario->program.binary ||
           scenario_complain(scenario, "platform.file", error,
                             "missing, expected the platform on which %s runs",
                             scenario->program.binary);
  g_autofree char *shown = name ? g_strdup(name) : scenario_platform_name(scenario);
  return judge_dispatcher(scenario, shown, error) && judge_placement(scenario, error) &&
         scenario_judge_layout(scenario, "platform", layout, error);
}
