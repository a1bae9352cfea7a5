/* What libc keeps once for a process and a program expects to have to itself: all ranks are one
 * process. Under a protocol each rank has its own. It lies in the face and rolls back, so that a
 * program that draws random numbers draws the same ones again. */
#ifndef RECLINE_LIBC_H
#define RECLINE_LIBC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
  RANDOM_BYTES = 128, /* of the state of random(): what libc begins with */
  FORTRAN_SEED = 8    /* integers that RANDOM_SEED has */
};

struct libc {
  bool begun; /* what follows is set */
  struct random_data random;
  char random_state[RANDOM_BYTES];
  struct drand48_data drand48;
  char *token;       /* what is left for strtok */
  int option;        /* optind after the last getopt; 0: there was none */
  bool seeded;       /* `seed` is set */
  unsigned seedings; /* without a seed of the program's */
  int32_t seed[FORTRAN_SEED];
};

/* Where the calling actor's part lies: in its face, or before MPI_Init in a place of its own. NULL
 * when the layer is inert, and for whoever is no program. */
struct libc *libc_self(void);

/* Moves what the calling rank has had before MPI_Init to its face. */
void libc_begin(struct libc *in_face);

/* Before an image of a rank is taken: puts into its face what libraries hold for it. */
struct rank;
void libc_collect(struct rank *);

/* After it was put back: what libraries hold is not its own any more. */
void libc_restored(struct rank *);

/* The part of both that concerns Fortran's RANDOM_NUMBER. */
void random_collect(struct rank *);
void random_restored(struct rank *);

#endif
