/* Keeps the state of libc that each rank has for itself (sim/host/rank/libc.h). */
#ifndef RECLINE_WRAP_LIBC_H
#define RECLINE_WRAP_LIBC_H

#include "sim/host/rank/libc.h"

struct rank;

/* Returns the calling actor's state, which lies in its MPI state or, before MPI_Init, in separate
 * memory. Returns NULL if the layer is inert or the actor has no program. */
struct libc *libc_self(void);

/* Moves the calling rank's state from before MPI_Init to its MPI state. */
void libc_begin(struct libc *in_mpi);

/* Makes names that libc invents for programs follow from the seed (wrap_system.c). Call it once,
 * when the layer begins. */
void system_begin(void);

/* Copies what libraries hold for a rank into its MPI state. It must be called before an image of
 * the rank is taken.
 */
void libc_collect(struct rank *);

/* Notes that libraries do not hold the rank's state any more. Call it after an image was put back.
 */
void libc_restored(struct rank *);

/* random_collect() and random_restored() do the part of libc_collect() and libc_restored() that
 * concerns Fortran's RANDOM_NUMBER. */
void random_collect(struct rank *);
void random_restored(struct rank *);

#endif
