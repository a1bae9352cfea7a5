/* Carries messages between the processes of one exploration, by real MPI.
 *
 * mpi.c implements this transport in a shared object of its own, which launcher.c loads. Nothing
 * else in `recline check` is linked with an MPI library, so the symbols of the library never meet
 * those of SimGrid's SMPI. One thread of a process uses the transport.
 */
#ifndef RECLINE_PROCESS_TRANSPORT_H
#define RECLINE_PROCESS_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Describes checkpoints of all processes by one of recline's own protocols (mpi/real_host.h). */
struct transport_checkpoints {
  const char *protocol, *folder;
  double every; /* seconds from one checkpoint to the next */
  void *ctx;
  bool (*save)(void *ctx, FILE *); /* writes all that a process needs to go on */
  /* reads what `save` has written; returns false if it cannot */
  bool (*restore)(void *ctx, FILE *);
};

struct transport {
  unsigned rank, size; /* number of this process, and how many processes there are */

  /* Sends at most INT_MAX bytes of malloc()ed memory, which the transport then owns, and returns at
   * once. Messages from one process to another arrive in the order of sending. */
  void (*send)(unsigned to, void *bytes, size_t size);

  /* Returns the next message, which the caller frees with free(), or NULL if none has come. */
  void *(*receive)(size_t *size);

  /* returns the number of bytes that were given to send() and have not left yet */
  size_t (*queued)(void);

  /* Pauses. If there is still nothing to receive, each pause is longer than the last. */
  void (*idle)(void);

  /* Replaces the first `sums` values by their sums over all processes, and the next `most` values
   * by the largest ones. All processes must call this function. A checkpoint may be taken within
   * the call, and a restored process returns from the call. */
  void (*combine)(uint64_t *values, unsigned sums, unsigned most);

  /* Begins checkpoints, before anything is sent. They end when all processes call `last` after the
   * same combine(). Returns whether this process was restored from a checkpoint. */
  bool (*checkpoint)(const struct transport_checkpoints *);
  void (*safe_point)(void); /* a checkpoint may be taken here */
  /* ends checkpoints; if `keep`, the last checkpoint stays after the end */
  void (*last)(bool keep);

  void (*end)(void); /* ends the transport; all processes must call it, as their last call */
};

static inline uint64_t transport_sum(const struct transport *transport, uint64_t value)
{
  transport->combine(&value, 1, 0);
  return value;
}

/* RECLINE_TRANSPORT is the name of the only function of the shared object. An error of the MPI
 * library ends the process. */
#define RECLINE_TRANSPORT "recline_transport"
typedef const struct transport *transport_begin(void);

#endif
