/* Makes one run of a scenario, to which a campaign is compared, and says which scenarios can be
 * compared. */
#include <glib.h>
#include <sys/wait.h>

#include "base/exit_codes.h"
#include "command/campaign/campaign.h"

bool campaign_runs_to_end(const struct scenario *scenario, GError **error)
{
  return scenario->checkpoint.then != AFTERWARDS_STOP ||
         scenario_complain(scenario, "checkpoint.then", error,
                           "stop, expected continue: the runs of a campaign go to their ends");
}

static void add_settings(GPtrArray *words, const char *const *settings)
{
  for (; settings && *settings; settings++) {
    g_ptr_array_add(words, (char *)"--set");
    g_ptr_array_add(words, (char *)*settings);
  }
}

char *campaign_measure(const char *file, char *const *set, const char *const *settings,
                       char **problem)
{
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL), *out = NULL;
  g_autoptr(GError) error = NULL;
  int status = 0;
  const char *const first[] = {self, "run", file, "--json"};
  for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
    g_ptr_array_add(words, (char *)first[i]);
  add_settings(words, (const char *const *)set);
  add_settings(words, settings);
  g_ptr_array_add(words, NULL);
  *problem = NULL;
  if (!g_spawn_sync(NULL, (char **)words->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, problem,
                    &status, &error)) {
    *problem = g_strdup_printf("recline run: %s\n", error->message);
    return NULL;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FINE ? g_steal_pointer(&out) : NULL;
}
