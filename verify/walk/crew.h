/* Takes random walks (docs/walk.md) in several processes at a time. Each of N processes takes every
 * N-th walk, and findings are read in the order of the walks, so results do not depend on N. Walks
 * do not run in the calling process, because a protocol may end its process, and because the signal
 * handlers that confine a protocol (base/confine.h) belong to a whole process. */
#ifndef RECLINE_CREW_H
#define RECLINE_CREW_H

#include "verify/walk/tally.h"

struct crew {
  unsigned workers;
  uint64_t until; /* number of walks, or UINT64_MAX for no bound */
  double seconds; /* seconds for all walks, or 0 for no bound */
  /* Takes walk `number`. */
  void (*walk)(void *data, uint64_t number, struct walked *);
  void *data;
};

enum crew_end {
  CREW_DONE,     /* all walks are taken, or the time is over */
  CREW_VIOLATED, /* the last walk that was read found a violation */
  CREW_STOPPED,  /* a signal stopped the walks */
  CREW_LOST,     /* a process ended before it could report its walk */
  CREW_NONE      /* no process could be started; errno says why */
};

/* Takes the walks and adds their records to `tally`, in order, until a violation or another end.
 * Sets `last` to the record that was read last. With CREW_LOST it sets only the number in it, which
 * is the number of the lost walk. On a terminal a line shows the progress of `what`. */
enum crew_end crew_walk(const struct crew *, const char *what, struct tally *tally,
                        struct walked *last);

#endif
