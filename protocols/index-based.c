/* Index-based checkpoints, induced by communication: every rank takes checkpoints at times of its
 * own. It also takes one before it takes in a message whose sender has a later checkpoint than the
 * rank.
 *
 * Source: Briatico, Ciuffoletti and Simoncini, "A distributed domino-effect free recovery
 * algorithm" (Symposium on Reliability in Distributed Software and Database Systems, 1984).
 *
 * Checkpoints have rising *indexes*. A basic checkpoint has the next index. Each message carries
 * its sender's index. If this index is above the receiver's index, the receiver takes a *forced*
 * checkpoint with the sender's index before its program gets the message. So there is a recovery
 * line for each i: it has the first checkpoint of each rank whose index is i or more, or the rank's
 * present state if there is no such checkpoint. On this line, no rank has received a message that
 * another rank has not sent.
 *
 * A message that forces a checkpoint waits in a slot, and so do all messages that come meanwhile.
 * Their receives are announced again after the image is taken. The program is held until the last
 * write is done and the image is taken.
 *
 * At a crash every rank holds its program and tells all others a *line*. A crashed rank tells the
 * index of its last durable checkpoint. Any other rank tells no line, or the line of its last
 * recovery if that is not over. The lowest line holds for all ranks. Each rank goes back to this
 * line, reports what it had received there, and runs when all ranks have reported. No rank computes
 * dependences. The paper assumes that messages in transit are not lost; here they are sent again
 * from logs (links.h), which roll back with their owners.
 *
 * A rank tells the others the index of its last durable checkpoint. No line is below the lowest of
 * these indexes, so checkpoints before the lowest index are erased. Messages that were received
 * before the first checkpoint that may be needed are removed from the logs of their senders, and
 * outputs that were made before it leave.
 *
 *             SAFE_POINT, if wanted       captured
 *     RUNNING --------------------> CAPTURING -----> RUNNING
 *        |  higher index                ^
 *        +--------------> FORCED -------+  no write is under way
 *        |
 *        |  DOWN, restart       all have told             start             all stand
 *        +--------------> ASKING ------------> ROLLING --------> STANDING ------------> RUNNING
 *                            |  there already                        ^
 *                            +---------------------------------------+
 *
 * Transitions:
 *     RUNNING -> CAPTURING : take_checkpoint()  [safe-point]
 *     RUNNING -> FORCED : force()  [arrived]
 *     FORCED -> CAPTURING : capture()  [arrived, durable]
 *     CAPTURING -> RUNNING : captured()  [captured]
 *     RUNNING -> ASKING : recover()  [down, start]
 *     FORCED -> ASKING : recover()  [down]
 *     ASKING -> ROLLING : agree()  [control line]
 *     ASKING -> STANDING : agree(), stand()  [control line]
 *     ROLLING -> STANDING : stand()  [start]
 *     STANDING -> RUNNING : resume()  [arrived, control report]
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/links.h"
#include "protocols/parts/mailbox.h"
#include "protocols/parts/outputs.h"
#include "protocols/parts/transitions.h"

static const char *const invariants[] = {
    /* 1 */
    "indexes of checkpoints rise: "
    "otherwise checkpoints of one index would not belong together, and be no recovery line",
    /* 2 */
    "a message is kept for a forced checkpoint, or that checkpoint was taken: "
    "otherwise the message would be received before the checkpoint that it forces, and be an "
    "orphan after a rollback",
    /* 3 */
    "no checkpoint is taken until all ranks stand on the line: "
    "otherwise the checkpoint would have what the recovery is about to undo",
    /* 4 */
    "no message waits to be sent while its link is up and the rank is not held: "
    "otherwise nothing would ever send the message, and its receiver would wait for ever",
    /* 5 */
    "unless a line is asked for, a rank keeps no checkpoint below the lowest durable index: "
    "otherwise storage would fill with checkpoints that no line needs",
    /* 6 */
    "a message that is logged, or ahead of a gap, is of a rank and has a number: "
    "otherwise the message could not be sent again after a crash: its receiver waits for ever",
    /* 7 */
    "every kept message has a slot of its own: "
    "otherwise one message would take the place of another, and a receive would be given the wrong "
    "one",
    NULL};

enum phase { RUNNING, FORCED, CAPTURING, ASKING, ROLLING, STANDING };

enum control { HAVE = 1, REPORT, LINE, DURABLE, RECEIVED };

enum { NOWHERE = UINT16_MAX };

static const char *const controls[] = {
    "none",
    "have: I have your message number {value}, ahead of a gap",
    "report: messages that I have received from you: {value}",
    ("line: {value.low?65535:I need no line|go back to line %}; the last index that I have stored: "
     "{value.high}"),
    "durable: the last index that I have stored: {value}",
    "received: your messages that I need not receive again: {value}",
    NULL};

/* Counts the messages to and from a peer at a checkpoint. */
struct mark {
  uint32_t sent, received;
};

struct peer {
  uint32_t durable; /* index of the peer's last durable checkpoint, as far as the peer has told */
  uint32_t told;    /* epoch for which the peer has told its line */
};

struct state {
  uint32_t phase;
  /* `timed`: the timer is set; `wanted`: the timer went off after the last checkpoint. */
  uint32_t timed, wanted;
  uint32_t index;   /* index of the last checkpoint */
  uint32_t forced;  /* in FORCED and CAPTURING: the index of the checkpoint that is to be taken */
  uint32_t writing; /* index of the checkpoint that is being written, or 0 if there is none */
  uint32_t last;    /* place of the last checkpoint in the list of checkpoints that may be needed */
  uint32_t epoch;   /* incarnation of the last recovery */
  /* line of this recovery, which may continue earlier recoveries, or NOWHERE if there is none */
  uint32_t line;
  uint32_t fresh; /* 1 if the program has not run since its checkpoint */
  uint32_t kept;  /* number of messages in the mailbox */
  uint32_t pad;
  struct rcl_links_counts links;
};

/* Lists, for each checkpoint that may be needed, its index, its number of outputs and its marks.
 * The beginning of the program counts as such a checkpoint. Then come the peers, the messages that
 * wait for a checkpoint, and the links. */
#define LISTS(ARRAY, LIST)                                                                         \
  LIST(indexes, uint32_t, rcl_checkpoints(config) + (size_t)1, state->last + (size_t)1,            \
       rcl_checkpoints_full(config))                                                               \
  LIST(outputs_of, uint32_t, rcl_checkpoints(config) + (size_t)1, state->last + (size_t)1,         \
       rcl_checkpoints_full(config))                                                               \
  LIST(marks_of, struct mark, (rcl_checkpoints(config) + (size_t)1) * (size_t)config->ranks,       \
       (state->last + (size_t)1) * (size_t)config->ranks, rcl_checkpoints_full(config))            \
  ARRAY(peers, struct peer, config->ranks)                                                         \
  LIST(kept_of, struct rcl_kept, config->capacity, state->kept, RCL_FULL_KEPT)                     \
  RCL_LINKS_LISTS(ARRAY, LIST, state->links)
RCL_STATE(LISTS)

static struct mark *mark_of(const struct rank *r, uint32_t place)
{
  return marks_of(r->config, r->state) + place * (size_t)r->config->ranks;
}

static struct peer *peer_of(const struct rank *r, int rank)
{
  return &peers(r->config, r->state)[rank];
}

static void tell_all(const struct rank *r, enum control control, uint32_t value)
{
  for (int i = 0; i < r->config->ranks; i++)
    if (i != r->config->self)
      rcl_send_control(r->actions, i, control, r->state->epoch, value);
}

static struct rcl_links links_of(const struct rank *r)
{
  struct rcl_links links =
      rcl_links_at(r->config, &r->state->links, links_memory(r->config, r->state));
  links.held = r->state->phase >= ASKING;
  links.interval = r->state->index;
  links.epoch = r->state->epoch;
  return links;
}

static struct rcl_mailbox mailbox(const struct rank *r)
{
  return (struct rcl_mailbox){.capacity = r->config->capacity,
                              .used = RCL_COUNT(r->state, kept),
                              .item = kept_of(r->config, r->state)};
}

/* Returns the place of the first checkpoint with at least that index, or a place behind the last
 * checkpoint if there is none. */
static uint32_t first_from(const struct rank *r, uint32_t index)
{
  uint32_t place = 0;
  while (place <= r->state->last && indexes(r->config, r->state)[place] < index)
    place++;
  return place;
}

/* ---- what no recovery needs ---- */

/* Drops checkpoints before `first`. Tells peers what was received before `first`, and lets outputs
 * leave that were made before it. */
static void drop_before(const struct rank *r, uint32_t first)
{
  struct rcl_links links = links_of(r);
  size_t ranks = (size_t)r->config->ranks, left = r->state->last + (size_t)1 - first;
  uint32_t *index = indexes(r->config, r->state), *outputs = outputs_of(r->config, r->state);
  if (outputs[first])
    rcl_output(r->actions, outputs[first], RCL_FRESH);
  for (uint32_t i = 0; i < first; i++)
    if (index[i] != RCL_FRESH)
      rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = index[i];
  memmove(index, index + first, left * sizeof *index);
  memset(index + left, 0, first * sizeof *index);
  memmove(outputs, outputs + first, left * sizeof *outputs);
  memset(outputs + left, 0, first * sizeof *outputs);
  memmove(mark_of(r, 0), mark_of(r, first), left * ranks * sizeof(struct mark));
  memset(mark_of(r, (uint32_t)left), 0, first * ranks * sizeof(struct mark));
  r->state->last -= first;
  for (int i = 0; i < r->config->ranks; i++) {
    uint32_t received = mark_of(r, 0)[i].received;
    rcl_links_drop(links.ahead, &r->state->links.ahead, i, received, 0);
    if (i == r->config->self)
      rcl_links_drop_sent(&links, i, received, r->actions);
    else
      rcl_send_control(r->actions, i, RECEIVED, r->state->epoch, received);
  }
}

/* Returns the lowest durable index of all ranks, as far as this rank knows. */
static uint32_t lowest_durable(const struct rank *r)
{
  uint32_t lowest = UINT32_MAX;
  for (int i = 0; i < r->config->ranks; i++)
    if (peer_of(r, i)->durable < lowest)
      lowest = peer_of(r, i)->durable;
  return lowest;
}

/* Returns the place of the first checkpoint that a line may need. */
static uint32_t first_needed(const struct rank *r)
{
  uint32_t first = first_from(r, lowest_durable(r));
  return r->state->line == NOWHERE && first <= r->state->last ? first : 0;
}

static void collect(const struct rank *r)
{
  if (first_needed(r) > 0)
    drop_before(r, first_needed(r));
}

/* Tells the durable checkpoint once nothing can undo it, that is, when this rank has heard that all
 * ranks stand on the line. */
static void tell_durable(const struct rank *r)
{
  if (r->state->phase < ASKING)
    tell_all(r, DURABLE, peer_of(r, r->config->self)->durable);
  collect(r);
}

/* ---- a checkpoint ---- */

/* Sets the timer for the next basic checkpoint, unless it is set already. */
static void set_timer(const struct rank *r)
{
  if (r->state->timed || r->state->wanted)
    return;
  r->state->timed = true;
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
}

/* Returns whether a basic checkpoint leaves room at all ranks. The checkpoints that may be needed
 * have indexes from the lowest durable index of all ranks on, so the indexes limit the number of
 * these checkpoints at each rank. */
static bool has_room_everywhere(const struct rank *r)
{
  return r->state->index - lowest_durable(r) < rcl_checkpoints(r->config);
}

/* Returns whether there is room for a forced checkpoint. If there is no room yet, the checkpoint
 * waits for messages DURABLE. These will come, because the first rank with this index had them when
 * it took its checkpoint. */
static bool has_room(const struct rank *r)
{
  return r->state->last < rcl_checkpoints(r->config);
}

static void capture(const struct rank *r, uint32_t index)
{
  if (index >= NOWHERE) {
    rcl_give_up_full(r->actions, RCL_FULL_LIMIT);
    return;
  }
  r->state->wanted = false;
  r->state->phase = CAPTURING;
  rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = index;
}

/* Takes the basic checkpoint that is wanted, unless a forced one has replaced it. If there is no
 * room, leaves the checkpoint out, because an interval later there may be room. */
static void take_checkpoint(const struct rank *r)
{
  if (!r->state->wanted || r->state->phase != RUNNING || r->state->writing)
    return;
  if (has_room_everywhere(r)) {
    capture(r, r->state->index + 1);
    return;
  }
  r->state->wanted = false;
  set_timer(r);
}

static void take_forced(const struct rank *r)
{
  if (r->state->phase == FORCED && !r->state->writing && has_room(r))
    capture(r, r->state->forced);
}

static void captured(const struct rank *r)
{
  const struct rcl_link *link = links_of(r).link;
  struct mark *mark = mark_of(r, ++r->state->last);
  for (int i = 0; i < r->config->ranks; i++)
    mark[i] = (struct mark){link[i].sent, link[i].received};
  indexes(r->config, r->state)[r->state->last] = r->event->checkpoint;
  outputs_of(r->config, r->state)[r->state->last] = r->event->output;
  r->state->index = r->state->writing = r->event->checkpoint;
  r->state->phase = RUNNING;
  if (r->state->forced)
    rcl_act(r->actions, RCL_ACTION_RELEASE);
  r->state->forced = 0;
  rcl_store(r->actions, RCL_PART_IMAGE, r->event->checkpoint);
}

static void durable(const struct rank *r)
{
  r->state->writing = 0;
  peer_of(r, r->config->self)->durable = r->event->checkpoint;
  set_timer(r);
  tell_durable(r);
  take_forced(r);
}

/* ---- messages ---- */

static void send(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  rcl_links_send(&links, r->event->peer, r->actions);
}

static void take(const struct rank *r, int peer, uint32_t number)
{
  struct rcl_links links = links_of(r);
  if (!rcl_links_arrived(&links, peer, number))
    rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
}

/* Gives a receive that is announced again the message that was kept for it. */
static void receive(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  struct rcl_kept *entry = rcl_mailbox_find(&box, r->event);
  if (!entry) {
    rcl_match(r->actions, r->event);
    return;
  }
  rcl_mailbox_deliver(entry, r->event->request, r->actions);
  take(r, entry->peer, entry->number);
  rcl_mailbox_forget(&box, entry, r->actions);
}

/* Keeps a message for the program, behind those that wait already. */
static void keep(const struct rank *r)
{
  struct rcl_mailbox box = mailbox(r);
  struct rcl_kept *entry = rcl_mailbox_keep(&box, r->event, r->actions);
  uint32_t index = r->event->words[RCL_LINKS_INTERVAL];
  if (!entry)
    return;
  entry->epoch = index;
  entry->number = r->event->words[RCL_LINKS_NUMBER];
  if (index > r->state->index && index > r->state->forced)
    r->state->forced = index;
}

/* Prepares a forced checkpoint, whose image is taken before the program is given the message. */
static void force(const struct rank *r)
{
  if (r->state->phase == FORCED)
    return;
  r->state->phase = FORCED;
  rcl_act(r->actions, RCL_ACTION_HOLD);
  take_forced(r);
}

/* ---- recovery ---- */

/* Goes on, because all ranks stand on the line, and everything after the line is undone for
 * good. */
static void resume(const struct rank *r)
{
  r->state->phase = RUNNING;
  r->state->line = NOWHERE;
  r->state->fresh = false;
  rcl_act(r->actions, RCL_ACTION_RELEASE);
  struct rcl_links links = links_of(r);
  for (int i = 0; i < r->config->ranks; i++)
    rcl_links_flush(&links, i, r->actions);
  collect(r);
}

/* Notes that this rank stands on the line. */
static void stand(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  r->state->phase = STANDING;
  rcl_links_stand(&links, HAVE, REPORT, r->actions);
  if (rcl_links_are_all_up(&links))
    resume(r);
}

static void reported(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (r->event->about != r->state->epoch)
    return;
  rcl_links_up(&links, r->event->peer, r->event->value);
  rcl_links_flush(&links, r->event->peer, r->actions);
  if (r->state->phase == STANDING && rcl_links_are_all_up(&links))
    resume(r);
}

/* Takes a message, unless it was under way at a crash: such messages are sent again, or undone. A
 * message that was sent after the crash shows that all ranks stand on the line, because its sender
 * has heard this. */
static void arrived(const struct rank *r)
{
  if (r->event->words[RCL_LINKS_EPOCH] != r->state->epoch) {
    rcl_act(r->actions, RCL_ACTION_DISCARD);
    return;
  }
  if (r->state->phase == STANDING)
    resume(r);
  if (r->state->kept || r->event->words[RCL_LINKS_INTERVAL] > r->state->index) {
    keep(r);
    if (r->state->forced)
      force(r);
  } else {
    rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
    take(r, r->event->peer, r->event->words[RCL_LINKS_NUMBER]);
  }
}

/* Sets the state back to where the program was at that checkpoint, because its later steps are
 * undone. */
static void undo(const struct rank *r, uint32_t checkpoint)
{
  struct rcl_links links = links_of(r);
  uint32_t place = first_from(r, checkpoint);
  for (int i = 0; i < r->config->ranks; i++) {
    links.link[i].sent = mark_of(r, place)[i].sent;
    links.link[i].received = mark_of(r, place)[i].received;
  }
  rcl_links_go_back(&links, checkpoint, true, r->actions);
  for (; r->state->last > place; r->state->last--) {
    indexes(r->config, r->state)[r->state->last] = 0;
    outputs_of(r->config, r->state)[r->state->last] = 0;
    memset(mark_of(r, r->state->last), 0, (size_t)r->config->ranks * sizeof(struct mark));
  }
  if (r->state->writing > checkpoint) {
    r->state->writing = 0;
    set_timer(r);
  }
  r->state->index = checkpoint;
  r->state->fresh = true;
}

/* Notes the line that a rank has told. When all ranks have told their lines, the lowest one is the
 * line of this recovery, and durable indexes above it no longer count. */
static void agree(const struct rank *r, int from, uint32_t epoch, uint32_t told)
{
  uint32_t line = told & NOWHERE;
  if (epoch != r->state->epoch)
    return;
  *peer_of(r, from) = (struct peer){.durable = told >> 16, .told = epoch};
  if (line < r->state->line)
    r->state->line = line;
  for (int i = 0; i < r->config->ranks; i++)
    if (peer_of(r, i)->told != epoch)
      return;
  for (int i = 0; i < r->config->ranks; i++)
    if (peer_of(r, i)->durable > r->state->line)
      peer_of(r, i)->durable = r->state->line;
  uint32_t place = first_from(r, r->state->line);
  if (place > r->state->last || (place == r->state->last && r->state->fresh)) {
    stand(r);
  } else {
    r->state->phase = ROLLING;
    rcl_act(r->actions, RCL_ACTION_ROLL_BACK)->checkpoint = indexes(r->config, r->state)[place];
  }
}

/* Begins a recovery. Kept messages count as not received. */
static void recover(const struct rank *r, uint32_t epoch)
{
  struct rcl_links links = links_of(r);
  struct rcl_mailbox box = mailbox(r);
  while (*box.used)
    rcl_mailbox_forget(&box, box.item, r->actions);
  r->state->forced = 0;
  r->state->epoch = epoch;
  r->state->phase = ASKING;
  rcl_act(r->actions, RCL_ACTION_HOLD);
  rcl_links_all_down(&links);
  uint32_t told = peer_of(r, r->config->self)->durable << 16 | r->state->line;
  tell_all(r, LINE, told);
  agree(r, r->config->self, epoch, told);
}

static void start(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (r->state->phase == ROLLING) {
    undo(r, r->event->checkpoint);
    rcl_act(r->actions, RCL_ACTION_HOLD);
    stand(r);
    return;
  }
  r->state->timed = r->state->wanted = r->state->writing = 0;
  set_timer(r);
  if (r->state->links.slots == 0)
    r->state->links.slots = r->config->capacity; /* the mailbox has the slots up to this number */
  if (!r->event->incarnation) {
    r->state->line = NOWHERE;
    rcl_links_all_up(&links);
    return;
  }
  peer_of(r, r->config->self)->durable = r->event->checkpoint;
  undo(r, r->event->checkpoint);
  r->state->line = r->event->checkpoint;
  recover(r, r->event->incarnation);
}

static void control(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  switch ((enum control)r->event->control) {
  case HAVE:
    if (r->event->about == r->state->epoch &&
        !rcl_links_peer_has(&links, r->event->peer, r->event->value))
      rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
    break;
  case REPORT:
    reported(r);
    break;
  case LINE:
    agree(r, r->event->peer, r->event->about, r->event->value);
    break;
  case DURABLE:
    if (r->event->about == r->state->epoch)
      peer_of(r, r->event->peer)->durable = r->event->value;
    collect(r);
    take_forced(r);
    break;
  case RECEIVED:
    rcl_links_drop_sent(&links, r->event->peer, r->event->value, r->actions);
    break;
  }
}

static void down(const struct rank *r)
{
  recover(r, r->event->incarnation);
}

static void timer(const struct rank *r)
{
  r->state->timed = false;
  r->state->wanted = true;
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,       [RCL_EVENT_DOWN] = down,
    [RCL_EVENT_TIMER] = timer,       [RCL_EVENT_SEND] = send,
    [RCL_EVENT_RECEIVE] = receive,   [RCL_EVENT_SAFE_POINT] = take_checkpoint,
    [RCL_EVENT_ARRIVED] = arrived,   [RCL_EVENT_CONTROL] = control,
    [RCL_EVENT_CAPTURED] = captured, [RCL_EVENT_DURABLE] = durable,
};

static void step(const struct rank *r)
{
  rcl_take(on, r);
}

/* ---- invariants, by their numbers ---- */

static bool indexes_rise(const struct rank *r)
{
  const uint32_t *index = indexes(r->config, r->state);
  for (uint32_t i = 0; i < r->state->last; i++)
    if (index[i] >= index[i + 1])
      return false;
  return index[r->state->last] == r->state->index;
}

static bool kept_have_reason(const struct rank *r)
{
  const struct rcl_kept *kept = kept_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->kept; i++)
    if (kept[i].epoch > (r->state->forced ? r->state->forced : r->state->index))
      return false;
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  struct rcl_mailbox box = mailbox(r);
  if (!rcl_links_are_sound(&links))
    return 6;
  if (!rcl_mailbox_is_sound(r->config, &box))
    return 7;
  if (!indexes_rise(r))
    return 1;
  if (!kept_have_reason(r))
    return 2;
  if ((r->state->phase == FORCED || r->state->phase == CAPTURING) && r->state->line != NOWHERE)
    return 3;
  if (!rcl_links_nothing_waits(&links))
    return 4;
  /* While a line is asked for, older checkpoints are kept; resume() collects them. */
  return r->state->phase == ASKING || first_needed(r) == 0 ? 0 : 5;
}

static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"write", "store", "durable"},
                                          {"rollback", "roll-back", "start"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"once-per-failure", NULL};

RCL_ONLY_FORM

extern const struct rcl_protocol protocol_index_based;
const struct rcl_protocol protocol_index_based = {
    .name = "index-based",
    .title = "index-based checkpoints (Briatico, Ciuffoletti, Simoncini, 1984), forced by messages",
    .piggyback_bytes = 12,
    .control_bytes = 12,
    .independent = true,
    .controls = controls,
    .invariants = invariants,
    .phases = phases,
    .promises = promises,
    .state_size = state_size,
    .in_use = in_use,
    .step = only_step,
    .violated_invariant = only_broken,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_SENDER}},
        .back = RCL_BACK_DEPENDENT,
        .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_MPI_ORDER | RCL_ASSUMES_WHOLE_WRITES |
                   RCL_ASSUMES_LOGGER}};
