#include "command/campaign/recording_folder.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/output.h"

char *recording_text(const struct scenario *scenario)
{
  GString *text = g_string_new("recording of recline " RECLINE_VERSION "\n");
  g_autofree char *name = scenario_platform_name(scenario);
  const char *file = scenario->platform.file;
  g_string_append_printf(text, "ranks %d\nplatform %s\n", scenario->program.ranks,
                         file ? file : name);
  if (scenario->program.script)
    g_string_append_printf(text, "script\n%s", scenario->program.script);
  else
    g_string_append_printf(text, "program %s\n", scenario->program.binary);
  for (char **arg = scenario->program.args; arg && *arg; arg++)
    g_string_append_printf(text, "argument %s\n", *arg);
  if (scenario->program.input)
    g_string_append_printf(text, "input %s\n", scenario->program.input);
  for (int rank = 0; rank < scenario->program.ranks; rank++)
    g_string_append_printf(text, "%s\n", layout_host(&scenario->platform.layout, rank));
  return g_string_free(text, FALSE);
}

static bool cannot(const char *file, GError **error)
{
  g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), OUTPUT_CANNOT, file,
              g_strerror(errno));
  return false;
}

bool recording_open(const char *folder, GError **error)
{
  g_autofree char *file = g_build_filename(folder, "program", NULL);
  g_unlink(file);
  return g_mkdir_with_parents(folder, 0777) == 0 || cannot(folder, error);
}

bool recording_close(const char *folder, const struct scenario *scenario, GError **error)
{
  g_autofree char *file = g_build_filename(folder, "program", NULL);
  g_autofree char *text = recording_text(scenario);
  return output_write(file, text, strlen(text)) || cannot(file, error);
}

void recording_drop(const char *folder, int ranks)
{
  for (int rank = 0; rank < ranks; rank++) {
    g_autofree char *name = g_strdup_printf("%d", rank);
    g_autofree char *file = g_build_filename(folder, name, NULL);
    g_unlink(file);
  }
  g_rmdir(folder);
}

bool recording_fits(const char *folder, const struct scenario *scenario, GError **error)
{
  g_autofree char *file = g_build_filename(folder, "program", NULL), *there = NULL;
  g_autofree char *text = recording_text(scenario);
  if (!g_file_get_contents(file, &there, NULL, error))
    return false;
  if (!strcmp(there, text))
    return true;
  g_set_error(error, SCENARIO_ERROR, 0,
              "%s: a recording of something else, expected one of this program, of as many ranks, "
              "on these nodes",
              folder);
  return false;
}

bool recording_same(const char *folder, const char *other, int ranks, GError **error)
{
  for (int rank = 0; rank < ranks; rank++) {
    g_autofree char *name = g_strdup_printf("%d", rank), *text = NULL, *other_text = NULL;
    g_autofree char *file = g_build_filename(folder, name, NULL);
    g_autofree char *other_file = g_build_filename(other, name, NULL);
    gsize size, other_size;
    if (!g_file_get_contents(file, &text, &size, error) ||
        !g_file_get_contents(other_file, &other_text, &other_size, error))
      return false;
    if (size == other_size && !memcmp(text, other_text, size))
      continue;
    g_set_error(error, SCENARIO_ERROR, 0,
                "rank %d does something else when clocks and seed differ, expected "
                "a program that can be replayed (docs/campaign.md)",
                rank);
    return false;
  }
  return true;
}
