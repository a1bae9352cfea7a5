/* Lets processes walk side by side. Each takes every N-th walk, and their findings are read in the
 * order of the walks, so results do not depend on the number of processes. Walks have processes of
 * their own, as a protocol may end one, and protocols run under guards of their process. */
#ifndef RECLINE_CREW_H
#define RECLINE_CREW_H

#include "verify/walk/tally.h"

struct crew {
  unsigned workers;
  uint64_t until; /* number of walks; UINT64_MAX: no bound */
  double seconds; /* 0: no bound */
  /* Takes walk `number`. */
  void (*walk)(void *data, uint64_t number, struct walked *);
  void *data;
};

enum crew_end {
  CREW_DONE,     /* all walks, or the time is over */
  CREW_VIOLATED, /* the last walk that was read found a violation */
  CREW_STOPPED,  /* by a signal */
  CREW_LOST,     /* a process ended before it could report its walk */
  CREW_NONE      /* no process could be started; errno says why */
};

/* Walks, and adds up in `tally` all walks up to the last one that counts, whose record is `last`.
 * With CREW_LOST, its number is that of the lost walk. A terminal shows `what`. */
enum crew_end crew_walk(const struct crew *, const char *what, struct tally *tally,
                        struct walked *last);

#endif
