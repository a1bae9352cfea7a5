/* The host for real MPI: one protocol object in each process, fed with what the program and the
 * network do, its actions carried out. Checkpoints are at the application level: an image has what
 * the program protects. When a process is killed the launcher ends the others; started again, all
 * go on from the last checkpoint that was committed.
 *
 *     real_calls.c       the calls of MPI that programs make
 *     real_program.c     the calls of recline.h
 *     real_host.c        events in, actions carried out
 *     real_messages.c    messages of the program
 *     real_queues.c      payloads, queues, posted receives, slots
 *     real_collectives.c collectives
 *     real_wire.c        the MPI library underneath: one channel for each pair of processes
 *     real_data.c        what the program protects
 *     real_storage.c     parts of checkpoints, the commit record
 *     real_options.c     the environment; errors
 *     real_trace.c       what this process does, for `recline join`
 *
 * All in a process is done by one thread, in calls of the program. Errors of the user's end all
 * processes with one line, exit code 64; a protocol that gives up, with 1; errors of recline, with
 * 3.
 */
#ifndef RECLINE_REAL_HOST_H
#define RECLINE_REAL_HOST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct real_options {
  const char *protocol; /* name in the registry */
  const char *folder;   /* of checkpoints, which all processes reach; made if it is not there */
  double every;         /* seconds from a commit to the next checkpoint */
  uint32_t capacity;    /* entries of each list of the protocol */
  bool trace;           /* write what happens to the folder */
  bool varies; /* run again, the program may do something else: protocols that rest on it that it
                  does not are refused */
};

/* Where a checkpoint is allowed, or an image was taken: the numbers of recline.h. */
enum real_place { REAL_NOWHERE, REAL_CHECKPOINT, REAL_BARRIER, REAL_END };

/* Begins in all processes of `comm`, of which it makes communicators of its own: the process
 * starts, or starts again. */
void real_begin(MPI_Comm comm, const struct real_options *);

/* From here on no checkpoint is taken. All processes call it behind the same collective call. */
void real_end_checkpoints(void);

/* The program ends. Returns when it has ended everywhere; removes the checkpoints, unless it is to
 * `keep` them. */
void real_end(bool keep);

bool real_is_on(void); /* between these two */

/* Ends all processes: the program makes a call that the host does not have. */
_Noreturn void real_refuse(const char *call, const char *expected);

/* Ends all processes where the environment has a setting of recline's that there is not. */
void real_check_environment(void);

/* The options that the environment names (docs/mpi-host.md); `folder` is NULL where it names none.
 */
struct real_options real_options_of_environment(void);

/* ---- the program's data ---- */

/* Memory of the program; `type` and `item_bytes` are checked when it is put back. */
void real_protect(int id, void *address, size_t bytes, int type);
void real_unprotect(int id);

/* What is not memory as it stands: `save` writes it, `restore` reads it; false: it cannot. */
struct real_stream {
  void *ctx;
  bool (*save)(void *ctx, FILE *);
  bool (*restore)(void *ctx, FILE *);
};
void real_protect_stream(int id, const struct real_stream *);

enum real_place real_restarts(void); /* until the data are put back */
size_t real_protected_bytes(int id); /* in the image; 0: none */
enum real_place real_restore(void);  /* puts them back */

/* A checkpoint is allowed here; `iteration` begins, 0: none. Protocols below the matching take in
 * messages nowhere else, as any message may ask them for a capture: a program that waits for one
 * has to come here again and again. */
void real_safe_point(uint32_t iteration);

/* ---- messages, in bytes ---- */

enum { REAL_WORLD, REAL_COLLECTIVES }; /* numbers of communicators, as the protocol sees them */

struct real_receive; /* posted */

void real_send(int peer, int tag, int comm, const void *bytes, size_t size);

/* Peer and tag may be RCL_ANY. What is done has to be taken. */
struct real_receive *real_post(int peer, int tag, int comm);
bool real_test(struct real_receive *); /* whether it is done; a choice of the program's */
void real_wait(struct real_receive *);

/* Its bytes, the caller's to free(); the rest may be NULL. The receive is gone. */
void *real_take(struct real_receive *, size_t *size, int *peer, int *tag);

/* The next message on a communicator, from any process with any tag, as real_take() gives it; NULL:
 * none has come. A communicator is received from by this or by the calls above, not by both. */
void *real_poll(int comm, size_t *size, int *peer);

size_t real_queued(void); /* bytes that are sent and not on their way yet */
void real_idle(void);     /* gives the processor away for a moment */

/* ---- collectives: all processes call, in the same order ---- */

void real_barrier(void);

/* To all others, from `root`: bytes that all know the size of. */
void real_broadcast(int root, void *bytes, size_t size);

/* At `root` all contributions of `size` bytes, by rank, in `all`; elsewhere it may be NULL. */
void real_gather(int root, const void *bytes, size_t size, void *all);

/* Replaces the first `sums` values by their sums over all processes, and the next `most` by the
 * largest; at most REAL_COMBINED values. If `safe`, a checkpoint may be taken within the call, from
 * which the program comes back to the same call with any values: the contributed ones stand. */
enum { REAL_COMBINED = 64 };
void real_combine(uint64_t *values, unsigned sums, unsigned most, bool safe);

#endif
