/* The events of a trace for other tools, independent of the format (exports.c, exports_otf2.c). */
#ifndef RECLINE_EXPORTS_INSIDE_H
#define RECLINE_EXPORTS_INSIDE_H

#include "report/exports.h"

/* An event to write, with its time in nanoseconds. */
struct entry {
  gint64 time;
  enum { ENTRY_END, ENTRY_STATE, ENTRY_EVENT, ENTRY_SEND } kind;
  int rank, other; /* the container; the other end of a message */
  guint number;    /* of a message */
  const char *name;
};

/* Returns all events of a run, in the order of time; a message is sent before it is received. The
 * caller frees the array.
 */
GArray *export_entries(const struct story *);

#endif
