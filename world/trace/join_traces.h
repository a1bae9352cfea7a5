/* The traces of the processes of an MPI program (mpi/real_trace.c), put together. */
#ifndef RECLINE_JOIN_TRACES_H
#define RECLINE_JOIN_TRACES_H

#include <glib.h>
#include <stdbool.h>

/* What the world has seen of all lives of the program. */
struct joined {
  unsigned ranks, steps, starts, commits;
  unsigned violations; /* counts lines of the trace */
  char *first;         /* text of the first violation, for g_free(); NULL: none */
  bool ended;          /* all programs have ended */
};

/* Takes what the files FOLDER/trace.LIFE.RANK tell through one world: in the order of their times,
 * as far as the world lets it, so that clocks of machines may differ. Writes the joined trace to
 * `file` (docs/trace.md). If the world refuses a line, or actions or digests differ, that is an
 * error `file:line: what, expected what`, and nothing is written. */
bool trace_join(const char *folder, const char *file, struct joined *, GError **);

#endif
