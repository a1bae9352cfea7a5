/* What libc keeps once for a process and a program expects to have to itself: all ranks are one
 * process. Under a protocol each rank has its own. It lies in the MPI state and rolls back, so that
 * a program that draws random numbers draws the same ones again. */
#ifndef RECLINE_LIBC_H
#define RECLINE_LIBC_H

#include <locale.h>
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
  char *token;     /* what is left for strtok */
  locale_t locale; /* of its thread, while the rank is in a call of ours; NULL: the process's */
  int option;      /* optind after the last getopt; 0: there was none */
  uint64_t random_words; /* that the program has had of random bytes */
  bool seeded;           /* `seed` is set */
  unsigned seedings;     /* without a seed of the program's */
  int32_t seed[FORTRAN_SEED];
};

#endif
