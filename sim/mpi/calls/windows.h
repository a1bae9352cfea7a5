/* Declares how windows are made, for the files that make them. */
#ifndef RECLINE_WINDOWS_H
#define RECLINE_WINDOWS_H

#include "sim/mpi/windows/window.h"

/* Makes a window of the memory at `base`, with the ranks of `comm`. Returns MPI_SUCCESS or an MPI
 * error; after an error nothing is made. */
int window_create(struct rank *, void *base, MPI_Aint size, int unit, int flavor, MPI_Info,
                  MPI_Comm comm, MPI_Win *made);

/* Does the same with memory that it allocates in the arena, and writes the address of the memory to
 * `*where`. */
int window_allocate(struct rank *, MPI_Aint size, int unit, MPI_Info, MPI_Comm comm, void *where,
                    MPI_Win *made);

#endif
