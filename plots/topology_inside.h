/* The contents of a platform file and the lines between its hosts: topology_read.c reads them,
 * topology.c draws them. */
#ifndef RECLINE_TOPOLOGY_INSIDE_H
#define RECLINE_TOPOLOGY_INSIDE_H

#include <glib.h>
#include <stdbool.h>

struct link {
  char *what; /* "110MBps 4us" */
  /* the end that all routes over this link touch, or `several` */
  char *end;
  bool several;
  unsigned routes;
};

struct host {
  char *id, *zone;
  GString *what;  /* speed, cores, disks */
  char *link;     /* of its host_link; NULL without one */
  char *joined;   /* nodes to which it has lines, to tell which hosts are alike */
  unsigned alike; /* hosts of its kind */
};

struct route {
  unsigned line;
  char *zone, *from, *to;
  bool zones;       /* between zones, not hosts */
  char *gates[2];   /* of such zones, where they are routers or hosts of this file; or NULL */
  GPtrArray *links; /* ids */
};

struct edge {
  char *from, *to, *what;
};

struct platform {
  const char *file;
  GPtrArray *hosts;          /* struct host, in the order of the file */
  GHashTable *by_id;         /* id -> struct host, not owned */
  GHashTable *routers;       /* id */
  GHashTable *zones;         /* id -> its id */
  GHashTable *interconnects; /* id of a zone -> its interconnect */
  GHashTable *links;         /* id -> struct link */
  GPtrArray *routes;         /* struct route */
  GPtrArray *edges;          /* struct edge */
  GHashTable *joined;        /* "from|to" of each edge */
  GHashTable *shared;        /* ids of links that are nodes; zones that have a switch: "zone ID" */
  GPtrArray *order;          /* keys of `shared` in the order of their making */
  /* while reading */
  GPtrArray *open; /* ids of the open zones */
  struct host *host;
  struct route *route;
  bool root;
};

void topology_init(struct platform *platform, const char *file);
void topology_clear(struct platform *platform);

/* Reads the XML `text` into `platform`. On false `error` is "file:line: what, expected what". */
bool topology_read(struct platform *platform, const char *text, GError **error);

/* Sets `error` to a message at the line of `context`, or at `line` if `context` is NULL. */
void topology_bad(const struct platform *platform, GMarkupParseContext *context, unsigned line,
                  GError **error, const char *format, ...) G_GNUC_PRINTF(5, 6);

/* Returns NULL if there is none; both directions of a split link are one link. */
struct link *topology_link(const struct platform *platform, const char *id);

/* `node`, the key of a shared link or of a zone's switch, is drawn. */
void topology_need_switch(struct platform *platform, const char *node);

/* Returns an empty table by text, which owns its values if `value` frees them. */
GHashTable *topology_set(GDestroyNotify value);

#endif
