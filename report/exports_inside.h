/* Lists the events of a run for other tools, independent of the format (exports.c,
 * exports_otf2.c). */
#ifndef RECLINE_EXPORTS_INSIDE_H
#define RECLINE_EXPORTS_INSIDE_H

#include "report/exports.h"

/* Describes an event to write. `time` is in nanoseconds. */
struct entry {
  gint64 time;
  enum { ENTRY_END, ENTRY_STATE, ENTRY_EVENT, ENTRY_SEND } kind;
  /* `rank` is the container; for a message, `other` is the rank at its other end */
  int rank, other;
  guint number; /* number of the message */
  const char *name;
};

/* Returns all events of a run in the order of time, with the send of a message before its receipt.
 * The caller frees the array. */
GArray *export_entries(const struct story *);

#endif
