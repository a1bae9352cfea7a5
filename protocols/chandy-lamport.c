/* Chandy-Lamport: markers separate messages sent before a checkpoint from messages sent after it.
 *
 * Source: Chandy and Lamport, "Distributed snapshots" (TOCS 1985), as used for checkpoints of MPI:
 * "Event Logging", section 2.2.2 (the steps, and why they need FIFO channels) and Stodghill's
 * slides on non-blocking coordinated checkpoints (the steps, their assumptions, termination).
 *
 *     1  the initiator (rank 0) takes its checkpoint; every other rank does so when the first
 *        marker arrives, at any point of its program
 *     2  after its capture a rank sends a marker through each of its channels, and goes on
 *     3  messages that then come out of a channel in front of its marker were in transit: they are
 *        delivered, and recorded with the checkpoint
 *     4  when all markers are in, the recorded messages go to disk
 *     5  when all ranks have image and recorded messages on disk, the initiator commits
 *
 *             timer, first marker            captured
 *     RUNNING --------------------> CAPTURING --------> RECORDING
 *        ^                                                  |  last marker
 *        |                image and log durable             v
 *        +----------------------------------------------- WRITING
 *
 * Transitions:
 *     RUNNING -> CAPTURING : capture()  [timer, control marker]
 *     CAPTURING -> RECORDING : record()  [captured]
 *     RECORDING -> WRITING : close_channels()  [captured, control marker, arrived]
 *     WRITING -> RUNNING : durable()  [durable]
 *
 * The sources say little about how the initiator learns of step 5: by a "direct channel" or a
 * "spanning tree". This file has both: every rank says `done` to its parent when it and all ranks
 * below it are done. In chandy-lamport the initiator is the parent of all ranks; in
 * chandy-lamport-tree rank r has the parent (r - 1) / 2.
 *
 * The next checkpoint begins after the commit. So its markers also say that the last checkpoint is
 * committed, and ranks erase the checkpoint before that.
 *
 * Recovery: all ranks go back, the channels are empty, and the recorded messages are delivered
 * before anything else. Nothing is replayed or suppressed: no message crosses the line backwards.
 *
 * A rank's messages to itself have a channel, too, but no marker comes through it. Instead the rank
 * counts its messages to itself that are under way at the checkpoint.
 *
 * Above MPI's matching, where messages are received in another order than they were sent, the
 * algorithm is wrong (docs/protocols/chandy-lamport.md, mutant application).
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include <string.h>

#include "protocols/parts/mailbox.h"
#include "protocols/parts/outputs.h"
#include "protocols/parts/transitions.h"

static const char *const invariants[] = {
    /* 1 */
    "between checkpoints all channels are closed by the markers of the last one: "
    "otherwise a message from behind one line would be recorded for another, and come twice after "
    "a restart",
    /* 2 */
    "a rank records as long as a channel is open, and no longer: "
    "otherwise a message under way would be missing in the log, or one from behind the line be in "
    "it",
    /* 3 */
    "messages are recorded only between a checkpoint and the end of its writing: "
    "otherwise what is kept would be of no checkpoint, and memory would fill with it",
    /* 4 */
    "every recorded message has a slot of its own: "
    "otherwise one message would take the place of another, and a receive would be given the wrong "
    "one",
    /* 5 */
    "only ranks below it are counted as done, of a checkpoint that it has captured: "
    "otherwise a checkpoint would be committed that some rank has not stored: no restart finds it",
    /* 6 */
    "the messages that a rank has under way to itself include those of its checkpoint: "
    "otherwise a message to itself would be missing after a restart, and the rank would wait for "
    "it for ever",
    /* 7 */
    "a rank records and writes messages only of a checkpoint that it has captured: "
    "otherwise a log would be of no image, and a restart would give messages of another time",
    NULL};

enum phase { RUNNING, CAPTURING, RECORDING, WRITING };

enum control { MARKER = 1, DONE };

enum { ALL_DURABLE = 1 << RCL_PART_IMAGE | 1 << RCL_PART_LOG };

static const char *const controls[] = {
    "none", "marker: what I send from here on is behind checkpoint {about}",
    "done: checkpoint {about} is stored here, and at all ranks below me", NULL};

struct state {
  uint32_t phase;
  uint32_t captured; /* the last captured checkpoint */
  uint32_t done;     /* number of ranks below this one that are done with the last checkpoint */
  uint32_t own;      /* number of messages under way from this rank to itself */
  uint32_t own_late; /* how many of these were under way at the checkpoint */
  uint32_t recorded; /* number of messages in the mailbox */
  uint32_t durable;  /* one bit for each part of the last checkpoint that is on disk */
};

struct variant {
  bool tree; /* true if `done` goes up a binary tree */
};

/* Lists, for each rank, the checkpoint of the last marker from that rank. Also lists the recorded
 * messages. */
#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(markers, uint32_t, config->ranks)                                                          \
  LIST(recorded_of, struct rcl_kept, config->capacity, state->recorded, RCL_FULL_KEPT)
RCL_STATE(LISTS)

static struct rcl_mailbox mailbox(const struct rank *r)
{
  return (struct rcl_mailbox){.capacity = r->config->capacity,
                              .used = &r->state->recorded,
                              .item = recorded_of(r->config, r->state)};
}

/* ---- termination ---- */

static int parent(const struct rank *r)
{
  return r->variant->tree ? (r->config->self - 1) / 2 : RCL_COORDINATOR_RANK;
}

/* Returns how many ranks have this rank as their parent. */
static uint32_t children(const struct rank *r)
{
  int self = r->config->self, ranks = r->config->ranks;
  if (!r->variant->tree)
    return self == RCL_COORDINATOR_RANK ? (uint32_t)ranks - 1 : 0;
  return (uint32_t)((2 * self + 1 < ranks) + (2 * self + 2 < ranks));
}

/* When this rank and all ranks below it are done, tells the parent, or commits. */
static void report(const struct rank *r)
{
  if (r->state->phase != RUNNING || r->state->done < children(r))
    return;
  r->state->done = 0;
  if (r->config->self == RCL_COORDINATOR_RANK)
    rcl_act(r->actions, RCL_ACTION_COMMIT)->checkpoint = r->state->captured;
  else
    rcl_send_control(r->actions, parent(r), DONE, r->state->captured, 0);
}

/* ---- a checkpoint ---- */

static void capture(const struct rank *r)
{
  r->state->phase = CAPTURING;
  rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = r->state->captured + 1;
}

static bool is_open(const struct rank *r, int peer)
{
  if (peer == r->config->self)
    return r->state->own_late > 0;
  return rcl_is_neighbour(r->config, peer) &&
         markers(r->config, r->state)[peer] < r->state->captured;
}

static bool all_closed(const struct rank *r)
{
  for (int peer = 0; peer < r->config->ranks; peer++)
    if (is_open(r, peer))
      return false;
  return true;
}

static void close_channels(const struct rank *r)
{
  if (r->state->phase != RECORDING || !all_closed(r))
    return;
  r->state->phase = WRITING;
  rcl_store(r->actions, RCL_PART_LOG, r->state->captured);
}

static void record(const struct rank *r)
{
  r->state->phase = RECORDING;
  r->state->captured++;
  r->state->durable = 0;
  r->state->own_late = r->state->own;
  rcl_store(r->actions, RCL_PART_IMAGE, r->state->captured);
  rcl_send_control_to_neighbours(r->config, r->actions, MARKER, r->state->captured);
  if (r->state->captured > 2)
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = r->state->captured - 2;
  close_channels(r);
}

static void marker(const struct rank *r, int peer, uint32_t checkpoint)
{
  bool first = r->state->phase == RUNNING;
  if (checkpoint != r->state->captured + first) {
    rcl_give_up(r->actions, RCL_REASON_PROTOCOL);
    return;
  }
  markers(r->config, r->state)[peer] = checkpoint;
  if (first)
    capture(r);
  else
    close_channels(r);
}

/* Notes that a part of the checkpoint is on disk. Image and recorded messages are separate writes,
 * and either can end first. */
static void durable(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  r->state->durable |= 1u << r->event->part;
  if (r->state->durable != ALL_DURABLE)
    return;
  r->state->phase = RUNNING;
  while (*box.used)
    rcl_mailbox_forget(&box, box.item, r->actions);
  report(r);
}

/* ---- the program's messages ---- */

static void send(const struct rank *r)
{
  r->state->own += r->event->peer == r->config->self;
  rcl_act(r->actions, RCL_ACTION_TRANSMIT);
}

static void arrived(const struct rank *r)
{
  bool own = r->event->peer == r->config->self;
  if (r->state->phase == RECORDING && is_open(r, r->event->peer)) {
    struct rcl_mailbox box = mailbox(r);
    if (!rcl_mailbox_keep(&box, r->event, r->actions))
      return;
    r->state->own_late -= own;
  }
  r->state->own -= own;
  rcl_act(r->actions, RCL_ACTION_DELIVER);
  close_channels(r);
}

/* ---- recovery ---- */

/* Starts the rank: the recorded messages are delivered before anything else. */
static void start(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  r->state->phase = RUNNING;
  r->state->done = r->state->own = r->state->own_late = 0;
  r->state->durable = ALL_DURABLE;
  while (*box.used) {
    rcl_mailbox_deliver(box.item, RCL_NO_REQUEST, r->actions);
    rcl_mailbox_forget(&box, box.item, r->actions);
  }
  if (r->config->self == RCL_COORDINATOR_RANK)
    rcl_act(r->actions, RCL_ACTION_SET_TIMER);
}

static void done(const struct rank *r)
{
  if (!r->state->captured) {
    rcl_give_up(r->actions, RCL_REASON_PROTOCOL);
    return;
  }
  r->state->done++;
  report(r);
}

static void control(const struct rank *r)
{
  switch ((enum control)r->event->control) {
  case MARKER:
    marker(r, r->event->peer, r->event->about);
    break;
  case DONE:
    done(r);
    break;
  }
}

static void committed(const struct rank *r)
{
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,         [RCL_EVENT_DOWN] = rcl_roll_back,
    [RCL_EVENT_TIMER] = capture,       [RCL_EVENT_SEND] = send,
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

static bool closed_between(const struct rank *r)
{
  for (int peer = 0; peer < r->config->ranks; peer++)
    if (rcl_is_neighbour(r->config, peer) && r->state->phase == RUNNING &&
        markers(r->config, r->state)[peer] != r->state->captured)
      return false;
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  if (!closed_between(r))
    return 1;
  if (r->state->phase >= RECORDING && all_closed(r) != (r->state->phase == WRITING))
    return 2;
  if (r->state->phase < RECORDING && r->state->recorded > 0)
    return 3;
  if (!rcl_mailbox_is_sound(r->config, &box))
    return 4;
  if (r->state->done > (r->state->captured ? children(r) : 0))
    return 5;
  if (r->state->own < r->state->own_late)
    return 6;
  return r->state->phase >= RECORDING && !r->state->captured ? 7 : 0;
}

#include "protocols/lines/chandy-lamport_line.h"

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
    .assumes = RCL_ASSUMES_FIFO | RCL_ASSUMES_ANYWHERE | RCL_ASSUMES_CONNECTED};

#define PROTOCOL(ID, NAME, TITLE, LINE, NEXT)                                                      \
  {                                                                                                \
    .name = NAME, .title = TITLE, .control_bytes = 12, .level = RCL_LEVEL_CHANNEL,                 \
    .controls = controls, .invariants = invariants, .phases = phases, .promises = promises,        \
    .state_size = state_size, .in_use = in_use, .step = ID##_step,                                 \
    .violated_invariant = ID##_broken, .place = &place, .line = LINE, .variant = NEXT              \
  }

static const struct variant direct = {.tree = false};
static const struct variant tree = {.tree = true};

RCL_FORM(direct)
RCL_FORM(tree)

static const struct rcl_protocol chandy_lamport_tree = PROTOCOL(
    tree, "chandy-lamport-tree", "the same, the ranks report over a spanning tree", NULL, NULL);
extern const struct rcl_protocol protocol_chandy_lamport;
const struct rcl_protocol protocol_chandy_lamport = PROTOCOL(
    direct, "chandy-lamport", "markers (Chandy and Lamport, TOCS 1985), below MPI's matching", line,
    &chandy_lamport_tree);
