/* Gives each rank data of its own in the program's shared libraries. SimGrid gives each rank a copy
 * of the program, but loads a library once, so that all ranks would share its data, and no rollback
 * would restore them. Under a protocol each rank has its own data in its arena, and data are
 * exchanged when another rank goes on. One of these libraries is the runtime of GNU Fortran, whose
 * data are its units.
 *
 * All functions run in libc mode. */
#ifndef RECLINE_LIBRARY_DATA_H
#define RECLINE_LIBRARY_DATA_H

#include "sim/memory/heap.h"

/* Gives an arena its own data of libraries, before its program runs. `inside` is an address in the
 * data of the program. */
void library_data_begin(struct arena *, const void *inside);

/* Both functions are called around images of an arena. library_data_collect() copies the data that
 * are in the libraries into the arena. library_data_restored() notes that the data in the libraries
 * no longer belong to the arena. */
void library_data_collect(const struct arena *);
void library_data_restored(const struct arena *);

#endif
