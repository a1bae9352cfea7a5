/* Reads the values that papers have published: a file of lines
 * id,source,where,quantity,condition,value, unit (CSV, RFC 4180). */
#ifndef RECLINE_PUBLISHED_H
#define RECLINE_PUBLISHED_H

#include <glib.h>
#include <stdbool.h>

struct published {
  char *id, *source, *where, *quantity, *condition, *text, *unit;
  bool number;     /* true for a number, false for a claim */
  double value;    /* in bytes if the unit is "size" (a KB is 1000 bytes) */
  double rounding; /* half a unit of the last published digit */
};

/* Returns an array of struct published *, which the array owns. Returns NULL with `error`. */
GPtrArray *published_load(const char *file, GError **error);

/* Returns by how much a result may differ: by 15 per cent, or by the rounding if that is more. */
double published_tolerance(const struct published *);

#endif
