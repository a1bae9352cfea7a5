#include "verify/base/catalogue.h"

#include <glib.h>
#include <string.h>

#include "verify/base/breach.h"
#include "verify/base/nearest.h"

static const struct kind {
  const char *folder, *suffix;
} kinds_of[] = {{"verify/claims", ".yaml"}, {"verify/mutants", ".yaml"}, {"verify/claims/long", ".yaml"},
                {"verify/matrix", ".yaml"}, {"scenarios", ".yaml"},      {"protocols", ".c"},
                {"platforms", ".xml"}};

static char *folder_of(const struct kind *kind)
{
  const char *data = g_getenv("RECLINE_DATA");
  return g_build_filename(data && *data ? data : ".", kind->folder, NULL);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_files(GPtrArray *files, const struct kind *kind)
{
  g_autofree char *folder = folder_of(kind);
  g_autoptr(GPtrArray) found = g_ptr_array_new();
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  const char *name;
  while (dir && (name = g_dir_read_name(dir)))
    if (g_str_has_suffix(name, kind->suffix))
      g_ptr_array_add(found, g_build_filename(folder, name, NULL));
  g_ptr_array_sort(found, by_name);
  g_ptr_array_extend(files, found, NULL, NULL);
}

char **catalogue_files(unsigned kinds)
{
  GPtrArray *files = g_ptr_array_new();
  for (unsigned i = 0; i < G_N_ELEMENTS(kinds_of); i++)
    if (kinds >> i & 1)
      add_files(files, &kinds_of[i]);
  g_ptr_array_add(files, NULL);
  return (char **)g_ptr_array_free(files, FALSE);
}

char **catalogue_names(unsigned kinds)
{
  char **names = catalogue_files(kinds);
  for (char **name = names; *name; name++) {
    char *base = g_path_get_basename(*name);
    *strrchr(base, '.') = '\0';
    g_free(*name);
    *name = base;
  }
  return names;
}

char *catalogue_find(unsigned kinds, const char *name)
{
  for (unsigned i = 0; i < G_N_ELEMENTS(kinds_of); i++) {
    const struct kind *kind = &kinds_of[i];
    g_autofree char *folder = folder_of(kind);
    bool whole = g_str_has_suffix(name, kind->suffix);
    g_autofree char *base = g_strconcat(name, whole ? "" : kind->suffix, NULL);
    g_autofree char *file = g_build_filename(folder, base, NULL);
    if (kinds >> i & 1 && !strchr(name, '/') && g_file_test(file, G_FILE_TEST_IS_REGULAR))
      return g_steal_pointer(&file);
  }
  return NULL;
}

char *catalogue_guess(unsigned kinds, const char *name)
{
  g_auto(GStrv) names = catalogue_names(kinds);
  return did_you_mean(name, (const char *const *)names);
}

char *catalogue_scenario(const char *command, char *const *names)
{
  if (!names || names[1]) {
    bad_input("%s: %s, expected one SCENARIO", command,
              names ? "more than one scenario" : "no scenario");
    return NULL;
  }
  const char *name = names[0];
  if (strpbrk(name, "/.") || g_file_test(name, G_FILE_TEST_IS_REGULAR))
    return g_strdup(name);
  char *file = catalogue_find(CATALOGUE_SCENARIOS, name);
  g_autofree char *guess = file ? NULL : catalogue_guess(CATALOGUE_SCENARIOS, name);
  if (!file)
    bad_input("%s: there is no scenario '%s', expected one of 'recline list scenarios' or a file%s",
              command, name, guess);
  return file;
}
