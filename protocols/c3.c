/* C3: non-blocking coordinated checkpoints above MPI, for programs that may be checkpointed only
 * in certain places, over channels that are not FIFO.
 *
 * Source: Bronevetsky, Marques, Pingali, Stodghill, "Collective operations in application-level
 * fault-tolerant MPI" (ICS 2003): section 3 and claim 1 (point to point), sections 4 and 5 and
 * claim 2 (collectives); the phases are also in Stodghill's slides on the protocol.
 *
 *     1  the initiator (rank 0) sends pleaseCheckpoint to all
 *     2  at its next SAFE_POINT a rank takes its checkpoint, tells every neighbour how many
 *        messages the neighbour was sent (mySendCount), and logs late messages and the outcomes of
 *        non-deterministic decisions; when all its late messages are in, it tells the initiator
 *        readyToStopLogging
 *     3  when all are ready, the initiator sends stopLogging
 *     4  a rank stops logging on stopLogging, or on a message whose sender has stopped; when its
 *        log is on disk it sends stoppedLogging; when all have sent it, the initiator commits
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
 * its number in the sender's epoch. If this colour is not the receiver's, the message is late at a
 * receiver that is logging, and early at one that is not. A rank remembers early messages by
 * (sender, number). After a restart a rank tells its peers which of their messages it has already,
 * and they suppress these. The program of the rank is held until all peers have told the rank which
 * of its messages they have.
 *
 * Collectives are handled by the direction in which data flow (section 5); the epochs of the ranks
 * whose data flow to a rank tell that rank whether a call crosses the recovery line:
 *
 *                      crosses, logging         crosses, behind the line     does not cross
 *     all to all       log the result           -                            a rank whose data
 *     to the root      log the result,          senders suppress the call    come from one that
 *                      senders suppress it                                   has stopped logging
 *     from the root    log the result           take part again on restart   stops as well
 *     barrier          -                        checkpoint, then pass
 *
 * Where the paper is wrong (docs/protocols/c3.md): Figure 5 decides by exclusive or whether a call
 * crosses the line, which only gives the parity of the colours. Figure 8 stops logging at a barrier
 * that crosses the line. Where the paper is silent: no rank takes a new checkpoint while any rank
 * still has a part of its log to replay, a message to suppress or a broadcast to repeat. Otherwise
 * the next line would depend on entries that only the previous line's log has. A rank cannot ensure
 * this alone, because a barrier may force its checkpoint. So after a restart all ranks tell the
 * initiator when their replay is over (docs/protocols/c3.md).
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/c3_collectives.h"
#include "protocols/c3_messages.h"
#include "protocols/parts/outputs.h"

static const char *const invariants[] = {
    /* 1 */
    "a rank that wants a checkpoint is neither logging nor writing its log: "
    "otherwise a second checkpoint would begin before the first one has its log",
    /* 2 */
    "no peer delivers more late messages than it announced: "
    "otherwise a late message would be in no log, and its receiver would wait for ever after a "
    "crash",
    /* 3 */
    "a rank that is ready to stop logging has all late messages: "
    "otherwise a late message would be in no log, and its receiver would wait for ever after a "
    "crash",
    /* 4 */
    "no rank stops logging before it was ready to: "
    "otherwise a late message that comes afterwards would be in no log, and be lost by a crash",
    /* 5 */
    "a message that is to be suppressed has not been passed over: "
    "otherwise the message would be sent again after a restart, although its receiver has it",
    /* 6 */
    "only the initiator counts ranks, each once, and between checkpoints none or all: "
    "otherwise a checkpoint would be committed that some rank has not stored: no restart finds it",
    /* 7 */
    "no rank takes a checkpoint before its own replay is over: "
    "otherwise the image would lack what is still to be replayed, and a restart would lose "
    "messages",
    /* 8 */
    "every note for a restart names a rank, or a call by a number from 1 on: "
    "otherwise a restart would suppress or replay what does not exist",
    /* 9 */
    "a rank logs and writes messages only of a checkpoint that it has taken: "
    "otherwise a log would be of no image, and a restart would give messages of another time",
    /* 10 */
    "a replay has ended as soon as nothing of what it has to repeat is left: "
    "otherwise the rank would replay for ever, and never take a checkpoint again",
    NULL};

/* ---- a checkpoint ---- */

/* Phase 1: the initiator begins a checkpoint. */
static void begin_checkpoint(const struct rank *r)
{
  if (r->state->in_progress || r->state->replaying_ranks) {
    rcl_act(r->actions, RCL_ACTION_SET_TIMER);
    return;
  }
  r->state->in_progress = r->state->wanted = r->state->epoch + 1;
  r->state->ready_ranks = r->state->stopped_ranks = 0;
  rcl_send_control_to_all(r->config, r->actions, PLEASE_CHECKPOINT, r->state->wanted);
}

/* Phase 2: notes a request for a checkpoint, which also tells that the last checkpoint is
 * committed. */
static void want(const struct rank *r, uint32_t checkpoint)
{
  if (checkpoint > r->state->epoch) /* otherwise a barrier has forced it already */
    r->state->wanted = checkpoint;
  if (checkpoint > 2)
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = checkpoint - 2;
}

static void take_checkpoint(const struct rank *r)
{
  if (r->state->phase != RUNNING || !r->state->wanted)
    return;
  r->state->phase = CAPTURING;
  rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = r->state->wanted;
}

static void stop_logging(const struct rank *r)
{
  if (r->state->phase != LOGGING)
    return;
  r->state->phase = WRITING;
  rcl_act(r->actions, RCL_ACTION_STOPPED_LOGGING)->checkpoint = r->state->epoch;
  rcl_store(r->actions, RCL_PART_LOG, r->state->epoch);
}

/* Phase 3, at the initiator: counts one more rank that has all its late messages. */
static void count_ready(const struct rank *r)
{
  if (++r->state->ready_ranks < (uint32_t)r->config->ranks)
    return;
  rcl_send_control_to_all(r->config, r->actions, STOP_LOGGING, r->state->in_progress);
  stop_logging(r);
}

/* With a topology, once the initiator has the counts of all ranks, it tells them that no CALLS are
 * still to come. */
static void check_told(const struct rank *r)
{
  if (!sparse(r->config) || !initiator(r->config) || r->state->phase != LOGGING ||
      r->state->calls_told == r->state->epoch)
    return;
  for (int i = 0; i < r->config->ranks; i++)
    if (peers(r->config, r->state)[i].announced_for != r->state->epoch)
      return;
  r->state->calls_told = r->state->epoch;
  tell_most_calls(r);
  rcl_send_control_to_all(r->config, r->actions, CALLS_TOLD, r->state->epoch);
}

static bool all_late_are_in(const struct rank *r)
{
  for (int i = 0; i < r->config->ranks; i++) {
    const struct peer *peer = &peers(r->config, r->state)[i];
    if (peer->announced_for != r->state->epoch || peer->previous != peer->announced)
      return false;
  }
  return all_calls_are_made(r);
}

static void check_ready(const struct rank *r)
{
  check_told(r);
  if (r->state->phase != LOGGING || r->state->ready || !all_late_are_in(r))
    return;
  r->state->ready = true;
  if (initiator(r->config))
    count_ready(r);
  else
    rcl_send_control(r->actions, RCL_COORDINATOR_RANK, READY_TO_STOP_LOGGING, r->state->epoch, 0);
}

/* Returns whether this rank tells `peer` its counts and suppress list. It tells its neighbours and
 * the initiator. */
static bool is_told(const struct rcl_config *config, int peer)
{
  return rcl_is_neighbour(config, peer) || (peer == RCL_COORDINATOR_RANK && !initiator(config));
}

static bool tells(const struct rcl_config *config, int peer)
{
  return rcl_is_neighbour(config, peer) || (peer != config->self && initiator(config));
}

/* Begins a new epoch: announces the messages sent in the old epoch. From now on early messages
 * count as intra-epoch. */
static void begin_logging(const struct rank *r)
{
  clear_log(r);
  r->state->phase = LOGGING;
  r->state->epoch = r->event->checkpoint;
  r->state->wanted = r->state->ready = r->state->durable = r->state->next_message = 0;
  rcl_store(r->actions, RCL_PART_IMAGE, r->state->epoch);
  announce_calls(r);
  for (int i = 0; i < r->config->ranks; i++) {
    struct peer *peer = &peers(r->config, r->state)[i];
    if (is_told(r->config, i))
      rcl_send_control(r->actions, i, MY_SEND_COUNT, r->state->epoch, peer->sent);
    if (!tells(r->config, i)) { /* the rank itself, or a rank with which it exchanges nothing */
      peer->announced = peer->sent;
      peer->announced_for = r->state->epoch;
    }
    peer->sent = 0;
    peer->previous = peer->received;
    peer->received = peer->at_line = peer->early;
    peer->early = 0;
  }
  if (r->state->in_barrier) {
    rcl_act(r->actions, RCL_ACTION_DELIVER);
    made(r, (int16_t)r->state->barrier_comm, (int32_t)r->state->in_barrier);
  }
  r->state->in_barrier = r->state->barrier_comm = 0;
  check_ready(r);
}

/* Phase 4, at the initiator: counts one more rank whose log is on disk. */
static void count_stopped(const struct rank *r)
{
  if (++r->state->stopped_ranks == (uint32_t)r->config->ranks)
    rcl_act(r->actions, RCL_ACTION_COMMIT)->checkpoint = r->state->in_progress;
}

static void durable(const struct rank *r)
{
  r->state->durable |= 1u << r->event->part;
  if (r->state->durable != (1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG))
    return;
  r->state->phase = RUNNING;
  clear_log(r);
  clear_early(r);
  clear_given(r);
  if (initiator(r->config))
    count_stopped(r);
  else
    rcl_send_control(r->actions, RCL_COORDINATOR_RANK, STOPPED_LOGGING, r->state->epoch, 0);
}

static void committed(const struct rank *r)
{
  r->state->in_progress = 0;
  if (r->event->checkpoint > 1)
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = r->event->checkpoint - 1;
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
}

/* ---- arrivals ---- */

static void late(const struct rank *r)
{
  peers(r->config, r->state)[r->event->peer].previous++;
  struct entry *entry = append(r, LATE);
  if (!entry)
    return;
  entry->request = r->event->request;
  entry->peer = r->event->peer;
  entry->tag = r->event->tag;
  rcl_act(r->actions, RCL_ACTION_KEEP)->slot = slot_of(r, entry);
}

static void early(const struct rank *r)
{
  peers(r->config, r->state)[r->event->peer].early++;
  if (r->state->early == r->config->capacity) {
    rcl_give_up_full(r->actions, RCL_FULL_EARLY);
    return;
  }
  early_of(r->config, r->state)[r->state->early++] = identity(r, r->event->words[NUMBER]);
}

static void on_time(const struct rank *r)
{
  peers(r->config, r->state)[r->event->peer].received++;
  if (!(r->event->words[FLAGS] & IS_LOGGING))
    stop_logging(r);
  if (r->state->phase != LOGGING || !r->event->wildcard)
    return;
  struct entry *entry = append(r, OUTCOME);
  if (entry) {
    entry->request = r->event->request;
    entry->peer = r->event->peer;
    entry->tag = r->event->tag;
  }
}

static void arrived(const struct rank *r)
{
  bool same_colour = ((r->event->words[FLAGS] ^ r->state->epoch) & COLOUR) == 0;
  if (same_colour)
    on_time(r);
  else if (r->state->phase == LOGGING)
    late(r);
  else
    early(r);
  rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
  check_ready(r);
}

/* ---- collectives ---- */

static void collected(const struct rank *r)
{
  bool crossing = crosses(r);
  if (r->event->flow == RCL_FLOW_BARRIER && behind(r)) {
    r->state->phase = CAPTURING;
    r->state->in_barrier = (uint32_t)r->event->call;
    r->state->barrier_comm = (uint32_t)r->event->comm;
    rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = r->state->epoch + 1;
    return;
  }
  if (crossing)
    crossed(r);
  else if (r->event->words[STOPPED])
    stop_logging(r);
  rcl_act(r->actions, RCL_ACTION_DELIVER);
  made(r, r->event->comm, r->event->call);
  if (!r->event->makes) /* after a call that makes a communicator, MEMBER comes first, as results on
                           the new communicator may be late */
    check_ready(r);
}

/* ---- recovery: all ranks go back to the last committed checkpoint ---- */

/* Sets counts back to their values at the line, because the state was stored when logging
 * stopped. */
static void back_to_line(const struct rank *r)
{
  r->state->replaying = true;
  r->state->replaying_ranks = initiator(r->config) ? (uint32_t)r->config->ranks : 0;
  r->state->wanted = r->state->in_progress = r->state->ready_ranks = r->state->stopped_ranks = 0;
  r->state->durable = 1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG;
  r->state->next_message = r->state->lists_told = 0;
  for (int i = 0; i < r->config->ranks; i++) {
    struct peer *peer = &peers(r->config, r->state)[i];
    peer->sent = 0;
    peer->received = peer->at_line;
    peer->early = 0;
    peer->listed = !tells(r->config, i);
  }
  for (uint32_t i = 0; i < r->state->comms; i++)
    comms_of(r->config, r->state)[i].made = comms_of(r->config, r->state)[i].told;
}

static void tell_suppress_lists(const struct rank *r)
{
  const struct number *early = early_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->early; i++)
    rcl_send_control(r->actions, early[i].peer, SUPPRESS,
                     r->state->by_envelope ? (uint16_t)early[i].comm : r->state->epoch,
                     early[i].number);
  repeat_collectives(r);
  for (int i = 0; i < r->config->ranks; i++)
    if (is_told(r->config, i))
      rcl_send_control(r->actions, i, SUPPRESS_LIST, r->state->epoch, 0);
  clear_early(r);
}

static void resume(const struct rank *r)
{
  for (int i = 0; i < r->config->ranks; i++)
    if (!peers(r->config, r->state)[i].listed)
      return;
  if (sparse(r->config) && initiator(r->config))
    rcl_send_control_to_all(r->config, r->actions, LISTS_TOLD, r->state->epoch);
  else if (sparse(r->config) && !r->state->lists_told)
    return;
  r->state->phase = RUNNING;
  rcl_act(r->actions, RCL_ACTION_RELEASE);
}

/* Ends the replay if nothing is left of it. It is called after every step, because any step may be
 * the last one of the replay. */
static void check_replayed(const struct rank *r)
{
  if (!r->state->replaying || r->state->phase == RECOVERING || !replay_is_over(r))
    return;
  r->state->replaying = false;
  clear_given(r);
  if (initiator(r->config))
    r->state->replaying_ranks--;
  else
    rcl_send_control(r->actions, RCL_COORDINATOR_RANK, REPLAYED, r->state->epoch, 0);
}

static void start(const struct rank *r)
{
  if (initiator(r->config))
    rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  if (r->event->checkpoint == RCL_FRESH)
    return;
  back_to_line(r);
  r->state->phase = RECOVERING;
  rcl_act(r->actions, RCL_ACTION_HOLD);
  tell_suppress_lists(r);
  resume(r);
}

static void suppress(const struct rank *r)
{
  if (r->state->suppress == r->config->capacity) {
    rcl_give_up_full(r->actions, RCL_FULL_SUPPRESS);
    return;
  }
  int16_t comm = r->state->by_envelope ? (int16_t)r->event->about : 0;
  suppress_of(r->config, r->state)[r->state->suppress++] =
      (struct number){r->event->peer, comm, r->event->value};
}

/* ---- the step ---- */

static void control(const struct rank *r)
{
  struct peer *peer = &peers(r->config, r->state)[r->event->peer];
  switch ((enum control)r->event->control) {
  case PLEASE_CHECKPOINT:
    want(r, r->event->about);
    break;
  case MY_SEND_COUNT:
    peer->announced = r->event->value;
    peer->announced_for = r->event->about;
    check_ready(r);
    break;
  case READY_TO_STOP_LOGGING:
    count_ready(r);
    break;
  case STOP_LOGGING: /* an older message may come after the checkpoint that a barrier has forced */
    if (r->event->about == r->state->epoch)
      stop_logging(r);
    break;
  case STOPPED_LOGGING:
    count_stopped(r);
    break;
  case SUPPRESS:
    suppress(r);
    break;
  case CALLS:
  case MOST_CALLS:
    expect_calls(r);
    break;
  case CALLS_TOLD:
    r->state->calls_told = r->event->about;
    check_ready(r);
    break;
  case PASSED:
  case PASSED_BY:
    passed(r);
    break;
  case REPLAYED:
    r->state->replaying_ranks--;
    break;
  case SUPPRESS_LIST:
    peer->listed = true;
    resume(r);
    break;
  case LISTS_TOLD:
    r->state->lists_told = true;
    resume(r);
    break;
  }
}

static void choice(const struct rank *r)
{
  if (r->event->request)
    cancel(r);
  else
    choose(r);
}

static void member(const struct rank *r)
{
  become_member(r, r->event->comm);
  check_ready(r);
}

static void collective_called(const struct rank *r)
{
  collective(r);
  if (!r->event->makes)
    check_ready(r);
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,
    [RCL_EVENT_DOWN] = rcl_roll_back,
    [RCL_EVENT_TIMER] = begin_checkpoint,
    [RCL_EVENT_SEND] = send,
    [RCL_EVENT_RECEIVE] = receive,
    [RCL_EVENT_CHOICE] = choice,
    [RCL_EVENT_SAFE_POINT] = take_checkpoint,
    [RCL_EVENT_ARRIVED] = arrived,
    [RCL_EVENT_CONTROL] = control,
    [RCL_EVENT_MEMBER] = member,
    [RCL_EVENT_COLLECTIVE] = collective_called,
    [RCL_EVENT_COLLECTED] = collected,
    [RCL_EVENT_CAPTURED] = begin_logging,
    [RCL_EVENT_DURABLE] = durable,
    [RCL_EVENT_COMMITTED] = committed,
};

static void step(const struct rank *r)
{
  r->state->by_envelope = r->variant->by_envelope;
  rcl_take(on, r);
  check_replayed(r);
  rcl_output_with_commit(r->event, r->actions);
}

/* ---- invariants, by their numbers ---- */

static bool late_within_announced(const struct rank *r)
{
  for (int i = 0; r->state->phase == LOGGING && i < r->config->ranks; i++)
    if (peers(r->config, r->state)[i].announced_for == r->state->epoch &&
        peers(r->config, r->state)[i].previous > peers(r->config, r->state)[i].announced)
      return false;
  return true;
}

static bool none_passed_over(const struct rank *r)
{
  for (uint32_t i = 0; !r->state->by_envelope && i < r->state->suppress; i++)
    if (suppress_of(r->config, r->state)[i].number < r->state->next_message)
      return false;
  return true;
}

/* Returns whether the lists that a restart uses name ranks, and calls by numbers from 1 on. */
static bool restart_is_sound(const struct rank *r)
{
  const struct call *call = rejoin_of(r->config, r->state);
  const struct number *early = early_of(r->config, r->state);
  const struct entry *log = log_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->log; i++)
    if (((log[i].kind == LATE || log[i].kind == OUTCOME) && !rcl_is_rank(r->config, log[i].peer)) ||
        (log[i].kind == CANCELLED && log[i].outcome > 1))
      return false;
  for (uint32_t i = 0; i < r->state->early; i++)
    if (!rcl_is_rank(r->config, early[i].peer) || early[i].peer == r->config->self)
      return false;
  for (uint32_t i = 0; i < r->state->rejoin; i++)
    if (call[i].number < 1 || !rcl_is_rank(r->config, call[i].root))
      return false;
  return true;
}

/* Returns whether, between checkpoints, none or all ranks are counted as having stopped logging. */
static bool counts_all(const struct rank *r)
{
  return r->state->in_progress || !r->state->stopped_ranks ||
         r->state->stopped_ranks == (uint32_t)r->config->ranks;
}

static int first_broken(const struct rank *r)
{
  bool stopping = r->state->phase == LOGGING || r->state->phase == WRITING;
  if (r->state->wanted && stopping)
    return 1;
  if (stopping && !r->state->epoch)
    return 9;
  if (!late_within_announced(r))
    return 2;
  if (r->state->phase == LOGGING && r->state->ready && !all_late_are_in(r))
    return 3;
  if (r->state->phase == WRITING && !r->state->ready)
    return 4;
  if (!none_passed_over(r))
    return 5;
  if (!counts_all(r))
    return 6;
  if (r->state->replaying && r->state->phase != RECOVERING && replay_is_over(r))
    return 10;
  uint32_t most = initiator(r->config) ? (uint32_t)r->config->ranks : 0;
  if (r->state->ready_ranks > most || r->state->stopped_ranks > most ||
      r->state->replaying_ranks > most)
    return 6;
  if (r->state->replaying && r->state->phase != RUNNING && r->state->phase != RECOVERING)
    return 7;
  return restart_is_sound(r) ? 0 : 8;
}

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"logging", "captured", "stopped-logging"},
                                          {"stop-log", "stopped-logging", "durable part=log"},
                                          {"commit", "commit", "committed"},
                                          {"restart", "start checkpoint", "release"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"c3-1.1", "c3-1.2",  "c3-1.3", "c3-2.2",
                                       "c3-2.3", "bounded", "frees",  NULL};

static const struct variant numbers = {.by_envelope = false};
static const struct variant envelopes = {.by_envelope = true};

RCL_FORM(numbers)
RCL_FORM(envelopes)

/* Names what C3 assumes. Without numbers, C3 also relies on the order of messages with the same
 * envelope. */
#define ASSUMES (RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_RECEIVED)
#define PLACE(ASSUMED)                                                                             \
  &(const struct rcl_place)                                                                        \
  {                                                                                                \
    .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER},             \
             {RCL_LOGGED_DETERMINANTS, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_RECEIVER}},        \
    .back = RCL_BACK_ALL, .assumes = (ASSUMED)                                                     \
  }
#define PROTOCOL(ID, NAME, TITLE, BYTES, NEXT, ASSUMED)                                            \
  {                                                                                                \
    .name = NAME, .title = TITLE, .piggyback_bytes = BYTES,                                        \
    .call_bytes = 1, /* colour and logging bit, section 6 */                                       \
        .control_bytes = 12, .collectives = true, .controls = controls, .invariants = invariants,  \
    .phases = phases, .promises = promises, .state_size = state_size, .in_use = in_use,            \
    .step = ID##_step, .violated_invariant = ID##_broken, .place = PLACE(ASSUMED), .variant = NEXT \
  }

static const struct rcl_protocol c3_envelopes =
    PROTOCOL(envelopes, "c3-envelopes", "C3 without numbers on messages (section 3.3)", 1, NULL,
             ASSUMES | RCL_ASSUMES_MPI_ORDER);
extern const struct rcl_protocol protocol_c3;
const struct rcl_protocol protocol_c3 =
    PROTOCOL(numbers, "c3", "C3, point to point and collectives (Bronevetsky et al., ICS 2003)", 4,
             &c3_envelopes, ASSUMES);
