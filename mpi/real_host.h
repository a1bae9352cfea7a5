/* Declares the host for real MPI. Each process has one protocol object, which gets the events of
 * program and network; the host carries out the protocol's actions. Checkpoints are at the
 * application level: an image holds the data that the program protects. When a process is killed,
 * the launcher ends the others. When they are started again, all go on from the last committed
 * checkpoint.
 *
 *     real_calls.c       the calls of MPI that programs make
 *     real_refused.c     the calls of MPI that the host refuses
 *     real_program.c     the calls of recline.h
 *     real_host.c        events in, actions carried out
 *     real_messages.c    messages of the program
 *     real_queues.c      payloads and queues of messages; posted receives; slots
 *     real_collectives.c collectives
 *     real_wire.c        the MPI library underneath: one channel for each pair of processes
 *     real_data.c        the data that the program protects
 *     real_storage.c     parts of checkpoints, the commit record
 *     real_redistribution.c  checkpoints of another number of processes
 *     real_options.c     the environment; errors
 *     real_trace.c       the trace of this process, for `recline join`
 *     real_account.c     the time of this process, by activity
 *
 * One thread of a process does all work, in calls of the program. An error of the user ends all
 * processes with one line and exit code 64. A protocol that gives up ends them with 1, and an error
 * of recline with 3.
 */
#ifndef RECLINE_REAL_HOST_H
#define RECLINE_REAL_HOST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/box.h"

struct real_options {
  const char *protocol; /* name of the protocol in the registry */
  /* Folder for checkpoints, which all processes can reach. It is made if it does not exist. */
  const char *folder;
  double every;      /* seconds from a commit to the next checkpoint */
  uint32_t capacity; /* entries of each list of the protocol */
  bool trace;        /* whether traces are written into the folder */
  bool varies;       /* the program may take another way in a new run, so protocols that rely on
                        repetition are refused */
};

/* Lists the places where a checkpoint is allowed, or an image was taken, with the numbers of
 * recline.h. */
enum real_place { REAL_NOWHERE, REAL_CHECKPOINT, REAL_BARRIER, REAL_END };

/* Lists the activities on which a process spends time. */
enum real_activity {
  REAL_COMPUTE, /* the program, between calls */
  REAL_MPI,
  REAL_PROTOCOL,
  REAL_CHECKPOINTS, /* capturing, writing, and being held for a checkpoint */
  REAL_RESTART,
  REAL_ACTIVITIES
};

/* Accounts for the time until here, and begins an activity. Returns the previous activity, to which
 * a function switches back at its end. */
enum real_activity real_switch(enum real_activity);

/* Starts the process, perhaps after a crash. All processes of `comm` call this; the host makes its
 * own communicators from `comm`. */
void real_begin(MPI_Comm comm, const struct real_options *);

/* Ends checkpoints: no checkpoint is taken after this call. All processes call it after the same
 * collective call. */
void real_end_checkpoints(void);

/* Ends the program. Returns when the program has ended in all processes. Removes the checkpoints
 * unless `keep` is set. */
void real_end(bool keep);

bool real_is_on(void); /* true between real_begin() and real_end() */

/* Ends all processes, because the program makes a call that the host does not have. */
_Noreturn void real_refuse(const char *call, const char *expected);

/* Ends all processes if the environment has an unknown setting of recline. */
void real_check_environment(void);

/* Returns the options in the environment (docs/mpi-host.md). `folder` is NULL if the environment
 * names none. */
struct real_options real_options_of_environment(void);

/* ---- the program's data ---- */

/* Describes a box of an array of `dimensions` dimensions, as recline_protect_distributed() has it.
 * If `dimensions` is 0, the memory is no part of an array. */
enum { REAL_DIMENSIONS = BOX_DIMENSIONS };
struct real_shape {
  int64_t dimensions;
  int64_t whole[REAL_DIMENSIONS], first[REAL_DIMENSIONS], part[REAL_DIMENSIONS];
};

/* Protects memory of the program: `count` items of `item_bytes` bytes; `type` is the number of
 * their type. Data from an image are put back only into memory of the same type and of at least
 * their size. `shape` may be NULL. */
void real_protect(int id, void *address, size_t count, size_t item_bytes, int type,
                  const struct real_shape *shape);
void real_unprotect(int id);

/* Holds the functions for data that are not plain memory: `save` writes them, `restore` reads them.
 * Both return false if they fail. */
struct real_stream {
  void *ctx;
  bool (*save)(void *ctx, FILE *);
  bool (*restore)(void *ctx, FILE *);
};
void real_protect_stream(int id, const struct real_stream *);

enum real_place real_restarts(void); /* the place of the image until the data are put back */
/* returns the number of bytes of `id` in the image, or 0 if there are none */
size_t real_protected_bytes(int id);
enum real_place real_restore(void); /* puts the data back; returns the image's place */

/* Allows a checkpoint here. `iteration` is the iteration that begins here, or 0 if none does.
 * Protocols below the matching take in messages in this call only, because any message may ask them
 * for a capture. So a program that waits for a message must make this call again and again. */
void real_safe_point(uint32_t iteration);

/* ---- messages, in bytes ---- */

/* numbers of communicators, as the protocol sees the communicators */
enum { REAL_WORLD, REAL_COLLECTIVES };

struct real_receive; /* a posted receive */

void real_send(int peer, int tag, int comm, const void *bytes, size_t size);

/* Posts a receive. `peer` and `tag` may be RCL_ANY. The caller must take a receive that is done. */
struct real_receive *real_post(int peer, int tag, int comm);
/* Returns whether the receive is done. The answer counts as a choice of the program. */
bool real_test(struct real_receive *);
void real_wait(struct real_receive *);

/* Returns the bytes of the message, which the caller frees with free(). Frees the receive. `peer`
 * and `tag` may be NULL. */
void *real_take(struct real_receive *, size_t *size, int *peer, int *tag);

/* Returns the next message on a communicator, from any process with any tag, as real_take() does,
 * or NULL if none has come. On one communicator, a program uses either real_poll() or the calls
 * above. */
void *real_poll(int comm, size_t *size, int *peer);

/* returns how many bytes the program has sent that are not on their way yet */
size_t real_queued(void);
void real_idle(void); /* gives the processor away for a moment */

/* ---- collectives: all processes make these calls, in the same order ---- */

void real_barrier(void);

/* Sends bytes from `root` to all others. All processes know `size`. */
void real_broadcast(int root, void *bytes, size_t size);

/* Collects contributions of `size` bytes at `root`, in `all`, in the order of ranks. Elsewhere
 * `all` may be NULL. */
void real_gather(int root, const void *bytes, size_t size, void *all);

/* Replaces the first `sums` values by their sums over all processes, and the next `most` values by
 * the largest ones. There are at most REAL_COMBINED values. If `safe`, a checkpoint may be taken
 * within the call. A program that restarts from that checkpoint makes the same call again, with any
 * values: the contributions of the first call count. */
enum { REAL_COMBINED = 64 };
void real_combine(uint64_t *values, unsigned sums, unsigned most, bool safe);

#endif
