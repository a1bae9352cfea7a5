/* Lai-Yang: each message has the colour of its sender, which tells on which side of the sender's
 * checkpoint it was sent; channels need no order.
 *
 * Sources: Lai and Yang, "On distributed snapshots" (Information Processing Letters 25, 1987), and
 * Mattern, "Efficient algorithms for distributed snapshots and global virtual time approximation"
 * (Journal of Parallel and Distributed Computing 18, 1993).
 *
 *     1  every rank is white at first. The initiator (rank 0) takes its checkpoint, and is red from
 *        that moment on. Messages of a red rank are red
 *     2  a rank takes its checkpoint, at any point of its program, before it delivers its first
 *        red message, or when a control message about the checkpoint comes first
 *     3  a white message that comes to a red rank was in transit: it is delivered, and recorded
 *        with the checkpoint
 *     4  when all messages in transit have come, the recorded messages go to disk
 *     5  when all ranks have image and recorded messages on disk, the initiator commits. What is
 *        red now is white for the next checkpoint
 *
 * No rank can see that a white message is still to come, so step 4 needs counting:
 *
 *     lai-yang  each rank tells each other rank how many white messages it has sent to it. In place
 *               of this number the paper has a history, of which a receiver needs only the length
 *     mattern   all channels are counted as one channel: each rank tells the initiator how many
 *               more white messages it has sent than received, and then reports each late message
 *               that it receives. When the initiator's count is zero, no white message is in
 *               transit, and it says so (Mattern, with one counter)
 *
 *             timer, first red message, count, take        captured
 *     RUNNING ----------------------------------> CAPTURING --------> RECORDING
 *        ^                                                                |  all have come
 *        |                     image and log durable                      v
 *        +------------------------------------------------------------ WRITING
 *
 * Transitions:
 *     RUNNING -> CAPTURING : capture()  [timer, arrived, control count, control take]
 *     CAPTURING -> RECORDING : record()  [captured]
 *     RECORDING -> WRITING : close_channels()  [captured, arrived, control count, control late]
 *     RECORDING -> WRITING : write_log()  [control closed]
 *     WRITING -> RUNNING : durable()  [durable]
 *
 * Red messages that come to a white rank while its image is taken are kept, and delivered
 * afterwards. One bit is enough for the colour: the next checkpoint begins after the commit, when
 * no message of the other colour is in transit any more.
 *
 * Recovery: all ranks go back, the channels are empty, and the recorded messages are delivered
 * before anything else, as in the protocol of Chandy and Lamport.
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include <string.h>

#include "protocols/parts/commit.h"
#include "protocols/parts/mailbox.h"
#include "protocols/parts/outputs.h"
#include "protocols/parts/transitions.h"

static const char *const invariants[] = {
    /* 1 */
    "between checkpoints no message of the colour before is missing: "
    "otherwise a late message would be in no log, and its receiver would wait for ever after a "
    "crash",
    /* 2 */
    "messages are kept only between a checkpoint's beginning and the end of its writing: "
    "otherwise what is kept would be of no checkpoint, and memory would fill with it",
    /* 3 */
    "every kept message has a slot of its own: "
    "otherwise one message would take the place of another, and a receive would be given the wrong "
    "one",
    /* 4 */
    "only the coordinator counts ranks that are done, and no more than there are: "
    "otherwise a checkpoint would be committed that some rank has not stored: no restart finds it",
    /* 5 */
    "no more ranks have told their counts than there are: "
    "otherwise the counts would be taken for complete while those of a rank are missing, and a "
    "late message would be in no log",
    /* 6 */
    "a rank beyond the line has captured a checkpoint: "
    "otherwise its messages would count as sent behind a line that it has not passed, and a "
    "restart would lose them",
    NULL};

enum phase { RUNNING, CAPTURING, RECORDING, WRITING };

enum control { TAKE = 1, COUNT, LATE, CLOSED, DONE };

enum { COLOUR }; /* the word of a message */

enum { ALL_DURABLE = 1 << RCL_PART_IMAGE | 1 << RCL_PART_LOG };

static const char *const controls[] = {
    "none",
    "take: take checkpoint {about}",
    ("count: messages that I have sent before checkpoint {about} (mattern: less those that I have "
     "received): {value}"),
    "late: one more of the messages from before checkpoint {about} has come to me",
    "closed: no message from before checkpoint {about} is in transit any more",
    "done: my image and my log of checkpoint {about} are stored",
    NULL};

/* Counts messages of the channel from a rank to this one, and of the channel back. In mattern the
 * first entry counts messages of all channels. */
struct count {
  uint32_t sent, received; /* numbers of messages of the present colour */
  /* number of messages of the previous colour that the other end has sent and this rank has not
   * received yet; modulo 2^32, because a message may be received before its sender has told the
   * number */
  uint32_t missing;
  uint32_t told; /* number of ranks that have told how many messages they had sent */
};

struct state {
  uint32_t phase;
  uint32_t captured; /* the last captured checkpoint; its parity is the colour */
  uint32_t durable;  /* one bit for each part of the last checkpoint that is on disk */
  /* number of messages in the mailbox, which are early messages while capturing, and recorded
   * messages later */
  uint32_t kept;
  struct rcl_commit commit;
};

struct variant {
  bool one; /* the initiator counts all channels together */
};

#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(counts, struct count, config->ranks)                                                       \
  LIST(kept_of, struct rcl_kept, config->capacity, state->kept, RCL_FULL_KEPT)
RCL_STATE(LISTS)

static struct rcl_mailbox mailbox(const struct rank *r)
{
  return (struct rcl_mailbox){.capacity = r->config->capacity,
                              .used = &r->state->kept,
                              .item = kept_of(r->config, r->state)};
}

static uint32_t colour(const struct rank *r)
{
  return r->state->captured & 1;
}

/* Returns whether this rank has yet to cross the line under way, or no line is under way. */
static bool is_before_line(const struct rank *r)
{
  return r->state->phase == RUNNING || r->state->phase == CAPTURING;
}

/* ---- counting ---- */

static struct count *count_of(const struct rank *r, int peer)
{
  return &counts(r->config, r->state)[r->variant->one ? 0 : peer];
}

/* channels() returns how many counts this rank keeps. tellers() returns how many ranks tell their
 * numbers for each count. */
static int channels(const struct rank *r)
{
  return r->variant->one ? 1 : r->config->ranks;
}

static uint32_t tellers(const struct rank *r)
{
  return r->variant->one ? (uint32_t)r->config->ranks : 1;
}

static bool none_is_missing(const struct rank *r)
{
  const struct count *count = counts(r->config, r->state);
  for (int i = 0; i < channels(r); i++)
    if (count[i].told != tellers(r) || count[i].missing != 0)
      return false;
  return true;
}

/* Adds the number that a rank tells: how many messages it had sent. If one rank counts sent and
 * received messages (in mattern, and for a rank's messages to itself), the number is less by the
 * messages that it had received. */
static void add_count(const struct rank *r, int peer, uint32_t missing)
{
  struct count *count = count_of(r, peer);
  count->missing += missing;
  count->told++;
}

/* Tells the counts, and begins to count the other colour. */
static void tell_counts(const struct rank *r)
{
  struct count *count = counts(r->config, r->state);
  for (int i = 0; i < channels(r); i++) {
    uint32_t sent = count[i].sent, received = count[i].received;
    count[i].sent = count[i].received = 0;
    if (r->variant->one && !rcl_coordinator(r->config)) {
      rcl_send_control(r->actions, RCL_COORDINATOR_RANK, COUNT, r->state->captured,
                       sent - received);
    } else if (r->variant->one || i == r->config->self) {
      add_count(r, i, sent - received);
    } else {
      count[i].missing -= received;
      rcl_send_control(r->actions, i, COUNT, r->state->captured, sent);
    }
  }
}

/* ---- a checkpoint ---- */

static void capture(const struct rank *r)
{
  r->state->phase = CAPTURING;
  rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = r->state->captured + 1;
}

static void write_log(const struct rank *r)
{
  r->state->phase = WRITING;
  rcl_store(r->actions, RCL_PART_LOG, r->state->captured);
}

/* Closes channels if, as far as this rank can know, no message is in transit any more. */
static void close_channels(const struct rank *r)
{
  struct count *count = counts(r->config, r->state);
  if (r->state->phase != RECORDING || !none_is_missing(r))
    return;
  if (r->variant->one)
    rcl_send_control_to_all(r->config, r->actions, CLOSED, r->state->captured);
  for (int i = 0; i < channels(r); i++)
    count[i].told = 0;
  write_log(r);
}

/* Delivers the messages that came too early for the image. */
static void deliver_kept(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  while (*box.used) {
    rcl_mailbox_deliver(box.item, RCL_NO_REQUEST, r->actions);
    rcl_mailbox_forget(&box, box.item, r->actions);
  }
}

static void record(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  r->state->phase = RECORDING;
  r->state->captured++;
  r->state->durable = 0;
  tell_counts(r);
  for (uint32_t i = 0; i < *box.used; i++)
    count_of(r, box.item[i].peer)->received++;
  deliver_kept(r);
  rcl_store(r->actions, RCL_PART_IMAGE, r->state->captured);
  if (r->variant->one && rcl_coordinator(r->config))
    rcl_send_control_to_all(r->config, r->actions, TAKE, r->state->captured);
  if (r->state->captured > 2)
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = r->state->captured - 2;
  close_channels(r);
}

/* Notes that the image or the recorded messages are on disk; either can be first. */
static void durable(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  r->state->durable |= 1u << r->event->part;
  if (r->state->durable != ALL_DURABLE)
    return;
  r->state->phase = RUNNING;
  while (*box.used)
    rcl_mailbox_forget(&box, box.item, r->actions);
  rcl_commit_done(r->config, &r->state->commit, DONE, r->state->captured, r->actions);
}

/* ---- the program's messages ---- */

static void send(const struct rank *r)
{
  count_of(r, r->event->peer)->sent++;
  rcl_act(r->actions, RCL_ACTION_TRANSMIT)->words[COLOUR] = colour(r);
}

/* Keeps a message from beyond the line until this rank's image is taken. */
static void take_early(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  if (rcl_mailbox_keep(&box, r->event, r->actions) && r->state->phase == RUNNING)
    capture(r);
}

/* Takes a message that was in transit when the line was drawn. */
static void take_late(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  if (!rcl_mailbox_keep(&box, r->event, r->actions))
    return;
  rcl_act(r->actions, RCL_ACTION_DELIVER);
  if (r->variant->one && !rcl_coordinator(r->config))
    rcl_send_control(r->actions, RCL_COORDINATOR_RANK, LATE, r->state->captured, 0);
  else
    count_of(r, r->event->peer)->missing--;
  close_channels(r);
}

static void arrived(const struct rank *r)
{
  if (r->event->words[COLOUR] == colour(r)) {
    count_of(r, r->event->peer)->received++;
    rcl_act(r->actions, RCL_ACTION_DELIVER);
  } else if (is_before_line(r)) {
    take_early(r);
  } else if (r->state->phase == RECORDING) {
    take_late(r);
  } else {
    rcl_give_up(r->actions, RCL_REASON_PROTOCOL);
  }
}

/* ---- recovery ---- */

/* Starts where the image was taken, so nothing is sent or received in the present colour yet. */
static void start(const struct rank *r)
{
  memset(counts(r->config, r->state), 0, (size_t)r->config->ranks * sizeof(struct count));
  r->state->phase = RUNNING;
  r->state->commit = (struct rcl_commit){0};
  deliver_kept(r);
  if (rcl_coordinator(r->config))
    rcl_act(r->actions, RCL_ACTION_SET_TIMER);
}

/* ---- control messages ---- */

/* Takes a count for the checkpoint that this rank has taken or is taking. */
static void count(const struct rank *r)
{
  if (r->event->about != r->state->captured + is_before_line(r)) {
    rcl_give_up(r->actions, RCL_REASON_PROTOCOL);
    return;
  }
  add_count(r, r->event->peer, r->event->value);
  if (r->state->phase == RUNNING)
    capture(r);
  close_channels(r);
}

/* Writes the recorded messages, because the initiator knows that all channels are empty. */
static void closed(const struct rank *r)
{
  if (r->state->phase == RECORDING)
    write_log(r);
  else
    rcl_give_up(r->actions, RCL_REASON_PROTOCOL);
}

static void control(const struct rank *r)
{
  switch ((enum control)r->event->control) {
  case TAKE: /* has no effect if a red message has come first */
    if (r->state->phase == RUNNING && r->event->about > r->state->captured)
      capture(r);
    break;
  case COUNT:
    count(r);
    break;
  case LATE:
    count_of(r, r->event->peer)->missing--;
    close_channels(r);
    break;
  case CLOSED:
    closed(r);
    break;
  case DONE:
    rcl_commit_count(r->config, &r->state->commit, r->actions);
    break;
  }
}

static void timer(const struct rank *r)
{
  if (rcl_commit_begin(&r->state->commit, r->state->phase == RUNNING, r->state->captured + 1,
                       r->actions))
    capture(r);
}

static void committed(const struct rank *r)
{
  rcl_commit_end(&r->state->commit, r->actions);
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,         [RCL_EVENT_DOWN] = rcl_roll_back,
    [RCL_EVENT_TIMER] = timer,         [RCL_EVENT_SEND] = send,
    [RCL_EVENT_ARRIVED] = arrived,     [RCL_EVENT_CONTROL] = control,
    [RCL_EVENT_CAPTURED] = record,     [RCL_EVENT_DURABLE] = durable,
    [RCL_EVENT_COMMITTED] = committed,
};

static void step(const struct rank *r)
{
  rcl_take(on, r);
  rcl_output_with_commit(r->event, r->actions);
}

/* ---- invariants, by their numbers ---- */

static bool none_left(const struct rank *r)
{
  const struct count *count = counts(r->config, r->state);
  for (int i = 0; i < channels(r); i++)
    if (r->state->phase == RUNNING && (count[i].missing != 0 || count[i].told > 0))
      return false;
  return true;
}

static bool few_have_told(const struct rank *r)
{
  const struct count *count = counts(r->config, r->state);
  for (int i = 0; i < channels(r); i++)
    if (count[i].told > tellers(r))
      return false;
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  if (!none_left(r))
    return 1;
  if (r->state->phase == RUNNING && r->state->kept > 0)
    return 2;
  if (!rcl_mailbox_is_sound(r->config, &box))
    return 3;
  if (!rcl_commit_is_sound(r->config, &r->state->commit))
    return 4;
  if (!few_have_told(r))
    return 5;
  return is_before_line(r) || r->state->captured > 0 ? 0 : 6;
}

#include "protocols/lines/lai-yang_line.h"

/* ---- the registered forms ---- */

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"recording", "captured", "store part=log"},
                                          {"write", "store part=log", "durable part=log"},
                                          {"commit", "commit", "committed"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"bounded", "frees", NULL};

static const struct rcl_place place = {
    .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER}},
    .back = RCL_BACK_ALL,
    .assumes = RCL_ASSUMES_ANYWHERE};

#define PROTOCOL(ID, NAME, TITLE, LINE, NEXT)                                                      \
  {                                                                                                \
    .name = NAME, .title = TITLE, .piggyback_bytes = 1, .control_bytes = 12,                       \
    .level = RCL_LEVEL_CHANNEL, .controls = controls, .invariants = invariants, .phases = phases,  \
    .promises = promises, .state_size = state_size, .in_use = in_use, .step = ID##_step,           \
    .violated_invariant = ID##_broken, .place = &place, .line = LINE, .variant = NEXT              \
  }

static const struct variant per_channel = {.one = false};
static const struct variant as_one = {.one = true};

RCL_FORM(per_channel)
RCL_FORM(as_one)

static const struct rcl_protocol mattern =
    PROTOCOL(as_one, "mattern", "Mattern (JPDC 1993), messages in transit counted at the initiator",
             NULL, NULL);
extern const struct rcl_protocol protocol_lai_yang;
const struct rcl_protocol protocol_lai_yang =
    PROTOCOL(per_channel, "lai-yang",
             "Lai-Yang (IPL 1987), coloured messages, channels without order", line, &mattern);
