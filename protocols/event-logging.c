/* Event Logging: coordinated checkpoints above MPI that tell which messages cross the recovery line
 * by exchanging logs of envelopes, over channels that need not be FIFO.
 *
 * Source: "Event Logging", the variant of the Chandy-Lamport algorithm for application-level
 * checkpoints of MPI programs: section 3.3 (the four procedures), 3.4 (theorem 1), 3.5 (messages
 * that are in transit for longer than one interval), 4.2 (hashed, sorted logs with occurrence
 * counts), 5.3 (the two forms of message logging).
 *
 *            SAFE_POINT; timer or a send log        captured
 *     RUNNING ------------------------> CAPTURING ----------> LOGGING -----------+
 *      ^   ^                                                    |  all send logs | posted receives:
 *      |   |                                                    |  are here, all | all send logs
 *      |   |                       image and log durable        v  in transit in v are here
 *      |   +------------------------------------------------ WRITING <-------- TAKING
 *      |  all orphans came once more                              all in transit in
 *     RECOVERING  <-- start from a checkpoint with orphans
 *
 * Transitions:
 *     RUNNING -> CAPTURING : take_checkpoint()  [safe-point]
 *     CAPTURING -> LOGGING : begin_logging()  [captured]
 *     LOGGING -> TAKING : check_complete()  [control send-log]
 *     LOGGING -> WRITING, TAKING -> WRITING : write_log()  [control send-log, arrived]
 *     WRITING -> RUNNING : durable()  [durable]
 *     RECOVERING -> RUNNING : drop()  [arrived]
 *
 * Logging: every send is logged in SENT, every message given to the program in RECEIVED.
 * Checkpoint: an initiator (rank 0, or several ranks) takes its checkpoint and sends each peer the
 * envelopes of all messages to it since the last checkpoint. The first send log that a peer gets
 * tells it to take its own checkpoint. Identification: each envelope of a peer's log is looked for
 * in ORPHANS (received before its sender's checkpoint) and then in RECEIVED. If it is found, the
 * message does not cross the line, otherwise it is IN_TRANSIT. Envelopes that are left in RECEIVED
 * at the end are orphans. Envelopes are identified one by one as they come, with the same result as
 * the paper's steps on whole logs. Recovery: messages in transit are given from the log, and the
 * orphans, which their senders send again, are dropped.
 *
 * Forms: the logs are lists, or sorted. The content of a message in transit is logged when the
 * program receives it, or at once, while the program is held until all such messages are in (the
 * paper's posted receives). `event-logging-paired` has lists, and beside each list a sorted log
 * that is changed in step.
 *
 * Where the paper is silent or wrong (docs/protocols/event-logging.md): a message that arrives
 * after its receiver's checkpoint and before its sender's log is kept until that log identifies it.
 * The orphans that will be dropped have a log of their own, because the next identification needs
 * other envelopes. After a restart programs are held until the orphans have come again.
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/event-logging_work.h"
#include "protocols/parts/outputs.h"

static const char *const invariants[] = {
    /* 1 */
    "a rank that wants a checkpoint is not taking one: "
    "otherwise a second checkpoint would begin before the first one is complete",
    /* 2 */
    "outside a checkpoint only envelopes of kept messages are in transit and received: "
    "otherwise a message would be taken for one of an earlier checkpoint",
    /* 3 */
    "no more messages are late than are in transit, and all are in when the log is written: "
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
    "both forms of each log are equal (event-logging-paired): "
    "otherwise one of them would be wrong, and a restart from it would lose a message",
    /* 8 */
    "a rank logs and writes messages only of a checkpoint that it has taken: "
    "otherwise a log would be of no image, and a restart would give messages of another time",
    NULL};

static const char *const parameters[] = {"crossings", "initiators", NULL};

/* ---- messages that are kept ---- */

static bool is_of(const struct rcl_kept *entry, const struct rcl_envelope *e)
{
  return entry->peer == e->peer && entry->comm == e->comm && entry->tag == e->tag;
}

static struct rcl_envelope envelope_kept(const struct rcl_kept *entry)
{
  return (struct rcl_envelope){
      .peer = entry->peer, .comm = entry->comm, .tag = entry->tag, .count = 1};
}

/* Returns whether the receive may ask for a message that is forgotten. The sender sent that message
 * before all of its messages that are kept, so no kept message may take its place. */
static bool is_expired(const struct rank *r, const struct rcl_event *receive)
{
  struct rcl_envelopes expired = log_of(r, EXPIRED);
  for (uint32_t i = 0; i < *expired.used; i++) {
    const struct rcl_envelope *e = &expired.item[i];
    if (e->comm == receive->comm && rcl_matches(receive->peer, receive->tag, e->peer, e->tag))
      return true;
  }
  return false;
}

/* Counts the late messages with this envelope, or all if it is NULL, that have come. */
static uint32_t late_in(const struct rank *r, const struct rcl_envelope *e)
{
  struct rcl_mailbox box = mailbox(r);
  uint32_t late = 0;
  for (uint32_t i = 0; i < *box.used; i++)
    late += box.item[i].late && (!e || is_of(&box.item[i], e));
  return late;
}

/* Returns whether the next message with this envelope is in transit. Messages with one envelope
 * arrive in the order of sending.
 */
static bool next_is_late(const struct rank *r, const struct rcl_envelope *e)
{
  return late_in(r, e) < count(r, IN_TRANSIT, e);
}

/* Notes that the program was given a message. The sender's log has it already, or will have it. */
static void received(const struct rank *r, const struct rcl_envelope *e)
{
  if (is_taking_checkpoint(r->state) || !take(r, IN_TRANSIT, e))
    add(r, RECEIVED, e);
}

/* ---- checkpoint ---- */

static void want(const struct rank *r, uint32_t checkpoint)
{
  if (checkpoint <= r->state->epoch || r->state->wanted)
    return;
  r->state->wanted = checkpoint;
  if (is_initiator(r->config))
    r->state->commit = (struct rcl_commit){.in_progress = checkpoint};
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

/* Identifies a message that was sent before its sender's checkpoint. It is called for messages in
 * the order of sending. */
static void identify(const struct rank *r, const struct rcl_envelope *e)
{
  struct rcl_envelope one = *e;
  one.count = 1;
  for (uint32_t i = 0; i < e->count; i++)
    if (!take(r, ORPHANS, &one) && !take(r, RECEIVED, &one))
      add(r, IN_TRANSIT, &one);
}

enum { COUNT_MAX = UINT16_MAX }; /* largest number of messages in one control message */

static void tell_envelope(const struct rank *r, const struct rcl_envelope *e)
{
  for (uint32_t left = e->count; left > 0;) {
    uint32_t some = left < COUNT_MAX ? left : COUNT_MAX;
    rcl_send_control(r->actions, e->peer, ENVELOPE, (uint32_t)e->tag,
                     (uint16_t)e->comm | some << 16);
    left -= some;
  }
}

static void exchange_logs(const struct rank *r)
{
  struct rcl_envelopes sent = log_of(r, SENT);
  for (uint32_t i = 0; i < *sent.used; i++)
    if (sent.item[i].peer == r->config->self)
      identify(r, &sent.item[i]);
    else
      tell_envelope(r, &sent.item[i]);
  clear(r, SENT);
  rcl_send_control_to_all(r->config, r->actions, SEND_LOG, r->state->epoch);
}

static void orphan(const struct rank *r, int peer)
{
  struct rcl_envelopes log = log_of(r, RECEIVED);
  for (uint32_t i = 0; i < *log.used;)
    if (log.item[i].peer == peer) {
      struct rcl_envelope one = log.item[i];
      one.count = 1;
      take(r, RECEIVED, &one);
      add(r, ORPHANS, &one);
    } else {
      i++;
    }
}

/* Identifies kept messages of a peer, because this rank is beyond the line and the peer's log is
 * here. Such a message is in transit, or it belongs to the new interval and its payload is not
 * needed. */
static void complete(const struct rank *r, int peer)
{
  struct rcl_mailbox box = mailbox(r);
  orphan(r, peer);
  for (uint32_t i = 0; i < *box.used; i++) {
    struct rcl_envelope e = envelope_kept(&box.item[i]);
    if (e.peer == peer && next_is_late(r, &e))
      cross(r, &box.item[i]);
  }
  for (uint32_t i = 0; i < *box.used;) {
    struct rcl_kept *entry = &box.item[i];
    struct rcl_envelope e = envelope_kept(entry);
    if (entry->peer == peer && entry->given && !entry->late) {
      received(r, &e);
      rcl_mailbox_forget(&box, entry, r->actions);
    } else {
      i++;
    }
  }
}

static void write_log(const struct rank *r)
{
  if (r->state->phase == TAKING)
    rcl_act(r->actions, RCL_ACTION_RELEASE);
  r->state->phase = WRITING;
  rcl_store(r->actions, RCL_PART_LOG, r->state->epoch);
}

static void check_complete(const struct rank *r)
{
  if (r->state->phase != LOGGING && r->state->phase != TAKING)
    return;
  for (int i = 0; i < r->config->ranks; i++)
    if (is_unknown(r, i))
      return;
  struct rcl_envelopes in_transit = log_of(r, IN_TRANSIT);
  if (late_in(r, NULL) == rcl_envelopes_total(&in_transit, RCL_ANY)) {
    write_log(r);
  } else if (r->variant->posted && r->state->phase == LOGGING) {
    r->state->phase = TAKING;
    rcl_act(r->actions, RCL_ACTION_HOLD);
    rcl_act(r->actions, RCL_ACTION_DRAIN)->peer = RCL_ANY;
  }
}

/* Forgets messages in transit that have crossed as many lines as allowed (section 3.5). */
static void expire(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  uint32_t crossings = r->config->parameter[CROSSINGS];
  for (uint32_t i = 0; crossings && i < *box.used;) {
    struct rcl_kept *entry = &box.item[i];
    struct rcl_envelope e = envelope_kept(entry);
    if (!entry->epoch || r->state->epoch - entry->epoch < crossings) {
      i++;
      continue;
    }
    take(r, IN_TRANSIT, &e);
    if (!count(r, EXPIRED, &e))
      add(r, EXPIRED, &e);
    rcl_mailbox_forget(&box, entry, r->actions);
  }
}

static void begin_logging(const struct rank *r)
{
  r->state->phase = LOGGING;
  r->state->epoch = r->event->checkpoint;
  r->state->wanted = r->state->durable = 0;
  expire(r);
  rcl_store(r->actions, RCL_PART_IMAGE, r->state->epoch);
  exchange_logs(r);
  peers(r->config, r->state)[r->config->self].listed = r->state->epoch;
  for (int i = 0; i < r->config->ranks; i++)
    if (!is_unknown(r, i))
      complete(r, i);
  check_complete(r);
}

/* Handles the end of a peer's send log, which also asks for the checkpoint. A coordinator that is
 * the only initiator has begun the checkpoint already, so it need not take the log as a request. If
 * the coordinator did so, a reduction (verify/reduce), which assumes that any message may come,
 * would find that the coordinator can begin checkpoints for ever. */
static void send_log(const struct rank *r)
{
  peers(r->config, r->state)[r->event->peer].listed = r->event->about;
  if (!rcl_coordinator(r->config) || initiators(r->config) > 1)
    want(r, r->event->about);
  if (is_taking_checkpoint(r->state))
    complete(r, r->event->peer);
  check_complete(r);
}

/* Drops logged messages that the program has received, because these are no longer in transit. */
static void durable(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  r->state->durable |= 1u << r->event->part;
  if (r->state->durable != (1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG))
    return;
  r->state->phase = RUNNING;
  for (uint32_t i = 0; i < *box.used;) {
    struct rcl_envelope e = envelope_kept(&box.item[i]);
    box.item[i].late = false;
    if (box.item[i].given) {
      take(r, IN_TRANSIT, &e);
      rcl_mailbox_forget(&box, &box.item[i], r->actions);
    } else {
      i++;
    }
  }
  rcl_commit_done(r->config, &r->state->commit, DONE, r->state->epoch, r->actions);
}

static void committed(const struct rank *r)
{
  if (r->event->checkpoint > 1)
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = r->event->checkpoint - 1;
  rcl_commit_end(&r->state->commit, r->actions);
  for (int i = 0; i < (int)initiators(r->config); i++)
    if (i != r->config->self)
      rcl_send_control(r->actions, i, COMMITTED, r->event->checkpoint, 0);
}

/* Tells an initiator that it may begin the next checkpoint. Another initiator may have begun that
 * checkpoint already, because its request can be faster than this message. */
static void told_committed(const struct rank *r)
{
  if (r->event->about == r->state->commit.in_progress)
    rcl_commit_end(&r->state->commit, r->actions);
}

/* ---- the program's messages ---- */

static void send(const struct rank *r)
{
  struct rcl_envelope e = rcl_envelope_of(r->event);
  add(r, SENT, &e);
  rcl_act(r->actions, RCL_ACTION_TRANSMIT);
}

static void receive(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  struct rcl_kept *entry = rcl_mailbox_find(&box, r->event);
  if (is_expired(r, r->event)) {
    rcl_give_up(r->actions, RCL_REASON_PROTOCOL);
    return;
  }
  if (!entry) {
    rcl_match(r->actions, r->event);
    return;
  }
  struct rcl_envelope e = envelope_kept(entry);
  rcl_mailbox_deliver(entry, r->event->request, r->actions);
  if (is_unknown(r, entry->peer) || entry->late) {
    entry->given = true; /* the entry stays, because a restart may need the message again */
    return;
  }
  received(r, &e);
  rcl_mailbox_forget(&box, entry, r->actions);
}

/* Drops an orphan that has come again. */
static void drop(const struct rank *r)
{
  struct rcl_envelopes dropped = log_of(r, DROPPED);
  rcl_act(r->actions, RCL_ACTION_DISCARD);
  if (*dropped.used == 0) {
    r->state->phase = RUNNING;
    rcl_act(r->actions, RCL_ACTION_RELEASE);
  }
}

static void arrived(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  struct rcl_envelope e = rcl_envelope_of(r->event);
  if (take(r, DROPPED, &e)) {
    drop(r);
    return;
  }
  bool unknown = is_unknown(r, r->event->peer);
  bool late = !unknown && is_taking_checkpoint(r->state) && next_is_late(r, &e);
  if (unknown || late || r->event->request == RCL_NO_REQUEST) {
    struct rcl_kept *entry = rcl_mailbox_keep(&box, r->event, r->actions);
    if (!entry)
      return;
    if (late)
      cross(r, entry);
    entry->given = r->event->request != RCL_NO_REQUEST;
  }
  if (r->event->request != RCL_NO_REQUEST) {
    rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
    if (!unknown && !late)
      received(r, &e);
  }
  check_complete(r);
}

/* ---- recovery: all ranks go back to the last committed checkpoint ---- */

/* Puts the log into the order of sending, as IN_TRANSIT has it, and forgets all other messages. */
static void open_log(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  struct rcl_envelopes in_transit = log_of(r, IN_TRANSIT);
  uint32_t placed = 0;
  for (uint32_t i = 0; i < *in_transit.used; i++)
    for (uint32_t k = placed, left = in_transit.item[i].count; left > 0 && k < *box.used; k++) {
      struct rcl_kept entry = box.item[k];
      if (!entry.late || !is_of(&entry, &in_transit.item[i]))
        continue;
      memmove(&box.item[placed + 1], &box.item[placed], (k - placed) * sizeof entry);
      entry.late = entry.given = false;
      box.item[placed++] = entry;
      left--;
    }
  while (*box.used > placed)
    rcl_mailbox_forget(&box, &box.item[placed], r->actions);
}

/* Sets the state, which was stored when the log was complete, back to the line. */
static void start(const struct rank *r)
{
  if (is_initiator(r->config))
    rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  if (r->event->checkpoint == RCL_FRESH)
    return;
  open_log(r);
  clear(r, SENT);
  clear(r, RECEIVED);
  clear(r, DROPPED);
  struct rcl_envelopes orphans = log_of(r, ORPHANS);
  for (uint32_t i = 0; i < *orphans.used; i++)
    add(r, DROPPED, &orphans.item[i]);
  r->state->wanted = 0;
  r->state->commit = (struct rcl_commit){0};
  r->state->durable = 1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG;
  r->state->phase = *orphans.used ? RECOVERING : RUNNING;
  if (*orphans.used) {
    rcl_act(r->actions, RCL_ACTION_HOLD);
    rcl_act(r->actions, RCL_ACTION_DRAIN)->peer = RCL_ANY;
  }
}

/* ---- the step ---- */

static void control(const struct rank *r)
{
  struct rcl_envelope e = envelope_told(r->event);
  switch ((enum control)r->event->control) {
  case ENVELOPE:
    identify(r, &e);
    break;
  case SEND_LOG:
    send_log(r);
    break;
  case DONE:
    rcl_commit_count(r->config, &r->state->commit, r->actions);
    break;
  case COMMITTED:
    told_committed(r);
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

static bool is_kept(const struct rank *r, const struct rcl_envelope *e)
{
  struct rcl_mailbox box = mailbox(r);
  for (uint32_t i = 0; i < *box.used; i++)
    if (is_of(&box.item[i], e))
      return true;
  return false;
}

/* A receive would find a kept message before the program receives another one with that envelope.
 * So a message that is both in transit and received is never kept either, but a rank alone cannot
 * tell this. */
static bool never_both(const struct rank *r)
{
  struct rcl_envelopes in_transit = log_of(r, IN_TRANSIT);
  for (uint32_t i = 0; i < *in_transit.used; i++)
    if (!is_kept(r, &in_transit.item[i]) &&
        (count(r, RECEIVED, &in_transit.item[i]) || count(r, ORPHANS, &in_transit.item[i])))
      return false;
  return true;
}

static bool late_are_in(const struct rank *r)
{
  struct rcl_envelopes in_transit = log_of(r, IN_TRANSIT);
  uint32_t late = late_in(r, NULL), all = rcl_envelopes_total(&in_transit, RCL_ANY);
  return r->state->phase == WRITING ? late == all : late <= all;
}

static bool twins_are_equal(const struct rank *r)
{
  for (enum which which = 0; r->variant->paired && which < LOGS; which++) {
    struct rcl_envelopes log = log_of(r, which), twin = twin_of(r, which);
    if (!rcl_envelopes_equal(&log, &twin))
      return false;
  }
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  const struct state *state = r->state;
  if (state->wanted && is_taking_checkpoint(state))
    return 1;
  if (!is_taking_checkpoint(state) && !never_both(r))
    return 2;
  if (!late_are_in(r))
    return 3;
  if (!rcl_mailbox_is_sound(r->config, &box))
    return 4;
  if ((state->used[DROPPED] > 0) != (state->phase == RECOVERING))
    return 5;
  if (!rcl_commit_is_sound(r->config, &state->commit))
    return 6;
  if (!twins_are_equal(r))
    return 7;
  return is_taking_checkpoint(state) && !state->epoch ? 8 : 0;
}

#include "protocols/lines/event-logging_line.h"

/* ---- the registered forms ---- */

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"logging", "captured", "store part=log"},
                                          {"write", "store part=log", "durable part=log"},
                                          {"commit", "commit", "committed"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"bounded", "frees", NULL};

#define FORM(ID)                                                                                   \
  RCL_FORM(ID)                                                                                     \
  static size_t ID##_size(const struct rcl_config *config)                                         \
  {                                                                                                \
    return ID.paired ? state_size(config) : unpaired_size(config);                                 \
  }                                                                                                \
  static void ID##_work(const struct rcl_config *config, const void *state,                        \
                        const struct rcl_event *event, struct rcl_work *work)                      \
  {                                                                                                \
    count_work(&(struct rank){config, &ID, rcl_at(state, 0), event, NULL}, work);                  \
  }

static const struct rcl_place place = {
    .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER},
             {RCL_LOGGED_ENVELOPES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_BOTH}},
    .back = RCL_BACK_ALL,
    .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_MPI_ORDER | RCL_ASSUMES_RECEIVED |
               RCL_ASSUMES_SAME_AGAIN};

/* Places the posted form, which awaits messages in transit even if no receive asks for them. */
static const struct rcl_place posted_place = {
    .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER},
             {RCL_LOGGED_ENVELOPES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_BOTH}},
    .back = RCL_BACK_ALL,
    .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_MPI_ORDER | RCL_ASSUMES_SAME_AGAIN};

#define PROTOCOL(ID, NAME, TITLE, PLACE, LINE, NEXT)                                               \
  {                                                                                                \
    .name = NAME, .title = TITLE, .control_bytes = 12, .controls = controls,                       \
    .parameters = parameters, .invariants = invariants, .phases = phases, .promises = promises,    \
    .state_size = ID##_size, .in_use = in_use, .step = ID##_step, .work = ID##_work,               \
    .violated_invariant = ID##_broken, .line = LINE, .place = &PLACE, .variant = NEXT              \
  }

static const struct variant list = {.form = RCL_LIST};
static const struct variant sorted = {.form = RCL_SORTED};
static const struct variant posted = {.form = RCL_LIST, .posted = true};
static const struct variant paired = {.form = RCL_LIST, .paired = true};

FORM(list)
FORM(sorted)
FORM(posted)
FORM(paired)

static const struct rcl_protocol event_logging_paired =
    PROTOCOL(paired, "event-logging-paired", "Event Logging, a list that a sorted log follows",
             place, line, NULL);
static const struct rcl_protocol event_logging_posted =
    PROTOCOL(posted, "event-logging-posted", "Event Logging with posted receives (section 5.3)",
             posted_place, line, &event_logging_paired);
static const struct rcl_protocol event_logging_sorted =
    PROTOCOL(sorted, "event-logging-sorted", "Event Logging with sorted logs (section 4.2)", place,
             NULL, &event_logging_posted);
extern const struct rcl_protocol protocol_event_logging;
const struct rcl_protocol protocol_event_logging = PROTOCOL(
    list, "event-logging", "Event Logging (section 3.3)", place, line, &event_logging_sorted);
