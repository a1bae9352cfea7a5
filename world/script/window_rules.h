/* The rules of one-sided communication that windows of simulated programs (sim/mpi: memory) share
 * with windows of scripts (world_windows.c: a few numbers in a state). */
#ifndef RECLINE_WINDOW_RULES_H
#define RECLINE_WINDOW_RULES_H

#include <stdint.h>

/* Tags on the communicator of a window. */
enum window_tag {
  TAG_POSTED,
  TAG_BYTES,
  TAG_ACCESSES,
  TAG_ANSWER,
  TAG_PASSIVE,
  TAG_REPLY,
  TAG_MEET
};

enum lock { LOCK_NONE, LOCK_SHARED, LOCK_EXCLUSIVE };

/* At the target: a message that waits, perhaps for a lock; or the rank itself, for its own. */
struct lock_wait {
  int origin;
  int lock; /* the lock that is asked for, or LOCK_NONE */
  struct lock_wait *next;
};

/* Returns the first waiting access that may be carried out, in the order of arrival, or NULL.
 * `held` has the lock of each origin. A request for a lock waits for all earlier requests; an
 * origin that holds a lock goes ahead of them. */
struct lock_wait *locks_next(struct lock_wait *first, const uint8_t *held, int ranks);

#endif
