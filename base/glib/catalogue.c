#include "base/glib/catalogue.h"

#include <glib.h>
#include <string.h>

#include "base/breach.h"
#include "base/nearest.h"

static const struct kind {
  const char *folder, *suffix;
  /* files of this kind are in a folder for each protocol: c3/recovers.yaml is c3-recovers */
  bool by_protocol;
} all_kinds[] = {{"verify/claims", ".yaml", true},       {"verify/mutants", ".yaml", true},
                 {"verify/claims/long", ".yaml", false}, {"verify/matrix", ".yaml", false},
                 {"scenarios", ".yaml", false},          {"protocols", ".c", false},
                 {"platforms", ".xml", false},           {"platforms", ".yaml", false}};

static char *folder_of(const struct kind *kind)
{
  const char *data = g_getenv("RECLINE_DATA");
  return g_build_filename(data && *data ? data : ".", kind->folder, NULL);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns whether a kind has this folder. The folder of a kind may contain the folder of another
 * kind, as claims contains claims/long. The files of the inner folder belong to the inner kind
 * alone. */
static bool is_kind(const char *folder)
{
  for (unsigned i = 0; i < G_N_ELEMENTS(all_kinds); i++) {
    g_autofree char *other = folder_of(&all_kinds[i]);
    if (!strcmp(folder, other))
      return true;
  }
  return false;
}

static void add_folder(GPtrArray *found, const char *folder, const struct kind *kind, bool nested)
{
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  const char *name;
  while (dir && (name = g_dir_read_name(dir))) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    if (g_str_has_suffix(name, kind->suffix))
      g_ptr_array_add(found, g_steal_pointer(&path));
    else if (kind->by_protocol && !nested && !is_kind(path) &&
             g_file_test(path, G_FILE_TEST_IS_DIR))
      add_folder(found, path, kind, true);
  }
}

static void add_files(GPtrArray *files, const struct kind *kind)
{
  g_autofree char *folder = folder_of(kind);
  g_autoptr(GPtrArray) found = g_ptr_array_new();
  add_folder(found, folder, kind, false);
  g_ptr_array_sort(found, by_name);
  g_ptr_array_extend(files, found, NULL, NULL);
}

char **catalogue_files(unsigned kinds)
{
  GPtrArray *files = g_ptr_array_new();
  for (unsigned i = 0; i < G_N_ELEMENTS(all_kinds); i++)
    if (kinds >> i & 1)
      add_files(files, &all_kinds[i]);
  g_ptr_array_add(files, NULL);
  return (char **)g_ptr_array_free(files, FALSE);
}

/* Returns the name of a file of a kind: "recovers", or "c3-recovers" if the file is in the folder
 * of c3. The caller frees the name. */
static char *name_of(const struct kind *kind, const char *file)
{
  g_autofree char *folder = folder_of(kind);
  char *name = g_strdup(file + strlen(folder) + 1);
  name[strlen(name) - strlen(kind->suffix)] = '\0';
  return g_strdelimit(name, "/", '-');
}

char **catalogue_names(unsigned kinds)
{
  GPtrArray *names = g_ptr_array_new();
  for (unsigned i = 0; i < G_N_ELEMENTS(all_kinds); i++) {
    g_auto(GStrv) files = catalogue_files(kinds & 1u << i);
    for (char **file = files; *file; file++)
      g_ptr_array_add(names, name_of(&all_kinds[i], *file));
  }
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

/* Returns the file of `kind` that is called `name`, in the folder of the kind or below, or NULL if
 * there is none. The caller frees it. */
static char *find_file(const struct kind *kind, const char *name)
{
  g_autofree char *folder = folder_of(kind);
  g_autofree char *base = g_strconcat(name, kind->suffix, NULL);
  g_autofree char *flat = g_build_filename(folder, base, NULL);
  if (g_file_test(flat, G_FILE_TEST_IS_REGULAR))
    return g_steal_pointer(&flat);
  for (const char *dash = name; kind->by_protocol && (dash = strchr(dash, '-')); dash++) {
    g_autofree char *protocol = g_strndup(name, (gsize)(dash - name));
    g_autofree char *file = g_build_filename(folder, protocol, base + (dash - name) + 1, NULL);
    if (g_file_test(file, G_FILE_TEST_IS_REGULAR))
      return g_steal_pointer(&file);
  }
  return NULL;
}

char *catalogue_find(unsigned kinds, const char *name)
{
  for (unsigned i = 0; i < G_N_ELEMENTS(all_kinds); i++) {
    const struct kind *kind = &all_kinds[i];
    bool whole = g_str_has_suffix(name, kind->suffix);
    g_autofree char *plain = g_strndup(name, strlen(name) - (whole ? strlen(kind->suffix) : 0));
    char *file = kinds >> i & 1 && !strchr(name, '/') ? find_file(kind, plain) : NULL;
    if (file)
      return file;
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
