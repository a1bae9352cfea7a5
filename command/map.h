/* The map: all protocols side by side, with what they declare (struct rcl_place). */
#ifndef RECLINE_MAP_H
#define RECLINE_MAP_H

#include <glib.h>
#include <json-glib/json-glib.h>

#include "protocols/protocol.h"

/* Forms of one protocol that have the same place are one row of the map. */
struct map_row {
  GString *names; /* "c3", "lai-yang, mattern" */
  const struct rcl_protocol *first;
};

/* Returns an array of struct map_row, in the order of the registry; the array frees its items.
 * Protocols without a place are on no map. */
GArray *map_rows(void);

/* Return texts. The caller frees those that describe logs. */
const char *map_back(const struct rcl_place *);
char *map_log(const struct rcl_place *, int index); /* NULL: no more */

/* Adds the members "logs", "back" and "assumes" to the object of a protocol. */
void map_add(JsonBuilder *, const struct rcl_place *);

/* Prints the map as a table of Markdown on standard output. */
void map_print(void);

/* Writes the map as a picture into `file`, whose suffix names the format; by Graphviz. */
bool map_draw(const char *file, GError **error);

#endif
