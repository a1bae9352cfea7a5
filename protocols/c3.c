/* C3: non-blocking coordinated checkpoints above MPI, for programs that may be checkpointed only
 * in certain places, over channels that are not FIFO.
 *
 * Source: Bronevetsky, Marques, Pingali, Stodghill, "Collective operations in application-level
 * fault-tolerant MPI" (ICS 2003): section 3 and claim 1 (point to point), sections 4 and 5 and
 * claim 2 (collectives); the phases are also in Stodghill's slides on the protocol.
 *
 *     1  the initiator (rank 0) sends pleaseCheckpoint to all
 *     2  at its next SAFE_POINT a rank takes its checkpoint, tells every peer how many messages it
 *        sent it (mySendCount), and logs late messages and the outcomes of non-deterministic
 *        decisions; when all its late messages are in it tells the initiator readyToStopLogging
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
 * Where it is silent: nobody takes a new checkpoint while anybody still has a part of its log to
 * replay or a message to suppress; the next line would otherwise rest on what only the previous
 * line's log knows. A rank cannot see to this alone, as a barrier may force its checkpoint, so
 * after a restart all tell the initiator when their replay is over (docs/protocols/c3.md).
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/act.h"
#include "protocols/parts/lists.h"

#include <string.h>

static const char *const invariants[] = {
    /* 1 */ "a rank that wants a checkpoint is neither logging nor writing its log",
    /* 2 */ "no peer delivers more late messages than it announced",
    /* 3 */ "a rank that is ready to stop logging has all late messages",
    /* 4 */ "no rank stops logging before it was ready to",
    /* 5 */ "a message that is to be suppressed has not been passed over",
    /* 6 */ "only the initiator counts ranks (ready, stopped, replaying), each once",
    /* 7 */ "no rank takes a checkpoint before its own replay is over",
    NULL};

enum phase { RUNNING, CAPTURING, LOGGING, WRITING, RECOVERING };

enum control {
  PLEASE_CHECKPOINT = 1,
  MY_SEND_COUNT,
  READY_TO_STOP_LOGGING,
  STOP_LOGGING,
  STOPPED_LOGGING,
  SUPPRESS,      /* "I have your message of this number already" */
  SUPPRESS_LIST, /* "and these were all of them" */
  CALLS,         /* "before my line I made this many collective calls on this communicator" */
  PASSED,        /* "as a root I have passed this collective call and all before it" */
  REPLAYED       /* "I have replayed my log and suppressed all that I had to" */
};

static const char *const controls[] = {"none",          "please-checkpoint",
                                       "my-send-count", "ready-to-stop-logging",
                                       "stop-logging",  "stopped-logging",
                                       "suppress",      "suppress-list",
                                       "calls",         "passed",
                                       "replayed",      NULL};

/* Words of a message. */
enum header { FLAGS, NUMBER };
enum flag { COLOUR = 1, IS_LOGGING = 2 };

/* Words of a contribution to a collective: the epoch, and whether its sender does not log. */
enum contribution { EPOCH, STOPPED };

/* Counts of messages exchanged with one peer, by the epoch in which they were sent. */
struct peer {
  uint32_t sent;          /* to the peer, this epoch */
  uint32_t received;      /* from it, sent in this epoch */
  uint32_t early;         /* from it, sent in the next epoch */
  uint32_t at_line;       /* `early` when this epoch's checkpoint was taken */
  uint32_t previous;      /* from it, sent in the previous epoch, late ones included */
  uint32_t announced;     /* its mySendCount: how many it sent in the previous epoch */
  uint32_t announced_for; /* checkpoint of that mySendCount */
  uint32_t listed;        /* its suppress list has arrived since the restart */
};

enum entry_kind { LATE = 1, OUTCOME, CHOICE, RESULT, CANCELLED };

/* What happened while logging, to happen again on replay. */
struct entry {
  uint16_t kind;
  uint16_t replayed;
  uint32_t request; /* LATE, OUTCOME, CANCELLED: number of the receive */
  int16_t peer;     /* LATE, OUTCOME: what it received; RESULT: root */
  int16_t comm;     /* RESULT */
  int32_t tag;      /* LATE, OUTCOME; RESULT: number of the call */
  uint32_t outcome; /* CHOICE; CANCELLED: 1 if it was, 0 if it was too late */
  uint32_t times;   /* CHOICE: as often in a row */
};

/* Early messages received (peer, number), and own numbers to suppress (self, number). */
struct number {
  int16_t peer;
  int16_t pad;
  uint32_t number;
};

/* Collective calls up to `number` on `comm`, by their root. */
struct call {
  int16_t comm, root;
  int32_t number;
};

/* Collective calls of this rank on one communicator. */
struct comm {
  int16_t comm;
  int16_t member;   /* this rank is one */
  int32_t made;     /* calls completed */
  int32_t told;     /* `made` when it was last announced */
  int32_t expected; /* most calls that a peer made before its line */
};

enum { COMMS = 64 }; /* communicators that a program can call collectives on between two lines */

struct state {
  uint32_t phase;
  uint32_t epoch;          /* checkpoints taken; the colour is its lowest bit */
  uint32_t wanted;         /* checkpoint asked for and not yet taken; 0: none */
  uint32_t ready;          /* readyToStopLogging sent in this epoch */
  uint32_t durable;        /* parts of this epoch's checkpoint on disk, a bit each */
  uint32_t next_message;   /* messages sent in this epoch */
  uint32_t log;            /* entries in the log */
  uint32_t early;          /* entries in the list of early messages */
  uint32_t replaying;      /* since a restart, until the log is replayed and nothing to suppress */
  uint32_t suppress;       /* numbers still to suppress */
  uint32_t rejoin;         /* broadcasts received that their roots will repeat */
  uint32_t passed;         /* reductions passed as root that their senders might repeat */
  uint32_t suppress_calls; /* what the roots have told of these after a restart */
  uint32_t comms;          /* communicators known */
  uint32_t barrier_comm;
  uint32_t in_barrier; /* number of the barrier that forced the checkpoint being captured */
  /* initiator */
  uint32_t in_progress; /* checkpoint under way; 0: none */
  uint32_t ready_ranks;
  uint32_t stopped_ranks;
  uint32_t replaying_ranks;
};

#define LISTS(LIST)                                                                                \
  LIST(peers, struct peer, config->ranks)                                                          \
  LIST(log_of, struct entry, config->capacity)                                                     \
  LIST(early_of, struct number, config->capacity)                                                  \
  LIST(suppress_of, struct number, config->capacity)                                               \
  LIST(rejoin_of, struct call, config->capacity)                                                   \
  LIST(suppress_calls_of, struct call, config->capacity)                                           \
  LIST(passed_of, struct call, COMMS)                                                              \
  LIST(comms_of, struct comm, config->capacity)
RCL_STATE(LISTS)

static bool initiator(const struct rcl_config *config)
{
  return config->self == RCL_COORDINATOR_RANK;
}

/* ---- the log ---- */

static struct entry *append(const struct rcl_config *config, struct state *state,
                            struct rcl_actions *actions, enum entry_kind kind)
{
  if (state->log == config->capacity) {
    rcl_give_up(actions, RCL_REASON_FULL);
    return NULL;
  }
  struct entry *entry = &log_of(config, state)[state->log++];
  *entry = (struct entry){.kind = (uint16_t)kind};
  return entry;
}

/* A late message, or a result, keeps its payload in the slot with the number of its entry. */
static uint32_t slot_of(const struct rcl_config *config, const struct state *state,
                        const struct entry *entry)
{
  return (uint32_t)(entry - log_of(config, state)) + 1;
}

static void clear_log(const struct rcl_config *config, struct state *state,
                      struct rcl_actions *actions)
{
  struct entry *entry = log_of(config, state);
  for (uint32_t i = 0; i < state->log; i++)
    if (entry[i].kind == LATE || entry[i].kind == RESULT)
      rcl_act(actions, RCL_ACTION_FORGET)->slot = slot_of(config, state, &entry[i]);
  memset(entry, 0, state->log * sizeof *entry);
  state->log = 0;
}

static void clear_early(const struct rcl_config *config, struct state *state)
{
  memset(early_of(config, state), 0, state->early * sizeof(struct number));
  memset(passed_of(config, state), 0, state->passed * sizeof(struct call));
  state->early = state->passed = 0;
}

static bool replay_is_over(const struct rcl_config *config, const struct state *state)
{
  for (uint32_t i = 0; i < state->log; i++)
    if (!log_of(config, state)[i].replayed)
      return false;
  return state->suppress == 0;
}

/* ---- the program's messages and decisions ---- */

static bool suppressed(const struct rcl_config *config, struct state *state, uint32_t number)
{
  struct number *list = suppress_of(config, state);
  for (uint32_t i = 0; i < state->suppress; i++)
    if (list[i].number == number) {
      list[i] = list[--state->suppress];
      list[state->suppress] = (struct number){0};
      return true;
    }
  return false;
}

static void send(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  uint32_t number = state->next_message++;
  peers(config, state)[event->peer].sent++;
  if (suppressed(config, state, number)) {
    rcl_act(actions, RCL_ACTION_SUPPRESS);
    return;
  }
  struct rcl_action *transmit = rcl_act(actions, RCL_ACTION_TRANSMIT);
  transmit->words[FLAGS] =
      (state->epoch & COLOUR) | (state->phase == LOGGING ? (uint32_t)IS_LOGGING : 0);
  transmit->words[NUMBER] = number;
}

/* The log's entry for this receive of the program, which replays deterministically. */
static struct entry *logged(const struct rcl_config *config, struct state *state, uint32_t request)
{
  struct entry *entry = log_of(config, state);
  for (uint32_t i = 0; state->replaying && i < state->log; i++)
    if ((entry[i].kind == LATE || entry[i].kind == OUTCOME) && entry[i].request == request &&
        !entry[i].replayed)
      return &entry[i];
  return NULL;
}

/* The log's entry of the cancelling of a receive. */
static struct entry *cancellation(const struct rcl_config *config, struct state *state,
                                  uint32_t request)
{
  struct entry *entry = log_of(config, state);
  for (uint32_t i = 0; state->replaying && i < state->log; i++)
    if (entry[i].kind == CANCELLED && entry[i].request == request && !entry[i].replayed)
      return &entry[i];
  return NULL;
}

/* A receive that was cancelled in the end has to stay unmatched until it is. */
static bool will_be_cancelled(const struct rcl_config *config, struct state *state,
                              uint32_t request)
{
  const struct entry *entry = cancellation(config, state, request);
  return entry && entry->outcome;
}

static void receive(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct entry *entry = logged(config, state, event->request);
  struct rcl_action *answer =
      rcl_act(actions, entry && entry->kind == LATE ? RCL_ACTION_DELIVER : RCL_ACTION_MATCH);
  answer->request = event->request;
  answer->peer = entry ? entry->peer : event->peer;
  answer->tag = entry ? entry->tag : event->tag;
  if (will_be_cancelled(config, state, event->request))
    answer->peer = RCL_NOBODY;
  if (!entry)
    return;
  entry->replayed = true;
  if (entry->kind == LATE)
    answer->slot = slot_of(config, state, entry);
}

static void choose(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  struct entry *entry = log_of(config, state);
  if (state->phase == LOGGING) {
    struct entry *last = state->log ? &entry[state->log - 1] : NULL;
    if (!last || last->kind != CHOICE || last->outcome != event->outcome)
      last = append(config, state, actions, CHOICE);
    if (last) {
      last->outcome = event->outcome;
      last->times++;
    }
    return;
  }
  for (uint32_t i = 0; state->replaying && i < state->log; i++)
    if (entry[i].kind == CHOICE && !entry[i].replayed) {
      rcl_act(actions, RCL_ACTION_FORCE)->outcome = entry[i].outcome;
      entry[i].replayed = --entry[i].times == 0;
      return;
    }
}

/* Whether a receive is cancelled or too late for it depends on time, as other decisions do. */
static void cancel(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  struct entry *entry = cancellation(config, state, event->request);
  if (state->phase == LOGGING && (entry = append(config, state, actions, CANCELLED))) {
    entry->request = event->request;
    entry->outcome = event->outcome;
  } else if (entry) {
    rcl_act(actions, RCL_ACTION_FORCE)->outcome = entry->outcome;
    entry->replayed = true;
  }
}

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

/* The entry of a communicator, made when there is none; NULL when the list is full. */
static struct comm *comm_entry(const struct rcl_config *config, struct state *state, int16_t comm,
                               struct rcl_actions *actions)
{
  struct comm *entry = comms_of(config, state);
  for (uint32_t i = 0; i < state->comms; i++)
    if (entry[i].comm == comm)
      return &entry[i];
  if (state->comms == config->capacity) {
    rcl_give_up(actions, RCL_REASON_FULL);
    return NULL;
  }
  entry = &entry[state->comms++];
  *entry = (struct comm){.comm = comm, .member = comm == 0};
  return entry;
}

/* The program has completed call `number` on `comm`. */
static void made(const struct rcl_config *config, struct state *state, int16_t comm, int32_t number,
                 struct rcl_actions *actions)
{
  struct comm *entry = comm_entry(config, state, comm, actions);
  if (!entry)
    return;
  entry->member = true;
  entry->made = number;
}

/* Peers learn how far this rank had come in collectives: what it contributed is late for a rank
 * that is beyond the line and has not come as far. */
static void announce_calls(const struct rcl_config *config, struct state *state,
                           struct rcl_actions *actions)
{
  struct comm *entry = comms_of(config, state);
  uint32_t told = 0;
  for (uint32_t i = 0; i < state->comms; i++) {
    if (entry[i].made == entry[i].told)
      continue;
    if (++told > COMMS || actions->count + 4 * (uint32_t)config->ranks > RCL_ACTIONS_MAX(config)) {
      rcl_give_up(actions, RCL_REASON_FULL);
      return;
    }
    entry[i].told = entry[i].made;
    for (int peer = 0; peer < config->ranks; peer++)
      if (peer != config->self)
        rcl_send_control(actions, peer, CALLS, (uint32_t)entry[i].comm, (uint32_t)entry[i].made);
  }
}

static bool all_late_are_in(const struct rcl_config *config, const struct state *state)
{
  const struct comm *comm = comms_of(config, state);
  for (uint32_t i = 0; i < state->comms; i++)
    if (comm[i].member && comm[i].made < comm[i].expected)
      return false;
  for (int i = 0; i < config->ranks; i++) {
    const struct peer *peer = &peers(config, state)[i];
    if (peer->announced_for != state->epoch || peer->previous != peer->announced)
      return false;
  }
  return true;
}

static void check_ready(const struct rcl_config *config, struct state *state,
                        struct rcl_actions *actions)
{
  if (state->phase != LOGGING || state->ready || !all_late_are_in(config, state))
    return;
  state->ready = true;
  if (initiator(config))
    count_ready(config, state, actions);
  else
    rcl_send_control(actions, RCL_COORDINATOR_RANK, READY_TO_STOP_LOGGING, state->epoch, 0);
}

/* A new epoch: what was sent in the old one is announced, what came early is now on time. */
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
    if (i == config->self) {
      peer->announced = peer->sent;
      peer->announced_for = state->epoch;
    } else {
      rcl_send_control(actions, i, MY_SEND_COUNT, state->epoch, peer->sent);
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
    rcl_give_up(actions, RCL_REASON_FULL);
    return;
  }
  early_of(config, state)[state->early++] =
      (struct number){.peer = event->peer, .number = event->words[NUMBER]};
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

/* Whether a call is complete for this rank as soon as it takes part: nothing flows to it. */
static bool only_gives(const struct rcl_config *config, const struct rcl_event *event)
{
  return event->flow == RCL_FLOW_FROM_ROOT
             ? event->root == config->self
             : event->flow == RCL_FLOW_TO_ROOT && event->root != config->self;
}

static struct entry *logged_result(const struct rcl_config *config, struct state *state,
                                   const struct rcl_event *event)
{
  struct entry *entry = log_of(config, state);
  for (uint32_t i = 0; state->replaying && i < state->log; i++)
    if (entry[i].kind == RESULT && entry[i].comm == event->comm && entry[i].tag == event->call)
      return &entry[i];
  return NULL;
}

static bool suppressed_call(const struct rcl_config *config, const struct state *state,
                            const struct rcl_event *event)
{
  const struct call *call = suppress_calls_of(config, state);
  for (uint32_t i = 0; event->flow == RCL_FLOW_TO_ROOT && i < state->suppress_calls; i++)
    if (call[i].comm == event->comm && call[i].root == event->root && call[i].number >= event->call)
      return true;
  return false;
}

static void collective(const struct rcl_config *config, struct state *state,
                       const struct rcl_event *event, struct rcl_actions *actions)
{
  struct entry *entry = logged_result(config, state, event);
  bool joins = false;
  if (entry) {
    struct rcl_action *deliver = rcl_act(actions, RCL_ACTION_DELIVER);
    deliver->slot = slot_of(config, state, entry);
    deliver->peer = event->root;
    deliver->tag = event->call;
    entry->replayed = true;
  } else if (suppressed_call(config, state, event)) {
    rcl_act(actions, RCL_ACTION_SUPPRESS);
  } else {
    struct rcl_action *join = rcl_act(actions, RCL_ACTION_JOIN);
    join->words[EPOCH] = state->epoch;
    join->words[STOPPED] = state->phase != LOGGING;
    joins = true;
  }
  if (!joins || only_gives(config, event))
    made(config, state, event->comm, event->call, actions);
  check_ready(config, state, actions);
}

static void log_result(const struct rcl_config *config, struct state *state,
                       const struct rcl_event *event, struct rcl_actions *actions)
{
  struct entry *entry = append(config, state, actions, RESULT);
  if (!entry)
    return;
  entry->comm = event->comm;
  entry->peer = event->root;
  entry->tag = event->call;
  rcl_act(actions, RCL_ACTION_KEEP)->slot = slot_of(config, state, entry);
}

/* Adds a call to a list, or moves the one of the same communicator and root on. */
static void note_call(struct call *list, uint32_t *count, uint32_t capacity, struct call call,
                      struct rcl_actions *actions)
{
  uint32_t i = 0;
  while (i < *count && (list[i].comm != call.comm || list[i].root != call.root))
    i++;
  if (i == capacity) {
    rcl_give_up(actions, RCL_REASON_FULL);
    return;
  }
  if (i == *count)
    ++*count;
  if (list[i].number < call.number || list[i].comm != call.comm || list[i].root != call.root)
    list[i] = call;
}

static void note_broadcast(const struct rcl_config *config, struct state *state, struct call call,
                           struct rcl_actions *actions)
{
  if (state->rejoin == config->capacity)
    rcl_give_up(actions, RCL_REASON_FULL);
  else
    rejoin_of(config, state)[state->rejoin++] = call;
}

/* Whether data have flowed to here from the other side of a recovery line (Figures 5 to 8). The
 * epochs of all that take part differ by one at most, so their sum tells. */
static bool crosses(const struct state *state, const struct rcl_event *event)
{
  return event->words[EPOCH] != event->contributions * state->epoch;
}

/* Whether somebody in the call is beyond a line that this rank is behind. */
static bool behind(const struct state *state, const struct rcl_event *event)
{
  return event->words[EPOCH] > event->contributions * state->epoch;
}

static void crossed(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct call call = {.comm = event->comm, .root = event->root, .number = event->call};
  bool logging = state->phase == LOGGING;
  switch ((enum rcl_flow)event->flow) {
  case RCL_FLOW_FROM_ROOT:
    if (logging)
      log_result(config, state, event, actions);
    else
      note_broadcast(config, state, call, actions);
    break;
  case RCL_FLOW_TO_ROOT:
    if (logging)
      log_result(config, state, event, actions);
    note_call(passed_of(config, state), &state->passed, COMMS, call, actions);
    break;
  case RCL_FLOW_ALL:
    if (logging)
      log_result(config, state, event, actions);
    break;
  default:
    break;
  }
}

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
  check_ready(config, state, actions);
}

/* ---- recovery: everybody goes back to the last committed checkpoint ---- */

/* The state is that of the moment at which logging stopped; what it counted since the line is
 * set back to the line. */
static void back_to_line(const struct rcl_config *config, struct state *state)
{
  state->replaying = true;
  state->replaying_ranks = initiator(config) ? (uint32_t)config->ranks : 0;
  state->wanted = state->in_progress = state->ready_ranks = state->stopped_ranks = 0;
  state->durable = 1u << RCL_PART_IMAGE | 1u << RCL_PART_LOG;
  state->next_message = 0;
  for (int i = 0; i < config->ranks; i++) {
    struct peer *peer = &peers(config, state)[i];
    peer->sent = 0;
    peer->received = peer->at_line;
    peer->early = 0;
    peer->listed = i == config->self;
  }
  for (uint32_t i = 0; i < state->comms; i++)
    comms_of(config, state)[i].made = comms_of(config, state)[i].told;
}

static void tell_suppress_lists(const struct rcl_config *config, struct state *state,
                                struct rcl_actions *actions)
{
  const struct number *early = early_of(config, state);
  const struct call *passed = passed_of(config, state), *rejoin = rejoin_of(config, state);
  for (uint32_t i = 0; i < state->early; i++)
    rcl_send_control(actions, early[i].peer, SUPPRESS, state->epoch, early[i].number);
  for (uint32_t i = 0; i < state->passed; i++)
    for (int peer = 0; peer < config->ranks; peer++)
      if (peer != config->self)
        rcl_send_control(actions, peer, PASSED, (uint32_t)passed[i].comm,
                         (uint32_t)passed[i].number);
  for (uint32_t i = 0; i < state->rejoin; i++) {
    struct rcl_action *again = rcl_act(actions, RCL_ACTION_REJOIN);
    again->comm = rejoin[i].comm;
    again->peer = rejoin[i].root;
    again->tag = rejoin[i].number;
  }
  rcl_send_control_to_all(config, actions, SUPPRESS_LIST, state->epoch);
  clear_early(config, state);
}

static void resume(const struct rcl_config *config, struct state *state,
                   struct rcl_actions *actions)
{
  for (int i = 0; i < config->ranks; i++)
    if (!peers(config, state)[i].listed)
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
    rcl_give_up(actions, RCL_REASON_FULL);
    return;
  }
  suppress_of(config, state)[state->suppress++] =
      (struct number){.peer = event->peer, .number = event->value};
}

/* Broadcasts that their root has made before its new line will not be repeated any more. Until
 * then they stay in the list, over any number of checkpoints. */
static void forget_broadcasts(const struct rcl_config *config, struct state *state, int16_t comm,
                              int16_t root, int32_t number)
{
  struct call *list = rejoin_of(config, state);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < state->rejoin; i++)
    if (list[i].comm != comm || list[i].root != root || list[i].number > number)
      list[kept++] = list[i];
  memset(list + kept, 0, (state->rejoin - kept) * sizeof *list);
  state->rejoin = kept;
}

static void expect(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  forget_broadcasts(config, state, (int16_t)event->about, event->peer, (int32_t)event->value);
  struct comm *entry = comm_entry(config, state, (int16_t)event->about, actions);
  if (entry && entry->expected < (int32_t)event->value)
    entry->expected = (int32_t)event->value;
}

static void passed(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  struct call call = {
      .comm = (int16_t)event->about, .root = event->peer, .number = (int32_t)event->value};
  note_call(suppress_calls_of(config, state), &state->suppress_calls, config->capacity, call,
            actions);
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
    expect(config, state, event, actions);
    break;
  case PASSED:
    passed(config, state, event, actions);
    break;
  case REPLAYED:
    state->replaying_ranks--;
    break;
  case SUPPRESS_LIST:
    peer->listed = true;
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
    made(config, state, event->comm, 0, actions);
    break;
  case RCL_EVENT_COLLECTIVE:
    collective(config, state, event, actions);
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
  for (uint32_t i = 0; i < state->suppress; i++)
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

extern const struct rcl_protocol protocol_c3;
const struct rcl_protocol protocol_c3 = {
    .name = "c3",
    .title = "C3, point to point and collectives (Bronevetsky et al., ICS 2003)",
    .piggyback_bytes = 4,
    .control_bytes = 12,
    .collectives = true,
    .controls = controls,
    .invariants = invariants,
    .state_size = state_size,
    .step = step,
    .violated_invariant = violated_invariant};
