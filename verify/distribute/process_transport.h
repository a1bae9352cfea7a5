/* Messages between the processes of one exploration: what real MPI does for them.
 *
 * mpi.c implements it, in a shared object of its own that launcher.c loads: no other part of
 * recline is linked with an MPI library, so its symbols never meet those of SimGrid's SMPI. One
 * thread of a process uses it.
 */
#ifndef RECLINE_PROCESS_TRANSPORT_H
#define RECLINE_PROCESS_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Checkpoints of all processes by one of recline's own protocols (mpi/real_host.h). */
struct transport_checkpoints {
  const char *protocol, *folder;
  double every; /* seconds */
  void *ctx;
  bool (*save)(void *ctx, FILE *);    /* what a process has to go on from where it is */
  bool (*restore)(void *ctx, FILE *); /* false: it cannot */
};

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

  /* Replaces the first `sums` values by their sums over all processes, and the next `most` by the
   * largest. Every process has to call. With checkpoints, one may be taken within the call; a
   * process that is restored comes back to the call. */
  void (*combine)(uint64_t *values, unsigned sums, unsigned most);

  /* From here on there are checkpoints, until `last` is called, behind the same combine(). Returns
   * whether this process has been restored from one. Before anything is sent. */
  bool (*checkpoint)(const struct transport_checkpoints *);
  void (*safe_point)(void); /* one may be taken here */
  void (*last)(bool keep);  /* whether they outlive the end */

  void (*end)(void); /* all have to call; nothing may be called after it */
};

static inline uint64_t transport_sum(const struct transport *transport, uint64_t value)
{
  transport->combine(&value, 1, 0);
  return value;
}

/* The one function of the shared object, RECLINE_TRANSPORT by name. Where the library has an error
 * the process ends. */
#define RECLINE_TRANSPORT "recline_transport"
typedef const struct transport *transport_begin(void);

#endif
