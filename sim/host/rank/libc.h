/* Holds the state that libc keeps once for a process. All ranks are one process, but each program
 * expects this state for itself, so under a protocol each rank has its own. The state lies in the
 * MPI state and rolls back: after a rollback a program draws the same random numbers again. */
#ifndef RECLINE_LIBC_H
#define RECLINE_LIBC_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
  RANDOM_BYTES = 128, /* bytes of the state of random() with which libc begins */
  FORTRAN_SEED = 8,   /* integers that RANDOM_SEED has */
  INTERVAL_TIMERS = 3 /* of a process: ITIMER_REAL, which alarm() sets too, _VIRTUAL, _PROF */
};

struct libc {
  bool begun; /* the following fields are set */
  struct random_data random;
  char random_state[RANDOM_BYTES];
  struct drand48_data drand48;
  char *token;     /* the rest of the text for strtok */
  locale_t locale; /* while the rank is in a call of the layer: the locale that the program has set
                      for its thread; NULL: the locale of the process */
  int option;      /* optind after the last getopt, or 0 if there was none */
  uint64_t random_words; /* random bytes that the program has had */
  struct {
    bool runs;              /* the timer runs, as far as the program knows */
    bool handled;           /* the program has a handler of its own for the timer's signal */
  } timer[INTERVAL_TIMERS]; /* by ITIMER_ constant */
  bool seeded;              /* `seed` is set */
  unsigned seedings;        /* number of seedings in which the program gave no seed */
  int32_t seed[FORTRAN_SEED];
};

#endif
