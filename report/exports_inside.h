/* What a trace for other tools consists of, whatever its format (exports.c, exports_otf2.c). */
#ifndef RECLINE_EXPORTS_INSIDE_H
#define RECLINE_EXPORTS_INSIDE_H

#include "report/exports.h"

/* Something to be written at its time, in nanoseconds. */
struct entry {
  gint64 time;
  enum { ENTRY_END, ENTRY_STATE, ENTRY_EVENT, ENTRY_SEND } kind;
  int rank, other; /* the container; the other end of a message */
  guint number;    /* of a message */
  const char *name;
};

/* All of a run, in the order of time; a message is sent before it is received. The caller frees it.
 */
GArray *export_entries(const struct story *);

#endif
