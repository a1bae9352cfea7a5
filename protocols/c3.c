/* C3: non-blocking coordinated checkpoints above MPI, for programs that may be checkpointed only
 * in certain places, over channels that are not FIFO.
 *
 * Source: Bronevetsky, Marques, Pingali, Stodghill, "Collective operations in application-level
 * fault-tolerant MPI" (ICS 2003): section 3 and claim 1 (point to point), sections 4 and 5 and
 * claim 2 (collectives); the phases are also in Stodghill's slides on the protocol.
 *
 *     1  the initiator (rank 0) sends pleaseCheckpoint to all
 *     2  at its next SAFE_POINT a rank takes its checkpoint, tells every neighbour how many
 *        messages it sent it (mySendCount), and logs late messages and the outcomes of
 *        non-deterministic decisions; when all its late messages are in it tells the initiator
 *        readyToStopLogging
 *     3  all are ready: the initiator sends stopLogging
 *     4  a rank stops logging on stopLogging, or on a message whose sender has stopped; when its
 *        log is on disk it sends stoppedLogging; all have: the initiator commits
 *
 *            SAFE_POINT, pleaseCheckpoint          captured
 *     RUNNING ------------------------> CAPTURING ---------> LOGGING
 *      ^   ^                                                    |  stopLogging, or a message
 *      |   |                 image and log durable              v  from a rank that stopped
 *      |   +------------------------------------------------ WRITING
 *      |  all suppress lists are here
 *     RECOVERING  <-- start from a checkpoint
 *
 * Transitions:
 *     RUNNING -> CAPTURING : take_checkpoint()  [safe-point]
 *     CAPTURING -> LOGGING : begin_logging()  [captured]
 *     LOGGING -> WRITING : stop_logging()  [control stop-logging, arrived]
 *     WRITING -> RUNNING : durable()  [durable]
 *     RECOVERING -> RUNNING : resume()  [control suppress-list]
 *
 * A message carries the colour of its sender's epoch (one bit), whether its sender is logging, and
 * its number in the sender's epoch. Of another colour, it is late at a rank that is logging and
 * early at one that is not. Early messages are remembered by (sender, number); after a restart
 * each rank tells its peers which of theirs it has already, and they suppress them. Programs are
 * held until they know.
 *
 * Collectives are handled by the direction in which data flow (section 5); whether a call crosses
 * the recovery line is told by the epochs of those whose data flow here:
 *
 *                      crosses, logging         crosses, behind the line     does not cross
 *     all to all       log the result           -                            a rank whose data
 *     to the root      log the result,          senders suppress the call    come from one that
 *                      senders suppress it                                   has stopped logging
 *     from the root    log the result           take part again on restart   stops as well
 *     barrier          -                        checkpoint, then pass
 *
 * Where the paper is wrong (docs/protocols/c3.md): Figure 5 finds out by exclusive or whether a
 * call crosses, which is the parity of the colours; Figure 8 stops logging at a barrier that
 * crosses.
 * Where it is silent: no rank takes a new checkpoint while any rank still has a part of its log to
 * replay, a message to suppress or a broadcast to repeat; the next line would otherwise depend on
 * entries that only the previous line's log has. A rank cannot ensure this alone, as a barrier may
 * force its checkpoint, so after a restart all ranks tell the initiator when their replay is over
 * (docs/protocols/c3.md).
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/c3_collectives.h"
#include "protocols/c3_messages.h"
#include "protocols/parts/outputs.h"

static const char *const invariants[] = {
    /* 1 */ "a rank that wants a checkpoint is neither logging nor writing its log",
    /* 2 */ "no peer delivers more late messages than it announced",
    /* 3 */ "a rank that is ready to stop logging has all late messages",
    /* 4 */ "no rank stops logging before it was ready to",
    /* 5 */ "a message that is to be suppressed has not been passed over",
    /* 6 */ "only the initiator counts ranks (ready, stopped, replaying), each once",
    /* 7 */ "no rank takes a checkpoint before its own replay is over",
    NULL};

/* ---- a checkpoint ---- */

/* Phase 1, at the initiator. */
static void begin_checkpoint(const struct rcl_config *config, struct state *state,
                             struct rcl_actions *actions)
{
  if (state->in_progress || state->replaying_ranks) {
    rcl_act(actions, RCL_ACTION_SET_TIMER);
    return;
  }
  state->in_progress = state->wanted = state->epoch + 1;
  state->ready_ranks = state->stopped_ranks = 0;
  rcl_send_control_to_all(config, actions, PLEASE_CHECKPOINT, state->wanted);
}

/* Phase 2. That a checkpoint is wanted tells that the one before is committed. */
static void want(struct state *state, uint32_t checkpoint, struct rcl_actions *actions)
{
  if (checkpoint > state->epoch) /* a barrier may have forced it already */
    state->wanted = checkpoint;
  if (checkpoint > 2)
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = checkpoint - 2;
}

static void take_checkpoint(struct state *state, struct rcl_actions *actions)
{
  if (state->phase != RUNNING || !state->wanted)
    return;
  state->phase = CAPTURING;
  rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = state->wanted;
}

static void stop_logging(struct state *state, struct rcl_actions *actions)
{
  if (state->phase != LOGGING)
    return;
  state->phase = WRITING;
  rcl_act(actions, RCL_ACTION_STOPPED_LOGGING)->checkpoint = state->epoch;
  rcl_store(actions, RCL_PART_LOG, state->epoch);
}

/* Phase 3, at the initiator: one more rank has all its late messages. */
static void count_ready(const struct rcl_config *config, struct state *state,
                        struct rcl_actions *actions)
{
  if (++state->ready_ranks < (uint32_t)config->ranks)
    return;
  rcl_send_control_to_all(config, actions, STOP_LOGGING, state->in_progress);
  stop_logging(state, actions);
}

/* At the initiator, with a topology: behind the counts of all ranks no CALLS are left to come. */
static void check_told(const struct rcl_config *config, struct state *state,
                       struct rcl_actions *actions)
{
  if (!sparse(config) || !initiator(config) || state->phase != LOGGING ||
      state->calls_told == state->epoch)
    return;
  for (int i = 0; i < config->ranks; i++)
    if (peers(config, state)[i].announced_for != state->epoch)
      return;
  state->calls_told = state->epoch;
  tell_most_calls(config, state, actions);
  rcl_send_control_to_all(config, actions, CALLS_TOLD, state->epoch);
}

static bool all_late_are_in(const struct rcl_config *config, const struct state *state)
{
  for (int i = 0; i < config->ranks; i++) {
    const struct peer *peer = &peers(config, state)[i];
    if (peer->announced_for != state->epoch || peer->previous != peer->announced)
      return false;
  }
  return all_calls_are_made(config, state);
}

static void check_ready(const struct rcl_config *config, struct state *state,
                        struct rcl_actions *actions)
{
  check_told(config, state, actions);
  if (state->phase != LOGGING || state->ready || !all_late_are_in(config, state))
    return;
  state->ready = true;
  if (initiator(config))
    count_ready(config, state, actions);
  else
    rcl_send_control(actions, RCL_COORDINATOR_RANK, READY_TO_STOP_LOGGING, state->epoch, 0);
}

/* Whom this rank tells its counts and suppress lists, and who tells it: neighbours; and all tell
 * the initiator. */
static bool is_told(const struct rcl_config *config, int peer)
{
  return rcl_is_neighbour(config, peer) || (peer == RCL_COORDINATOR_RANK && !initiator(config));
}

static bool tells(const struct rcl_config *config, int peer)
{
  return rcl_is_neighbour(config, peer) || (peer != config->self && initiator(config));
}

/* A new epoch: messages sent in the old one are announced, early messages are now on time. */
static void begin_logging(const struct rcl_config *config, struct state *state,
                          const struct rcl_event *event, struct rcl_actions *actions)
{
  clear_log(config, state, actions);
  state->phase = LOGGING;
  state->epoch = event->checkpoint;
  state->wanted = state->ready = state->durable = state->next_message = 0;
  rcl_store(actions, RCL_PART_IMAGE, state->epoch);
  announce_calls(config, state, actions);
  for (int i = 0; i < config->ranks; i++) {
    struct peer *peer = &peers(config, state)[i];
    if (is_told(config, i))
      rcl_send_control(actions, i, MY_SEND_COUNT, state->epoch, peer->sent);
    if (!tells(config, i)) { /* itself, or a rank with which it exchanges nothing */
      peer->announced = peer->sent;
      peer->announced_for = state->epoch;
    }
    peer->sent = 0;
    peer->previous = peer->received;
    peer->received = peer->at_line = peer->early;
    peer->early = 0;
  }
  if (state->in_barrier) {
    rcl_act(actions, RCL_ACTION_DELIVER);
    made(config, state, (int16_t)state->barrier_comm, (int32_t)state->in_barrier, actions);
  }
  state->in_barrier = state->barrier_comm = 0;
  check_ready(config, state, actions);
}

/* Phase 4, at the initiator: one more rank has its log on disk. */
static void count_stopped(const struct rcl_config *config, struct state *state,
                          struct rcl_actions *actions)
{
  if (++state->stopped_ranks == (uint32_t)config->ranks)
    rcl_act(actions, RCL_ACTION_COMMIT)->checkpoint = state->in_progress;
}

static void durable(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  state->durable |= 1u << event->part;
  if (state->durable != (1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG))
    return;
  state->phase = RUNNING;
  clear_log(config, state, actions);
  clear_early(config, state);
  clear_given(config, state);
  if (initiator(config))
    count_stopped(config, state, actions);
  else
    rcl_send_control(actions, RCL_COORDINATOR_RANK, STOPPED_LOGGING, state->epoch, 0);
}

static void committed(struct state *state, const struct rcl_event *event,
                      struct rcl_actions *actions)
{
  state->in_progress = 0;
  if (event->checkpoint > 1)
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = event->checkpoint - 1;
  rcl_act(actions, RCL_ACTION_SET_TIMER);
}

/* ---- arrivals ---- */

static void late(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  peers(config, state)[event->peer].previous++;
  struct entry *entry = append(config, state, actions, LATE);
  if (!entry)
    return;
  entry->request = event->request;
  entry->peer = event->peer;
  entry->tag = event->tag;
  rcl_act(actions, RCL_ACTION_KEEP)->slot = slot_of(config, state, entry);
}

static void early(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  peers(config, state)[event->peer].early++;
  if (state->early == config->capacity) {
    rcl_give_up_full(actions, RCL_FULL_EARLY);
    return;
  }
  early_of(config, state)[state->early++] = identity(state, event, event->words[NUMBER]);
}

static void on_time(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  peers(config, state)[event->peer].received++;
  if (!(event->words[FLAGS] & IS_LOGGING))
    stop_logging(state, actions);
  if (state->phase != LOGGING || !event->wildcard)
    return;
  struct entry *entry = append(config, state, actions, OUTCOME);
  if (entry) {
    entry->request = event->request;
    entry->peer = event->peer;
    entry->tag = event->tag;
  }
}

static void arrived(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  bool same_colour = ((event->words[FLAGS] ^ state->epoch) & COLOUR) == 0;
  if (same_colour)
    on_time(config, state, event, actions);
  else if (state->phase == LOGGING)
    late(config, state, event, actions);
  else
    early(config, state, event, actions);
  rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
  check_ready(config, state, actions);
}

/* ---- collectives ---- */

static void collected(const struct rcl_config *config, struct state *state,
                      const struct rcl_event *event, struct rcl_actions *actions)
{
  bool crossing = crosses(state, event);
  if (event->flow == RCL_FLOW_BARRIER && behind(state, event)) {
    state->phase = CAPTURING;
    state->in_barrier = (uint32_t)event->call;
    state->barrier_comm = (uint32_t)event->comm;
    rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = state->epoch + 1;
    return;
  }
  if (crossing)
    crossed(config, state, event, actions);
  else if (event->words[STOPPED])
    stop_logging(state, actions);
  rcl_act(actions, RCL_ACTION_DELIVER);
  made(config, state, event->comm, event->call, actions);
  if (!event->makes) /* results on the new communicator may be late: MEMBER comes first */
    check_ready(config, state, actions);
}

/* ---- recovery: all ranks go back to the last committed checkpoint ---- */

/* The state is that of the moment at which logging stopped; counts are set back to those at the
 * line. */
static void back_to_line(const struct rcl_config *config, struct state *state)
{
  state->replaying = true;
  state->replaying_ranks = initiator(config) ? (uint32_t)config->ranks : 0;
  state->wanted = state->in_progress = state->ready_ranks = state->stopped_ranks = 0;
  state->durable = 1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG;
  state->next_message = state->lists_told = 0;
  for (int i = 0; i < config->ranks; i++) {
    struct peer *peer = &peers(config, state)[i];
    peer->sent = 0;
    peer->received = peer->at_line;
    peer->early = 0;
    peer->listed = !tells(config, i);
  }
  for (uint32_t i = 0; i < state->comms; i++)
    comms_of(config, state)[i].made = comms_of(config, state)[i].told;
}

static void tell_suppress_lists(const struct rcl_config *config, struct state *state,
                                struct rcl_actions *actions)
{
  const struct number *early = early_of(config, state);
  for (uint32_t i = 0; i < state->early; i++)
    rcl_send_control(actions, early[i].peer, SUPPRESS,
                     state->by_envelope ? (uint16_t)early[i].comm : state->epoch, early[i].number);
  repeat_collectives(config, state, actions);
  for (int i = 0; i < config->ranks; i++)
    if (is_told(config, i))
      rcl_send_control(actions, i, SUPPRESS_LIST, state->epoch, 0);
  clear_early(config, state);
}

static void resume(const struct rcl_config *config, struct state *state,
                   struct rcl_actions *actions)
{
  for (int i = 0; i < config->ranks; i++)
    if (!peers(config, state)[i].listed)
      return;
  if (sparse(config) && initiator(config))
    rcl_send_control_to_all(config, actions, LISTS_TOLD, state->epoch);
  else if (sparse(config) && !state->lists_told)
    return;
  state->phase = RUNNING;
  rcl_act(actions, RCL_ACTION_RELEASE);
}

/* Called after every step: any of them may be the last of the replay. */
static void check_replayed(const struct rcl_config *config, struct state *state,
                           struct rcl_actions *actions)
{
  if (!state->replaying || state->phase == RECOVERING || !replay_is_over(config, state))
    return;
  state->replaying = false;
  clear_given(config, state);
  if (initiator(config))
    state->replaying_ranks--;
  else
    rcl_send_control(actions, RCL_COORDINATOR_RANK, REPLAYED, state->epoch, 0);
}

static void start(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  if (initiator(config))
    rcl_act(actions, RCL_ACTION_SET_TIMER);
  if (event->checkpoint == RCL_FRESH)
    return;
  back_to_line(config, state);
  state->phase = RECOVERING;
  rcl_act(actions, RCL_ACTION_HOLD);
  tell_suppress_lists(config, state, actions);
  resume(config, state, actions);
}

static void suppress(const struct rcl_config *config, struct state *state,
                     const struct rcl_event *event, struct rcl_actions *actions)
{
  if (state->suppress == config->capacity) {
    rcl_give_up_full(actions, RCL_FULL_SUPPRESS);
    return;
  }
  int16_t comm = state->by_envelope ? (int16_t)event->about : 0;
  suppress_of(config, state)[state->suppress++] = (struct number){event->peer, comm, event->value};
}

/* ---- the step ---- */

static void control(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct peer *peer = &peers(config, state)[event->peer];
  switch ((enum control)event->control) {
  case PLEASE_CHECKPOINT:
    want(state, event->about, actions);
    break;
  case MY_SEND_COUNT:
    peer->announced = event->value;
    peer->announced_for = event->about;
    check_ready(config, state, actions);
    break;
  case READY_TO_STOP_LOGGING:
    count_ready(config, state, actions);
    break;
  case STOP_LOGGING: /* an older one may come after the checkpoint that a barrier has forced */
    if (event->about == state->epoch)
      stop_logging(state, actions);
    break;
  case STOPPED_LOGGING:
    count_stopped(config, state, actions);
    break;
  case SUPPRESS:
    suppress(config, state, event, actions);
    break;
  case CALLS:
  case MOST_CALLS:
    expect_calls(config, state, event, actions);
    break;
  case CALLS_TOLD:
    state->calls_told = event->about;
    check_ready(config, state, actions);
    break;
  case PASSED:
  case PASSED_BY:
    passed(config, state, event, actions);
    break;
  case REPLAYED:
    state->replaying_ranks--;
    break;
  case SUPPRESS_LIST:
    peer->listed = true;
    resume(config, state, actions);
    break;
  case LISTS_TOLD:
    state->lists_told = true;
    resume(config, state, actions);
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
    begin_checkpoint(config, state, actions);
    break;
  case RCL_EVENT_SEND:
    send(config, state, event, actions);
    break;
  case RCL_EVENT_RECEIVE:
    receive(config, state, event, actions);
    break;
  case RCL_EVENT_CHOICE:
    if (event->request)
      cancel(config, state, event, actions);
    else
      choose(config, state, event, actions);
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
  case RCL_EVENT_MEMBER:
    become_member(config, state, event->comm, actions);
    check_ready(config, state, actions);
    break;
  case RCL_EVENT_COLLECTIVE:
    collective(config, state, event, actions);
    if (!event->makes)
      check_ready(config, state, actions);
    break;
  case RCL_EVENT_COLLECTED:
    collected(config, state, event, actions);
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
  check_replayed(config, state, actions);
  rcl_output_with_commit(event, actions);
}

/* ---- invariants, by their numbers ---- */

static bool late_within_announced(const struct rcl_config *config, const struct state *state)
{
  for (int i = 0; state->phase == LOGGING && i < config->ranks; i++)
    if (peers(config, state)[i].announced_for == state->epoch &&
        peers(config, state)[i].previous > peers(config, state)[i].announced)
      return false;
  return true;
}

static bool none_passed_over(const struct rcl_config *config, const struct state *state)
{
  for (uint32_t i = 0; !state->by_envelope && i < state->suppress; i++)
    if (suppress_of(config, state)[i].number < state->next_message)
      return false;
  return true;
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  bool stopping = state->phase == LOGGING || state->phase == WRITING;
  if (state->wanted && stopping)
    return 1;
  if (!late_within_announced(config, state))
    return 2;
  if (state->phase == LOGGING && state->ready && !all_late_are_in(config, state))
    return 3;
  if (state->phase == WRITING && !state->ready)
    return 4;
  if (!none_passed_over(config, state))
    return 5;
  uint32_t most = initiator(config) ? (uint32_t)config->ranks : 0;
  if (state->ready_ranks > most || state->stopped_ranks > most || state->replaying_ranks > most)
    return 6;
  if (state->replaying && state->phase != RUNNING && state->phase != RECOVERING)
    return 7;
  return 0;
}

/* Phases of a checkpoint, and of recoveries, for results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"logging", "captured", "stopped-logging"},
                                          {"stop-log", "stopped-logging", "durable part=log"},
                                          {"commit", "commit", "committed"},
                                          {"restart", "start checkpoint", "release"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"c3-1.1", "c3-1.2",  "c3-1.3", "c3-2.2",
                                       "c3-2.3", "bounded", "frees",  NULL};

static void envelopes_step(const struct rcl_config *config, void *memory,
                           const struct rcl_event *event, struct rcl_actions *actions)
{
  ((struct state *)memory)->by_envelope = true;
  step(config, memory, event, actions);
}

/* Without numbers, messages with one envelope must keep their order. */
#define ASSUMES (RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_RECEIVED)
#define PLACE(ASSUMED)                                                                             \
  &(const struct rcl_place)                                                                        \
  {                                                                                                \
    .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER},             \
             {RCL_LOGGED_DETERMINANTS, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER}},        \
    .back = RCL_BACK_ALL, .assumes = (ASSUMED)                                                     \
  }
#define PROTOCOL(NAME, TITLE, BYTES, STEP, NEXT, ASSUMED)                                          \
  {                                                                                                \
    .name = NAME, .title = TITLE, .piggyback_bytes = BYTES,                                        \
    .call_bytes = 1, /* colour and logging bit, section 6 */                                       \
        .control_bytes = 12, .collectives = true, .controls = controls, .invariants = invariants,  \
    .phases = phases, .promises = promises, .state_size = state_size, .in_use = in_use,            \
    .step = STEP, .violated_invariant = violated_invariant, .place = PLACE(ASSUMED),               \
    .variant = NEXT                                                                                \
  }

static const struct rcl_protocol c3_envelopes =
    PROTOCOL("c3-envelopes", "C3 without numbers on messages (section 3.3)", 1, envelopes_step,
             NULL, ASSUMES | RCL_ASSUMES_MPI_ORDER);
extern const struct rcl_protocol protocol_c3;
const struct rcl_protocol protocol_c3 =
    PROTOCOL("c3", "C3, point to point and collectives (Bronevetsky et al., ICS 2003)", 4, step,
             &c3_envelopes, ASSUMES);
