/* Measures how long the same program takes without failures, checkpoints and protocol. A campaign
 * gives its costs relative to this time. */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "base/output.h"
#include "command/campaign/campaign.h"

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
