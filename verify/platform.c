#include "platform.h"

#include <string.h>

enum { HOSTS_MAX = 1000000 };

/* Adds the hosts of a <cluster>: prefix, each number of `radical` ("0-7,12"), suffix. */
static bool add_cluster(GPtrArray *hosts, const char *prefix, const char *radical,
                        const char *suffix)
{
  g_auto(GStrv) ranges = g_strsplit(radical, ",", -1);
  for (char **range = ranges; *range; range++) {
    char *end = NULL;
    guint64 first = g_ascii_strtoull(g_strstrip(*range), &end, 10), last = first;
    if (end == *range)
      return false;
    if (end[0] == '-' && g_ascii_isdigit(end[1]))
      last = g_ascii_strtoull(end + 1, &end, 10);
    if (*end || last < first || last - first >= HOSTS_MAX - hosts->len)
      return false;
    for (guint64 i = first; i <= last; i++)
      g_ptr_array_add(hosts, g_strdup_printf("%s%" G_GUINT64_FORMAT "%s", prefix, i, suffix));
  }
  return true;
}

static const char *value_of(const char **names, const char **values, const char *name)
{
  for (int i = 0; names[i]; i++)
    if (!strcmp(names[i], name))
      return values[i];
  return "";
}

static void element(GMarkupParseContext *context, const char *name, const char **names,
                    const char **values, void *hosts, GError **error)
{
  (void)context;
  if (!strcmp(name, "host"))
    g_ptr_array_add(hosts, g_strdup(value_of(names, values, "id")));
  else if (!strcmp(name, "cluster") || !strcmp(name, "cabinet"))
    if (!add_cluster(hosts, value_of(names, values, "prefix"), value_of(names, values, "radical"),
                     value_of(names, values, "suffix")))
      g_set_error(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT,
                  "radical \"%s\" of <%s> is no list of ranges such as 0-7,12",
                  value_of(names, values, "radical"), name);
}

char **platform_hosts(const char *file, GError **error)
{
  static const GMarkupParser parser = {.start_element = element};
  g_autofree char *text = NULL;
  size_t length = 0;
  if (!g_file_get_contents(file, &text, &length, error))
    return NULL;
  GPtrArray *hosts = g_ptr_array_new_with_free_func(g_free);
  GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, hosts, NULL);
  bool good = g_markup_parse_context_parse(context, text, (gssize)length, error) &&
              g_markup_parse_context_end_parse(context, error);
  g_markup_parse_context_free(context);
  if (!good) {
    g_ptr_array_unref(hosts);
    return NULL;
  }
  g_ptr_array_add(hosts, NULL);
  return (char **)g_ptr_array_free(hosts, FALSE);
}

bool platform_is_service(const char *host)
{
  return g_str_has_prefix(host, "service-");
}

static char *file_in(const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename(folder, name, NULL);
  return g_file_test(path, G_FILE_TEST_IS_REGULAR) ? g_canonicalize_filename(path, NULL) : NULL;
}

static char **folders(void)
{
  const char *list = g_getenv("RECLINE_PLATFORMS");
  return g_strsplit(list ? list : "", ":", -1);
}

static char *file_in_folders(const char *name)
{
  g_auto(GStrv) all = folders();
  char *found = NULL;
  for (char **folder = all; *folder && !found; folder++)
    if (**folder)
      found = file_in(*folder, name);
  return found;
}

char *platform_find(const char *name, const char *directory)
{
  if (g_path_is_absolute(name))
    return file_in("/", name);
  char *found = file_in(directory, name);
  return found ? found : file_in_folders(name);
}

const char *platform_name(const char *path)
{
  g_auto(GStrv) all = folders();
  for (char **folder = all; *folder; folder++) {
    g_autofree char *full = g_canonicalize_filename(*folder, NULL);
    size_t length = strlen(full);
    if (!**folder || !g_str_has_prefix(path, full) || path[length] != '/')
      continue;
    g_autofree char *found = file_in_folders(path + length + 1);
    if (found && !strcmp(found, path)) /* no other of that name in an earlier folder */
      return path + length + 1;
  }
  return path;
}
