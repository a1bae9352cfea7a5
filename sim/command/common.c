#include "sim/command/common.h"

#include <stdio.h>

#include "verify/base/command_line.h"

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
  g_autoptr(GError) error = NULL;
  if (!options_read(argc, argv, NULL, summary, entries, &error)) {
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
