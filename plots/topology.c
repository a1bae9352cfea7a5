/* Draws a platform file as a graph:
 *
 *     host ---- switch of its zone ---- link that several routes share ---- host of another zone
 *
 * A link that belongs to one host is not a node, but a line between that host and its zone's
 * switch. If many hosts are alike, only the first few are drawn, with a pile for all other hosts.
 * Each kind of host is described once, below the picture.
 */
#include "plots/topology.h"

#include <string.h>

#include "plots/topology_inside.h"

enum { ALIKE_SHOWN = 5 };

/* --- from routes to lines --- */

static void add_edge(struct platform *platform, const char *from, const char *to, const char *what)
{
  bool swap = strcmp(from, to) > 0; /* most routes are given for one direction only */
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

static bool is_known(const struct platform *platform, const char *id)
{
  return id != NULL && (g_hash_table_contains(platform->by_id, id) ||
                        g_hash_table_contains(platform->routers, id));
}

/* Returns the node at the first or second end of a route, or NULL if there is none. */
static char *end_node(struct platform *platform, const struct route *route, unsigned end)
{
  const char *gate = route->gates[end], *id = end == 0 ? route->from : route->to;
  bool zones = route->zones && !is_known(platform, gate);
  if (route->zones && !zones)
    id = gate;
  GHashTable *known = zones ? platform->zones : platform->by_id;
  if (!g_hash_table_contains(known, id) && !g_hash_table_contains(platform->routers, id))
    return NULL;
  char *node = zones ? switch_of(id) : g_strdup(id);
  if (zones || g_hash_table_contains(platform->routers, id))
    topology_need_switch(platform, node);
  return node;
}

static void touch(struct link *link, const char *end)
{
  if (link->end == NULL)
    link->end = g_strdup(end);
  else if (!g_str_equal(link->end, end))
    link->several = true;
}

/* Counts the routes over each link. This first pass finds out which links belong to one host, and
 * which links several hosts share. */
static bool count_route(struct platform *platform, const struct route *route, GError **error)
{
  g_autofree char *from = end_node(platform, route, 0);
  g_autofree char *to = end_node(platform, route, 1);
  if (from == NULL || to == NULL) {
    topology_bad(platform, NULL, route->line, error, "route to %s, expected a %s of this file",
                 from == NULL ? route->from : route->to, route->zones ? "zone" : "host or router");
    return false;
  }
  for (unsigned i = 0; i < route->links->len; i++) {
    const char *id = g_ptr_array_index(route->links, i);
    struct link *link = topology_link(platform, id);
    if (link == NULL) {
      topology_bad(platform, NULL, route->line, error,
                   "route over %s, expected a link of this file", id);
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
  g_autofree char *from = end_node(platform, route, 0);
  g_autofree char *to = end_node(platform, route, 1);
  g_autofree char *middle = switch_of(route->zone);
  g_autofree char *last = g_strdup(from);
  const char *what = "";
  bool shared = false, own = false;
  for (unsigned i = 0; i < route->links->len; i++) {
    const char *id = g_ptr_array_index(route->links, i);
    const struct link *link = topology_link(platform, id);
    bool direct = route->links->len == 1 && link->several && link->routes <= 2;
    if (direct || (link->end != NULL && !link->several)) {
      what = link->what;
      own |= !direct;
      continue;
    }
    topology_need_switch(platform, id);
    add_edge(platform, last, id, what);
    g_free(last);
    last = g_strdup(id);
    what = "";
    shared = true;
  }
  /* the route takes two links, each of one host, which meet in the zone's switch */
  if (own && !shared) {
    const struct link *first = topology_link(platform, g_ptr_array_index(route->links, 0));
    topology_need_switch(platform, middle);
    add_edge(platform, from, middle, first->what);
    g_free(last);
    last = g_strdup(middle);
  }
  add_edge(platform, last, to, what);
}

/* Returns whether the route leads from a host to itself, for ranks that share the host. Such a
 * route is not drawn as a line; the host's text describes it. */
static bool is_inner(const struct platform *platform, const struct route *route)
{
  struct host *host = g_hash_table_lookup(platform->by_id, route->from);
  const struct link *link =
      route->links->len > 0 ? topology_link(platform, g_ptr_array_index(route->links, 0)) : NULL;
  if (route->zones || !g_str_equal(route->from, route->to) || host == NULL || link == NULL)
    return false;
  g_string_append_printf(host->what, ", to itself %s", link->what);
  return true;
}

static bool join(struct platform *platform, GError **error)
{
  for (unsigned i = platform->routes->len; i-- > 0;)
    if (is_inner(platform, g_ptr_array_index(platform->routes, i)))
      g_ptr_array_remove_index(platform->routes, i);
  for (unsigned i = 0; i < platform->hosts->len; i++) {
    const struct host *host = g_ptr_array_index(platform->hosts, i);
    g_autofree char *node = switch_of(host->zone);
    if (host->link == NULL)
      continue;
    topology_need_switch(platform, node);
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

/* Returns a key that is equal for hosts of the same kind. Such hosts have the same zone, properties
 * and lines, and the same name apart from its last number. The caller frees it. */
static char *kind_key(const struct host *host)
{
  size_t end = strlen(host->id), from;
  while (end > 0 && !g_ascii_isdigit(host->id[end - 1]))
    end--;
  for (from = end; from > 0 && g_ascii_isdigit(host->id[from - 1]);)
    from--;
  g_autofree char *stem = g_strndup(host->id, from);
  return g_strjoin("|", host->zone, stem, host->id + end, host->what->str, host->joined, NULL);
}

static GPtrArray *sort_hosts(const struct platform *platform)
{
  GPtrArray *kinds = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  g_autoptr(GHashTable) known = topology_set(NULL);
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
  for (guint i = 0; i < kinds->len; i++) {
    GPtrArray *kind = g_ptr_array_index(kinds, i);
    for (guint k = 0; k < kind->len; k++)
      ((struct host *)g_ptr_array_index(kind, k))->alike = kind->len;
  }
  return kinds;
}

/* Returns whether the lines of this host are described below the picture, once for all hosts of its
 * kind. They are if the host has a link of its own, or if more than two hosts are alike. */
static bool are_many(const struct host *host)
{
  return host != NULL && (host->link != NULL || host->alike > 2);
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

/* Draws the hosts of a kind. A node "pile of X" stands for the hosts that are not drawn. */
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
  else if (are_many(first) && *first->joined)
    g_string_append_printf(text, "; %.*s", (int)strlen(first->joined) - 1, first->joined);
  g_string_append(text, "\n");
}

static void draw_shared(struct picture *picture, const struct platform *platform, const char *node)
{
  const struct link *link = topology_link(platform, node);
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

/* Draws the lines. Lines of a host for which are_many() holds are described below the picture.
 * Other lines carry their text. */
static void draw_edges(struct picture *picture, const struct platform *platform, GHashTable *hidden)
{
  for (unsigned i = 0; i < platform->edges->len; i++) {
    const struct edge *edge = g_ptr_array_index(platform->edges, i);
    if (g_hash_table_contains(hidden, edge->from) || g_hash_table_contains(hidden, edge->to))
      continue;
    bool said = are_many(g_hash_table_lookup(platform->by_id, edge->from)) ||
                are_many(g_hash_table_lookup(platform->by_id, edge->to));
    picture_edge(picture, edge->from, edge->to, "arrowhead", "none", "color", "#666666", "class",
                 "wire", "label", said ? "" : edge->what, "fontcolor", "#555555", "len",
                 said ? "1.4" : "2", "tooltip", edge->what, NULL);
  }
}

/* Tells how many nodes there are. A node with several interconnects is a separate host on each
 * interconnect. So only the hosts on one interconnect are counted, as in `recline list`. */
static void describe_count(GString *text, const struct platform *platform)
{
  g_autofree char *name = g_path_get_basename(platform->file);
  g_autoptr(GHashTable) seen = topology_set(NULL);
  const char *first = NULL;
  guint count = 0, of_first = 0;
  for (unsigned i = 0; i < platform->hosts->len; i++) {
    const struct host *host = g_ptr_array_index(platform->hosts, i);
    const char *on = g_hash_table_lookup(platform->interconnects, host->zone);
    first = first ? first : on;
    if (on)
      g_hash_table_add(seen, g_strdup(on));
    count += !on || g_str_equal(on, first);
    of_first += on && g_str_equal(on, first);
  }
  g_string_append_printf(text, "%s: %u host%s", name, count, count == 1 ? "" : "s");
  if (g_hash_table_size(seen) > 1)
    g_string_append_printf(text, ", %u of them on each of %u interconnects", of_first,
                           g_hash_table_size(seen));
  g_string_append(text, "\n");
}

static struct picture *draw_platform(const struct platform *platform)
{
  struct picture *picture = picture_new("platform");
  g_autoptr(GPtrArray) kinds = sort_hosts(platform);
  g_autoptr(GHashTable) hidden = topology_set(NULL);
  GString *text = g_string_new("\n");
  describe_count(text, platform);
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
  topology_init(&platform, file);
  bool good = topology_read(&platform, text, error) && join(&platform, error);
  struct picture *picture = good ? draw_platform(&platform) : NULL;
  topology_clear(&platform);
  return picture;
}
