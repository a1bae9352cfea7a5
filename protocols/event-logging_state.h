/* Has the state of Event Logging, and its logs of envelopes. event-logging.c, the only file that
 * includes this one, explains the logs and the phases of a checkpoint. */
#ifndef RECLINE_EVENT_LOGGING_STATE_H
#define RECLINE_EVENT_LOGGING_STATE_H

#include "protocols/parts/commit.h"
#include "protocols/parts/envelopes.h"
#include "protocols/parts/mailbox.h"
#include "protocols/parts/transitions.h"

enum phase { RUNNING, CAPTURING, LOGGING, TAKING, WRITING, RECOVERING };

enum control {
  ENVELOPE = 1, /* "I sent you this number of messages with this envelope" */
  SEND_LOG,     /* "these were all envelopes of messages that I sent before my checkpoint" */
  DONE,
  COMMITTED /* the coordinator tells the other initiators that the checkpoint is committed */
};

static const char *const controls[] = {
    "none",
    "envelope: messages with tag {about} on communicator {value.low} that I have sent to you: "
    "{value.high}",
    "send-log: these were all that I have sent to you before checkpoint {about}",
    "done: my image and my log of checkpoint {about} are stored",
    "committed: checkpoint {about} is committed",
    NULL};

/* Names the event logs of one rank, each over all its peers. */
enum which {
  SENT,     /* messages sent since the last checkpoint */
  RECEIVED, /* messages received since the last checkpoint that no send log has named yet */
  /* SEND{-}: messages sent before the sender's checkpoint and not received before ours */
  IN_TRANSIT,
  ORPHANS, /* RECV{-}: messages received before our checkpoint and sent after the sender's */
  DROPPED, /* after a restart: orphans that will be sent again and dropped */
  /* messages that were in transit over more lines than allowed, so no log has them any more */
  EXPIRED,
  LOGS
};

/* Tells how the registered forms of the protocol differ. */
struct variant {
  enum rcl_form form; /* form of the logs */
  bool paired;        /* each log has a sorted twin */
  bool posted;        /* messages in transit are taken in before the program asks for them */
};

struct state {
  uint32_t phase;
  uint32_t epoch;   /* number of checkpoints taken */
  uint32_t wanted;  /* checkpoint that was asked for and is not taken yet, or 0 if there is none */
  uint32_t durable; /* one bit for each part of this epoch's checkpoint that is on disk */
  struct rcl_commit commit;
  uint32_t kept; /* number of entries in the mailbox */
  uint32_t pad;
  uint32_t used[LOGS], twin_used[LOGS];
};

struct peer {
  uint32_t listed; /* last checkpoint for which the peer's send log has come */
};

/* Numbers the parameters. */
enum {
  CROSSINGS, /* number of lines that a message may cross, or 0 for any number */
  INITIATORS /* number of ranks that begin checkpoints, from rank 0 on; 0 counts as 1 */
};

/* The logs lie in the order of enum which. Their sorted twins follow in the same order. Only the
 * paired form has twins; the state of the other forms ends before them. */
#define LOG(LIST, NAME, USED)                                                                      \
  LIST(NAME, struct rcl_envelope, config->capacity, state->USED, RCL_FULL_ENVELOPES)
#define EVENT_LOG(LIST, NAME, USED)                                                                \
  LIST(NAME, struct rcl_envelope, config->capacity, state->USED, RCL_FULL_EVENTS)
#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(peers, struct peer, config->ranks)                                                         \
  LIST(kept_of, struct rcl_kept, config->capacity, state->kept, RCL_FULL_KEPT)                     \
  EVENT_LOG(LIST, logs_of, used[SENT])                                                             \
  EVENT_LOG(LIST, received_of, used[RECEIVED])                                                     \
  LOG(LIST, in_transit_of, used[IN_TRANSIT])                                                       \
  LOG(LIST, orphans_of, used[ORPHANS])                                                             \
  LOG(LIST, dropped_of, used[DROPPED])                                                             \
  LOG(LIST, expired_of, used[EXPIRED])                                                             \
  EVENT_LOG(LIST, twins_of, twin_used[SENT])                                                       \
  EVENT_LOG(LIST, received_twins, twin_used[RECEIVED])                                             \
  LOG(LIST, in_transit_twins, twin_used[IN_TRANSIT])                                               \
  LOG(LIST, orphan_twins, twin_used[ORPHANS])                                                      \
  LOG(LIST, dropped_twins, twin_used[DROPPED])                                                     \
  LOG(LIST, expired_twins, twin_used[EXPIRED])
RCL_STATE(LISTS)

static size_t unpaired_size(const struct rcl_config *config)
{
  return rcl_aligned(offsets_of(config).twins_of, 8);
}

static struct rcl_mailbox mailbox(const struct rank *r)
{
  return (struct rcl_mailbox){.capacity = r->config->capacity,
                              .used = &r->state->kept,
                              .item = kept_of(r->config, r->state)};
}

static struct rcl_envelopes log_of(const struct rank *r, enum which which)
{
  uint32_t capacity = r->config->capacity;
  return (struct rcl_envelopes){.form = r->variant->form,
                                .capacity = capacity,
                                .used = &r->state->used[which],
                                .item = logs_of(r->config, r->state) + which * capacity};
}

static struct rcl_envelopes twin_of(const struct rank *r, enum which which)
{
  uint32_t capacity = r->config->capacity;
  return (struct rcl_envelopes){.form = RCL_SORTED,
                                .capacity = capacity,
                                .used = &r->state->twin_used[which],
                                .item = twins_of(r->config, r->state) + which * capacity};
}

/* Returns the number of ranks that begin checkpoints, from rank 0 on. */
static uint32_t initiators(const struct rcl_config *config)
{
  uint32_t wanted = config->parameter[INITIATORS], ranks = (uint32_t)config->ranks;
  return wanted <= 1 ? 1 : wanted < ranks ? wanted : ranks;
}

static bool is_initiator(const struct rcl_config *config)
{
  return (uint32_t)config->self < initiators(config);
}

/* Returns whether the rank is beyond the line and lacks the send log of the peer, so that it does
 * not know yet whether a message of the peer is in transit. */
static bool is_unknown(const struct rank *r, int peer)
{
  return r->state->phase == LOGGING && peers(r->config, r->state)[peer].listed < r->state->epoch;
}

static bool is_taking_checkpoint(const struct state *state)
{
  return state->phase >= LOGGING && state->phase <= WRITING;
}

/* Notes that the message is in transit at the line of this epoch. The age of the message counts
 * from the first line at which it was in transit. */
static void cross(const struct rank *r, struct rcl_kept *entry)
{
  entry->late = true;
  if (r->config->parameter[CROSSINGS] && !entry->epoch)
    entry->epoch = r->state->epoch;
}

/* Returns the envelope in a control message ENVELOPE. */
static struct rcl_envelope envelope_told(const struct rcl_event *event)
{
  return (struct rcl_envelope){.peer = event->peer,
                               .comm = (int16_t)(event->value & UINT16_MAX),
                               .tag = (int32_t)event->about,
                               .count = event->value >> 16};
}

/* ---- the logs ---- */

static void add(const struct rank *r, enum which which, const struct rcl_envelope *e)
{
  struct rcl_envelopes log = log_of(r, which), twin = twin_of(r, which);
  bool room = rcl_envelopes_add(&log, e);
  if (room && r->variant->paired)
    rcl_envelopes_add(&twin, e); /* the twin never has more entries than the list */
  if (!room)
    rcl_give_up_full(r->actions,
                     which == SENT || which == RECEIVED ? RCL_FULL_EVENTS : RCL_FULL_ENVELOPES);
}

static bool take(const struct rank *r, enum which which, const struct rcl_envelope *e)
{
  struct rcl_envelopes log = log_of(r, which), twin = twin_of(r, which);
  if (r->variant->paired)
    rcl_envelopes_take(&twin, e);
  return rcl_envelopes_take(&log, e);
}

static void clear(const struct rank *r, enum which which)
{
  struct rcl_envelopes log = log_of(r, which), twin = twin_of(r, which);
  rcl_envelopes_clear(&log);
  if (r->variant->paired)
    rcl_envelopes_clear(&twin);
}

static uint32_t count(const struct rank *r, enum which which, const struct rcl_envelope *e)
{
  struct rcl_envelopes log = log_of(r, which);
  return rcl_envelopes_count(&log, e);
}

#endif
