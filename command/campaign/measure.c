/* Makes one run of a scenario, to which a campaign is compared, and says which scenarios can be
 * compared. */
#include <glib.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "base/exit_codes.h"
#include "base/output.h"
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

/* ---- without failures ----
 *
 * A campaign gives its costs relative to the time of the same program without failures, checkpoints
 * and protocol. */

static const char FILE_NAME[] = "failure-free.json";

/* Returns whether one time serves all cells: no sweep changes the program or where it runs. */
static bool is_common(const struct campaign *c)
{
  for (unsigned i = 0; i < c->grid.sweeps; i++)
    if (g_str_has_prefix(c->grid.sweep[i].key, "program") ||
        g_str_has_prefix(c->grid.sweep[i].key, "platform"))
      return false;
  return !strcmp(c->field, "simulated_s");
}

static double seconds_of(const char *text)
{
  g_autoptr(JsonNode) node = json_from_string(text, NULL);
  JsonObject *result = node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
  const char *verdict =
      result ? json_object_get_string_member_with_default(result, "verdict", "") : "";
  return strcmp(verdict, "completed") ? NAN : json_object_get_double_member(result, "simulated_s");
}

double campaign_failure_free(const struct campaign *c, const char *scenario)
{
  static const char *const settings[] = {"failures=[]", "expect={}", "checkpoint={}",
                                         "protocol={name: none}", NULL};
  g_autofree char *file = g_build_filename(c->out, FILE_NAME, NULL), *text = NULL, *problem = NULL;
  if (!is_common(c))
    return NAN;
  if (g_file_get_contents(file, &text, NULL, NULL))
    return seconds_of(text);
  text = campaign_measure(scenario, NULL, settings, &problem);
  if (!text)
    return NAN;
  output_write(file, text, strlen(text)); /* if this fails, the next command measures again */
  return seconds_of(text);
}
