/* States the line invariant of a protocol: clauses on all ranks, channels and stored states.
 *
 * The numbered invariants of a protocol (rcl_protocol.invariants) are about one rank. The
 * consistency of a recovery line concerns several ranks: the messages that one has sent, those
 * under way, those that another has received, and the stored states of both. A protocol with global
 * recovery may state it beside its code (protocols/lines/bookmark_line.h), in clauses that hold in
 * every reachable state of the whole. The world judges them as property `line-invariant`
 * (world/line/judge_line.c).
 *
 * A clause is a pure function, as a step is: it reads struct rcl_whole only, writes nothing, and
 * terminates. Most clauses are about two ranks and see only these, so that the explorer judges each
 * combination of two ranks once, not once in each state that has it.
 */
#ifndef RECLINE_LINE_H
#define RECLINE_LINE_H

#include "protocols/protocol.h"

enum rcl_standing {
  RCL_STANDS_UP,     /* the rank runs, in the incarnation of the last recovery */
  RCL_STANDS_BEHIND, /* the rank's next event is the START of that recovery, from `state` */
  RCL_STANDS_DEAD    /* the rank has crashed, which is not detected yet, so its memory is lost */
};

enum {
  RCL_WHOLE_SHARES = 2, /* contributions of a rank that are shown to another */
  RCL_WHOLE_MOST =
      1 << 28 /* in a proof, a number that a step raises by a constant stays below this */
};

/* Shows a rank to a clause. Each of its states has state_size(config) bytes. */
struct rcl_whole_rank {
  const struct rcl_config *config;
  const void *state;     /* the state of its protocol; DEAD: NULL */
  const void *committed; /* the state from which a START of the committed checkpoint begins: the
                            one stored with its log if there is a log, else with its image; FRESH:
                            zeroes; NULL: left out, as no rank will start from it */
  /* the state that is stored with the image of the next checkpoint, or NULL if there is none, or
   * it is left out */
  const void *newer;
  const void *log;     /* the same for its log */
  uint32_t standing;   /* enum rcl_standing */
  uint32_t held;       /* 1: HOLD without RELEASE */
  uint32_t timer;      /* 1: SET_TIMER without TIMER */
  uint32_t capturing;  /* checkpoint between CAPTURE and CAPTURED, or 0 if there is none */
  uint32_t storing;    /* checkpoint whose image is being written, or 0 if there is none */
  uint32_t restorable; /* 1: the image of the committed checkpoint is durable, or the checkpoint is
                          FRESH */
  /* checkpoint after the committed one whose image is durable, or 0 if there is none */
  uint32_t durable;
  uint32_t storing_log, durable_log; /* the same for its log */
  uint32_t logged;                   /* 1: the log of the committed checkpoint is durable */
  uint32_t older;  /* number of images of checkpoints before the committed one; 0 with levels of
                      storage, which keep some */
  uint32_t joined; /* 1: the program is in a barrier of all ranks, has contributed `words` to it,
                      and has not taken what the others have contributed */
  uint32_t words[RCL_WORDS];
};

/* Counts the messages of the program from one rank to another, from the beginning. The world counts
 * them for the programs of both ranks, whatever the protocol counts. */
struct rcl_whole_count {
  uint32_t sent;  /* messages that the sender's program has sent, with suppressed ones */
  uint32_t given; /* messages that the receiver's program was given; below the matching, those that
                     were delivered to it, matched or not */
};

/* Shows control messages of one kind from one rank to another. If their count is 0, the rest is
 * zero. */
struct rcl_whole_control {
  uint32_t count; /* number of messages under way */
  uint32_t place; /* place of the first one among the control messages of the channel, from 0 */
  uint32_t about, value; /* words of the first one */
  uint32_t ahead; /* number of the program's messages under way in front of the first one; 0 where
                     they do not share a channel that keeps its order */
};

/* Shows the messages of the program under way that have one of two colours. The colour is in the
 * first word of a message, where lai-yang writes one bit and message-tagging an index. A message is
 * white if that word and the number of the committed checkpoint are both even or both odd, and else
 * red. If there are no such messages, all is 0. */
struct rcl_whole_colour {
  uint32_t count;
  uint32_t word; /* the first word of the first one; a proof shows that all have the same */
};

/* Shows the channel from one rank to another, or to itself. Messages that a start has made obsolete
 * are not under way. */
struct rcl_whole_channel {
  uint32_t messages;                  /* messages of the program that are under way */
  struct rcl_whole_colour white, red; /* the same messages, by colour */
  /* Counts of the present programs, of those in the images of the committed checkpoint, and of
   * those in the images of the next one. The count of a rank is 0 if the state with its program is
   * NULL. */
  struct rcl_whole_count now, committed, newer;
  /* Contributions of the sender to barriers of all ranks that the receiver has yet to take. The
   * words of the oldest contribution come first. */
  uint32_t shares;
  uint32_t share[RCL_WHOLE_SHARES][RCL_WORDS];
  const struct rcl_whole_control *control; /* by kind, in the order of rcl_protocol.controls */
};

struct rcl_whole {
  int ranks;
  /* the checkpoint to recover from, or RCL_FRESH if there is none */
  uint32_t committed;
  /* the checkpoint between COMMIT and COMMITTED, or 0 if there is none */
  uint32_t committing;
  const struct rcl_whole_rank *rank; /* by rank */
  const struct rcl_whole_channel
      *channel; /* the channel from rank i to rank j is at i * ranks + j */
};

/* Says for which ranks a clause is judged, and what it sees. For a DEAD rank only `stored` clauses
 * are judged. */
enum rcl_scope {
  RCL_OF_ALL,  /* the clause is judged once, unless a rank is dead, and sees everything */
  RCL_OF_RANK, /* for each rank `i`: all others seem DEAD, without stored states, and all other
                  channels seem empty */
  RCL_OF_PAIR, /* for each channel from rank `i` to rank `j`, which may be the same rank: all others
                  seem DEAD, without stored states, and all other channels seem empty */
  RCL_OF_RANK_AMONG_ALL, /* for each rank `i`; sees everything */
  RCL_OF_PAIR_AMONG_ALL  /* for each channel; sees everything */
};

/* The number of a clause is its place in the list, from 1. A clause without a name ends the
 * list. */
struct rcl_clause {
  const char *name; /* "totals": a word or two, for reports */
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
