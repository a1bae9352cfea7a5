/* Messages between the processes of one exploration: what real MPI does for them.
 *
 * mpi.c implements it, in a shared object of its own that launch.c loads: no other part of recline
 * is linked with an MPI library, so its symbols never meet those of SimGrid's SMPI. One thread of a
 * process uses it.
 */
#ifndef RECLINE_TRANSPORT_H
#define RECLINE_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

struct transport {
  unsigned rank, size; /* this process, of so many */

  /* Sends memory of malloc(), which is the transport's from now on, and returns at once. Messages
   * from one process to another arrive in the order of sending. At most INT_MAX bytes. */
  void (*send)(unsigned to, void *bytes, size_t size);

  /* The next message, the caller's to free(). NULL: none has come. */
  void *(*receive)(size_t *size);

  size_t (*queued)(void); /* bytes that are sent and not on their way yet */

  /* Gives up the processor for a moment: longer the more often there was nothing to receive. */
  void (*idle)(void);

  /* Of each of the `count` values the sum, or the largest, over all processes: all have to call. */
  void (*sum)(uint64_t *values, unsigned count);
  void (*largest)(uint64_t *values, unsigned count);

  void (*end)(void); /* all have to call; nothing may be called after it */
};

/* The one function of the shared object, RECLINE_TRANSPORT by name. Where the library has an error
 * the process ends. */
#define RECLINE_TRANSPORT "recline_transport"
typedef const struct transport *transport_begin(void);

#endif
