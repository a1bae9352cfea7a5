#include "command/campaign/warnings.h"

#include <stdio.h>

#include "base/glib/json.h"

void warnings_take(GPtrArray *texts, JsonObject *result)
{
  JsonNode *node = json_object_get_member(result, "warnings");
  JsonArray *told = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
  for (guint i = 0; told && i < json_array_get_length(told); i++) {
    const char *text = json_array_get_string_element(told, i);
    if (text && !g_ptr_array_find_with_equal_func(texts, text, g_str_equal, NULL))
      g_ptr_array_add(texts, g_strdup(text));
  }
}

void warnings_print(const GPtrArray *texts)
{
  for (guint i = 0; i < texts->len; i++)
    printf("warning: %s\n", (const char *)texts->pdata[i]);
}

void warnings_add_json(const GPtrArray *texts, JsonBuilder *json)
{
  json_open_list(json, "warnings");
  for (guint i = 0; i < texts->len; i++)
    json_builder_add_string_value(json, texts->pdata[i]);
  json_builder_end_array(json);
}
