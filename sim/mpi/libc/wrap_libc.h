/* The state of libc that each rank has for itself: see sim/host/rank/libc.h. */
#ifndef RECLINE_WRAP_LIBC_H
#define RECLINE_WRAP_LIBC_H

#include "sim/host/rank/libc.h"

struct rank;

/* Returns the calling actor's state: in its MPI state, or before MPI_Init in separate memory. NULL
 * when the layer is inert, and for actors without a program. */
struct libc *libc_self(void);

/* Moves the calling rank's state from before MPI_Init to its MPI state. */
void libc_begin(struct libc *in_mpi);

/* To be called once, when the layer begins: from then on names that libc invents for programs
 * follow from the seed (wrap_system.c). */
void system_begin(void);

/* Called before an image of a rank is taken: copies into its MPI state what libraries hold for it.
 */
void libc_collect(struct rank *);

/* Called after it was put back: libraries do not hold its state any more. */
void libc_restored(struct rank *);

/* The parts of these two for Fortran's RANDOM_NUMBER. */
void random_collect(struct rank *);
void random_restored(struct rank *);

#endif
