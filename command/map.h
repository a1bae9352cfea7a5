/* Declares the map: all protocols side by side, with their declarations (struct rcl_place). */
#ifndef RECLINE_MAP_H
#define RECLINE_MAP_H

#include <glib.h>
#include <json-glib/json-glib.h>

#include "protocols/protocol.h"

/* Forms of one protocol that have the same place share a row of the map. */
struct map_row {
  GString *names; /* "c3", "lai-yang, mattern" */
  const struct rcl_protocol *first;
};

/* Returns an array of struct map_row, in the order of the registry. The array frees its items.
 * Protocols without a place are left out. */
GArray *map_rows(void);

/* map_back() returns a static text. map_log() returns a text that the caller frees. */
const char *map_back(const struct rcl_place *);
char *map_log(const struct rcl_place *, int index); /* NULL behind the last log */

/* Adds the members "logs", "back" and "assumes" to the object of a protocol. */
void map_add(JsonBuilder *, const struct rcl_place *);

/* Prints the map on standard output as a table in Markdown. */
void map_print(void);

/* Writes the map as a picture into `file`, by Graphviz. The suffix of the file names the format. */
bool map_draw(const char *file, GError **error);

#endif
