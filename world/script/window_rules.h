/* Declares the rules of one-sided communication that two kinds of windows share: the memory of
 * simulated programs (sim/mpi), and the few numbers in the states of scripts (world_windows.c). */
#ifndef RECLINE_WINDOW_RULES_H
#define RECLINE_WINDOW_RULES_H

#include <stdint.h>

/* Lists the tags on the communicator of a window. */
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

/* Describes a message that waits at the target, perhaps for a lock, or the target rank itself if it
 * waits for its own lock. */
struct lock_wait {
  int origin;
  int lock; /* the requested lock, or LOCK_NONE */
  struct lock_wait *next;
};

/* Returns the first waiting access that may be carried out, in the order of arrival, or NULL if
 * there is none. `held` has the lock of each origin. A request for a lock waits for all earlier
 * requests. A message without a request, from an origin that holds a lock, waits for earlier
 * messages of that origin only. */
struct lock_wait *locks_next(struct lock_wait *first, const uint8_t *held, int ranks);

#endif
