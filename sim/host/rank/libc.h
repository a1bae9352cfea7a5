/* Holds the state that libc keeps once for a process. All ranks are in one process, but each
 * program expects to have this state alone, so under a protocol each rank has its own. The state
 * lies in the MPI state and rolls back: after a rollback a program draws the same random numbers
 * again. */
#ifndef RECLINE_LIBC_H
#define RECLINE_LIBC_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
  RANDOM_BYTES = 128, /* number of bytes of the state of random() with which libc begins */
  FORTRAN_SEED = 8,   /* number of integers in the seed of Fortran's RANDOM_SEED */
  INTERVAL_TIMERS = 3 /* number of timers of a process: ITIMER_REAL, which alarm() also sets,
                         ITIMER_VIRTUAL and ITIMER_PROF */
};

struct libc {
  bool begun; /* the following fields are set */
  struct random_data random;
  char random_state[RANDOM_BYTES];
  struct drand48_data drand48;
  char *token; /* the text that strtok() has still to split */
  /* while the rank is in a call of the layer: the locale that the program has set for its
   * thread, or NULL for the locale of the process */
  locale_t locale;
  int option; /* value of optind after the last call of getopt(), or 0 if there was none */
  uint64_t random_words; /* number of random bytes that the program has got */
  struct {
    bool runs;              /* the timer runs, as far as the program knows */
    bool handled;           /* the program has a handler of its own for the timer's signal */
  } timer[INTERVAL_TIMERS]; /* by ITIMER_ constant */
  bool seeded;              /* `seed` is set */
  unsigned seedings;        /* number of seedings in which the program gave no seed */
  int32_t seed[FORTRAN_SEED];
};

#endif
