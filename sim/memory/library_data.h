/* The data of the program's shared libraries. SimGrid gives each rank a copy of the program, but
 * loads a library once, so that all ranks would share its data, and no rollback would restore them.
 * Under a protocol each rank has its own data in its arena; they are exchanged when another rank
 * goes on. The runtime of GNU Fortran is one of these libraries, and units are its data.
 *
 * All in libc mode. */
#ifndef RECLINE_LIBRARY_DATA_H
#define RECLINE_LIBRARY_DATA_H

#include "sim/memory/heap.h"

/* To be called before the program of an arena runs: gives it its own data. `inside` is an address
 * in its data. */
void library_data_begin(struct arena *, const void *inside);

/* Around images of an arena. */
void library_data_collect(const struct arena *);
void library_data_restored(const struct arena *);

#endif
