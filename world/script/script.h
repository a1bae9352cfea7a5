/* Reads programs that are scripts of MPI operations, which both hosts run.
 *
 *     rank 0: send 1 tag 7, recv any
 *     rank 1: recv 0 tag 7, checkpoint, choose 2, send 0
 *     rank *: ...                            every rank not named elsewhere
 *
 * One line per rank, operations separated by commas, `#` starts a comment:
 *     send D [tag T] [bytes N]     standard send to rank D (tag 0 and 16 bytes unless given)
 *     ssend D [tag T] [bytes N]    the same, but the program waits until the message was given to a
 *                                  receive or was drained; after a restart it waits no longer
 *     recv S|any [tag T|any]       blocking receive
 *     irecv X S|any [tag T|any]    post a receive and call it X (a letter)
 *     wait X                       wait until receive X is complete
 *     cancel X                     the same; but if nothing has come for X, cancel X and make a
 *                                  blocking receive in its place
 *     test X                       complete X if something has come for it; a later wait or test
 *                                  of a receive that is complete passes
 *     waitany X Y                  complete X or Y, when something has come for it; a `wait` for
 *                                  each of them must follow
 *     if N ( ... )                 the operations in parentheses, if the last choose, test or
 *                                  waitany came out as N (waitany: 0 is X), or the last receive
 *                                  from `any` was given a message of rank N; in them only sends,
 *                                  recv, choose, output, checkpoint, compute, repeat and if
 *     member C                     become a member of communicator C, 1 to 3, whose members are
 *                                  all ranks that ever do so. Must follow an allreduce, which is
 *                                  the call that makes C. A second `member C` means that C was
 *                                  freed, and that its number is used again
 *     ... on C                     behind sends, recv, irecv and collectives: on communicator C
 *     output [bytes N]             an output to the outside, which shows the history, too
 *     choose N                     a random choice among 0 .. N-1
 *     bcast R, reduce R            single-sender and single-receiver collective with root R
 *     allreduce, barrier           the other two classes; all ranks must call the same in turn
 *     ... bytes N                  behind collectives with data: the bytes of each rank, as many
 *                                  on all
 *     checkpoint                   a place where a checkpoint is allowed
 *     iteration                    the same, where the next iteration begins, counted from 1
 *     compute T                    time T on the SMPI host, nothing in the explorer
 *     repeat K ( ... )             the operations in parentheses, K times
 *     window                       a window of two numbers on each rank, 0 at first; once, on all
 *                                  ranks: MPI_Win_create, which makes communicator 3
 *     put D C V                    number C of rank D's window becomes V
 *     accumulate D C V             V is added to that number
 *     get D C                      the program sees that number when the access is complete
 *     fetch D C V                  the same, and V is added to the number: MPI_Fetch_and_op
 *                                  V is a number, `last` or `last+N`. `last` is what `if` asks
 *                                  for, or the number that was fetched or loaded after that
 *     load C                       the program sees number C of its own window
 *     fence                        MPI_Win_fence
 *     post D, wait window          MPI_Win_post for rank D; the MPI_Win_wait for it
 *     start D, complete            MPI_Win_start for rank D; the MPI_Win_complete for it
 *     lock D [shared]              MPI_Win_lock, exclusive unless it is shared
 *     flush D, unlock D            MPI_Win_flush, MPI_Win_unlock
 *     free K                       up to K messages to any rank, at any time; arrivals are
 *                                  taken at once (explorer only, and for all ranks or none)
 *
 * A message carries its sender's whole history (a digest of what it received and chose), so that a
 * wrong replay shows in its receiver's history too; a message of less than 16 bytes carries as much
 * of the digest as it has room for. Calls of windows become the messages that the layer makes of
 * them (sim/mpi/windows/window.h); these carry accesses and what was fetched, which is all that a
 * program sees of them. Ranks with locks serve accesses at the same points as the layer: when they
 * send, receive, flush, unlock or wait for their own lock. They meet before a collective, and at
 * the end. */
#ifndef RECLINE_SCRIPT_H
#define RECLINE_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

enum script_kind {
  SCRIPT_SEND,
  SCRIPT_RECV,
  SCRIPT_IRECV,
  SCRIPT_WAIT,
  SCRIPT_CHOOSE,
  SCRIPT_CHECKPOINT,
  SCRIPT_COMPUTE,
  SCRIPT_COLLECTIVE,
  SCRIPT_FREE, /* one message to any rank */
  SCRIPT_CANCEL,
  SCRIPT_END,
  SCRIPT_TEST,
  SCRIPT_WAITANY,
  SCRIPT_IF,
  SCRIPT_MEMBER,
  SCRIPT_OUTPUT,
  /* Operations on windows, as they are written. Of these, only ACCESS and LOAD stay in `ops`. */
  SCRIPT_WINDOW,
  SCRIPT_ACCESS,
  SCRIPT_LOAD,
  SCRIPT_FENCE,
  SCRIPT_POST,
  SCRIPT_WAIT_WINDOW,
  SCRIPT_START,
  SCRIPT_COMPLETE,
  SCRIPT_LOCK,
  SCRIPT_FLUSH,
  SCRIPT_UNLOCK,
  /* Operations that replace them in `ops`, beside messages. */
  SCRIPT_OWN,      /* accesses to the rank's own window */
  SCRIPT_SEE,      /* the program sees what its accesses have fetched */
  SCRIPT_SERVE,    /* serves until a receive is complete, or until the rank has its own lock */
  SCRIPT_LOCK_OWN, /* a lock of the rank's own window */
  SCRIPT_UNLOCK_OWN
};

enum script_access { ACCESS_PUT, ACCESS_GET, ACCESS_ACCUMULATE, ACCESS_FETCH };

enum {
  SCRIPT_NAMES = 8, /* receives that can be outstanding under a name: a .. h */
  SCRIPT_COMMS = 4, /* communicators, MPI_COMM_WORLD among them */
  SCRIPT_WINDOW_COMM = SCRIPT_COMMS - 1,
  SCRIPT_CELLS = 2,   /* numbers in a window */
  SCRIPT_PENDING = 4, /* accesses of a rank that are not complete */
  SCRIPT_WINDOW_RANKS = 4,
  /* values of `name` in SERVE: the rank waits for nothing, or for its own lock */
  SCRIPT_NOTHING = -1,
  SCRIPT_GRANT = -2
};

struct operation {
  enum script_kind kind;
  int peer; /* SEND, RECV, IRECV, CANCEL; RCL_ANY */
  int tag;  /* SEND, RECV, IRECV, CANCEL; RCL_ANY. WAITANY: the second name */
  int comm; /* SEND, RECV, IRECV, CANCEL, COLLECTIVE, MEMBER: communicator; in a collective that is
               spelled out, SCRIPT_HIDDEN + communicator */
  int name; /* IRECV, WAIT, CANCEL: 0 .. SCRIPT_NAMES-1; RECV uses the slot SCRIPT_NAMES */
  unsigned count; /* CHOOSE; CHECKPOINT: number of the iteration that begins, 0: none; IF: N; SEND:
                     1 if it is synchronous; LOCK: 1 if it is shared */
  unsigned skip;  /* IF: operations in its parentheses */
  double seconds; /* COMPUTE */
  bool sized;     /* SEND, OUTPUT, COLLECTIVE: it has `bytes` bytes; otherwise SCRIPT_BYTES */
  unsigned bytes;
  int flow; /* COLLECTIVE: enum rcl_flow; its root is `peer`. ACCESS: enum script_access */
  /* ACCESS, LOAD: number of the window's cell. ACCESS: the value that it gives is `value`, plus (if
   * `last` is set) what IF asks for; `name` is the index among the rank's accesses that are not
   * complete. */
  unsigned cell, value;
  bool last;
  /* Accesses that go together are written[rank][from .. to - 1], to `peer`. */
  unsigned from, to;
  int lock;       /* SEND of accesses, LOCK_OWN: the requested lock (window_rules.h) */
  bool unlocks;   /* SEND of accesses: the lock is given back afterwards */
  unsigned place; /* 1 + the index in `written` of the operation for which the program sends this;
                     0: the operation's index in `ops` counts */
  bool unseen; /* SEND, RECV, WAIT, COLLECTIVE: the message belongs to a window, so the program does
                  not see it */
};

enum { SCRIPT_BYTES = 16, SCRIPT_BYTES_MAX = 1 << 24 };

static inline unsigned script_bytes(const struct operation *op)
{
  return op->sized ? op->bytes : SCRIPT_BYTES;
}

/* Returns whether the access brings back the value that it finds. */
static inline bool access_fetches(const struct operation *access)
{
  return access->flow == ACCESS_GET || access->flow == ACCESS_FETCH;
}

struct script {
  int ranks;
  bool free;              /* every operation is FREE */
  bool branches;          /* some operation is IF */
  bool synchronous;       /* some send is synchronous */
  bool outputs;           /* some operation is OUTPUT */
  bool windows;           /* there is a window */
  bool locks;             /* windows are locked */
  bool spelled;           /* collectives are spelled out as messages */
  bool *members;          /* [rank * SCRIPT_COMMS + comm] */
  struct operation **ops; /* ops[rank] ends with SCRIPT_END; loops are unrolled */
  /* the operations as the text has them, or NULL if they are as in `ops` */
  struct operation **written;
};

/* Parses `text` for `ranks` ranks. The caller frees the script with script_free(). On an error
 * returns NULL, and sets *line (from 1) and *message, which the caller frees with free(): what is
 * wrong and what was expected. The parser is plain C, because the MPI program that runs scripts
 * contains it, too. */
struct script *script_parse(const char *text, int ranks, int *line, char **message);
void script_free(struct script *);

/* Returns the word with which an operation begins, such as "send". Static. */
const char *script_word(const struct operation *);

/* Returns whether `rank` is, or will be, a member of communicator `comm`, which may be hidden. */
bool script_is_member(const struct script *, int comm, int rank);

/* Replaces collectives by the messages of which they consist, for protocols that see such messages.
 * They go to and from the root, or rank 0, in the order of ranks, and have a context of their own
 * (SCRIPT_HIDDEN). A script without collectives stays as it is. Returns false, and changes nothing,
 * if that makes too many operations. */
enum { SCRIPT_HIDDEN = SCRIPT_COMMS };
bool script_spell_out(struct script *);

#endif
