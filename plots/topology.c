/* What a platform file says, as a graph:
 *
 *     host ---- switch of its zone ---- link that several routes share ---- host of another zone
 *
 * A link that belongs to one host is not a node but a line between that host and its zone's
 * switch, and hosts that are alike are drawn as the first few and a pile. What they are is said
 * once for each kind, below the picture.
 */
#include "plots/topology.h"

#include <string.h>

#include "plots/input.h"

enum { ALIKE_SHOWN = 5, CLUSTER_MAX = 1 << 20 };

struct link {
  char *what; /* "110MBps 4us" */
  /* Of the routes: the one end that it always touches, or several. */
  char *end;
  bool several;
  unsigned routes;
};

struct host {
  char *id, *zone;
  GString *what; /* speed, cores, disks */
  char *link;    /* of its host_link; NULL without one */
  char *joined;  /* the nodes that it has lines to, for telling who is alike */
};

struct route {
  unsigned line;
  char *zone, *from, *to;
  bool zones;       /* between zones, not hosts */
  GPtrArray *links; /* ids */
};

struct edge {
  char *from, *to, *what;
};

struct platform {
  const char *file;
  GPtrArray *hosts;    /* struct host, in the order of the file */
  GHashTable *by_id;   /* id -> struct host, not owned */
  GHashTable *routers; /* id */
  GHashTable *zones;   /* id -> its id */
  GHashTable *links;   /* id -> struct link */
  GPtrArray *routes;   /* struct route */
  GPtrArray *edges;    /* struct edge */
  GHashTable *joined;  /* "from|to" of each edge */
  GHashTable *shared;  /* ids of links that are nodes; zones that have a switch: "zone ID" */
  GPtrArray *order;    /* keys of `shared` in the order of their making */
  /* while reading */
  GPtrArray *open; /* ids of the open zones */
  struct host *host;
  struct route *route;
  bool root;
};

/* --- errors --- */

static void bad(const struct platform *platform, GMarkupParseContext *context, unsigned line,
                GError **error, const char *format, ...) G_GNUC_PRINTF(5, 6);

static void bad(const struct platform *platform, GMarkupParseContext *context, unsigned line,
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

static GHashTable *set_new(GDestroyNotify value)
{
  return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, value);
}

static void platform_init(struct platform *platform, const char *file)
{
  *platform = (struct platform){.file = file,
                                .hosts = g_ptr_array_new_with_free_func(host_free),
                                .by_id = set_new(NULL),
                                .routers = set_new(NULL),
                                .zones = set_new(NULL),
                                .links = set_new(link_free),
                                .routes = g_ptr_array_new_with_free_func(route_free),
                                .edges = g_ptr_array_new_with_free_func(edge_free),
                                .joined = set_new(NULL),
                                .shared = set_new(NULL),
                                .order = g_ptr_array_new_with_free_func(g_free),
                                .open = g_ptr_array_new_with_free_func(g_free)};
}

static void platform_clear(struct platform *platform)
{
  g_hash_table_unref(platform->by_id);
  g_ptr_array_unref(platform->hosts);
  g_hash_table_unref(platform->routers);
  g_hash_table_unref(platform->zones);
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

/* A link that is split by direction is named with its direction in routes. */
static struct link *find_link(const struct platform *platform, const char *id)
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

static void need_switch(struct platform *platform, const char *node)
{
  if (g_hash_table_add(platform->shared, g_strdup(node)))
    g_ptr_array_add(platform->order, g_strdup(node));
}

static void open_zone(struct platform *platform, const char *id)
{
  g_hash_table_add(platform->zones, g_strdup(id));
  g_ptr_array_add(platform->open, g_strdup(id));
}

/* <cluster prefix="n-" suffix="" radical="0-31,40" ...>: its hosts have no elements of their own.
 */
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
  struct link *link = up != NULL ? find_link(platform, up) : NULL;
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
  route->links = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(platform->routes, route);
  return route;
}

/* What each element must have. */
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
    bad(platform, context, 0, error, "<%s>, expected <platform>", element);
  else if (lacks != NULL)
    bad(platform, context, 0, error, "<%s> without %s, expected %s=\"...\"", element, lacks, lacks);
  else if (g_str_equal(element, "zone") || g_str_equal(element, "AS"))
    open_zone(platform, id);
  else if (g_str_equal(element, "host") || g_str_equal(element, "peer"))
    platform->host =
        add_host(platform, id, attribute(names, values, "speed"), attribute(names, values, "core"));
  else if (g_str_equal(element, "cluster") && !add_cluster(platform, names, values))
    bad(platform, context, 0, error, "radical of cluster %s, expected numbers like \"0-31\"", id);
  else if (g_str_equal(element, "link") || g_str_equal(element, "backbone"))
    add_link(platform, id, attribute(names, values, "bandwidth"),
             attribute(names, values, "latency"));
  else if (g_str_equal(element, "router"))
    g_hash_table_add(platform->routers, g_strdup(id));
  else if (g_str_equal(element, "disk"))
    add_disk(platform, names, values);
  else if (g_str_equal(element, "host_link") && !add_host_link(platform, names, values))
    bad(platform, context, 0, error, "host_link of %s, expected a host named before", id);
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

static bool read_xml(struct platform *platform, const char *text, GError **error)
{
  static const GMarkupParser PARSER = {open_element, close_element, NULL, NULL, NULL};
  GMarkupParseContext *context = g_markup_parse_context_new(&PARSER, 0, platform, NULL);
  g_autoptr(GError) reason = NULL;
  bool good = g_markup_parse_context_parse(context, text, -1, &reason) &&
              g_markup_parse_context_end_parse(context, &reason);
  if (!good && reason->domain == INPUT_ERROR) {
    g_propagate_error(error, g_steal_pointer(&reason));
  } else if (!good) {
    /* GMarkup says where as well, in its own words: "Error on line 3 char 5: ..." */
    const char *what = g_str_has_prefix(reason->message, "Error on line")
                           ? strstr(reason->message, ": ") + 2
                           : reason->message;
    bad(platform, context, 0, error, "not well-formed (%s), expected a SimGrid platform", what);
  } else if (platform->hosts->len == 0) {
    bad(platform, NULL, 0, error, "no host, expected at least one");
    good = false;
  }
  g_markup_parse_context_free(context);
  return good;
}

/* --- from routes to lines --- */

static void add_edge(struct platform *platform, const char *from, const char *to, const char *what)
{
  bool swap = strcmp(from, to) > 0; /* routes are mostly given for one direction, but not always */
  g_autofree char *key = g_strconcat(swap ? to : from, "|", swap ? from : to, NULL);
  if (g_str_equal(from, to) || !g_hash_table_add(platform->joined, g_strdup(key)))
    return;
  struct edge *edge = g_new(struct edge, 1);
  *edge = (struct edge){g_strdup(from), g_strdup(to), g_strdup(what)};
  g_ptr_array_add(platform->edges, edge);
  const char *const ends[] = {from, to};
  for (unsigned i = 0; i < 2; i++) {
    struct host *host = g_hash_table_lookup(platform->by_id, ends[i]);
    if (host == NULL)
      continue;
    char *joined = g_strconcat(host->joined, ends[1 - i], " ", what, ";", NULL);
    g_free(host->joined);
    host->joined = joined;
  }
}

static char *switch_of(const char *zone)
{
  return g_strconcat("zone ", zone, NULL);
}

/* The node of an end of a route; NULL if there is no such thing. */
static char *end_node(struct platform *platform, const char *id, bool zones)
{
  GHashTable *known = zones ? platform->zones : platform->by_id;
  if (!g_hash_table_contains(known, id) && !g_hash_table_contains(platform->routers, id))
    return NULL;
  char *node = zones ? switch_of(id) : g_strdup(id);
  if (zones || g_hash_table_contains(platform->routers, id))
    need_switch(platform, node);
  return node;
}

static void touch(struct link *link, const char *end)
{
  if (link->end == NULL)
    link->end = g_strdup(end);
  else if (!g_str_equal(link->end, end))
    link->several = true;
}

/* A first pass, to tell the links of one host from those that many share. */
static bool count_route(struct platform *platform, const struct route *route, GError **error)
{
  g_autofree char *from = end_node(platform, route->from, route->zones);
  g_autofree char *to = end_node(platform, route->to, route->zones);
  if (from == NULL || to == NULL) {
    bad(platform, NULL, route->line, error, "route to %s, expected a %s of this file",
        from == NULL ? route->from : route->to, route->zones ? "zone" : "host or router");
    return false;
  }
  for (unsigned i = 0; i < route->links->len; i++) {
    const char *id = g_ptr_array_index(route->links, i);
    struct link *link = find_link(platform, id);
    if (link == NULL) {
      bad(platform, NULL, route->line, error, "route over %s, expected a link of this file", id);
      return false;
    }
    link->routes++;
    if (i == 0)
      touch(link, from);
    if (i + 1 == route->links->len)
      touch(link, to);
  }
  return true;
}

static void draw_route(struct platform *platform, const struct route *route)
{
  g_autofree char *from = end_node(platform, route->from, route->zones);
  g_autofree char *to = end_node(platform, route->to, route->zones);
  g_autofree char *middle = switch_of(route->zone);
  g_autofree char *last = g_strdup(from);
  const char *what = "";
  bool shared = false, own = false;
  for (unsigned i = 0; i < route->links->len; i++) {
    const char *id = g_ptr_array_index(route->links, i);
    const struct link *link = find_link(platform, id);
    bool direct = route->links->len == 1 && link->several && link->routes <= 2;
    if (direct || (link->end != NULL && !link->several)) {
      what = link->what;
      own |= !direct;
      continue;
    }
    need_switch(platform, id);
    add_edge(platform, last, id, what);
    g_free(last);
    last = g_strdup(id);
    what = "";
    shared = true;
  }
  if (own && !shared) { /* two links of one host each: they meet in the zone's switch */
    const struct link *first = find_link(platform, g_ptr_array_index(route->links, 0));
    need_switch(platform, middle);
    add_edge(platform, from, middle, first->what);
    g_free(last);
    last = g_strdup(middle);
  }
  add_edge(platform, last, to, what);
}

static bool join(struct platform *platform, GError **error)
{
  for (unsigned i = 0; i < platform->hosts->len; i++) {
    const struct host *host = g_ptr_array_index(platform->hosts, i);
    g_autofree char *node = switch_of(host->zone);
    if (host->link == NULL)
      continue;
    need_switch(platform, node);
    add_edge(platform, host->id, node, host->link);
  }
  for (unsigned i = 0; i < platform->routes->len; i++)
    if (!count_route(platform, g_ptr_array_index(platform->routes, i), error))
      return false;
  for (unsigned i = 0; i < platform->routes->len; i++)
    draw_route(platform, g_ptr_array_index(platform->routes, i));
  return true;
}

/* --- drawing --- */

/* Hosts are of one kind if they have the same zone, name up to its number, properties and lines. */
static char *kind_key(const struct host *host)
{
  g_autofree char *stem = g_strdup(host->id);
  for (size_t end = strlen(stem); end > 0 && g_ascii_isdigit(stem[end - 1]); end--)
    stem[end - 1] = '\0';
  return g_strjoin("|", host->zone, stem, host->what->str, host->joined, NULL);
}

static GPtrArray *sort_hosts(const struct platform *platform)
{
  GPtrArray *kinds = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  g_autoptr(GHashTable) known = set_new(NULL);
  for (unsigned i = 0; i < platform->hosts->len; i++) {
    struct host *host = g_ptr_array_index(platform->hosts, i);
    g_autofree char *key = kind_key(host);
    GPtrArray *kind = g_hash_table_lookup(known, key);
    if (kind == NULL) {
      kind = g_ptr_array_new();
      g_ptr_array_add(kinds, kind);
      g_hash_table_insert(known, g_strdup(key), kind);
    }
    g_ptr_array_add(kind, host);
  }
  return kinds;
}

static void draw_host(struct picture *picture, const char *node, const char *label,
                      const struct host *host, bool pile)
{
  g_autofree char *id = g_strconcat(pile ? "pile-" : "host-", host->id, NULL);
  g_autofree char *tooltip = g_strdup_printf("%s: %s", label, host->what->str);
  picture_node(picture, node, "label", label, "shape", "box", "style",
               pile ? "rounded,filled,dashed" : "rounded,filled", "fillcolor", "#eef3fa", "color",
               "#1261a8", "fontsize", "10", "margin", "0.1,0.06", "class", pile ? "pile" : "host",
               "id", id, "tooltip", tooltip, NULL);
}

/* "pile of X": the node that stands for a host that is not drawn itself. */
static void draw_kind(struct picture *picture, GPtrArray *kind, GHashTable *hidden)
{
  guint shown = kind->len <= ALIKE_SHOWN + 1 ? kind->len : ALIKE_SHOWN;
  for (guint i = 0; i < kind->len; i++) {
    const struct host *host = g_ptr_array_index(kind, i);
    if (i < shown)
      draw_host(picture, host->id, host->id, host, false);
    else if (i > shown)
      g_hash_table_add(hidden, g_strdup(host->id));
  }
  if (shown == kind->len)
    return;
  const struct host *first = g_ptr_array_index(kind, shown);
  const struct host *last = g_ptr_array_index(kind, kind->len - 1);
  g_autofree char *label =
      g_strdup_printf("%u more:\n%s to %s", kind->len - shown, first->id, last->id);
  draw_host(picture, first->id, label, first, true);
}

static void describe_kind(GString *text, GPtrArray *kind)
{
  const struct host *first = g_ptr_array_index(kind, 0);
  const struct host *last = g_ptr_array_index(kind, kind->len - 1);
  if (kind->len > 1)
    g_string_append_printf(text, "%s to %s: %u hosts, each ", first->id, last->id, kind->len);
  else
    g_string_append_printf(text, "%s: ", first->id);
  g_string_append(text, first->what->str);
  if (first->link != NULL)
    g_string_append_printf(text, "; link %s", first->link);
  g_string_append(text, "\n");
}

static void draw_shared(struct picture *picture, const struct platform *platform, const char *node)
{
  const struct link *link = find_link(platform, node);
  bool zone = g_str_has_prefix(node, "zone ");
  g_autofree char *label =
      link != NULL ? g_strdup_printf("%s\n%s", node, link->what) : g_strdup(zone ? node + 5 : node);
  g_autofree char *id =
      g_strdelimit(g_strconcat(link ? "link-" : "switch-", zone ? node + 5 : node, NULL), " ", '-');
  picture_node(picture, node, "label", label, "shape", link ? "ellipse" : "box", "style", "filled",
               "fillcolor", link ? "#fff3df" : "#e4e4e4", "color", link ? "#d97700" : "#444444",
               "penwidth", "1.3", "fontsize", "11", "margin", "0.14,0.08", "class",
               link ? "link" : "switch", "id", id, "tooltip", label, NULL);
}

/* Next to a host of a kind the line is said below the picture; others carry their text. */
static void draw_edges(struct picture *picture, const struct platform *platform, GHashTable *hidden)
{
  for (unsigned i = 0; i < platform->edges->len; i++) {
    const struct edge *edge = g_ptr_array_index(platform->edges, i);
    if (g_hash_table_contains(hidden, edge->from) || g_hash_table_contains(hidden, edge->to))
      continue;
    const struct host *host = g_hash_table_lookup(platform->by_id, edge->from);
    bool said = host != NULL && host->link != NULL;
    picture_edge(picture, edge->from, edge->to, "arrowhead", "none", "color", "#666666", "class",
                 "wire", "label", said ? "" : edge->what, "fontcolor", "#555555", "len",
                 said ? "1.4" : "2", "tooltip", edge->what, NULL);
  }
}

static struct picture *draw_platform(const struct platform *platform)
{
  struct picture *picture = picture_new("platform");
  g_autoptr(GPtrArray) kinds = sort_hosts(platform);
  g_autoptr(GHashTable) hidden = set_new(NULL);
  g_autofree char *name = g_path_get_basename(platform->file);
  GString *text = g_string_new("\n");
  g_string_append_printf(text, "%s: %u host%s\n", name, platform->hosts->len,
                         platform->hosts->len == 1 ? "" : "s");
  for (unsigned i = 0; i < platform->order->len; i++)
    draw_shared(picture, platform, g_ptr_array_index(platform->order, i));
  for (unsigned i = 0; i < kinds->len; i++) {
    draw_kind(picture, g_ptr_array_index(kinds, i), hidden);
    describe_kind(text, g_ptr_array_index(kinds, i));
  }
  draw_edges(picture, platform, hidden);
  g_string_truncate(text, text->len - 1);
  g_string_append(text, "\\l");
  picture_set(picture, "label", text->str, "labelloc", "b", "labeljust", "l", "fontsize", "10",
              "overlap", "false", "outputorder", "edgesfirst", NULL);
  g_string_free(text, TRUE);
  return picture;
}

struct picture *platform_draw(const char *file, const char *text, GError **error)
{
  struct platform platform;
  platform_init(&platform, file);
  bool good = read_xml(&platform, text, error) && join(&platform, error);
  struct picture *picture = good ? draw_platform(&platform) : NULL;
  platform_clear(&platform);
  return picture;
}
