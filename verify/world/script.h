/* Programs as scripts of MPI operations, which both hosts run.
 *
 *     rank 0: send 1 tag 7, recv any
 *     rank 1: recv 0 tag 7, checkpoint, choose 2, send 0
 *     rank *: ...                            every rank not named elsewhere
 *
 * One line per rank, operations separated by commas, `#` starts a comment:
 *     send D [tag T]               standard send to rank D (tag 0 unless given)
 *     ssend D [tag T]              the same, and the program goes on when its receiver has taken it
 *                                  for a receive, or it is drained; after a restart it goes on
 *     recv S|any [tag T|any]       blocking receive
 *     irecv X S|any [tag T|any]    post a receive and call it X (a letter)
 *     wait X                       complete it
 *     cancel X                     the same, but give it up if nothing has come for it, and then
 *                                  receive in its place, blocking
 *     test X                       complete it if something has come for it; a later wait or test
 *                                  of a receive that is complete passes
 *     waitany X Y                  complete one of the two for which something has come; `wait` for
 *                                  both comes later
 *     if N ( ... )                 the operations in parentheses, if the last choose, test or
 *                                  waitany came out as N (waitany: 0 is X), or the last receive
 *                                  from `any` was given a message of rank N; in them only sends,
 *                                  recv, choose, output, checkpoint, compute, repeat and if
 *     member C                     become a member of communicator C, 1 to 3; all that ever do are
 *                                  its members. It follows an allreduce, by which MPI makes it;
 *                                  again: it was freed, and its number is used again
 *     ... on C                     behind sends, recv, irecv and collectives: on communicator C
 *     output                       an output to the outside, which shows the history, too
 *     choose N                     a random choice among 0 .. N-1
 *     bcast R, reduce R            single-sender and single-receiver collective with root R
 *     allreduce, barrier           the other two classes; all ranks must call the same in turn
 *     checkpoint                   a place where a checkpoint is allowed
 *     iteration                    the same, where the next iteration begins, counted from 1
 *     compute T                    time T on the SMPI host, nothing in the explorer
 *     repeat K ( ... )             the operations in parentheses, K times
 *     free K                       up to K messages to any rank, at any time; arrivals are
 *                                  taken at once (explorer only, and for all ranks or none)
 * A message carries its sender's whole history (a digest of what it received and chose), so that
 * a wrong replay shows in its receiver's history too.
 */
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
  SCRIPT_OUTPUT
};

enum {
  SCRIPT_NAMES = 8, /* receives that can be outstanding under a name: X = a .. h */
  SCRIPT_COMMS = 4  /* communicators, MPI_COMM_WORLD among them */
};

struct operation {
  enum script_kind kind;
  int peer;       /* SEND, RECV, IRECV, CANCEL; RCL_ANY */
  int tag;        /* SEND, RECV, IRECV, CANCEL; RCL_ANY. WAITANY: the second name */
  int comm;       /* SEND, RECV, IRECV, COLLECTIVE, MEMBER: communicator; SCRIPT_HIDDEN + that in a
                     collective that is spelled out */
  int name;       /* IRECV, WAIT, CANCEL: 0 .. SCRIPT_NAMES-1; RECV uses the slot SCRIPT_NAMES */
  unsigned count; /* CHOOSE; CHECKPOINT: of the iteration that begins, 0: none; IF: N; SEND: 1 if
                     it is synchronous */
  unsigned skip;  /* IF: operations in its parentheses */
  double seconds; /* COMPUTE */
  int flow;       /* COLLECTIVE: enum rcl_flow; its root is `peer` */
};

struct script {
  int ranks;
  bool free;                  /* all operations are FREE */
  bool branches;              /* some operation is IF */
  bool synchronous;           /* some send is */
  bool outputs;               /* some operation is OUTPUT */
  bool *members;              /* [rank * SCRIPT_COMMS + comm] */
  struct operation **ops;     /* ops[rank] ends with SCRIPT_END; loops are unrolled */
  struct operation **written; /* as it was before it was spelled out; NULL: it was not */
};

/* Parses `text` for `ranks` ranks. On error returns NULL, sets *line (from 1) and *message (to
 * be freed with free()): what is wrong and what was expected. Plain C: also linked into the MPI
 * program that runs scripts. */
struct script *script_parse(const char *text, int ranks, int *line, char **message);
void script_free(struct script *);

/* The word that an operation begins with, such as "send". Static. */
const char *script_word(const struct operation *);

/* Whether `rank` is, or will be, a member of communicator `comm`, a hidden one too. */
bool script_is_member(const struct script *, int comm, int rank);

/* Puts messages in the place of collectives, for protocols to which these are the messages that
 * they consist of: to and from the root, or rank 0, on a context of their own (SCRIPT_HIDDEN), in
 * the order of ranks. A script without collectives stays as it is. False, and nothing is done, when
 * that would be too many operations. */
enum { SCRIPT_HIDDEN = SCRIPT_COMMS };
bool script_spell_out(struct script *);

#endif
