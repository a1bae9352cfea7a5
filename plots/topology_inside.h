/* Declares the contents of a platform file, and the lines between its hosts. topology_read.c reads
 * the file, topology.c draws the picture. */
#ifndef RECLINE_TOPOLOGY_INSIDE_H
#define RECLINE_TOPOLOGY_INSIDE_H

#include <glib.h>
#include <stdbool.h>

struct link {
  char *what; /* bandwidth and latency: "110MBps 4us" */
  /* the end that all routes over this link touch, or `several` */
  char *end;
  bool several;
  unsigned routes;
};

struct host {
  char *id, *zone;
  GString *what;  /* speed, cores, disks */
  char *link;     /* the link that the file gives the host by host_link, or NULL if there is none */
  char *joined;   /* nodes to which the host has lines; they tell which hosts are alike */
  unsigned alike; /* number of hosts of its kind */
};

struct route {
  unsigned line;
  char *zone, *from, *to;
  bool zones; /* the ends are zones, not hosts */
  /* if the ends are zones: their gateways, as far as the file has these as routers or hosts;
   * NULL otherwise */
  char *gates[2];
  GPtrArray *links; /* the ids of the links */
};

struct edge {
  char *from, *to, *what;
};

struct platform {
  const char *file;
  GPtrArray *hosts;          /* struct host, in the order of the file */
  GHashTable *by_id;         /* id -> struct host, not owned */
  GHashTable *routers;       /* set of ids */
  GHashTable *zones;         /* set of ids */
  GHashTable *interconnects; /* id of a zone -> its interconnect */
  GHashTable *links;         /* id -> struct link */
  GPtrArray *routes;         /* struct route */
  GPtrArray *edges;          /* struct edge */
  GHashTable *joined;        /* "from|to" of each edge */
  /* Ids of links that are nodes, and "zone ID" for each zone that has a switch. */
  GHashTable *shared;
  GPtrArray *order; /* the keys of `shared`, in the order in which they were added */
  /* only topology_read() uses the following fields */
  GPtrArray *open; /* ids of the zones that are open */
  struct host *host;
  struct route *route;
  bool root;
};

void topology_init(struct platform *platform, const char *file);
void topology_clear(struct platform *platform);

/* Reads the XML `text` into `platform`, which topology_init() has prepared. Returns false with
 * `error` set to "file:line: what, expected what". */
bool topology_read(struct platform *platform, const char *text, GError **error);

/* Sets `error` to a message about the line of `context`, or about `line` if `context` is NULL. */
void topology_bad(const struct platform *platform, GMarkupParseContext *context, unsigned line,
                  GError **error, const char *format, ...) G_GNUC_PRINTF(5, 6);

/* Returns the link of that name, which `platform` owns, or NULL if there is none. Both directions
 * of a split link are one link. */
struct link *topology_link(const struct platform *platform, const char *id);

/* Asks for a node in the picture. `node` is the key of a shared link or of a zone's switch. */
void topology_need_switch(struct platform *platform, const char *node);

/* Returns an empty table with texts as keys, which owns its values if `value` frees them. */
GHashTable *topology_set(GDestroyNotify value);

#endif
