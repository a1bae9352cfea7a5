#include "sim/command/common.h"

#include <stdio.h>

const char *data_folder(void)
{
  return g_getenv("RECLINE_DATA");
}

bool read_words(int argc, char **argv, const char *summary, gboolean *json, char ***words)
{
  char **rest = NULL;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, json, "Print one JSON object and nothing else", NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_autoptr(GOptionContext) context = g_option_context_new(NULL);
  g_autoptr(GError) error = NULL;
  /* GOption takes words out of the array, but the array belongs to the caller. */
  g_autofree char **copy = g_memdup2(argv, sizeof *argv * ((size_t)argc + 1));
  g_option_context_set_summary(context, summary);
  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, &argc, &copy, &error)) {
    bad_input("recline %s: %s, expected --json or no option", argv[0], error->message);
    g_strfreev(rest);
    return false;
  }
  *words = rest ? rest : g_new0(char *, 1);
  return true;
}

void json_add_text(JsonBuilder *builder, const char *key, const char *value)
{
  json_builder_set_member_name(builder, key);
  if (value)
    json_builder_add_string_value(builder, value);
  else
    json_builder_add_null_value(builder);
}

void print_json(JsonBuilder *builder)
{
  JsonNode *root = json_builder_get_root(builder);
  g_autofree char *text = json_to_string(root, TRUE);
  json_node_unref(root);
  printf("%s\n", text);
}
