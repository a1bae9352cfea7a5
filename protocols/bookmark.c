/* Bookmark exchange: hold every program, empty the channels, checkpoint, go on.
 *
 * Source: Hursey, Mattox, Lumsdaine, "Interconnect agnostic checkpoint/restart in Open MPI" (HPDC
 * 2009), section 3.2 (all-to-all bookmark exchange over whole MPI messages, above the matching) and
 * 3.3 (a process is drained of messages "coming from and going to" its peers when it is captured).
 * The drain takes messages from channels before the program has posted receives for them. Such a
 * message is kept, and given to the first later receive that matches it.
 *
 *               request           SAFE_POINT                 drained, both ways
 *     RUNNING ----------> WANTED ------------> DRAINING --------------------------> CAPTURING
 *        ^                                                                              |
 *        |  release                durable                     captured                 |
 *        +------------- WAITING <------------ WRITING <---------------------------------+
 *        |                 | release
 *        |  all addresses  v
 *        +------------- RECONNECTING <------------------------------------- (restart)
 *
 * Section 3.3: some interconnects (InfiniBand, Myrinet) cannot be captured, so their connections
 * are closed for a capture. A restart, perhaps on other nodes, closes the connections of all
 * interconnects. Every rank then opens its connections again, sends its address to all others, and
 * goes on when it has received all of their addresses. The paper's pre-checkpoint phase reaches
 * from WANTED to CAPTURING, its continue phase from the end of WRITING to RUNNING, and its restart
 * phase is RECONNECTING.
 *
 * The paper's processes stop anywhere, even in the middle of a receive. If ranks stop only at safe
 * points that the program names, they can deadlock: a rank that is held at a safe point may still
 * have to send a message. Another rank, which has passed that point, may wait for the message
 * before it reaches its next safe point. With the parameter `iterations`, which is not in the
 * paper, the ranks agree on a safe point instead. When a request reaches a rank, the rank tells all
 * others which iteration its program is in. All ranks stop at the beginning of the iteration that
 * follows the highest number told.
 *
 *             SAFE_POINT of an iteration       all have told: stop at this one
 *     WANTED ---------------------------> AGREEING ---------------------> DRAINING
 *        ^     all have told: stop at a later one |
 *        +----------------------------------------+
 *
 * Both ends of each channel must know that it is empty. If the parameter `exchange` is TWICE, they
 * learn it from two rounds of messages. In the first round each rank sends a bookmark to each peer:
 * the number of messages that it has sent to this peer. In the second round the peer answers
 * `drained`, as soon as it has received that many. With ONCE, as in Open MPI (crcp/bkmrk:
 * send_bookmarks(), ft_event_check_bookmarks()), a bookmark has two totals: the messages that the
 * rank has sent to the peer, and those that it has received from the peer. So both ends of a
 * channel compare the same two numbers, and need more messages only if the numbers differ. In that
 * case the sender tells the number of messages on the way (`details`), and the receiver answers
 * `drained` when these have arrived.
 *
 * With IN_TURN, as in Open MPI 1.3, a rank exchanges details with one peer after the other
 * (bookmark_turns.h), and drains its channels afterwards. GATHERED is IN_TURN with a barrier ahead:
 * a rank whose program is held waits in GATHERING until the programs of all ranks are held. In Open
 * MPI that barrier is an option for measurements (opal_cr_enable_timer_barrier).
 *
 * Transitions:
 *     RUNNING -> WANTED : want()  [control request, timer]
 *     WANTED -> DRAINING : hold()  [safe-point]
 *     WANTED -> GATHERING : hold()  [safe-point]
 *     WANTED -> AGREEING : come_to()  [safe-point]
 *     AGREEING -> DRAINING : agree()  [control iteration]
 *     AGREEING -> GATHERING : agree()  [control iteration]
 *     AGREEING -> WANTED : agree()  [control iteration]
 *     GATHERING -> DRAINING : begin()  [control held, begin]
 *     DRAINING -> CAPTURING : drain()  [arrived, control bookmark, totals, details, answer]
 *     DRAINING -> CAPTURING : drain()  [control drained]
 *     CAPTURING -> WRITING : write_image()  [captured]
 *     WRITING -> WAITING : report()  [durable]
 *     WAITING -> RUNNING : release()  [control release, committed]
 *     WAITING -> RECONNECTING : release()  [control release, committed]
 *     RECONNECTING -> RUNNING : go_on()  [control address]
 *
 * The coordinator (rank 0) asks for checkpoints, commits one when every image is durable, and only
 * then releases the programs. If it released them earlier, a message that is sent after its
 * sender's capture could be counted as received before its receiver's capture
 * (docs/protocols/bookmark.md, mutant release-early).
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/bookmark_state.h"
#include "protocols/parts/outputs.h"

static const char *const invariants[] = {
    /* 1 */
    "the checkpoint under way is the last captured, or the one after it: "
    "otherwise ranks would go back to checkpoints of different numbers",
    /* 2 */
    "from CAPTURING on all peers' messages are in, and they have all of this rank's: "
    "otherwise a message under way would be in no image, and a restart would lose it",
    /* 3 */
    "before the capture no peer has delivered more messages than its bookmark says: "
    "otherwise a message from behind the line would be in the image, and after a restart come "
    "twice",
    /* 4 */
    "every kept message has a slot of its own: "
    "otherwise one message would take the place of another, and a receive would be given the wrong "
    "one",
    /* 5 */
    "only the coordinator counts images and held programs, each rank once for a checkpoint: "
    "otherwise a checkpoint would be committed that some rank has not stored: no restart finds it",
    /* 6 */
    "a rank that reconnects lacks the address of a peer: "
    "otherwise the rank would wait for an address that it has, and hold its program for ever",
    /* 7 */
    "a rank that is held to agree lacks the iteration of a peer: "
    "otherwise the rank would hold its program although nothing is left to come, for ever",
    NULL};

/* ---- the program's messages ---- */

static void send(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  peers(config, state)[event->peer].sent++;
  rcl_act(actions, RCL_ACTION_TRANSMIT);
}

/* Delivers a kept message, if one matches, and returns whether one did. A receive looks here first,
 * as kept messages are older than all messages in the channels. */
static bool receive_kept(const struct rcl_config *config, struct state *state,
                         const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_mailbox box = mailbox(config, state);
  struct rcl_kept *entry = rcl_mailbox_find(&box, event);
  if (!entry)
    return false;
  rcl_mailbox_deliver(entry, event->request, actions);
  rcl_mailbox_forget(&box, entry, actions);
  return true;
}

static void receive(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  if (receive_kept(config, state, event, actions))
    return;
  rcl_match(actions, event);
}

/* ---- a checkpoint ---- */

static void tell_iteration(const struct rcl_config *config, struct state *state,
                           struct rcl_actions *actions)
{
  struct peer *self = &peers(config, state)[config->self];
  self->iteration = state->iteration;
  self->iteration_for = state->checkpoint;
  for (int i = 0; i < config->ranks; i++)
    if (i != config->self)
      rcl_send_control(actions, i, ITERATION, state->checkpoint, state->iteration);
}

static void want(const struct rcl_config *config, struct state *state, uint32_t checkpoint,
                 struct rcl_actions *actions)
{
  if (state->phase == RECONNECTING) {
    state->later = checkpoint;
  } else if (state->phase == RUNNING) {
    state->phase = WANTED;
    state->checkpoint = checkpoint;
    if (config->parameter[ITERATIONS])
      tell_iteration(config, state, actions);
  }
}

/* Asks all ranks for a checkpoint when the coordinator's timer expires, unless a checkpoint is
 * still under way. */
static void request(const struct rcl_config *config, struct state *state,
                    struct rcl_actions *actions)
{
  if (state->phase != RUNNING) {
    rcl_act(actions, RCL_ACTION_SET_TIMER);
    return;
  }
  state->done = 0;
  state->gathered = 0;
  want(config, state, state->captured + 1, actions);
  rcl_send_control_to_all(config, actions, REQUEST, state->checkpoint);
}

/* Returns whether the peer had sent more messages than this rank had received when both programs
 * were held. With TWICE nobody asks. The peer finds the same out in compare(). */
static bool differs(const struct peer *peer)
{
  return peer->bookmark != peer->told;
}

/* Returns whether the channel from rank i is empty: all messages that the bookmark of rank i counts
 * have arrived. Except with TWICE, if the totals differ, the details must have come as well. */
static bool is_reached(const struct rcl_config *config, const struct state *state, int i)
{
  const struct peer *peer = &peers(config, state)[i];
  bool has_details = peer->details_for == state->checkpoint || i == config->self ||
                     config->parameter[EXCHANGE] == TWICE || !differs(peer);
  return peer->bookmark_for == state->checkpoint && peer->received == peer->bookmark && has_details;
}

#include "protocols/bookmark_turns.h"

/* Sends `drained` to each peer whose messages have all arrived. Except with TWICE, a peer with
 * equal totals is not told, because it knows. Captures when all channels are empty in both
 * directions. */
static void drain(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  if (state->phase != DRAINING || !may_answer(config, state))
    return;
  bool quiet = true;
  for (int i = 0; i < config->ranks; i++) {
    struct peer *peer = &peers(config, state)[i];
    if (is_reached(config, state, i) && peer->drained_for != state->checkpoint) {
      peer->drained_for = state->checkpoint;
      if (i == config->self)
        peer->empty_for = state->checkpoint;
      else if (config->parameter[EXCHANGE] == TWICE || differs(peer))
        rcl_send_control(actions, i, DRAINED, state->checkpoint, 0);
    }
    quiet &= peer->drained_for == state->checkpoint && peer->empty_for == state->checkpoint;
  }
  if (quiet) {
    state->phase = CAPTURING;
    rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = state->checkpoint;
  }
}

/* Except with TWICE, compares the number of messages that this rank has sent to peer i with the
 * number that the peer had received, once both programs are held. If the numbers are equal, the
 * channel to the peer is empty. With ONCE, a difference is told at once. */
static void compare(const struct rcl_config *config, struct state *state, int i,
                    struct rcl_actions *actions)
{
  struct peer *peer = &peers(config, state)[i];
  if (state->phase != DRAINING || peer->bookmark_for != state->checkpoint)
    return;
  if (peer->sent == peer->confirmed)
    peer->empty_for = state->checkpoint;
  else if (config->parameter[EXCHANGE] == ONCE)
    rcl_send_control(actions, i, DETAILS, state->checkpoint, peer->sent - peer->confirmed);
}

/* Except with TWICE, tells each peer both totals. The message names no checkpoint, as in Open MPI.
 * It is about the checkpoint after the receiver's last capture, since a rank captures only when it
 * has all totals for that capture. */
static void tell_totals(const struct rcl_config *config, struct state *state,
                        struct rcl_actions *actions)
{
  for (int i = 0; i < config->ranks; i++) {
    struct peer *peer = &peers(config, state)[i];
    if (i == config->self)
      continue;
    peer->told = peer->received;
    rcl_send_control(actions, i, TOTALS, peer->told, peer->sent);
    compare(config, state, i, actions);
  }
}

/* With TWICE, tells each peer the total sent. */
static void tell_sent(const struct rcl_config *config, struct state *state,
                      struct rcl_actions *actions)
{
  for (int i = 0; i < config->ranks; i++)
    if (i != config->self)
      rcl_send_control(actions, i, BOOKMARK, state->checkpoint, peers(config, state)[i].sent);
}

/* Begins to empty the channels. The program of this rank is held; with GATHERED, all
 * other programs are held, too. */
static void begin(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  state->phase = DRAINING;
  state->turn = 0;
  struct peer *self = &peers(config, state)[config->self];
  bool drains = config->parameter[EXCHANGE] == TWICE || self->sent != self->received;
  if (!takes_turns(config) && drains)
    rcl_act(actions, RCL_ACTION_DRAIN)->peer = RCL_ANY;
  if (config->parameter[EXCHANGE] == TWICE)
    tell_sent(config, state, actions);
  else
    tell_totals(config, state, actions);
  self->bookmark = self->sent;
  self->bookmark_for = state->checkpoint;
  take_turns(config, state, actions);
  drain(config, state, actions);
}

/* With GATHERED, counts at the coordinator one more rank whose program is held. When all ranks are
 * counted, they begin. */
static void gather(const struct rcl_config *config, struct state *state,
                   struct rcl_actions *actions)
{
  if (++state->gathered < (uint32_t)config->ranks)
    return;
  rcl_send_control_to_all(config, actions, BEGIN, state->checkpoint);
  begin(config, state, actions);
}

static void hold(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  if (state->phase == WANTED) /* held already in AGREEING */
    rcl_act(actions, RCL_ACTION_HOLD);
  state->phase = GATHERING;
  if (config->parameter[EXCHANGE] != GATHERED)
    begin(config, state, actions);
  else if (config->self == RCL_COORDINATOR_RANK)
    gather(config, state, actions);
  else
    rcl_send_control(actions, RCL_COORDINATOR_RANK, HELD, state->checkpoint, 0);
}

/* ---- safe points of the program: at which iteration all ranks are captured ---- */

/* Sets *last to the highest iteration that a rank was in when the request reached it. Returns false
 * as long as a rank has not told its iteration. */
static bool last_iteration(const struct rcl_config *config, const struct state *state,
                           uint32_t *last)
{
  *last = 0;
  for (int i = 0; i < config->ranks; i++) {
    const struct peer *peer = &peers(config, state)[i];
    if (peer->iteration_for != state->checkpoint)
      return false;
    *last = peer->iteration > *last ? peer->iteration : *last;
  }
  return true;
}

/* Stops the program if it is at the iteration after the last one told; lets it go on if it has yet
 * to get there. No rank has begun that iteration, and no rank needs a message from it to get there,
 * so all ranks reach its beginning. */
static void agree(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  uint32_t last;
  if (state->phase != AGREEING || !last_iteration(config, state, &last))
    return;
  if (state->iteration > last) {
    hold(config, state, actions);
    return;
  }
  state->phase = WANTED;
  rcl_act(actions, RCL_ACTION_RELEASE);
}

/* Handles a safe point of the program, or its end. If the safe point begins no iteration, ranks
 * cannot agree on an iteration, so the program stops at once. */
static void come_to(const struct rcl_config *config, struct state *state, uint32_t iteration,
                    struct rcl_actions *actions)
{
  bool numbered = config->parameter[ITERATIONS] && iteration > 0;
  uint32_t last = 0;
  if (numbered)
    state->iteration = iteration;
  if (state->phase != WANTED)
    return;
  if (numbered && !last_iteration(config, state, &last)) {
    state->phase = AGREEING;
    rcl_act(actions, RCL_ACTION_HOLD);
  } else if (!numbered || iteration > last) {
    hold(config, state, actions);
  }
}

static void write_image(struct state *state, const struct rcl_event *event,
                        struct rcl_actions *actions)
{
  state->phase = WRITING;
  state->captured = event->checkpoint;
  state->closed = event->closed;
  rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
}

/* Counts at the coordinator one more durable image, and commits with the last one. */
static void count(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  if (++state->done == (uint32_t)config->ranks)
    rcl_act(actions, RCL_ACTION_COMMIT)->checkpoint = state->checkpoint;
}

/* ---- connections: opened again after a capture or a restart ---- */

static void reconnect(const struct rcl_config *config, struct state *state,
                      struct rcl_actions *actions)
{
  rcl_act(actions, RCL_ACTION_OPEN);
  peers(config, state)[config->self].address_for = state->captured;
  for (int i = 0; i < config->ranks; i++)
    if (i != config->self)
      rcl_send_control(actions, i, ADDRESS, state->captured, 0);
}

static bool is_connected(const struct rcl_config *config, const struct state *state)
{
  for (int i = 0; state->closed && i < config->ranks; i++)
    if (peers(config, state)[i].address_for != state->captured)
      return false;
  return true;
}

static void go_on(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  if (state->phase != RECONNECTING || !is_connected(config, state))
    return;
  state->phase = RUNNING;
  state->closed = 0;
  rcl_act(actions, RCL_ACTION_RELEASE);
  if (state->later)
    want(config, state, state->later, actions);
  state->later = 0;
}

static void report(const struct rcl_config *config, struct state *state,
                   struct rcl_actions *actions)
{
  state->phase = WAITING;
  if (state->closed)
    reconnect(config, state, actions);
  if (config->self == RCL_COORDINATOR_RANK)
    count(config, state, actions);
  else
    rcl_send_control(actions, RCL_COORDINATOR_RANK, DONE, state->checkpoint, 0);
}

static void release(const struct rcl_config *config, struct state *state,
                    struct rcl_actions *actions)
{
  state->phase = RECONNECTING;
  state->done = 0;
  if (state->captured > 1)
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = state->captured - 1;
  go_on(config, state, actions);
}

static void committed(const struct rcl_config *config, struct state *state,
                      struct rcl_actions *actions)
{
  rcl_send_control_to_all(config, actions, RELEASE, state->checkpoint);
  release(config, state, actions);
  rcl_act(actions, RCL_ACTION_SET_TIMER);
}

/* ---- recovery: all ranks go back to the last committed checkpoint ---- */

static void start(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  state->phase = RUNNING;
  state->checkpoint = state->captured;
  state->done = 0;
  state->closed = event->closed;
  for (int i = 0; i < config->ranks; i++)
    peers(config, state)[i].address_for = 0;
  if (state->closed) {
    state->phase = RECONNECTING;
    rcl_act(actions, RCL_ACTION_HOLD);
    reconnect(config, state, actions);
    go_on(config, state, actions); /* a single rank waits for no address */
  }
  if (config->self == RCL_COORDINATOR_RANK)
    rcl_act(actions, RCL_ACTION_SET_TIMER);
}

static void control(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct peer *peer = &peers(config, state)[event->peer];
  switch ((enum control)event->control) {
  case REQUEST:
    want(config, state, event->about, actions);
    break;
  case BOOKMARK:
    peer->bookmark = event->value;
    peer->bookmark_for = event->about;
    drain(config, state, actions);
    break;
  case TOTALS:
    peer->confirmed = event->about;
    peer->bookmark = event->value;
    peer->bookmark_for = state->captured + 1;
    compare(config, state, event->peer, actions);
    take_turns(config, state, actions);
    drain(config, state, actions);
    break;
  case DETAILS:
    peer->details_for = event->about;
    if (config->parameter[EXCHANGE] == ONCE)
      rcl_act(actions, RCL_ACTION_DRAIN)->peer = RCL_ANY;
    take_turns(config, state, actions);
    drain(config, state, actions);
    break;
  case ANSWER:
    peer->answer_for = event->about;
    take_turns(config, state, actions);
    drain(config, state, actions);
    break;
  case DRAINED:
    peer->empty_for = event->about;
    drain(config, state, actions);
    break;
  case DONE:
    count(config, state, actions);
    break;
  case RELEASE:
    release(config, state, actions);
    break;
  case ADDRESS:
    peer->address_for = event->about;
    go_on(config, state, actions);
    break;
  case ITERATION:
    peer->iteration = event->value;
    peer->iteration_for = event->about;
    agree(config, state, actions);
    break;
  case HELD:
    gather(config, state, actions);
    break;
  case BEGIN:
    if (state->phase == GATHERING)
      begin(config, state, actions);
    break;
  }
}

static void arrived(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  peers(config, state)[event->peer].received++;
  struct rcl_mailbox box = mailbox(config, state);
  if (event->request == RCL_NO_REQUEST)
    rcl_mailbox_keep(&box, event, actions);
  else
    rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
  drain(config, state, actions);
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
    request(config, state, actions);
    break;
  case RCL_EVENT_SEND:
    send(config, state, event, actions);
    break;
  case RCL_EVENT_RECEIVE:
    receive(config, state, event, actions);
    break;
  case RCL_EVENT_SAFE_POINT:
    come_to(config, state, event->iteration, actions);
    break;
  case RCL_EVENT_ARRIVED:
    arrived(config, state, event, actions);
    break;
  case RCL_EVENT_CONTROL:
    control(config, state, event, actions);
    break;
  case RCL_EVENT_CAPTURED:
    write_image(state, event, actions);
    break;
  case RCL_EVENT_DURABLE:
    report(config, state, actions);
    break;
  case RCL_EVENT_COMMITTED:
    committed(config, state, actions);
    break;
  default:
    break;
  }
  rcl_output_with_commit(event, actions);
}

/* ---- invariants, by their numbers ---- */

static bool right_checkpoint(const struct state *state)
{
  bool captured = state->phase == RUNNING || state->phase >= WRITING;
  return state->checkpoint == state->captured + !captured;
}

static bool drained_both_ways(const struct rcl_config *config, const struct state *state)
{
  for (int i = 0; state->phase >= CAPTURING && i < config->ranks; i++)
    if (peers(config, state)[i].drained_for < state->checkpoint ||
        peers(config, state)[i].empty_for < state->checkpoint)
      return false;
  return true;
}

static bool within_bookmarks(const struct rcl_config *config, const struct state *state)
{
  for (int i = 0; state->phase <= CAPTURING && i < config->ranks; i++)
    if (peers(config, state)[i].bookmark_for == state->captured + 1 &&
        peers(config, state)[i].received > peers(config, state)[i].bookmark)
      return false;
  return true;
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  struct rcl_mailbox box = mailbox(config, state);
  uint32_t last;
  if (!right_checkpoint(state))
    return 1;
  if (!drained_both_ways(config, state))
    return 2;
  if (!within_bookmarks(config, state))
    return 3;
  if (!rcl_mailbox_is_sound(config, &box))
    return 4;
  uint32_t most = config->self == RCL_COORDINATOR_RANK ? (uint32_t)config->ranks : 0;
  if (state->done > most || state->gathered > most ||
      ((state->done || state->gathered) && !state->checkpoint))
    return 5;
  if (state->phase == RECONNECTING && is_connected(config, state))
    return 6;
  if (state->phase == AGREEING && last_iteration(config, state, &last))
    return 7;
  return 0;
}

#include "protocols/lines/bookmark_line.h" /* clauses about all ranks together */

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {
    {"coordination", "hold", "capture"},    {"coordination", "control begin", "capture"},
    {"gathering", "hold", "control begin"}, {"suspend", "capture", "captured"},
    {"checkpoint", "captured", "durable"},  {"continue", "durable", "release"},
    {"restart", "start closed", "release"}, {NULL, NULL, NULL}};

static const char *const promises[] = {"quiet-channels", "bounded", "frees", NULL};

extern const struct rcl_protocol protocol_bookmark;
const struct rcl_protocol protocol_bookmark = {
    .name = "bookmark",
    .title = "bookmark exchange (Hursey et al., HPDC 2009, section 3.2)",
    .piggyback_bytes = 0,
    .control_bytes = 12,
    .reconnects = true,
    .spins = 1u << BOOKMARK | 1u << TOTALS | 1u << DRAINED,
    .controls = controls,
    .invariants = invariants,
    .parameters = parameters,
    .phases = phases,
    .promises = promises,
    .state_size = state_size,
    .in_use = in_use,
    .step = step,
    .violated_invariant = violated_invariant,
    .place = &(const struct rcl_place){.back = RCL_BACK_ALL,
                                       .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_ANYWHERE},
    .line = line};
