/* Reads a SimGrid platform file. */
#include <string.h>

#include "plots/input.h"
#include "plots/topology_inside.h"

enum { CLUSTER_MAX = 1 << 20 };

/* --- errors --- */

void topology_bad(const struct platform *platform, GMarkupParseContext *context, unsigned line,
                  GError **error, const char *format, ...)
{
  gint at = (gint)line;
  va_list arguments;
  va_start(arguments, format);
  if (context != NULL)
    g_markup_parse_context_get_position(context, &at, NULL);
  input_error(error, platform->file, (unsigned)at, format, arguments);
  va_end(arguments);
}

/* --- memory --- */

static void link_free(gpointer data)
{
  struct link *link = data;
  g_free(link->what);
  g_free(link->end);
  g_free(link);
}

static void host_free(gpointer data)
{
  struct host *host = data;
  g_free(host->id);
  g_free(host->zone);
  g_string_free(host->what, TRUE);
  g_free(host->link);
  g_free(host->joined);
  g_free(host);
}

static void route_free(gpointer data)
{
  struct route *route = data;
  g_free(route->zone);
  g_free(route->from);
  g_free(route->to);
  g_free(route->gates[0]);
  g_free(route->gates[1]);
  g_ptr_array_unref(route->links);
  g_free(route);
}

static void edge_free(gpointer data)
{
  struct edge *edge = data;
  g_free(edge->from);
  g_free(edge->to);
  g_free(edge->what);
  g_free(edge);
}

GHashTable *topology_set(GDestroyNotify value)
{
  return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, value);
}

void topology_init(struct platform *platform, const char *file)
{
  *platform = (struct platform){.file = file,
                                .hosts = g_ptr_array_new_with_free_func(host_free),
                                .by_id = topology_set(NULL),
                                .routers = topology_set(NULL),
                                .zones = topology_set(NULL),
                                .interconnects = topology_set(g_free),
                                .links = topology_set(link_free),
                                .routes = g_ptr_array_new_with_free_func(route_free),
                                .edges = g_ptr_array_new_with_free_func(edge_free),
                                .joined = topology_set(NULL),
                                .shared = topology_set(NULL),
                                .order = g_ptr_array_new_with_free_func(g_free),
                                .open = g_ptr_array_new_with_free_func(g_free)};
}

void topology_clear(struct platform *platform)
{
  g_hash_table_unref(platform->by_id);
  g_ptr_array_unref(platform->hosts);
  g_hash_table_unref(platform->routers);
  g_hash_table_unref(platform->zones);
  g_hash_table_unref(platform->interconnects);
  g_hash_table_unref(platform->links);
  g_ptr_array_unref(platform->routes);
  g_ptr_array_unref(platform->edges);
  g_hash_table_unref(platform->joined);
  g_hash_table_unref(platform->shared);
  g_ptr_array_unref(platform->order);
  g_ptr_array_unref(platform->open);
}

/* --- reading --- */

static const char *attribute(const char **names, const char **values, const char *name)
{
  for (unsigned i = 0; names[i] != NULL; i++)
    if (g_str_equal(names[i], name))
      return values[i];
  return NULL;
}

static const char *zone_now(const struct platform *platform)
{
  guint depth = platform->open->len;
  return depth > 0 ? g_ptr_array_index(platform->open, depth - 1) : "platform";
}

static char *link_text(const char *bandwidth, const char *latency)
{
  return g_strdup_printf("%s%s%s", bandwidth ? bandwidth : "", bandwidth && latency ? ", " : "",
                         latency ? latency : "");
}

static struct host *add_host(struct platform *platform, const char *id, const char *speed,
                             const char *cores)
{
  struct host *host = g_new0(struct host, 1);
  host->id = g_strdup(id);
  host->zone = g_strdup(zone_now(platform));
  host->what = g_string_new(speed);
  host->joined = g_strdup("");
  if (cores != NULL && !g_str_equal(cores, "1"))
    g_string_append_printf(host->what, ", %s cores", cores);
  g_ptr_array_add(platform->hosts, host);
  g_hash_table_insert(platform->by_id, g_strdup(id), host);
  return host;
}

static void add_link(struct platform *platform, const char *id, const char *bandwidth,
                     const char *latency)
{
  struct link *link = g_new0(struct link, 1);
  link->what = link_text(bandwidth, latency);
  g_hash_table_replace(platform->links, g_strdup(id), link);
}

/* Finds a link. If a link is split by direction, routes name the link together with the
 * direction. */
struct link *topology_link(const struct platform *platform, const char *id)
{
  struct link *link = g_hash_table_lookup(platform->links, id);
  static const char *const DIRECTIONS[] = {"_UP", "_DOWN"};
  for (unsigned i = 0; i < G_N_ELEMENTS(DIRECTIONS) && link == NULL; i++)
    if (g_str_has_suffix(id, DIRECTIONS[i])) {
      g_autofree char *whole = g_strndup(id, strlen(id) - strlen(DIRECTIONS[i]));
      link = g_hash_table_lookup(platform->links, whole);
    }
  return link;
}

void topology_need_switch(struct platform *platform, const char *node)
{
  if (g_hash_table_add(platform->shared, g_strdup(node)))
    g_ptr_array_add(platform->order, g_strdup(node));
}

static void open_zone(struct platform *platform, const char *id)
{
  g_hash_table_add(platform->zones, g_strdup(id));
  g_ptr_array_add(platform->open, g_strdup(id));
}

/* Reads <cluster prefix="n-" suffix="" radical="0-31,40" ...>, whose hosts have no elements of
 * their own. */
static bool add_cluster(struct platform *platform, const char **names, const char **values)
{
  const char *prefix = attribute(names, values, "prefix");
  const char *suffix = attribute(names, values, "suffix");
  const char *radical = attribute(names, values, "radical");
  open_zone(platform, attribute(names, values, "id"));
  g_auto(GStrv) ranges = g_strsplit(radical != NULL ? radical : "", ",", -1);
  for (unsigned i = 0; ranges[i] != NULL; i++) {
    g_auto(GStrv) ends = g_strsplit(g_strstrip(ranges[i]), "-", 2);
    guint64 first, last;
    if (ends[0] == NULL || !g_ascii_string_to_unsigned(ends[0], 10, 0, CLUSTER_MAX, &first, NULL) ||
        !g_ascii_string_to_unsigned(ends[1] ? ends[1] : ends[0], 10, first, CLUSTER_MAX, &last,
                                    NULL))
      return false;
    for (guint64 number = first; number <= last; number++) {
      g_autofree char *id = g_strdup_printf("%s%" G_GUINT64_FORMAT "%s", prefix ? prefix : "",
                                            number, suffix ? suffix : "");
      struct host *host = add_host(platform, id, attribute(names, values, "speed"),
                                   attribute(names, values, "core"));
      host->link = link_text(attribute(names, values, "bw"), attribute(names, values, "lat"));
    }
  }
  return ranges[0] != NULL;
}

static bool add_host_link(struct platform *platform, const char **names, const char **values)
{
  const char *up = attribute(names, values, "up");
  struct host *host = g_hash_table_lookup(platform->by_id, attribute(names, values, "id"));
  struct link *link = up != NULL ? topology_link(platform, up) : NULL;
  if (host == NULL)
    return false;
  g_free(host->link);
  host->link = g_strdup(link != NULL ? link->what : "");
  return true;
}

static void add_disk(struct platform *platform, const char **names, const char **values)
{
  const char *read = attribute(names, values, "read_bw");
  const char *write = attribute(names, values, "write_bw");
  if (platform->host != NULL)
    g_string_append_printf(platform->host->what, ", disk %s %s/%s", attribute(names, values, "id"),
                           read ? read : "?", write ? write : "?");
}

static struct route *add_route(struct platform *platform, unsigned line, const char **names,
                               const char **values, bool zones)
{
  struct route *route = g_new0(struct route, 1);
  route->line = line;
  route->zone = g_strdup(zone_now(platform));
  route->from = g_strdup(attribute(names, values, "src"));
  route->to = g_strdup(attribute(names, values, "dst"));
  route->zones = zones;
  route->gates[0] = g_strdup(attribute(names, values, "gw_src"));
  route->gates[1] = g_strdup(attribute(names, values, "gw_dst"));
  route->links = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(platform->routes, route);
  return route;
}

/* The attributes that each element must have. */
static const struct {
  const char *element, *attributes[3];
} NEEDS[] = {
    {"zone", {"id"}},
    {"AS", {"id"}},
    {"host", {"id", "speed"}},
    {"cluster", {"id"}},
    {"link", {"id"}},
    {"router", {"id"}},
    {"disk", {"id"}},
    {"host_link", {"id"}},
    {"route", {"src", "dst"}},
    {"link_ctn", {"id"}},
    {"ASroute", {"src", "dst"}},
    {"zoneRoute", {"src", "dst"}},
    {"backbone", {"id"}},
    {"peer", {"id", "speed"}},
};

static const char *missing(const char *element, const char **names, const char **values)
{
  for (unsigned i = 0; i < G_N_ELEMENTS(NEEDS); i++)
    for (unsigned j = 0; g_str_equal(element, NEEDS[i].element) && j < 3; j++)
      if (NEEDS[i].attributes[j] != NULL &&
          attribute(names, values, NEEDS[i].attributes[j]) == NULL)
        return NEEDS[i].attributes[j];
  return NULL;
}

static void open_element(GMarkupParseContext *context, const char *element, const char **names,
                         const char **values, gpointer data, GError **error)
{
  struct platform *platform = data;
  const char *id = attribute(names, values, "id");
  const char *lacks = missing(element, names, values);
  gint line;
  g_markup_parse_context_get_position(context, &line, NULL);
  if (!platform->root && !g_str_equal(element, "platform"))
    topology_bad(platform, context, 0, error, "<%s>, expected <platform>", element);
  else if (lacks != NULL)
    topology_bad(platform, context, 0, error, "<%s> without %s, expected %s=\"...\"", element,
                 lacks, lacks);
  else if (g_str_equal(element, "zone") || g_str_equal(element, "AS"))
    open_zone(platform, id);
  else if (g_str_equal(element, "host") || g_str_equal(element, "peer"))
    platform->host =
        add_host(platform, id, attribute(names, values, "speed"), attribute(names, values, "core"));
  else if (g_str_equal(element, "cluster") && !add_cluster(platform, names, values))
    topology_bad(platform, context, 0, error,
                 "radical of cluster %s, expected numbers like \"0-31\"", id);
  else if (g_str_equal(element, "link") || g_str_equal(element, "backbone"))
    add_link(platform, id, attribute(names, values, "bandwidth"),
             attribute(names, values, "latency"));
  else if (g_str_equal(element, "router"))
    g_hash_table_add(platform->routers, g_strdup(id));
  else if (g_str_equal(element, "prop") && g_strcmp0(id, "interconnect") == 0)
    g_hash_table_insert(platform->interconnects, g_strdup(zone_now(platform)),
                        g_strdup(attribute(names, values, "value")));
  else if (g_str_equal(element, "disk"))
    add_disk(platform, names, values);
  else if (g_str_equal(element, "host_link") && !add_host_link(platform, names, values))
    topology_bad(platform, context, 0, error, "host_link of %s, expected a host named before", id);
  else if (g_str_equal(element, "route"))
    platform->route = add_route(platform, (unsigned)line, names, values, false);
  else if (g_str_equal(element, "zoneRoute") || g_str_equal(element, "ASroute"))
    platform->route = add_route(platform, (unsigned)line, names, values, true);
  else if (g_str_equal(element, "link_ctn") && platform->route != NULL)
    g_ptr_array_add(platform->route->links, g_strdup(id));
  platform->root = true;
}

static void close_element(GMarkupParseContext *context, const char *element, gpointer data,
                          GError **error)
{
  struct platform *platform = data;
  (void)context;
  (void)error;
  if (g_str_equal(element, "zone") || g_str_equal(element, "AS") || g_str_equal(element, "cluster"))
    g_ptr_array_remove_index(platform->open, platform->open->len - 1);
  if (g_str_equal(element, "host") || g_str_equal(element, "peer"))
    platform->host = NULL;
  if (g_str_has_suffix(element, "oute"))
    platform->route = NULL;
}

bool topology_read(struct platform *platform, const char *text, GError **error)
{
  static const GMarkupParser PARSER = {open_element, close_element, NULL, NULL, NULL};
  GMarkupParseContext *context = g_markup_parse_context_new(&PARSER, 0, platform, NULL);
  g_autoptr(GError) reason = NULL;
  bool good = g_markup_parse_context_parse(context, text, -1, &reason) &&
              g_markup_parse_context_end_parse(context, &reason);
  if (!good && reason->domain == INPUT_ERROR) {
    g_propagate_error(error, g_steal_pointer(&reason));
  } else if (!good) {
    /* GMarkup's message may already name the place: "Error on line 3 char 5: ..." */
    const char *what = g_str_has_prefix(reason->message, "Error on line")
                           ? strstr(reason->message, ": ") + 2
                           : reason->message;
    topology_bad(platform, context, 0, error, "not well-formed (%s), expected a SimGrid platform",
                 what);
  } else if (platform->hosts->len == 0) {
    topology_bad(platform, NULL, 0, error, "no host, expected at least one");
    good = false;
  }
  g_markup_parse_context_free(context);
  return good;
}
