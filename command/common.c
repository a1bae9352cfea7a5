#include "command/common.h"

const char *data_folder(void)
{
  return g_getenv("RECLINE_DATA");
}

bool read_words(const struct about *about, int argc, char **argv, gboolean *json, char ***words)
{
  char **rest = NULL;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, json, "Print one JSON object and nothing else", NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  if (!options_read(about, argc, argv, entries)) {
    g_strfreev(rest);
    return false;
  }
  *words = rest ? rest : g_new0(char *, 1);
  return true;
}
