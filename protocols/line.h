/* The line invariant of a protocol: clauses on all ranks, channels and stored states together.
 *
 * The numbered invariants of a protocol (rcl_protocol.invariants) are about one rank. Why a
 * recovery line is consistent is about several: what one has sent, what is under way, what another
 * has received, and what is stored of both. A protocol with global recovery may say that beside its
 * code (protocols/bookmark_line.h) in clauses that hold in every reachable state of the whole. The
 * world judges them as property `line-invariant` (world/rules/world_whole.c).
 *
 * A clause is plain C over plain memory, as a step is: it reads struct rcl_whole and nothing else,
 * writes nothing, and ends. It names two ranks at most, and the coordinator.
 */
#ifndef RECLINE_LINE_H
#define RECLINE_LINE_H

#include "protocols/protocol.h"

enum rcl_standing {
  RCL_STANDS_UP,     /* it runs, in the incarnation of the last recovery */
  RCL_STANDS_BEHIND, /* its next event is the START that takes it there; `state` is what it starts
                        from */
  RCL_STANDS_DEAD    /* it has crashed, and was not found dead: its memory is lost */
};

/* A rank, from outside. All states are state_size(config) bytes. */
struct rcl_whole_rank {
  const struct rcl_config *config;
  const void *state;     /* of its protocol; DEAD: NULL */
  const void *committed; /* stored with the image of the committed checkpoint; FRESH: zeroes; NULL:
                            no rank starts from it any more, and its contents are left out */
  const void *newer;     /* stored with the image of the next one; NULL: there is none, likewise */
  uint32_t standing;     /* enum rcl_standing */
  uint32_t held;         /* 1: HOLD without RELEASE */
  uint32_t timer;        /* 1: SET_TIMER without TIMER */
  uint32_t capturing;    /* checkpoint between CAPTURE and CAPTURED; 0: none */
  uint32_t storing;      /* checkpoint whose image is being written; 0: none */
  uint32_t restorable;   /* 1: the image of the committed checkpoint is durable, or that is FRESH */
  uint32_t durable;      /* checkpoint behind it whose image is; 0: none */
  uint32_t older;        /* images of checkpoints before it; with levels of storage 0, as these keep
                            some */
};

/* Control messages of one kind from one rank to another. With a count of 0 the rest is zero. */
struct rcl_whole_control {
  uint32_t count;        /* under way */
  uint32_t place;        /* of the first, among control messages of the channel, from 0 */
  uint32_t about, value; /* its words */
};

/* From one rank to another, itself too. What a start has made obsolete is not under way. */
struct rcl_whole_channel {
  uint32_t messages;                       /* of the program */
  const struct rcl_whole_control *control; /* by kind, as rcl_protocol.controls names them */
};

struct rcl_whole {
  int ranks;
  uint32_t committed;                      /* checkpoint to recover from; RCL_FRESH: none */
  uint32_t committing;                     /* COMMIT without COMMITTED; 0: none */
  const struct rcl_whole_rank *rank;       /* by rank */
  const struct rcl_whole_channel *channel; /* from rank i to rank j: at i * ranks + j */
};

/* About whom a clause is asked. Of a rank that is DEAD only clauses about what is `stored` are. */
enum rcl_scope {
  RCL_OF_ALL,  /* once; where a rank is dead, not at all */
  RCL_OF_RANK, /* each rank `i` */
  RCL_OF_PAIR  /* each two ranks `i` and `j`, from whom and to whom; a rank and itself, too */
};

/* Numbered from 1 by their places in a list, which ends with a clause without a name. */
struct rcl_clause {
  const char *name; /* "totals": a word or two, for reports */
  const char *text; /* what it says */
  enum rcl_scope scope;
  bool stored; /* it speaks of stored states only */
  bool (*holds)(const struct rcl_whole *, int i, int j);
};

static inline const struct rcl_whole_channel *rcl_whole_between(const struct rcl_whole *whole,
                                                                int from, int to)
{
  return &whole->channel[from * whole->ranks + to];
}

#endif
