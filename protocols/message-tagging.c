/* Message Tagging: coordinated checkpoints above MPI that tell which messages cross the recovery
 * line by a header on every message, over channels that need not be FIFO.
 *
 * Source: "Event Logging", sections 2.2.2 and 6, which describe protocols of others. The header has
 * the sender's checkpoint index, which the receiver compares with its own when the program receives
 * the message. Marker messages tell how many messages were sent.
 *
 *     SAFE_POINT; marker, header, timer         captured           all in transit are in
 *     RUNNING ---------------------> CAPTURING ---------> LOGGING ---------------> WRITING
 *      ^   ^                                                                          |
 *      |   +--------------------------------------------------------------------------+
 *      |  all orphans came once more                            image and log durable
 *     RECOVERING  <-- start from a checkpoint with orphans
 *
 * Transitions:
 *     RUNNING -> CAPTURING : take_checkpoint()  [safe-point]
 *     CAPTURING -> LOGGING : begin_logging()  [captured]
 *     LOGGING -> WRITING : check_complete()  [control marker, arrived]
 *     WRITING -> RUNNING : durable()  [durable]
 *     RECOVERING -> RUNNING : drop()  [arrived]
 *
 * A message whose header is older than the receiver's index is in transit: its content is logged
 * when the program receives it, because the protocol does not see it earlier. So the line cannot be
 * committed as long as the program defers a receive. A message whose header is newer is an orphan:
 * its envelope is remembered, and after a restart the message is dropped when it comes again.
 *
 * The header also numbers the sender's messages to this receiver, so that messages in transit are
 * given to the program in the order of sending, whatever their tags.
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/commit.h"
#include "protocols/parts/envelopes.h"
#include "protocols/parts/mailbox.h"
#include "protocols/parts/outputs.h"
#include "protocols/parts/transitions.h"

static const char *const invariants[] = {
    /* 1 */
    "a rank that wants a checkpoint is not taking one: "
    "otherwise a second checkpoint would begin before the first one is complete",
    /* 2 */
    "no peer delivers more messages of the last interval than it announced: "
    "otherwise a late message would be in no log, and its receiver would wait for ever after a "
    "crash",
    /* 3 */
    "all messages in transit are in when the log is written: "
    "otherwise a late message would be in no log, and its receiver would wait for ever after a "
    "crash",
    /* 4 */
    "every kept message has a slot of its own: "
    "otherwise one message would take the place of another, and a receive would be given the wrong "
    "one",
    /* 5 */
    "a rank recovers exactly as long as orphans are to come again: "
    "otherwise an orphan would be given twice, or a new message be dropped as one",
    /* 6 */
    "only the coordinator counts, at most one per rank: "
    "otherwise a checkpoint would be committed that some rank has not stored: no restart finds it",
    /* 7 */
    "a rank logs and writes messages only of a checkpoint that it has taken: "
    "otherwise a log would be of no image, and a restart would give messages of another time",
    NULL};

enum phase { RUNNING, CAPTURING, LOGGING, WRITING, RECOVERING };

enum control {
  MARKER = 1, /* "I sent you this many messages between my last two checkpoints" */
  DONE
};

static const char *const controls[] = {"none",
                                       "marker: messages that I have sent to you in the interval "
                                       "that checkpoint {about} ends: {value}",
                                       "done: my image and my log of checkpoint {about} are stored",
                                       NULL};

enum header { INDEX, NUMBER }; /* the words of a message */

/* Counts the messages exchanged with one peer, by the interval in which they were sent. */
struct peer {
  uint32_t sent; /* number of messages sent to the peer in this interval */
  /* number of messages received from the peer that it sent in this interval */
  uint32_t received;
  /* number of messages received from the peer that it sent in the next interval */
  uint32_t early;
  /* number of messages received from the peer that it sent in the previous interval */
  uint32_t previous;
  /* number of messages that the peer sent in the previous interval, as its marker says */
  uint32_t announced;
  uint32_t announced_for; /* checkpoint to which the marker belongs */
};

struct state {
  uint32_t phase;
  uint32_t epoch;   /* number of checkpoints taken, which is the index */
  uint32_t wanted;  /* checkpoint that was asked for and is not taken yet, or 0 if there is none */
  uint32_t durable; /* one bit for each part of this epoch's checkpoint that is on disk */
  struct rcl_commit commit;
  uint32_t kept; /* number of entries in the mailbox */
  uint32_t orphans, dropped;
  uint32_t pad;
};

#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(peers, struct peer, config->ranks)                                                         \
  LIST(kept_of, struct rcl_kept, config->capacity, state->kept, RCL_FULL_KEPT)                     \
  LIST(orphans_of, struct rcl_envelope, config->capacity, state->orphans, RCL_FULL_ENVELOPES)      \
  LIST(dropped_of, struct rcl_envelope, config->capacity, state->dropped, RCL_FULL_ENVELOPES)
RCL_STATE(LISTS)

static struct rcl_mailbox mailbox(const struct rank *r)
{
  return (struct rcl_mailbox){.capacity = r->config->capacity,
                              .used = RCL_COUNT(r->state, kept),
                              .item = kept_of(r->config, r->state)};
}

/* Returns the messages that were received before this rank's checkpoint and sent after the
 * checkpoint of their sender. */
static struct rcl_envelopes orphans(const struct rank *r)
{
  return (struct rcl_envelopes){.form = RCL_SORTED,
                                .capacity = r->config->capacity,
                                .used = RCL_COUNT(r->state, orphans),
                                .item = orphans_of(r->config, r->state)};
}

/* Returns the orphans that are still to come once more after a restart. */
static struct rcl_envelopes dropped(const struct rank *r)
{
  return (struct rcl_envelopes){.form = RCL_SORTED,
                                .capacity = r->config->capacity,
                                .used = RCL_COUNT(r->state, dropped),
                                .item = dropped_of(r->config, r->state)};
}

/* ---- checkpoint ---- */

static void want(const struct rank *r, uint32_t checkpoint)
{
  if (checkpoint <= r->state->epoch || r->state->wanted)
    return;
  r->state->wanted = checkpoint;
  if (checkpoint > 2) /* the checkpoint before is committed */
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = checkpoint - 2;
}

static void take_checkpoint(const struct rank *r)
{
  if (r->state->phase != RUNNING || !r->state->wanted)
    return;
  r->state->phase = CAPTURING;
  rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = r->state->wanted;
}

static bool all_are_in(const struct rank *r)
{
  for (int i = 0; i < r->config->ranks; i++) {
    const struct peer *peer = &peers(r->config, r->state)[i];
    if (peer->announced_for != r->state->epoch || peer->previous != peer->announced)
      return false;
  }
  return true;
}

static void check_complete(const struct rank *r)
{
  if (r->state->phase != LOGGING || !all_are_in(r))
    return;
  r->state->phase = WRITING;
  rcl_store(r->actions, RCL_PART_LOG, r->state->epoch);
}

static void mark(const struct rank *r)
{
  for (int i = 0; i < r->config->ranks; i++) {
    struct peer *peer = &peers(r->config, r->state)[i];
    if (i == r->config->self) {
      peer->announced = peer->sent;
      peer->announced_for = r->state->epoch;
    } else {
      rcl_send_control(r->actions, i, MARKER, r->state->epoch, peer->sent);
    }
    peer->sent = 0;
    peer->previous = peer->received;
    peer->received = peer->early;
    peer->early = 0;
  }
}

/* Begins logging. Messages that have come but for which the program has not asked are in transit,
 * too. */
static void begin_logging(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  r->state->phase = LOGGING;
  r->state->epoch = r->event->checkpoint;
  r->state->wanted = r->state->durable = 0;
  rcl_store(r->actions, RCL_PART_IMAGE, r->state->epoch);
  for (uint32_t i = 0; i < *box.used; i++)
    box.item[i].late = box.item[i].epoch < r->state->epoch;
  mark(r);
  check_complete(r);
}

static void durable(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  struct rcl_envelopes early = orphans(r);
  r->state->durable |= 1u << r->event->part;
  if (r->state->durable != (1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG))
    return;
  r->state->phase = RUNNING;
  rcl_envelopes_clear(&early);
  for (uint32_t i = 0; i < *box.used;) {
    box.item[i].late = false;
    if (box.item[i].given)
      rcl_mailbox_forget(&box, &box.item[i], r->actions);
    else
      i++;
  }
  rcl_commit_done(r->config, &r->state->commit, DONE, r->state->epoch, r->actions);
}

static void committed(const struct rank *r)
{
  if (r->event->checkpoint > 1)
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = r->event->checkpoint - 1;
  rcl_commit_end(&r->state->commit, r->actions);
}

/* ---- the program's messages ---- */

static void send(const struct rank *r)
{
  struct rcl_action *transmit = rcl_act(r->actions, RCL_ACTION_TRANSMIT);
  transmit->words[INDEX] = r->state->epoch;
  transmit->words[NUMBER] = peers(r->config, r->state)[r->event->peer].sent++;
}

/* Gives the program a message with that index. It is an orphan if its sender is beyond the line. */
static void give(const struct rank *r, const struct rcl_envelope *e, uint32_t index)
{
  struct rcl_envelopes log = orphans(r);
  if (index > r->state->epoch && !rcl_envelopes_add(&log, e))
    rcl_give_up_full(r->actions, RCL_FULL_EARLY);
}

static void receive(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  struct rcl_kept *entry = rcl_mailbox_find(&box, r->event);
  if (!entry) {
    rcl_match(r->actions, r->event);
    return;
  }
  struct rcl_envelope e = {.peer = entry->peer, .comm = entry->comm, .tag = entry->tag, .count = 1};
  rcl_mailbox_deliver(entry, r->event->request, r->actions);
  give(r, &e, entry->epoch);
  if (entry->late)
    entry->given = true; /* the entry stays, because a restart may need the message again */
  else
    rcl_mailbox_forget(&box, entry, r->actions);
}

/* Drops an orphan that has come again. */
static void drop(const struct rank *r)
{
  rcl_act(r->actions, RCL_ACTION_DISCARD);
  if (*dropped(r).used == 0) {
    r->state->phase = RUNNING;
    rcl_act(r->actions, RCL_ACTION_RELEASE);
  }
}

/* Counts a message by the interval in which it was sent. Returns whether it is in transit. */
static bool classify(const struct rank *r)
{
  struct peer *peer = &peers(r->config, r->state)[r->event->peer];
  uint32_t index = r->event->words[INDEX];
  if (index == r->state->epoch) {
    peer->received++;
  } else if (index > r->state->epoch) {
    peer->early++;
    want(r, index);
  } else {
    peer->previous++;
  }
  return index < r->state->epoch;
}

/* Counts an orphan that has come again. It was already counted for the interval in which it was
 * first sent. If its sender took its next checkpoint before sending the orphan again, the orphan
 * belongs to the next interval, and is also an orphan of the next line. */
static void count_again(const struct rank *r, const struct rcl_envelope *e)
{
  struct peer *peer = &peers(r->config, r->state)[r->event->peer];
  uint32_t index = r->event->words[INDEX];
  if (index == r->state->epoch)
    return;
  peer->received--;
  peer->early++;
  give(r, e, index);
  want(r, index);
}

static void arrived(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  struct rcl_envelopes again = dropped(r);
  struct rcl_envelope e = rcl_envelope_of(r->event);
  if (rcl_envelopes_take(&again, &e)) {
    count_again(r, &e);
    drop(r);
    return;
  }
  bool late = classify(r);
  if (late || r->event->request == RCL_NO_REQUEST) {
    struct rcl_kept *entry = rcl_mailbox_keep(&box, r->event, r->actions);
    if (!entry)
      return;
    entry->late = late;
    entry->given = r->event->request != RCL_NO_REQUEST;
    entry->epoch = r->event->words[INDEX];
    entry->number = r->event->words[NUMBER];
  }
  if (r->event->request != RCL_NO_REQUEST) {
    rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
    give(r, &e, r->event->words[INDEX]);
  }
  check_complete(r);
}

/* ---- recovery: all ranks go back to the last committed checkpoint ---- */

static bool is_older(const struct rcl_kept *a, const struct rcl_kept *b)
{
  if (a->peer != b->peer)
    return a->peer < b->peer;
  return a->epoch != b->epoch ? a->epoch < b->epoch : a->number < b->number;
}

/* Puts the log into the order of sending. Other messages in the mailbox are forgotten, because they
 * will be sent again. */
static void open_log(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  for (uint32_t i = 0; i < *box.used;)
    if (box.item[i].late)
      i++;
    else
      rcl_mailbox_forget(&box, &box.item[i], r->actions);
  for (uint32_t i = 0; i < *box.used; i++) {
    struct rcl_kept entry = box.item[i];
    uint32_t k = i;
    for (; k > 0 && is_older(&entry, &box.item[k - 1]); k--)
      box.item[k] = box.item[k - 1];
    entry.late = entry.given = false;
    box.item[k] = entry;
  }
}

/* Sets the state, which was stored when the log was complete, back to the line. */
static void back_to_line(const struct rank *r)
{
  struct rcl_envelopes early = orphans(r), again = dropped(r);
  r->state->wanted = 0;
  r->state->commit = (struct rcl_commit){0};
  r->state->durable = 1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG;
  for (int i = 0; i < r->config->ranks; i++) {
    struct peer *peer = &peers(r->config, r->state)[i];
    peer->sent = peer->early = 0;
    peer->received = rcl_envelopes_total(&early, i);
  }
  memcpy(again.item, early.item, *early.used * sizeof *early.item);
  *again.used = *early.used;
  rcl_envelopes_clear(&early);
}

static void start(const struct rank *r)
{
  if (rcl_coordinator(r->config))
    rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  if (r->event->checkpoint == RCL_FRESH)
    return;
  open_log(r);
  back_to_line(r);
  r->state->phase = r->state->dropped ? RECOVERING : RUNNING;
  if (r->state->dropped) {
    rcl_act(r->actions, RCL_ACTION_HOLD);
    rcl_act(r->actions, RCL_ACTION_DRAIN)->peer = RCL_ANY;
  }
}

/* ---- the step ---- */

static void control(const struct rank *r)
{
  struct peer *peer = &peers(r->config, r->state)[r->event->peer];
  switch ((enum control)r->event->control) {
  case MARKER:
    peer->announced_for = r->event->about;
    peer->announced = r->event->value;
    want(r, r->event->about);
    check_complete(r);
    break;
  case DONE:
    rcl_commit_count(r->config, &r->state->commit, r->actions);
    break;
  }
}

static void timer(const struct rank *r)
{
  if (rcl_commit_begin(&r->state->commit, r->state->phase == RUNNING, r->state->epoch + 1,
                       r->actions))
    want(r, r->state->epoch + 1);
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,
    [RCL_EVENT_DOWN] = rcl_roll_back,
    [RCL_EVENT_TIMER] = timer,
    [RCL_EVENT_SEND] = send,
    [RCL_EVENT_RECEIVE] = receive,
    [RCL_EVENT_SAFE_POINT] = take_checkpoint,
    [RCL_EVENT_ARRIVED] = arrived,
    [RCL_EVENT_CONTROL] = control,
    [RCL_EVENT_CAPTURED] = begin_logging,
    [RCL_EVENT_DURABLE] = durable,
    [RCL_EVENT_COMMITTED] = committed,
};

static void step(const struct rank *r)
{
  rcl_take(on, r);
  rcl_output_with_commit(r->event, r->actions);
}

/* ---- invariants, by their numbers ---- */

static bool within_announced(const struct rank *r)
{
  for (int i = 0; i < r->config->ranks; i++) {
    const struct peer *peer = &peers(r->config, r->state)[i];
    if (peer->announced_for == r->state->epoch && peer->previous > peer->announced)
      return false;
  }
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  bool taking = r->state->phase == LOGGING || r->state->phase == WRITING;
  if (r->state->wanted && taking)
    return 1;
  if (!within_announced(r))
    return 2;
  if (r->state->phase == WRITING && !all_are_in(r))
    return 3;
  if (!rcl_mailbox_is_sound(r->config, &box))
    return 4;
  if ((r->state->dropped > 0) != (r->state->phase == RECOVERING))
    return 5;
  if (!rcl_commit_is_sound(r->config, &r->state->commit))
    return 6;
  return taking && !r->state->epoch ? 7 : 0;
}

#include "protocols/lines/message-tagging_line.h"

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"logging", "captured", "store part=log"},
                                          {"write", "store part=log", "durable part=log"},
                                          {"commit", "commit", "committed"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"bounded", "frees", NULL};

RCL_ONLY_FORM

extern const struct rcl_protocol protocol_message_tagging;
const struct rcl_protocol protocol_message_tagging = {
    .name = "message-tagging",
    .title = "Message Tagging (Event Logging, sections 2.2.2 and 6)",
    .piggyback_bytes = 8,
    .header = true,
    .control_bytes = 12,
    .controls = controls,
    .invariants = invariants,
    .phases = phases,
    .promises = promises,
    .state_size = state_size,
    .in_use = in_use,
    .step = only_step,
    .violated_invariant = only_broken,
    .line = line,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER},
                 {RCL_LOGGED_ENVELOPES, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER}},
        .back = RCL_BACK_ALL,
        .assumes = RCL_ASSUMES_MPI_ORDER | RCL_ASSUMES_RECEIVED | RCL_ASSUMES_SAME_AGAIN}};
