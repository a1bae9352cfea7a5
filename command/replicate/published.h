/* The values that papers have published: a file of lines id,source,where,quantity,condition,value,
 * unit (CSV, RFC 4180). */
#ifndef RECLINE_PUBLISHED_H
#define RECLINE_PUBLISHED_H

#include <glib.h>
#include <stdbool.h>

struct published {
  char *id, *source, *where, *quantity, *condition, *text, *unit;
  bool number;     /* otherwise it is a claim */
  double value;    /* bytes, where the unit is "size" (a KB is 1000) */
  double rounding; /* half of the last digit that was published */
};

/* Elements are struct published *, which the array owns. NULL with `error`. */
GPtrArray *published_load(const char *file, GError **error);

/* Returns by how much a result may differ: 15 per cent, or the rounding. */
double published_tolerance(const struct published *);

#endif
