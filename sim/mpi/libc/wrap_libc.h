/* The state of libc that each rank has for itself: see sim/host/rank/libc.h. */
#ifndef RECLINE_WRAP_LIBC_H
#define RECLINE_WRAP_LIBC_H

#include "sim/host/rank/libc.h"

struct rank;

/* Returns where the calling actor's part lies: in its MPI state, or before MPI_Init in a place of
 * its own. NULL when the layer is inert, and for actors that are no program. */
struct libc *libc_self(void);

/* Moves what the calling rank has had before MPI_Init to its MPI state. */
void libc_begin(struct libc *in_mpi);

/* Once, when the layer begins: from then on names that programs have libc invent follow from the
 * seed (wrap_system.c). */
void system_begin(void);

/* Before an image of a rank is taken: puts into its MPI state what libraries hold for it. */
void libc_collect(struct rank *);

/* After it was put back: what libraries hold is not its own any more. */
void libc_restored(struct rank *);

/* The part of both that concerns Fortran's RANDOM_NUMBER. */
void random_collect(struct rank *);
void random_restored(struct rank *);

#endif
