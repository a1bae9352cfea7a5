#include "sim/command/common.h"

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
