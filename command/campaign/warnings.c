#include "command/campaign/warnings.h"

#include <stdbool.h>
#include <stdio.h>

/* Returns whether a note tells of a value on which results depend. Costs of a protocol's steps that
 * are taken as 0 change little, and stay in the notes. */
static bool is_decisive(const char *note)
{
  static const char *const beginnings[] = {"platform.file: no memory_copy_bw",
                                           "platform.file: no disk",
                                           "platform.file: no smpi/host-speed"};
  for (size_t i = 0; i < G_N_ELEMENTS(beginnings); i++)
    if (g_str_has_prefix(note, beginnings[i]))
      return true;
  return false;
}

void warnings_take(GPtrArray *texts, JsonObject *result)
{
  JsonNode *node = json_object_get_member(result, "notes");
  JsonArray *notes = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
  for (guint i = 0; notes && i < json_array_get_length(notes); i++) {
    const char *note = json_array_get_string_element(notes, i);
    if (note && is_decisive(note) &&
        !g_ptr_array_find_with_equal_func(texts, note, g_str_equal, NULL))
      g_ptr_array_add(texts, g_strdup(note));
  }
}

void warnings_print(const GPtrArray *texts)
{
  for (guint i = 0; i < texts->len; i++)
    printf("warning: %s\n", (const char *)texts->pdata[i]);
}
