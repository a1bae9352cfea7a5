/* What the runtime of GNU Fortran keeps once for a process: units, the buffers and parsed formats
 * of each, options. All ranks are one process, and a program expects them to itself; so under a
 * protocol each rank has its own, in its arena, where a rollback puts them back. Positions in files
 * are those of descriptors: files.c. */
#ifndef RECLINE_UNITS_H
#define RECLINE_UNITS_H

#include "heap.h"

/* In libc mode. Before the program of an arena runs: makes its units, those of standard input and
 * output. Nothing if libgfortran is not there. */
void units_begin(struct arena *);

/* Has libgfortran hold what belongs to the calling program until another one is let in. `mode` is
 * that of the call. Returns the arena for what libgfortran allocates, NULL for libc's. */
struct arena *units_enter(struct arena *mode);

/* Around images of an arena. */
void units_collect(const struct arena *);
void units_restored(const struct arena *);

#endif
