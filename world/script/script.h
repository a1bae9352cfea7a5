/* Reads programs that are scripts of MPI operations. The explorer and the SMPI host run them.
 *
 *     rank 0: send 1 tag 7, recv any
 *     rank 1: recv 0 tag 7, checkpoint, choose 2, send 0
 *     rank *: ...                            every rank that has no line of its own
 *
 * There is one line for each rank. Operations are separated by commas, and `#` starts a comment:
 *     send D [tag T] [bytes N]     standard send to rank D (tag 0 and 16 bytes unless given)
 *     ssend D [tag T] [bytes N]    the same, but the program waits until the message was given to a
 *                                  receive or was drained; after a restart it no longer waits
 *     recv S|any [tag T|any]       blocking receive
 *     irecv X S|any [tag T|any]    post a receive and call it X (a letter)
 *     wait X                       wait until receive X is complete
 *     cancel X                     the same, but if nothing has come for X, cancel X and make a
 *                                  blocking receive in its place
 *     test X                       complete X if something has come for it; a later wait or test
 *                                  of a receive that is complete passes
 *     waitany X Y                  complete X or Y when something has come for one of them; a
 *                                  `wait` for each must follow
 *     if N ( ... )                 the operations in parentheses, if the last choose, test or
 *                                  waitany came out as N (for waitany, 0 means X), or if the last
 *                                  receive from `any` was given a message of rank N. Only sends,
 *                                  recv, choose, output, checkpoint, compute, repeat and if may
 *                                  stand in the parentheses
 *     member C                     become a member of communicator C, 1 to 3. Its members are all
 *                                  ranks that have this operation. Must follow an allreduce, which
 *                                  is the call that makes C. A second `member C` means that C was
 *                                  freed, and that its number is used again
 *     ... on C                     `on C` after sends, recv, irecv and collectives: on communicator
 *                                  C
 *     output [bytes N]             an output to the outside, which also shows the history
 *     choose N                     a random choice among 0 .. N-1
 *     bcast R, reduce R            single-sender and single-receiver collective with root R
 *     allreduce, barrier           the other two classes of collectives; all ranks must call the
 *                                  same collectives in the same order
 *     ... bytes N                  `bytes N` after collectives with data: the number of bytes of
 *                                  each rank, which must be the same on all ranks
 *     checkpoint                   a place where a checkpoint is allowed
 *     iteration                    such a place where the next iteration begins; iterations count
 *                                  from 1
 *     compute T                    time T on the SMPI host, nothing in the explorer
 *     repeat K ( ... )             the operations in parentheses, K times
 *     window                       a window of two numbers on each rank, which are 0 at first. This
 *                                  operation stands once, on all ranks: MPI_Win_create, which makes
 *                                  communicator 3
 *     put D C V                    number C of rank D's window becomes V
 *     accumulate D C V             V is added to number C of rank D's window
 *     get D C                      the program sees number C of rank D's window when the access is
 *                                  complete
 *     fetch D C V                  the same, and V is added to the number (MPI_Fetch_and_op)
 *                                  V is a number, `last` or `last+N`. `last` is the outcome that
 *                                  `if` tests, or a number that was fetched or loaded later
 *     load C                       the program sees number C of its own window
 *     fence                        MPI_Win_fence
 *     post D, wait window          MPI_Win_post for rank D, and its MPI_Win_wait
 *     start D, complete            MPI_Win_start for rank D, and its MPI_Win_complete
 *     lock D [shared]              MPI_Win_lock, exclusive unless it is shared
 *     flush D, unlock D            MPI_Win_flush, MPI_Win_unlock
 *     free K                       up to K messages to any rank, at any time; arrivals are
 *                                  taken at once (explorer only, and for all ranks or none)
 *
 * A message carries its sender's whole history (a digest of what it received and chose), so that a
 * wrong replay shows in its receiver's history too; a message of less than 16 bytes carries as much
 * of the digest as it has room for. Calls of windows become the messages that the layer makes of
 * them (sim/mpi/windows/window.h); these carry accesses and fetched numbers, and the program sees
 * only the numbers. Ranks with locks serve accesses at the same points as the layer does: when they
 * send, receive, flush, unlock or wait for their own lock. The ranks meet before a collective, and
 * at the end. */
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
  SCRIPT_FREE, /* sends one message to any rank */
  SCRIPT_CANCEL,
  SCRIPT_END,
  SCRIPT_TEST,
  SCRIPT_WAITANY,
  SCRIPT_IF,
  SCRIPT_MEMBER,
  SCRIPT_OUTPUT,
  /* Operations on windows, as the text has them. Only SCRIPT_ACCESS and SCRIPT_LOAD of these stay
   * in `ops`. */
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
  /* In `ops`, messages and the following operations replace the other operations on windows. */
  SCRIPT_OWN,      /* accesses to the rank's own window */
  SCRIPT_SEE,      /* the program sees the numbers that its accesses have fetched */
  SCRIPT_SERVE,    /* the rank serves until a receive is complete, or until it has its own lock */
  SCRIPT_LOCK_OWN, /* a lock of the rank's own window */
  SCRIPT_UNLOCK_OWN
};

enum script_access { ACCESS_PUT, ACCESS_GET, ACCESS_ACCUMULATE, ACCESS_FETCH };

enum {
  SCRIPT_NAMES = 8, /* number of names for receives: a to h */
  SCRIPT_COMMS = 4, /* number of communicators, with MPI_COMM_WORLD */
  SCRIPT_WINDOW_COMM = SCRIPT_COMMS - 1,
  SCRIPT_CELLS = 2,   /* how many numbers a window has */
  SCRIPT_PENDING = 4, /* largest number of accesses of a rank that are not complete */
  SCRIPT_WINDOW_RANKS = 4,
  /* values of `name` in SCRIPT_SERVE: the rank waits for nothing, or for its own lock */
  SCRIPT_NOTHING = -1,
  SCRIPT_GRANT = -2
};

struct operation {
  enum script_kind kind;
  int peer; /* SEND, RECV, IRECV, CANCEL: the peer, or RCL_ANY */
  int tag;  /* SEND, RECV, IRECV, CANCEL: the tag, or RCL_ANY. WAITANY: the second name */
  /* SEND, RECV, IRECV, CANCEL, COLLECTIVE, MEMBER: the communicator, or SCRIPT_HIDDEN +
   * communicator in a collective that is spelled out */
  int comm;
  int name; /* IRECV, WAIT, CANCEL: the name, 0 to SCRIPT_NAMES - 1; RECV uses SCRIPT_NAMES */
  /* CHOOSE: number of outcomes; CHECKPOINT: number of the iteration that begins, or 0; IF: N;
   * SEND: 1 if it is synchronous; LOCK: 1 if it is shared */
  unsigned count;
  unsigned skip;  /* IF: number of operations in its parentheses */
  double seconds; /* COMPUTE: the time */
  /* SEND, OUTPUT, COLLECTIVE: true if it has `bytes` bytes, false if it has SCRIPT_BYTES */
  bool sized;
  unsigned bytes;
  int flow; /* COLLECTIVE: enum rcl_flow, with `peer` as root. ACCESS: enum script_access */
  /* ACCESS, LOAD: number of the window's cell. ACCESS: the access gives `value` and, if `last` is
   * set, adds the outcome that IF tests; `name` is its index among the rank's accesses that are not
   * complete. */
  unsigned cell, value;
  bool last;
  /* The accesses to `peer` that travel together are written[rank][from] to written[rank][to -
   * 1]. */
  unsigned from, to;
  int lock;     /* SEND of accesses, LOCK_OWN: the requested lock (window_rules.h) */
  bool unlocks; /* SEND of accesses: the lock is given back afterwards */
  /* 1 + the index in `written` of the operation for which the program sends the message, or 0 if
   * the index in `ops` counts */
  unsigned place;
  /* SEND, RECV, WAIT, COLLECTIVE: true if the message belongs to a window, so that the program
   * does not see it */
  bool unseen;
};

enum { SCRIPT_BYTES = 16, SCRIPT_BYTES_MAX = 1 << 24 };

static inline unsigned script_bytes(const struct operation *op)
{
  return op->sized ? op->bytes : SCRIPT_BYTES;
}

/* Returns whether the access returns the value that it finds. */
static inline bool access_fetches(const struct operation *access)
{
  return access->flow == ACCESS_GET || access->flow == ACCESS_FETCH;
}

struct script {
  int ranks;
  bool free;        /* every operation is FREE */
  bool branches;    /* some operation is IF */
  bool synchronous; /* some send is synchronous */
  bool outputs;     /* some operation is OUTPUT */
  bool windows;     /* there is a window */
  bool locks;       /* windows are locked */
  bool spelled;     /* collectives are spelled out as messages */
  bool *members;    /* members[rank * SCRIPT_COMMS + comm]: the rank is a member of `comm` */
  /* by rank: its operations, with loops unrolled; the last one is SCRIPT_END */
  struct operation **ops;
  /* the operations as the text has them, or NULL if these are the same as in `ops` */
  struct operation **written;
};

/* Parses `text` for `ranks` ranks. The caller frees the script with script_free(). On an error
 * returns NULL, and sets *line (from 1) and *message, which says what is wrong and what was
 * expected and which the caller frees with free(). The parser is plain C, because the MPI program
 * that runs scripts contains it, too. */
struct script *script_parse(const char *text, int ranks, int *line, char **message);
void script_free(struct script *);

/* Returns the word with which an operation begins, such as "send", a static text. */
const char *script_word(const struct operation *);

/* Returns whether `rank` is, or will be, a member of communicator `comm`, which may be hidden. */
bool script_is_member(const struct script *, int comm, int rank);

/* Replaces collectives by the messages of which they consist, for protocols that see such messages.
 * The messages go to and from the root, or rank 0 if there is no root, in the order of ranks, and
 * have a context of their own (SCRIPT_HIDDEN). A script without collectives stays as it is. Returns
 * false, and changes nothing, if there would be too many operations. */
enum { SCRIPT_HIDDEN = SCRIPT_COMMS };
bool script_spell_out(struct script *);

#endif
