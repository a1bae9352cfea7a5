#include "verify/base/command_line.h"

bool options_read(int argc, char **argv, const char *words, const char *summary,
                  const GOptionEntry *entries, GError **error)
{
  g_autoptr(GOptionContext) context = g_option_context_new(words);
  /* GOption takes words out of the array, but the array belongs to the caller. */
  g_autofree char **copy = g_memdup2(argv, sizeof *argv * ((size_t)argc + 1));
  g_option_context_set_summary(context, summary);
  g_option_context_add_main_entries(context, entries, NULL);
  return g_option_context_parse(context, &argc, &copy, error);
}
