/* The host for real MPI: one protocol object in each process, which gets the events of program and
 * network, and whose actions are carried out. Checkpoints are at the application level: an image
 * holds the data that the program protects. When a process is killed the launcher ends the others;
 * when started again, all go on from the last committed checkpoint.
 *
 *     real_calls.c       the calls of MPI that programs make
 *     real_program.c     the calls of recline.h
 *     real_host.c        events in, actions carried out
 *     real_messages.c    messages of the program
 *     real_queues.c      payloads, queues, posted receives, slots
 *     real_collectives.c collectives
 *     real_wire.c        the MPI library underneath: one channel for each pair of processes
 *     real_data.c        the data that the program protects
 *     real_storage.c     parts of checkpoints, the commit record
 *     real_options.c     the environment; errors
 *     real_trace.c       the trace of this process, for `recline join`
 *     real_account.c     where its time goes
 *
 * One thread of a process does all work, in calls of the program. Errors of the user end all
 * processes with one line and exit code 64; a protocol that gives up, with 1; errors of recline,
 * with 3.
 */
#ifndef RECLINE_REAL_HOST_H
#define RECLINE_REAL_HOST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct real_options {
  const char *protocol; /* name in the registry */
  /* Folder of checkpoints, which all processes reach; made if it does not exist. */
  const char *folder;
  double every;      /* seconds from a commit to the next checkpoint */
  uint32_t capacity; /* entries of each list of the protocol */
  bool trace;        /* write traces into the folder */
  bool varies; /* run again, the program may take another way: protocols that rely on its repeating
                  itself are refused */
};

/* Places where a checkpoint is allowed, or an image was taken, with the numbers of recline.h. */
enum real_place { REAL_NOWHERE, REAL_CHECKPOINT, REAL_BARRIER, REAL_END };

/* What a process spends its time with. */
enum real_activity {
  REAL_COMPUTE, /* the program, between calls */
  REAL_MPI,
  REAL_PROTOCOL,
  REAL_CHECKPOINTS, /* capturing, writing, being held for that */
  REAL_RESTART,
  REAL_ACTIVITIES
};

/* Accounts for the time until here, and says what follows. Returns what went before, for a function
 * to go back to at its end. */
enum real_activity real_switch(enum real_activity);

/* To be called by all processes of `comm`, from which it makes communicators of its own: the
 * process starts, or starts again. */
void real_begin(MPI_Comm comm, const struct real_options *);

/* From here on no checkpoint is taken. All processes call it after the same collective call. */
void real_end_checkpoints(void);

/* The program ends. Returns when it has ended everywhere; removes the checkpoints, unless `keep` is
 * set. */
void real_end(bool keep);

bool real_is_on(void); /* between these two */

/* Ends all processes: the program makes a call that the host does not have. */
_Noreturn void real_refuse(const char *call, const char *expected);

/* Ends all processes if the environment has an unknown setting of recline. */
void real_check_environment(void);

/* Returns the options in the environment (docs/mpi-host.md); `folder` is NULL if it has none.
 */
struct real_options real_options_of_environment(void);

/* ---- the program's data ---- */

/* Memory of the program; `type` and `item_bytes` are checked when it is put back. */
void real_protect(int id, void *address, size_t bytes, int type);
void real_unprotect(int id);

/* For data that are not plain memory: `save` writes them, `restore` reads them; false: it cannot.
 */
struct real_stream {
  void *ctx;
  bool (*save)(void *ctx, FILE *);
  bool (*restore)(void *ctx, FILE *);
};
void real_protect_stream(int id, const struct real_stream *);

enum real_place real_restarts(void); /* until the data are put back */
size_t real_protected_bytes(int id); /* bytes in the image; 0: none */
enum real_place real_restore(void);  /* puts them back */

/* A checkpoint is allowed here; `iteration` begins, 0: none. Protocols below the matching take in
 * messages nowhere else, as any message may ask them for a capture: a program that waits for one
 * has to come here again and again. */
void real_safe_point(uint32_t iteration);

/* ---- messages, in bytes ---- */

enum { REAL_WORLD, REAL_COLLECTIVES }; /* numbers of communicators, as the protocol sees them */

struct real_receive; /* posted */

void real_send(int peer, int tag, int comm, const void *bytes, size_t size);

/* Peer and tag may be RCL_ANY. A receive that is done must be taken. */
struct real_receive *real_post(int peer, int tag, int comm);
/* Returns whether the receive is done, which is a choice of the program. */
bool real_test(struct real_receive *);
void real_wait(struct real_receive *);

/* Returns the bytes of the message, for the caller to free(); the other pointers may be NULL. The
 * receive is freed. */
void *real_take(struct real_receive *, size_t *size, int *peer, int *tag);

/* Returns the next message on a communicator, from any process with any tag, as real_take() does;
 * NULL: none has come. A communicator is used with this or with the calls above, not with both. */
void *real_poll(int comm, size_t *size, int *peer);

size_t real_queued(void); /* bytes that are sent and not on their way yet */
void real_idle(void);     /* gives the processor away for a moment */

/* ---- collectives: all processes call, in the same order ---- */

void real_barrier(void);

/* Sends bytes from `root` to all others, which know their number. */
void real_broadcast(int root, void *bytes, size_t size);

/* Collects all contributions of `size` bytes at `root`, by rank, in `all`; elsewhere `all` may be
 * NULL. */
void real_gather(int root, const void *bytes, size_t size, void *all);

/* Replaces the first `sums` values by their sums over all processes, and the next `most` by the
 * largest; at most REAL_COMBINED values. If `safe`, a checkpoint may be taken within the call,
 * after which a restarted program comes back to the same call with any values: the earlier
 * contributions count. */
enum { REAL_COMBINED = 64 };
void real_combine(uint64_t *values, unsigned sums, unsigned most, bool safe);

#endif
