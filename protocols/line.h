/* States the line invariant of a protocol: clauses on all ranks, channels and stored states.
 *
 * The numbered invariants of a protocol (rcl_protocol.invariants) are about one rank. The
 * consistency of a recovery line concerns several ranks: the messages that a rank has sent, the
 * messages under way, the messages that another rank has received, and the stored states of both
 * ranks. A protocol with global recovery may state the reason for this consistency beside its code
 * (protocols/lines/bookmark_line.h), in clauses that hold in every reachable state of all ranks
 * together. The world judges them as property `line-invariant` (world/line/judge_line.c).
 *
 * A clause is a pure function, as a step is: it reads struct rcl_whole only, writes nothing, and
 * terminates. Most clauses are about two ranks and see only these two. So the explorer judges each
 * combination of states of two ranks once, not again in each state of the world that has the
 * combination. */
#ifndef RECLINE_LINE_H
#define RECLINE_LINE_H

#include "protocols/protocol.h"

enum rcl_standing {
  RCL_STANDS_UP,     /* the rank runs, in the incarnation of the last recovery */
  RCL_STANDS_BEHIND, /* the rank's next event is the START of that recovery, from `state` */
  RCL_STANDS_DEAD    /* the rank has crashed, which is not detected yet, so its memory is lost */
};

enum {
  /* number of contributions of one rank that a clause is shown for another rank */
  RCL_WHOLE_SHARES = 2,
  RCL_WHOLE_MOST =
      1 << 28 /* in a proof, a number that a step raises by a constant stays below this */
};

/* Shows a rank to a clause. Each of its states has state_size(config) bytes. */
struct rcl_whole_rank {
  const struct rcl_config *config;
  const void *state; /* the state of the rank's protocol, or NULL if the rank is dead */
  /* The state from which a START of the committed checkpoint begins. It was stored with the
   * rank's log if there is a log, else with its image; it is all zeroes if the checkpoint is
   * RCL_FRESH. NULL if it is left out because no rank will start from it */
  const void *committed;
  /* the state that is stored with the image of the next checkpoint, or NULL if there is none or if
   * it is left out */
  const void *newer;
  /* the state that is stored with the log of the next checkpoint, or NULL in the same cases */
  const void *log;
  uint32_t standing;  /* enum rcl_standing */
  uint32_t held;      /* 1 after HOLD until RELEASE */
  uint32_t timer;     /* 1 after SET_TIMER until TIMER */
  uint32_t capturing; /* the checkpoint between CAPTURE and CAPTURED, or 0 if there is none */
  uint32_t storing;   /* checkpoint whose image is being written, or 0 if there is none */
  /* 1 if the image of the committed checkpoint is durable, or that checkpoint is RCL_FRESH */
  uint32_t restorable;
  /* checkpoint after the committed one whose image is durable, or 0 if there is none */
  uint32_t durable;
  uint32_t storing_log, durable_log; /* the log's counterparts of `storing` and `durable` */
  uint32_t logged;                   /* 1 if the log of the committed checkpoint is durable */
  /* number of stored images of checkpoints before the committed one; always 0 with levels of
   * storage, which keep some */
  uint32_t older;
  /* 1 if the program is in a barrier of all ranks: it has contributed `words`, and has not taken
   * what the others have contributed */
  uint32_t joined;
  uint32_t words[RCL_WORDS];
};

/* Counts the messages of the program from one rank to another, from the beginning. The world counts
 * them, independently of what the protocol counts. */
struct rcl_whole_count {
  uint32_t sent; /* messages that the sender's program has sent, including suppressed messages */
  /* messages that the receiver's program was given; below the matching, messages that were
   * delivered to it, matched or not */
  uint32_t given;
};

/* Shows control messages of one kind from one rank to another. If their count is 0, the rest is
 * zero. */
struct rcl_whole_control {
  uint32_t count; /* number of messages under way */
  /* place of the first such message among all control messages of the channel, from 0 */
  uint32_t place;
  uint32_t about, value; /* the two words of the first such message */
  /* number of program messages under way in front of the first such message, or 0 if program and
   * control messages share no channel that keeps its order */
  uint32_t ahead;
};

/* Shows the program's messages under way that have one of two colours. The colour is in the first
 * word of a message, where lai-yang writes one bit and message-tagging an index. A message is white
 * if that word and the number of the committed checkpoint are both even or both odd; otherwise it
 * is red. If no message has the colour, all fields are 0. */
struct rcl_whole_colour {
  uint32_t count;
  /* the first word of the first such message; a proof shows that all of them have the same first
   * word */
  uint32_t word;
};

/* Shows the channel from one rank to another, or to itself. Messages that a start has made obsolete
 * are not under way. */
struct rcl_whole_channel {
  uint32_t messages;                  /* messages of the program that are under way */
  struct rcl_whole_colour white, red; /* the same messages, separated by colour */
  /* `now` has counts of the programs as they are, `committed` of the programs in the images of the
   * committed checkpoint, `newer` of the programs in the images of the next one. The count of a
   * rank is 0 if the state that belongs to its program is NULL. */
  struct rcl_whole_count now, committed, newer;
  /* Contributions of the sender to barriers of all ranks that the receiver has yet to take. The
   * words of the oldest contribution come first. */
  uint32_t shares;
  uint32_t share[RCL_WHOLE_SHARES][RCL_WORDS];
  /* control messages by kind, in the order of rcl_protocol.controls */
  const struct rcl_whole_control *control;
};

struct rcl_whole {
  int ranks;
  /* the checkpoint to recover from, or RCL_FRESH if there is none */
  uint32_t committed;
  /* the checkpoint between COMMIT and COMMITTED, or 0 if there is none */
  uint32_t committing;
  const struct rcl_whole_rank *rank; /* all ranks, by number */
  const struct rcl_whole_channel
      *channel; /* the channel from rank i to rank j is at i * ranks + j */
};

/* Says for which ranks a clause is judged, and what the clause sees. For a dead rank only `stored`
 * clauses are judged. */
enum rcl_scope {
  RCL_OF_ALL, /* the clause is judged once, unless a rank is dead, and sees everything */
  /* judged for each rank `i`; all other ranks seem dead, without stored states, and all channels
   * but the one from `i` to itself seem empty */
  RCL_OF_RANK,
  /* judged for each channel from rank `i` to rank `j`, which may be the same rank; all other
   * ranks seem dead, without stored states, and all other channels seem empty */
  RCL_OF_PAIR,
  RCL_OF_RANK_AMONG_ALL, /* judged for each rank `i`, and sees everything */
  RCL_OF_PAIR_AMONG_ALL  /* judged for each channel, and sees everything */
};

/* The number of a clause is its place in the list, from 1. A clause without a name ends the
 * list. */
struct rcl_clause {
  const char *name; /* a word or two, for reports: "totals" */
  const char *text; /* what the clause says */
  enum rcl_scope scope;
  bool stored; /* the clause reads stored states only */
  bool (*holds)(const struct rcl_whole *, int i, int j);
};

static inline const struct rcl_whole_channel *rcl_whole_between(const struct rcl_whole *whole,
                                                                int from, int to)
{
  return &whole->channel[from * whole->ranks + to];
}

#endif
