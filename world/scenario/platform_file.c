#include "world/scenario/platform_file.h"

#include <math.h>
#include <string.h>

#include "world/scenario/scenario.h"

enum { HOSTS_MAX = 100000, HOST_NUMBER_MAX = 1000000000, NAME_BYTES_MAX = 255 };

/* Adds the hosts of a <cluster>: prefix, each number of `radical` ("0-7,12"), suffix. */
static bool add_cluster(GPtrArray *hosts, const char *prefix, const char *radical,
                        const char *suffix)
{
  g_auto(GStrv) ranges = g_strsplit(radical, ",", -1);
  if (strlen(prefix) + strlen(suffix) > NAME_BYTES_MAX)
    return false;
  for (char **range = ranges; *range; range++) {
    g_auto(GStrv) ends = g_strsplit(g_strstrip(*range), "-", 2);
    guint64 first = 0, last = 0;
    if (!ends[0] || !g_ascii_string_to_unsigned(ends[0], 10, 0, HOST_NUMBER_MAX, &first, NULL) ||
        !g_ascii_string_to_unsigned(ends[1] ? ends[1] : ends[0], 10, first, HOST_NUMBER_MAX, &last,
                                    NULL) ||
        hosts->len + (last - first) >= HOSTS_MAX)
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

/* Returns whether all values in attribute `name`, such as the speeds "1Gf, 500Mf" of a host, are
 * positive numbers with a unit. If `zero`, a value may also be 0. Returns true if the attribute is
 * missing, which SimGrid reports. */
static bool are_amounts(const char *element, const char **names, const char **values,
                        const char *name, bool zero, GError **error)
{
  const char *text = value_of(names, values, name);
  g_auto(GStrv) amounts = g_strsplit(text, ",", -1);
  for (char **amount = amounts; *amount; amount++) {
    char *end = NULL;
    double value = g_ascii_strtod(g_strstrip(*amount), &end);
    if (isfinite(value) && end != *amount && (value > 0 || (zero && value == 0)))
      continue;
    g_set_error(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT,
                "%s \"%s\" of <%s> is no positive number", name, text, element);
    return false;
  }
  return true;
}

static bool has_good_amounts(const char *element, const char **names, const char **values,
                             GError **error)
{
  return are_amounts(element, names, values, "speed", false, error) &&
         are_amounts(element, names, values, "bandwidth", false, error) &&
         are_amounts(element, names, values, "bw", false, error) &&
         are_amounts(element, names, values, "latency", true, error) &&
         are_amounts(element, names, values, "lat", true, error);
}

/* Judges the properties that the MPI layer reads, because SimGrid takes any text. */
static bool has_good_property(const char **names, const char **values, GError **error)
{
  static const char *const figures[] = {
      "message_handling_s", "envelope_record_s", "envelope_match_s", "open_s",
      "open_peer_s",        "close_s",           "close_peer_s",     "control_daemon_s",
      "control_poll_s",     "write_latency_s",   "request_probe_s",  NULL};
  static const char *const sizes[] = {"memory_copy_bw", "log_copy_bw", "cache_copy_bw",
                                      "cache_bytes",    "encode_bw",   NULL};
  const char *id = value_of(names, values, "id");
  bool seconds = g_strv_contains(figures, id);
  const char *text = value_of(names, values, "value");
  if (g_str_has_prefix(id, "smpi/") && strstr(text, ":-")) {
    g_set_error(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT,
                "value \"%s\" of <%s> has a negative number", text, id);
    return false;
  }
  return (!seconds && !g_strv_contains(sizes, id)) ||
         are_amounts(id, names, values, "value", seconds, error);
}

/* Refuses profiles by which SimGrid would switch a host or a link off, without telling the
 * protocol. Profiles of speed, bandwidth and latency only change times, and may stay. */
static bool stays_on(GMarkupParseContext *context, const char *element, const char **names,
                     const char **values, GError **error)
{
  const char *kind = value_of(names, values, "kind");
  bool connects = !strcmp(element, "trace_connect") && g_str_has_suffix(kind, "_AVAIL");
  int line = 0;
  if (!connects && !*value_of(names, values, "state_file"))
    return true;
  g_markup_parse_context_get_position(context, &line, NULL);
  g_set_error(error, PLATFORM_ERROR, PLATFORM_ERROR_STATE,
              "%d: %s of <%s>, expected none, as nodes fail by the scenario's failures", line,
              connects ? kind : "state_file", element);
  return false;
}

static void add_host(GPtrArray *hosts, GHashTable *seen, const char *id, GError **error)
{
  if (!g_hash_table_add(seen, g_strdup(id)))
    g_set_error(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "a second host \"%s\"", id);
  else
    g_ptr_array_add(hosts, g_strdup(id));
}

/* Holds the hosts of a zone with routing Cluster for which no <host_link> was read so far. */
struct star {
  GHashTable *bare; /* host -> line of its <host>, or NULL if the zone has another routing */
  bool links;       /* some host of the zone has a link */
};

struct reading {
  GPtrArray *hosts;
  GHashTable *seen;         /* the names of hosts */
  GArray *stars;            /* struct star, for the open zones */
  GPtrArray *interconnects; /* in the order of the file */
  GPtrArray *zones;         /* ids of the open zones, the innermost last */
  GHashTable *zone_of;      /* host -> zone, or NULL if the caller does not want it */
  const char *wanted;       /* the interconnect to read, or NULL until one is found */
  bool skipping;            /* inside the zone of another interconnect */
};

/* Enters the zone of an interconnect. In the file, the zone's property comes before its hosts. */
static void enter_interconnect(struct reading *reading, const char *name)
{
  g_ptr_array_add(reading->interconnects, g_strdup(name));
  if (!reading->wanted)
    reading->wanted = g_ptr_array_index(reading->interconnects, 0);
  reading->skipping = strcmp(name, reading->wanted) != 0;
}

static int line_of(GMarkupParseContext *context)
{
  int line = 0;
  g_markup_parse_context_get_position(context, &line, NULL);
  return line;
}

static void enter_star(struct reading *reading, const char *routing)
{
  struct star star = {.bare = strcmp(routing, "Cluster")
                                  ? NULL
                                  : g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
  g_array_append_val(reading->stars, star);
}

static void note_link(struct reading *reading, GMarkupParseContext *context, const char *element,
                      const char *id)
{
  struct star *star = reading->stars->len
                          ? &g_array_index(reading->stars, struct star, reading->stars->len - 1)
                          : NULL;
  if (!star || !star->bare)
    return;
  if (!strcmp(element, "host")) {
    g_hash_table_insert(star->bare, g_strdup(id), GINT_TO_POINTER(line_of(context)));
  } else if (!strcmp(element, "host_link")) {
    star->links = true;
    g_hash_table_remove(star->bare, id);
  }
}

/* Refuses a host without a link. In SimGrid, the host's messages would use only the other host's
 * link, or take no time. */
static void leave_star(struct reading *reading, GError **error)
{
  struct star star = g_array_index(reading->stars, struct star, reading->stars->len - 1);
  const char *first = NULL;
  void *host, *line;
  int at = G_MAXINT;
  GHashTableIter each;
  g_array_set_size(reading->stars, reading->stars->len - 1);
  if (!star.bare)
    return;
  g_hash_table_iter_init(&each, star.bare);
  while (star.links && g_hash_table_iter_next(&each, &host, &line))
    if (GPOINTER_TO_INT(line) < at) {
      at = GPOINTER_TO_INT(line);
      first = host;
    }
  if (first && !*error)
    g_set_error(error, PLATFORM_ERROR, PLATFORM_ERROR_STATE,
                "%d: host \"%s\" has no <host_link>, expected one, as others of its Cluster zone "
                "have",
                at, first);
  g_hash_table_unref(star.bare);
}

/* Notes `zone` as the zone of every host that has none yet. */
static void note_zones(const struct reading *reading, const char *zone)
{
  for (guint i = 0; reading->zone_of && i < reading->hosts->len; i++)
    if (!g_hash_table_contains(reading->zone_of, reading->hosts->pdata[i]))
      g_hash_table_insert(reading->zone_of, g_strdup(reading->hosts->pdata[i]), g_strdup(zone));
}

static void element(GMarkupParseContext *context, const char *name, const char **names,
                    const char **values, void *data, GError **error)
{
  struct reading *reading = data;
  GPtrArray *hosts = reading->hosts;
  if (!stays_on(context, name, names, values, error) ||
      (!strcmp(name, "prop") && !has_good_property(names, values, error)))
    return;
  if (!strcmp(name, "zone") || !strcmp(name, "AS")) {
    note_zones(reading, reading->zones->len ? reading->zones->pdata[reading->zones->len - 1] : "");
    g_ptr_array_add(reading->zones, g_strdup(value_of(names, values, "id")));
    enter_star(reading, value_of(names, values, "routing"));
  }
  note_link(reading, context, name, value_of(names, values, "id"));
  if (!strcmp(name, "prop") && !strcmp(value_of(names, values, "id"), "interconnect"))
    enter_interconnect(reading, value_of(names, values, "value"));
  else if (!has_good_amounts(name, names, values, error) || reading->skipping)
    return;
  else if (!strcmp(name, "host"))
    add_host(hosts, reading->seen, value_of(names, values, "id"), error);
  else if (!strcmp(name, "cluster") || !strcmp(name, "cabinet")) {
    if (!add_cluster(hosts, value_of(names, values, "prefix"), value_of(names, values, "radical"),
                     value_of(names, values, "suffix")))
      g_set_error(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT,
                  "radical \"%s\" of <%s> is no list of ranges such as 0-7,12",
                  value_of(names, values, "radical"), name);
    note_zones(reading, value_of(names, values, "id"));
  }
}

static void end_element(GMarkupParseContext *context, const char *name, void *data, GError **error)
{
  struct reading *reading = data;
  (void)context;
  if (!strcmp(name, "zone"))
    reading->skipping = false;
  if ((strcmp(name, "zone") && strcmp(name, "AS")) || !reading->zones->len)
    return;
  note_zones(reading, reading->zones->pdata[reading->zones->len - 1]);
  g_ptr_array_remove_index(reading->zones, reading->zones->len - 1);
  leave_star(reading, error);
}

static bool has(const struct reading *reading, const char *interconnect, GError **error)
{
  GPtrArray *all = reading->interconnects;
  if (!interconnect || g_ptr_array_find_with_equal_func(all, interconnect, g_str_equal, NULL))
    return true;
  g_ptr_array_add(all, NULL);
  g_autofree char *list = g_strjoinv(", ", (char **)all->pdata);
  g_set_error(error, PLATFORM_ERROR, PLATFORM_ERROR_INTERCONNECT,
              "interconnect \"%s\" is not in it, expected %s%s", interconnect,
              *list ? "one of " : "none, it names no interconnects", list);
  return false;
}

char *platform_read(const char *file, GError **error)
{
  char *text = NULL;
  size_t length = 0;
  if (!g_file_get_contents(file, &text, &length, error) || strlen(text) == length)
    return text;
  g_free(text);
  g_set_error(error, G_MARKUP_ERROR, G_MARKUP_ERROR_BAD_UTF8, "a byte 0 in it");
  return NULL;
}

/* Reads all of `text`, with `data` for the functions of `parser`. */
static bool read_elements(const char *text, const GMarkupParser *parser, void *data, GError **error)
{
  GMarkupParseContext *context = g_markup_parse_context_new(parser, 0, data, NULL);
  bool good = g_markup_parse_context_parse(context, text, -1, error) &&
              g_markup_parse_context_end_parse(context, error);
  g_markup_parse_context_free(context);
  return good;
}

static char **read_hosts(const char *text, const char *interconnect, GHashTable *zone_of,
                         GError **error)
{
  static const GMarkupParser parser = {.start_element = element, .end_element = end_element};
  struct reading reading = {.hosts = g_ptr_array_new_with_free_func(g_free),
                            .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                            .interconnects = g_ptr_array_new_with_free_func(g_free),
                            .zones = g_ptr_array_new_with_free_func(g_free),
                            .stars = g_array_new(FALSE, FALSE, sizeof(struct star)),
                            .zone_of = zone_of,
                            .wanted = interconnect};
  bool good = read_elements(text, &parser, &reading, error) && has(&reading, interconnect, error);
  g_hash_table_unref(reading.seen);
  g_ptr_array_unref(reading.interconnects);
  g_ptr_array_unref(reading.zones);
  for (guint i = 0; i < reading.stars->len; i++)
    if (g_array_index(reading.stars, struct star, i).bare)
      g_hash_table_unref(g_array_index(reading.stars, struct star, i).bare);
  g_array_unref(reading.stars);
  if (!good) {
    g_ptr_array_unref(reading.hosts);
    return NULL;
  }
  g_ptr_array_add(reading.hosts, NULL);
  return (char **)g_ptr_array_free(reading.hosts, FALSE);
}

char **platform_hosts(const char *text, const char *interconnect, GError **error)
{
  return read_hosts(text, interconnect, NULL, error);
}

char **platform_zones(const char *text, const char *interconnect, char *const *hosts)
{
  GHashTable *zone_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  GPtrArray *zones = g_ptr_array_new();
  g_strfreev(read_hosts(text, interconnect, zone_of, NULL));
  for (; *hosts; hosts++) {
    const char *zone = g_hash_table_lookup(zone_of, *hosts);
    g_ptr_array_add(zones, g_strdup(zone ? zone : ""));
  }
  g_ptr_array_add(zones, NULL);
  g_hash_table_unref(zone_of);
  return (char **)g_ptr_array_free(zones, FALSE);
}

G_DEFINE_QUARK(recline - platform, platform_error)

struct setting {
  const char *name;
  char *value;
};

static void property(GMarkupParseContext *context, const char *name, const char **names,
                     const char **values, void *data, GError **error)
{
  (void)error;
  struct setting *setting = data;
  const GSList *stack = g_markup_parse_context_get_element_stack(context);
  if (strcmp(name, "prop") || !stack->next || strcmp(stack->next->data, "config") ||
      strcmp(value_of(names, values, "id"), setting->name))
    return;
  g_free(setting->value);
  setting->value = g_strdup(value_of(names, values, "value"));
}

char *platform_setting(const char *text, const char *name)
{
  static const GMarkupParser parser = {.start_element = property};
  struct setting setting = {.name = name};
  read_elements(text, &parser, &setting, NULL);
  return setting.value;
}

bool platform_is_service(const char *host)
{
  return g_str_has_prefix(host, "service-");
}

static const char folders[] = "RECLINE_PLATFORMS";

char *platform_find(const char *name, const char *directory)
{
  if (g_path_is_absolute(name))
    return scenario_file_in("/", name);
  g_autofree char *file = g_strconcat(name, ".xml", NULL);
  g_autofree char *machine = g_strconcat(name, ".yaml", NULL);
  const char *const names[] = {name, file, machine};
  char *found = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(names) && !found; i++) {
    found = scenario_file_in(directory, names[i]);
    found = found ? found : scenario_find_in(folders, names[i]);
  }
  return found;
}

const char *platform_name(const char *path)
{
  const char *list = g_getenv(folders);
  g_auto(GStrv) all = g_strsplit(list ? list : "", ":", -1);
  for (char **folder = all; *folder; folder++) {
    g_autofree char *full = g_canonicalize_filename(*folder, NULL);
    size_t length = strlen(full);
    if (!**folder || !g_str_has_prefix(path, full) || path[length] != '/')
      continue;
    g_autofree char *found = scenario_find_in(folders, path + length + 1);
    if (found &&
        !strcmp(found, path)) /* otherwise an earlier folder has a platform with that name */
      return path + length + 1;
  }
  return path;
}
