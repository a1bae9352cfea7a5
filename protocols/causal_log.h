/* Keeps the determinants that a rank of causal.c knows, of its own events and of events of others,
 * in the order in which the rank has come to know them. It also keeps which of these determinants
 * each peer knows.
 *
 * Each determinant has a place in that order, which is called the rank's log. A message carries two
 * places. The first is a place in the sender's log: the sender has given the receiver all
 * determinants up to that place. The second is a place in the receiver's log: the sender
 * acknowledges that it was given all determinants up to that place. */
#ifndef RECLINE_CAUSAL_LOG_H
#define RECLINE_CAUSAL_LOG_H

#include "protocols/parts/links.h"
#include "protocols/parts/transitions.h"

/* Names the words of a message after its number: places in the logs of its sender and of its
 * receiver. */
enum { WORD_GIVEN = RCL_LINKS_INTERVAL, WORD_ACKED = RCL_LINKS_EPOCH };

enum phase { RUNNING, CAPTURING, WRITING, ASKING };

enum control {
  HAVE = 1,
  REPORT,
  CHECKPOINTED,
  ASK,
  ANSWER,
  DETERMINANT,
  OF_REQUEST,
  CONFIRM,
  CONFIRMED,
  OF_DECISION
};

enum parameter { FAILURES };

/* Describes the event at `position` of `receiver`, counted from 1. Either receive `request` was
 * given a message of (peer, tag), or was cancelled (peer is RCL_NOBODY); or `tag` decisions in a
 * row came out as `request` (peer is RCL_ANY). */
struct determinant {
  int16_t receiver, peer;
  uint32_t position, request, tag;
  uint32_t place; /* place in the log, from 1 */
  /* the rank that has told this rank the determinant, or this rank for its own events */
  int16_t from;
  uint16_t pad;
};

/* Holds what this rank knows of another rank, the peer. */
struct peer {
  /* Places in our log up to which the peer was told determinants, and has acknowledged them. */
  uint32_t given, acked;
  uint32_t seen;     /* place in the peer's log up to which the peer has told us determinants */
  uint32_t known;    /* position of the peer's last event whose determinant we know */
  uint32_t answered; /* the last recovery in which the peer has told us all its determinants */
  /* number of the last message to the peer that no restart of the peer will ask for */
  uint32_t released;
  /* First half of a determinant that the peer tells, from a message DETERMINANT. The half waits for
   * the second one, from a message OF_REQUEST or OF_DECISION. */
  uint32_t half[2];
  /* place in our log up to which we have asked the peer to confirm determinants */
  uint32_t confirms;
};

/* Holds where the program was at a checkpoint. */
struct checkpoint {
  uint32_t number;
  uint32_t events;
};

/* Holds outputs up to `output`, which wait until the determinants up to `place` are stable. */
struct waiting {
  uint32_t output; /* number of the last such output, or 0 if none waits */
  uint32_t place;
};

struct state {
  uint32_t phase, wanted;
  struct checkpoint durable,
      /* `durable` is the checkpoint to start from, `pending` the one that is being written */
      pending;
  /* number of events that have happened, which is the position of the last one */
  uint32_t events;
  uint32_t told; /* position of the last event of this rank that others may know of */
  /* number of determinants in the log now, and number of all that were ever put there */
  uint32_t log, places;
  uint32_t epoch;     /* incarnation of the last failure */
  uint32_t replaying; /* number of events that still have to happen again */
  uint32_t decision,
      repeated; /* position from which decisions are repeated, and how many were repeated */
  uint32_t pad;
  /* `asked`: outputs for which peers were asked to confirm; `made`: later outputs */
  struct waiting asked, made;
  struct rcl_links_counts links;
};

/* Lists the peers, the number of messages received from each at the pending checkpoint, the
 * determinants and the links. */
#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(peers_of, struct peer, config->ranks)                                                      \
  ARRAY(received_of, uint32_t, config->ranks)                                                      \
  LIST(log_of, struct determinant, config->capacity, state->log, RCL_FULL_EVENTS)                  \
  RCL_LINKS_LISTS(ARRAY, LIST, state->links)
RCL_STATE(LISTS)

/* ---- which ranks have a determinant ---- */

static inline uint32_t failures(const struct rcl_config *config)
{
  return config->parameter[FAILURES] ? config->parameter[FAILURES] : 1;
}

/* Returns whether f + 1 ranks have the determinant, or had it and will have it again. The ranks
 * that count are this rank, the receiver of the event, the rank that has told us the determinant,
 * and the ranks that have acknowledged it. */
static inline bool is_stable(const struct rank *r, const struct determinant *d)
{
  const struct peer *peer = peers_of(r->config, r->state);
  uint32_t copies = 1;
  for (int16_t i = 0; i < r->config->ranks; i++)
    if (i != r->config->self)
      copies += i == d->receiver || i == d->from || peer[i].acked >= d->place;
  return copies > failures(r->config);
}

/* ---- the log ---- */

static inline struct determinant *find(const struct rank *r, int receiver, uint32_t position)
{
  struct determinant *log = log_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->log; i++)
    if (log[i].receiver == receiver && log[i].position == position)
      return &log[i];
  return NULL;
}

static inline struct determinant *append(const struct rank *r, const struct determinant *d)
{
  if (r->state->log == r->config->capacity) {
    rcl_give_up_full(r->actions, RCL_FULL_EVENTS);
    return NULL;
  }
  struct determinant *last = &log_of(r->config, r->state)[r->state->log++];
  *last = *d;
  last->place = ++r->state->places;
  return last;
}

/* Removes the determinants of `receiver` beyond `first` and up to `last`. */
static inline void drop(const struct rank *r, int receiver, uint32_t first, uint32_t last)
{
  struct determinant *log = log_of(r->config, r->state);
  uint32_t left = 0;
  for (uint32_t i = 0; i < r->state->log; i++)
    if (log[i].receiver != receiver || log[i].position <= first || log[i].position > last)
      log[left++] = log[i];
  memset(&log[left], 0, (r->state->log - left) * sizeof *log);
  r->state->log = left;
}

/* Orders determinants: the determinants of others come first, as they came, and this rank's own
 * follow by position. */
static inline bool is_before(const struct rcl_config *config, const struct determinant *a,
                             const struct determinant *b)
{
  if (b->receiver != config->self)
    return false;
  return a->receiver != config->self || a->position < b->position;
}

static inline void sort_log(const struct rank *r)
{
  struct determinant *log = log_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->log; i++) {
    struct determinant d = log[i];
    uint32_t k = i;
    for (; k > 0 && is_before(r->config, &d, &log[k - 1]); k--)
      log[k] = log[k - 1];
    log[k] = d;
  }
  for (uint32_t i = 0; i < r->state->log; i++)
    log[i].place = ++r->state->places;
}

/* ---- telling others ---- */

static inline void tell(const struct determinant *d, int to, struct rcl_actions *actions)
{
  rcl_send_control(actions, to, DETERMINANT,
                   (uint32_t)(uint16_t)d->receiver << 16 | (uint16_t)d->peer, d->position);
  rcl_send_control(actions, to, d->peer == RCL_ANY ? OF_DECISION : OF_REQUEST, d->request, d->tag);
}

/* Tells `to`, before a message, the determinants that it may lack: the unstable ones or, if `all`
 * is set, every one. */
static inline void give(const struct rank *r, int to, bool all)
{
  struct peer *peer = &peers_of(r->config, r->state)[to];
  const struct determinant *log = log_of(r->config, r->state);
  uint32_t first = r->state->log;
  if (to == r->config->self)
    return;
  while (first > 0 && (all || log[first - 1].place > peer->given))
    first--;
  for (uint32_t i = first; i < r->state->log; i++) {
    if (!all && (log[i].receiver == to || log[i].from == to || is_stable(r, &log[i])))
      continue;
    if (r->actions->count + 2 + r->state->links.log >= RCL_ACTIONS_MAX(r->config)) {
      rcl_give_up_full(r->actions, RCL_FULL_LIMIT);
      return;
    }
    tell(&log[i], to, r->actions);
  }
  peer->given = r->state->places;
  r->state->told = r->state->events;
}

/* Puts the two places (given and acknowledged) into a message that is transmitted. */
static inline void put_places(const struct rank *r, int to, struct rcl_action *action)
{
  const struct peer *peer = &peers_of(r->config, r->state)[to];
  if (action->kind != RCL_ACTION_TRANSMIT)
    return;
  action->words[WORD_GIVEN] = peer->given;
  action->words[WORD_ACKED] = peer->seen;
}

#endif
