/* Has the state of a rank with the bookmark exchange, its phases and control messages. Only
 * bookmark.c and its other header include this file; see bookmark.c. */
#ifndef RECLINE_BOOKMARK_STATE_H
#define RECLINE_BOOKMARK_STATE_H

#include "protocols/parts/lists.h"
#include "protocols/parts/mailbox.h"

enum phase {
  RUNNING,
  WANTED,
  AGREEING,
  GATHERING,
  DRAINING,
  CAPTURING,
  WRITING,
  WAITING,
  RECONNECTING
};

enum control {
  REQUEST = 1,
  BOOKMARK,
  DRAINED,
  DONE,
  RELEASE,
  ADDRESS,
  ITERATION,
  TOTALS,
  DETAILS,
  ANSWER,
  HELD,
  BEGIN
};

static const char *const controls[] = {
    "none",
    "request: take checkpoint {about}",
    "bookmark: messages that I have sent to you before checkpoint {about}: {value}",
    "drained: I have all messages that you have sent before checkpoint {about}",
    "done: my image of checkpoint {about} is stored",
    "release: checkpoint {about} is committed: go on",
    "address: my address after checkpoint {about}",
    "iteration: the request for checkpoint {about} has found me in iteration {value}",
    "totals: messages that I have received from you: {about}, and sent to you: {value}",
    "details: my messages to you that are on the way at checkpoint {about}: {value}",
    "answer: I have the details of your messages on the way at checkpoint {about}",
    "held: my program is held for checkpoint {about}",
    "begin: all programs are held for checkpoint {about}",
    NULL};

/* Numbers the parameters. With `iterations` ranks agree on the iteration at which they stop. */
enum { ITERATIONS, EXCHANGE };

/* Names the values of `exchange`. GATHERED is IN_TURN, and no rank begins before all are held. */
enum { TWICE, ONCE, IN_TURN, GATHERED };

static const char *const parameters[] = {"iterations", "exchange", NULL};

/* Holds totals, and what the peer has told this rank. Totals count whole messages from the
 * beginning of the program; they are part of the image, so a rollback restores them. A field whose
 * name ends with _for has the number of a checkpoint: the last checkpoint to which the field before
 * it belongs, or for which the statement in its comment is true. */
struct peer {
  uint32_t sent;     /* messages transmitted to the peer */
  uint32_t received; /* messages that arrived from the peer, including kept messages */
  uint32_t bookmark; /* the peer's total `sent` to this rank when the peer held its program */
  uint32_t bookmark_for;
  uint32_t drained_for; /* all that the peer's bookmark counts has arrived here */
  uint32_t empty_for;   /* the peer has received all that this rank's bookmark counts */
  uint32_t address_for; /* the peer's address after the checkpoint has arrived */
  uint32_t iteration;   /* iteration of the peer's program when the request reached the peer */
  uint32_t iteration_for;
  /* except with `exchange` TWICE */
  uint32_t told;        /* value of `received` when this rank held its program */
  uint32_t confirmed;   /* the peer's `received` from this rank when the peer held its program */
  uint32_t details_for; /* the peer has told how many messages are missing here */
  /* with `exchange` IN_TURN or GATHERED */
  uint32_t asked_for;  /* this rank has told the peer how many messages are missing there */
  uint32_t answer_for; /* the peer has answered that */
};

struct state {
  uint32_t phase;
  uint32_t checkpoint; /* the checkpoint under way; in RUNNING, the last captured one */
  uint32_t captured;   /* the last captured checkpoint */
  uint32_t done;       /* coordinator: number of durable images */
  uint32_t kept;       /* number of kept messages, which are in the order of arrival */
  uint32_t closed;     /* 1: connections are closed, and all addresses are to be exchanged */
  uint32_t later;      /* in phase RECONNECTING: checkpoint that was requested meanwhile */
  uint32_t iteration;  /* the program's iteration, if ranks agree on one, or 0 if none has begun */
  uint32_t turn;       /* with turns, from phase DRAINING on: number of turns that are over */
  uint32_t gathered;   /* coordinator, with GATHERED: number of ranks whose programs are held */
};

#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(peers, struct peer, config->ranks)                                                         \
  LIST(kept_of, struct rcl_kept, config->capacity, state->kept, RCL_FULL_KEPT)
RCL_STATE(LISTS)

static struct rcl_mailbox mailbox(const struct rcl_config *config, const struct state *state)
{
  return (struct rcl_mailbox){
      .capacity = config->capacity, .used = RCL_COUNT(state, kept), .item = kept_of(config, state)};
}

#endif
