/* Joins the traces of an MPI program's processes (mpi/real_trace.c). */
#ifndef RECLINE_JOIN_TRACES_H
#define RECLINE_JOIN_TRACES_H

#include <glib.h>
#include <stdbool.h>

/* Tells what the world has seen of all lives of the program. */
struct joined {
  unsigned ranks, steps, starts, commits;
  unsigned violations; /* number of lines `violation` in the trace */
  /* text of the first violation, which the caller frees with g_free(), or NULL if there is none */
  char *first;
  bool ended; /* all programs have ended */
};

/* Takes the lines of the files FOLDER/trace.LIFE.RANK through one world. They are taken in the
 * order of their times as far as the world allows this order, so the clocks of machines may differ.
 * Writes the joined trace to `file` (docs/trace.md). If the world refuses a line, or if actions or
 * digests differ, returns false with an error `file:line: what, expected what`, and writes
 * nothing. */
bool trace_join(const char *folder, const char *file, struct joined *, GError **);

#endif
