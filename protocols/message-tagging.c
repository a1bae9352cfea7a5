/* Message Tagging: coordinated checkpoints above MPI that tell which messages cross the recovery
 * line by a header on every message, over channels that need not be FIFO.
 *
 * Source: the description in "Event Logging", sections 2.2.2 and 6, of what others do: the header
 * has the sender's checkpoint index, which the receiver compares with its own when the program
 * receives the message; marker messages tell how many messages were sent.
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
 * when the program receives it, which is the only time at which it is seen. So the line cannot be
 * committed as long as the program defers a receive. A message whose header is newer is an orphan:
 * its envelope is remembered, and after a restart the message is dropped when it comes again.
 *
 * The header also has the number of the message among those to this receiver, so that messages in
 * transit are given in the order in which they were sent, whatever their tags.
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/commit.h"
#include "protocols/parts/envelopes.h"
#include "protocols/parts/lists.h"
#include "protocols/parts/mailbox.h"
#include "protocols/parts/outputs.h"

static const char *const invariants[] = {
    /* 1 */ "a rank that wants a checkpoint is not taking one",
    /* 2 */ "no peer delivers more messages of the last interval than it announced",
    /* 3 */ "all messages in transit are in when the log is written",
    /* 4 */ "every kept message has a slot of its own",
    /* 5 */ "a rank recovers exactly as long as orphans are to come again",
    /* 6 */ "only the coordinator counts, at most one per rank",
    NULL};

enum phase { RUNNING, CAPTURING, LOGGING, WRITING, RECOVERING };

enum control {
  MARKER = 1, /* before my checkpoint I sent you this many messages since the last one */
  DONE
};

static const char *const controls[] = {"none", "marker", "done", NULL};

enum header { INDEX, NUMBER }; /* words of a message */

/* Messages exchanged with one peer, by the interval in which they were sent. */
struct peer {
  uint32_t sent;          /* to the peer, in this interval */
  uint32_t received;      /* from it, of this interval */
  uint32_t early;         /* from it, of the next */
  uint32_t previous;      /* from it, of the previous */
  uint32_t announced;     /* how many of these there are, by its marker */
  uint32_t announced_for; /* checkpoint of that marker */
};

struct state {
  uint32_t phase;
  uint32_t epoch;   /* checkpoints taken: the index */
  uint32_t wanted;  /* checkpoint asked for and not yet taken; 0: none */
  uint32_t durable; /* parts of this epoch's checkpoint on disk, a bit each */
  struct rcl_commit commit;
  uint32_t kept; /* entries in the mailbox */
  uint32_t orphans, dropped;
  uint32_t pad;
};

#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(peers, struct peer, config->ranks)                                                         \
  LIST(kept_of, struct rcl_kept, config->capacity, state->kept, RCL_FULL_KEPT)                     \
  LIST(orphans_of, struct rcl_envelope, config->capacity, state->orphans, RCL_FULL_ENVELOPES)      \
  LIST(dropped_of, struct rcl_envelope, config->capacity, state->dropped, RCL_FULL_ENVELOPES)
RCL_STATE(LISTS)

static struct rcl_mailbox mailbox(const struct rcl_config *config, const struct state *state)
{
  return (struct rcl_mailbox){
      .capacity = config->capacity, .used = RCL_COUNT(state, kept), .item = kept_of(config, state)};
}

/* Messages received before this rank's checkpoint and sent after their sender's. */
static struct rcl_envelopes orphans(const struct rcl_config *config, const struct state *state)
{
  return (struct rcl_envelopes){.form = RCL_SORTED,
                                .capacity = config->capacity,
                                .used = RCL_COUNT(state, orphans),
                                .item = orphans_of(config, state)};
}

/* Those that are still to come once more, after a restart. */
static struct rcl_envelopes dropped(const struct rcl_config *config, const struct state *state)
{
  return (struct rcl_envelopes){.form = RCL_SORTED,
                                .capacity = config->capacity,
                                .used = RCL_COUNT(state, dropped),
                                .item = dropped_of(config, state)};
}

/* ---- checkpoint ---- */

static void want(struct state *state, uint32_t checkpoint, struct rcl_actions *actions)
{
  if (checkpoint <= state->epoch || state->wanted)
    return;
  state->wanted = checkpoint;
  if (checkpoint > 2) /* the one before is committed */
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = checkpoint - 2;
}

static void take_checkpoint(struct state *state, struct rcl_actions *actions)
{
  if (state->phase != RUNNING || !state->wanted)
    return;
  state->phase = CAPTURING;
  rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = state->wanted;
}

static bool all_are_in(const struct rcl_config *config, const struct state *state)
{
  for (int i = 0; i < config->ranks; i++) {
    const struct peer *peer = &peers(config, state)[i];
    if (peer->announced_for != state->epoch || peer->previous != peer->announced)
      return false;
  }
  return true;
}

static void check_complete(const struct rcl_config *config, struct state *state,
                           struct rcl_actions *actions)
{
  if (state->phase != LOGGING || !all_are_in(config, state))
    return;
  state->phase = WRITING;
  rcl_store(actions, RCL_PART_LOG, state->epoch);
}

static void mark(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  for (int i = 0; i < config->ranks; i++) {
    struct peer *peer = &peers(config, state)[i];
    if (i == config->self) {
      peer->announced = peer->sent;
      peer->announced_for = state->epoch;
    } else {
      rcl_send_control(actions, i, MARKER, state->epoch, peer->sent);
    }
    peer->sent = 0;
    peer->previous = peer->received;
    peer->received = peer->early;
    peer->early = 0;
  }
}

/* Messages that are here and that the program has not asked for are in transit, too. */
static void begin_logging(const struct rcl_config *config, struct state *state,
                          const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_mailbox box = mailbox(config, state);
  state->phase = LOGGING;
  state->epoch = event->checkpoint;
  state->wanted = state->durable = 0;
  rcl_store(actions, RCL_PART_IMAGE, state->epoch);
  for (uint32_t i = 0; i < *box.used; i++)
    box.item[i].late = box.item[i].epoch < state->epoch;
  mark(config, state, actions);
  check_complete(config, state, actions);
}

static void durable(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_mailbox box = mailbox(config, state);
  struct rcl_envelopes early = orphans(config, state);
  state->durable |= 1u << event->part;
  if (state->durable != (1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG))
    return;
  state->phase = RUNNING;
  rcl_envelopes_clear(&early);
  for (uint32_t i = 0; i < *box.used;) {
    box.item[i].late = false;
    if (box.item[i].given)
      rcl_mailbox_forget(&box, &box.item[i], actions);
    else
      i++;
  }
  rcl_commit_done(config, &state->commit, DONE, state->epoch, actions);
}

static void committed(struct state *state, const struct rcl_event *event,
                      struct rcl_actions *actions)
{
  if (event->checkpoint > 1)
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = event->checkpoint - 1;
  rcl_commit_end(&state->commit, actions);
}

/* ---- the program's messages ---- */

static void send(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_action *transmit = rcl_act(actions, RCL_ACTION_TRANSMIT);
  transmit->words[INDEX] = state->epoch;
  transmit->words[NUMBER] = peers(config, state)[event->peer].sent++;
}

/* The program is given a message with that index: an orphan if its sender is beyond the line. */
static void give(const struct rcl_config *config, struct state *state, const struct rcl_envelope *e,
                 uint32_t index, struct rcl_actions *actions)
{
  struct rcl_envelopes log = orphans(config, state);
  if (index > state->epoch && !rcl_envelopes_add(&log, e))
    rcl_give_up_full(actions, RCL_FULL_EARLY);
}

static void receive(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_mailbox box = mailbox(config, state);
  struct rcl_kept *entry = rcl_mailbox_find(&box, event);
  if (!entry) {
    rcl_match(actions, event);
    return;
  }
  struct rcl_envelope e = {.peer = entry->peer, .comm = entry->comm, .tag = entry->tag, .count = 1};
  rcl_mailbox_deliver(entry, event->request, actions);
  give(config, state, &e, entry->epoch, actions);
  if (entry->late)
    entry->given = true; /* it may be needed once more */
  else
    rcl_mailbox_forget(&box, entry, actions);
}

/* An orphan that came once more. */
static void drop(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  rcl_act(actions, RCL_ACTION_DISCARD);
  if (*dropped(config, state).used == 0) {
    state->phase = RUNNING;
    rcl_act(actions, RCL_ACTION_RELEASE);
  }
}

/* Counts a message by the interval in which it was sent; whether it is in transit. */
static bool classify(const struct rcl_config *config, struct state *state,
                     const struct rcl_event *event, struct rcl_actions *actions)
{
  struct peer *peer = &peers(config, state)[event->peer];
  uint32_t index = event->words[INDEX];
  if (index == state->epoch) {
    peer->received++;
  } else if (index > state->epoch) {
    peer->early++;
    want(state, index, actions);
  } else {
    peer->previous++;
  }
  return index < state->epoch;
}

/* An orphan counts for the interval in which it was sent at first. When its sender has taken its
 * next checkpoint before sending it again, it is of that interval, and an orphan of the next line,
 * too. */
static void count_again(const struct rcl_config *config, struct state *state,
                        const struct rcl_event *event, const struct rcl_envelope *e,
                        struct rcl_actions *actions)
{
  struct peer *peer = &peers(config, state)[event->peer];
  uint32_t index = event->words[INDEX];
  if (index == state->epoch)
    return;
  peer->received--;
  peer->early++;
  give(config, state, e, index, actions);
  want(state, index, actions);
}

static void arrived(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_mailbox box = mailbox(config, state);
  struct rcl_envelopes again = dropped(config, state);
  struct rcl_envelope e = rcl_envelope_of(event);
  if (rcl_envelopes_take(&again, &e)) {
    count_again(config, state, event, &e, actions);
    drop(config, state, actions);
    return;
  }
  bool late = classify(config, state, event, actions);
  if (late || event->request == RCL_NO_REQUEST) {
    struct rcl_kept *entry = rcl_mailbox_keep(&box, event, actions);
    if (!entry)
      return;
    entry->late = late;
    entry->given = event->request != RCL_NO_REQUEST;
    entry->epoch = event->words[INDEX];
    entry->number = event->words[NUMBER];
  }
  if (event->request != RCL_NO_REQUEST) {
    rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
    give(config, state, &e, event->words[INDEX], actions);
  }
  check_complete(config, state, actions);
}

/* ---- recovery: all ranks go back to the last committed checkpoint ---- */

static bool is_older(const struct rcl_kept *a, const struct rcl_kept *b)
{
  if (a->peer != b->peer)
    return a->peer < b->peer;
  return a->epoch != b->epoch ? a->epoch < b->epoch : a->number < b->number;
}

/* The log in the order of sending; other messages in the mailbox will be sent again. */
static void open_log(const struct rcl_config *config, struct state *state,
                     struct rcl_actions *actions)
{
  struct rcl_mailbox box = mailbox(config, state);
  for (uint32_t i = 0; i < *box.used;)
    if (box.item[i].late)
      i++;
    else
      rcl_mailbox_forget(&box, &box.item[i], actions);
  for (uint32_t i = 0; i < *box.used; i++) {
    struct rcl_kept entry = box.item[i];
    uint32_t k = i;
    for (; k > 0 && is_older(&entry, &box.item[k - 1]); k--)
      box.item[k] = box.item[k - 1];
    entry.late = entry.given = false;
    box.item[k] = entry;
  }
}

/* The state is that of the moment at which the log was complete; back to the line. */
static void back_to_line(const struct rcl_config *config, struct state *state)
{
  struct rcl_envelopes early = orphans(config, state), again = dropped(config, state);
  state->wanted = 0;
  state->commit = (struct rcl_commit){0};
  state->durable = 1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG;
  for (int i = 0; i < config->ranks; i++) {
    struct peer *peer = &peers(config, state)[i];
    peer->sent = peer->early = 0;
    peer->received = rcl_envelopes_total(&early, i);
  }
  memcpy(again.item, early.item, *early.used * sizeof *early.item);
  *again.used = *early.used;
  rcl_envelopes_clear(&early);
}

static void start(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  if (rcl_coordinator(config))
    rcl_act(actions, RCL_ACTION_SET_TIMER);
  if (event->checkpoint == RCL_FRESH)
    return;
  open_log(config, state, actions);
  back_to_line(config, state);
  state->phase = state->dropped ? RECOVERING : RUNNING;
  if (state->dropped) {
    rcl_act(actions, RCL_ACTION_HOLD);
    rcl_act(actions, RCL_ACTION_DRAIN)->peer = RCL_ANY;
  }
}

/* ---- the step ---- */

static void control(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct peer *peer = &peers(config, state)[event->peer];
  switch ((enum control)event->control) {
  case MARKER:
    peer->announced_for = event->about;
    peer->announced = event->value;
    want(state, event->about, actions);
    check_complete(config, state, actions);
    break;
  case DONE:
    rcl_commit_count(config, &state->commit, actions);
    break;
  }
}

static void step(const struct rcl_config *config, void *memory, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  struct state *state = memory;
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START:
    start(config, state, event, actions);
    break;
  case RCL_EVENT_DOWN:
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = event->checkpoint;
    break;
  case RCL_EVENT_TIMER:
    if (rcl_commit_begin(&state->commit, state->phase == RUNNING, state->epoch + 1, actions))
      want(state, state->epoch + 1, actions);
    break;
  case RCL_EVENT_SEND:
    send(config, state, event, actions);
    break;
  case RCL_EVENT_RECEIVE:
    receive(config, state, event, actions);
    break;
  case RCL_EVENT_SAFE_POINT:
    take_checkpoint(state, actions);
    break;
  case RCL_EVENT_ARRIVED:
    arrived(config, state, event, actions);
    break;
  case RCL_EVENT_CONTROL:
    control(config, state, event, actions);
    break;
  case RCL_EVENT_CAPTURED:
    begin_logging(config, state, event, actions);
    break;
  case RCL_EVENT_DURABLE:
    durable(config, state, event, actions);
    break;
  case RCL_EVENT_COMMITTED:
    committed(state, event, actions);
    break;
  default:
    break;
  }
  rcl_output_with_commit(event, actions);
}

/* ---- invariants, by their numbers ---- */

static bool within_announced(const struct rcl_config *config, const struct state *state)
{
  for (int i = 0; i < config->ranks; i++) {
    const struct peer *peer = &peers(config, state)[i];
    if (peer->announced_for == state->epoch && peer->previous > peer->announced)
      return false;
  }
  return true;
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  struct rcl_mailbox box = mailbox(config, state);
  bool taking = state->phase == LOGGING || state->phase == WRITING;
  if (state->wanted && taking)
    return 1;
  if (!within_announced(config, state))
    return 2;
  if (state->phase == WRITING && !all_are_in(config, state))
    return 3;
  if (!rcl_mailbox_is_sound(config, &box))
    return 4;
  if ((state->dropped > 0) != (state->phase == RECOVERING))
    return 5;
  return rcl_commit_is_sound(config, &state->commit) ? 0 : 6;
}

/* Phases of a checkpoint, and of recoveries, for results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"logging", "captured", "store part=log"},
                                          {"write", "store part=log", "durable part=log"},
                                          {"commit", "commit", "committed"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"bounded", "frees", NULL};

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
    .step = step,
    .violated_invariant = violated_invariant,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER},
                 {RCL_LOGGED_ENVELOPES, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER}},
        .back = RCL_BACK_ALL,
        .assumes = RCL_ASSUMES_MPI_ORDER | RCL_ASSUMES_RECEIVED | RCL_ASSUMES_SAME_AGAIN}};
