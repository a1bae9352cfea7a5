/* Hybrid rollback: local while the payload logs reach, global when they do not.
 *
 * Source: Dichev and Nikolopoulos (EuroMPI 2019), sections 3 to 6. The program marks where its
 * iterations begin; each is a transaction: there the rank is captured, in memory, and every
 * `interval` iterations (CP_INT) this image is stored. Payloads of the first `log` iterations
 * (LOG_SIZE) behind a stored one are kept by their sender. There is no event logging: the program
 * must be deterministic, and what it tells the outside it tells again: no output waits.
 *
 * At a crash all hold and tell the coordinator the iteration that they are in: the front of the
 * computation (Algorithm 4's allgather). If every payload from the hindmost iteration up to that of
 * each rank is in a log, recovery is local: a survivor goes back to the beginning of its iteration,
 * and links (links.h) are the send wrapper of Algorithm 3: a message that the peer has is not sent,
 * one that it misses is sent again from the log, a new one is sent. Otherwise all ranks go back to
 * the last checkpoint that is durable everywhere.
 *
 *          SAFE_POINT of an iteration         captured
 *     RUNNING ------------------> CAPTURING -----------> RUNNING
 *        |  the last checkpoint is not durable everywhere   it is
 *        +---------------------> WAITING ----------------------> CAPTURING
 *        |  DOWN, restart                   the coordinator has decided             start
 *        +---------------------> HELD --------------------------------> ROLLING -------> RUNNING
 *                                  |  a restarted rank that is there already
 *                                  +-----------------> RUNNING
 *
 * Transitions:
 *     RUNNING -> CAPTURING : begin_iteration()  [safe-point]
 *     RUNNING -> WAITING : begin_iteration()  [safe-point]
 *     WAITING -> CAPTURING : settle()  [durable, control durable-here, control durable-everywhere]
 *     CAPTURING -> RUNNING : captured()  [captured]
 *     RUNNING -> HELD : recover()  [down, start]
 *     HELD -> ROLLING : go_to()  [control local, control global]
 *     HELD -> RUNNING : go_to(), resume()  [control local, control global]
 *     ROLLING -> RUNNING : resume()  [start]
 *
 * All store the same iterations, or they could not go back to the same one: at the next of them a
 * rank waits until the last is durable everywhere, as each has room for two only.
 *
 * Iterations count from 1, and a checkpoint has the number of the iteration that begins with it;
 * RCL_FRESH is before the first.
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/links.h"
#include "protocols/parts/lists.h"
#include "protocols/parts/outputs.h"

static const char *const invariants[] = {
    /* 1 */ "the checkpoint that all ranks have is not newer than the last of this rank",
    /* 2 */ "while the links are up, no log reaches beyond `log` iterations after a checkpoint",
    /* 3 */ "no message waits for a peer while the link is up and the rank runs",
    /* 4 */ "the checkpoint that all ranks have is durable here", NULL};

enum phase { RUNNING, WAITING, CAPTURING, HELD, ROLLING };

enum control { HAVE = 1, REPORT, FRONT, VERSION, LOCAL, GLOBAL, DURABLE_HERE, DURABLE_EVERYWHERE };

/* Indices of parameters: iterations from one checkpoint to the next, 0: none; iterations of each
 * interval whose payloads are kept; whether a checkpoint stores the log, too. */
enum parameter { CP_INT, LOG_SIZE, LOG_IN };

static const char *const parameters[] = {"interval", "log", "log_in", NULL};

enum { NEVER = UINT16_MAX }; /* links.h has 16 bits for an iteration */

static const char *const controls[] = {"none",   "have",         "report",
                                       "front",  "version",      "local",
                                       "global", "durable-here", "durable-everywhere",
                                       NULL};

/* Places to which the program can go back: the checkpoint that all have, one that this rank has
 * stored since, and the beginning of the present iteration. */
enum place { COMMON, STORED, PRESENT, PLACES };

struct mark {
  uint32_t sent, received;
};

/* The coordinator's knowledge of a rank. */
struct row {
  uint32_t iteration; /* that it is in */
  uint32_t since;     /* from when on its log has all until then */
  uint32_t front;     /* epoch for which these two hold */
  uint32_t version;   /* last durable checkpoint */
  uint32_t epoch;     /* for which that holds */
  uint32_t durable;   /* as it has said while all was well */
};

struct state {
  uint32_t phase;
  uint32_t at[PLACES];    /* checkpoints; COMMON, RCL_FRESH at first, is durable */
  uint32_t since[PLACES]; /* the log has all messages from this iteration on up to the place */
  uint32_t unlogged;      /* it lacks one of the present iteration */
  uint32_t durable;       /* last one of this rank: COMMON or STORED */
  uint32_t epoch;
  uint32_t fresh; /* restarted, and the program has not run since */
  uint32_t next;  /* iteration that a held program is to begin; 0: none */
  struct rcl_links_counts links;
};

/* The marks of each place, the coordinator's rows, and the links. */
#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(marks_of, struct mark, PLACES * config->ranks)                                             \
  ARRAY(rows_of, struct row, config->ranks)                                                        \
  RCL_LINKS_LISTS(ARRAY, LIST, state->links)
RCL_STATE(LISTS)

static struct mark *mark_of(const struct rcl_config *config, const struct state *state,
                            enum place place)
{
  return marks_of(config, state) + (size_t)place * (size_t)config->ranks;
}

/* No rollback is pending. */
static bool stands(const struct state *state)
{
  return state->phase != HELD && state->phase != ROLLING;
}

static struct rcl_links links_of(const struct rcl_config *config, const struct state *state)
{
  struct rcl_links links = rcl_links_at(config, &state->links, links_memory(config, state));
  links.held = !stands(state);
  links.interval = state->at[PRESENT];
  links.epoch = state->epoch;
  return links;
}

/* ---- messages ---- */

static bool is_logged(const struct rcl_config *config, const struct state *state)
{
  uint32_t base = state->at[STORED] ? state->at[STORED] : 1;
  return state->at[PRESENT] < base + config->parameter[LOG_SIZE];
}

static void send(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  if (is_logged(config, state) || !rcl_links_may_pass(&links, event->peer)) {
    rcl_links_send(&links, event->peer, actions);
    return;
  }
  state->unlogged = true;
  rcl_links_send_unlogged(&links, event->peer, actions);
}

/* Messages under way at the crash are sent again. A message of another iteration than the
 * receiver's is none of the protocol's: the image of the receiver's iteration would hold it, or its
 * sender's log would not. */
static void arrived(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  if (event->words[RCL_LINKS_EPOCH] != state->epoch) {
    rcl_act(actions, RCL_ACTION_DISCARD);
    return;
  }
  if (event->words[RCL_LINKS_INTERVAL] != state->at[PRESENT])
    rcl_give_up(actions, RCL_REASON_PROTOCOL);
  rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
  if (!rcl_links_arrived(&links, event->peer, event->words[RCL_LINKS_NUMBER]))
    rcl_give_up_full(actions, RCL_FULL_AHEAD);
}

/* ---- iterations and checkpoints ---- */

/* Each iteration that begins a new interval is stored. */
static bool is_due(const struct rcl_config *config, uint32_t iteration)
{
  return iteration > 1 && config->parameter[CP_INT] &&
         (iteration - 1) % config->parameter[CP_INT] == 0;
}

static void begin_iteration(const struct rcl_config *config, struct state *state,
                            const struct rcl_event *event, struct rcl_actions *actions)
{
  uint32_t iteration = event->iteration;
  if (!iteration || state->phase != RUNNING)
    return;
  if (iteration >= NEVER) {
    rcl_give_up_full(actions, RCL_FULL_LIMIT);
    return;
  }
  if (is_due(config, iteration) && state->at[STORED] != state->at[COMMON]) {
    state->phase = WAITING;
    state->next = iteration;
    rcl_act(actions, RCL_ACTION_HOLD);
    return;
  }
  state->phase = CAPTURING;
  rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = iteration;
}

static void mark(const struct rcl_config *config, struct state *state, enum place place)
{
  const struct rcl_link *link = links_of(config, state).link;
  state->at[place] = state->at[PRESENT];
  state->since[place] = state->since[PRESENT];
  for (int i = 0; i < config->ranks; i++)
    mark_of(config, state, place)[i] = (struct mark){link[i].sent, link[i].received};
}

static void copy_mark(const struct rcl_config *config, struct state *state, enum place to,
                      enum place from)
{
  state->at[to] = state->at[from];
  state->since[to] = state->since[from];
  memmove(mark_of(config, state, to), mark_of(config, state, from),
          (size_t)config->ranks * sizeof(struct mark));
}

static void store(const struct rcl_config *config, uint32_t checkpoint, struct rcl_actions *actions)
{
  if (config->parameter[LOG_IN])
    rcl_store(actions, RCL_PART_IMAGE, checkpoint);
  else
    rcl_store_bare(actions, checkpoint);
}

static void captured(const struct rcl_config *config, struct state *state,
                     const struct rcl_event *event, struct rcl_actions *actions)
{
  uint32_t last = state->at[PRESENT];
  state->phase = RUNNING;
  if (state->next)
    rcl_act(actions, RCL_ACTION_RELEASE);
  state->next = 0;
  if (last && last != state->at[COMMON] && last != state->at[STORED])
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = last;
  state->at[PRESENT] = event->checkpoint;
  if (state->unlogged)
    state->since[PRESENT] = event->checkpoint;
  state->unlogged = false;
  mark(config, state, PRESENT);
  if (!is_due(config, event->checkpoint))
    return;
  mark(config, state, STORED);
  store(config, event->checkpoint, actions);
}

/* No rank will go back behind that checkpoint: the logs from before it are not needed. */
static void settle(const struct rcl_config *config, struct state *state, uint32_t checkpoint,
                   struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  if (checkpoint != state->at[STORED] || checkpoint == state->at[COMMON])
    return;
  if (state->at[COMMON])
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = state->at[COMMON];
  copy_mark(config, state, COMMON, STORED);
  for (int place = 0; place < PLACES; place++)
    if (state->since[place] < checkpoint)
      state->since[place] = checkpoint;
  for (uint32_t i = 0; i < state->links.log; i++)
    if (links.log[i].interval < checkpoint)
      rcl_links_forget(&links.log[i], actions);
  rcl_links_compact(&links);
  if (state->phase != WAITING)
    return;
  state->phase = CAPTURING;
  rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = state->next;
}

/* The last checkpoint that is durable at every rank: all store the same iterations. */
static uint32_t durable_everywhere(const struct rcl_config *config, const struct state *state)
{
  uint32_t least = NEVER;
  for (int i = 0; i < config->ranks; i++)
    if (rows_of(config, state)[i].durable < least)
      least = rows_of(config, state)[i].durable;
  return least;
}

/* Coordinator: when all have one, all may forget the one before. */
static void note_durable(const struct rcl_config *config, struct state *state, int rank,
                         uint32_t checkpoint, struct rcl_actions *actions)
{
  uint32_t before = durable_everywhere(config, state);
  rows_of(config, state)[rank].durable = checkpoint;
  uint32_t now = durable_everywhere(config, state);
  if (now == before)
    return;
  rcl_send_control_to_all(config, actions, DURABLE_EVERYWHERE, now);
  settle(config, state, now, actions);
}

/* Not while a recovery is undecided: it may undo the checkpoint. */
static void tell_durable(const struct rcl_config *config, struct state *state,
                         struct rcl_actions *actions)
{
  if (!stands(state) || state->durable == state->at[COMMON])
    return;
  if (config->self == RCL_COORDINATOR_RANK)
    note_durable(config, state, config->self, state->durable, actions);
  else
    rcl_send_control(actions, RCL_COORDINATOR_RANK, DURABLE_HERE, state->durable, state->epoch);
}

static void durable(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  state->durable = event->checkpoint;
  tell_durable(config, state, actions);
}

/* ---- recovery ---- */

/* The program is where it was at `checkpoint`; its later steps are made again. */
static void undo(const struct rcl_config *config, struct state *state, uint32_t checkpoint)
{
  struct rcl_links links = links_of(config, state);
  enum place there = COMMON;
  while (there < PRESENT && state->at[there] != checkpoint)
    there++;
  copy_mark(config, state, PRESENT, there);
  for (int i = 0; i < config->ranks; i++) {
    links.link[i].sent = mark_of(config, state, PRESENT)[i].sent;
    links.link[i].received = mark_of(config, state, PRESENT)[i].received;
  }
  if (state->at[STORED] > checkpoint)
    copy_mark(config, state, STORED, COMMON);
  if (state->durable > checkpoint)
    state->durable = checkpoint;
  state->unlogged = false; /* an unlogged message is sent again */
}

static void resume(const struct rcl_config *config, struct state *state,
                   struct rcl_actions *actions)
{
  state->phase = RUNNING;
  state->fresh = false;
  struct rcl_links links = links_of(config, state);
  rcl_links_stand(&links, HAVE, REPORT, actions);
  tell_durable(config, state, actions);
}

/* A restarted rank may be there already. */
static void go_to(const struct rcl_config *config, struct state *state, uint32_t checkpoint,
                  struct rcl_actions *actions)
{
  if (state->fresh && checkpoint == state->at[PRESENT]) {
    rcl_act(actions, RCL_ACTION_RELEASE);
    resume(config, state, actions);
    return;
  }
  state->phase = ROLLING;
  rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = checkpoint;
}

/* Whether the logs have all that ranks behind others need. */
static bool logs_reach(const struct rcl_config *config, const struct state *state)
{
  const struct row *rows = rows_of(config, state);
  uint32_t hindmost = NEVER;
  for (int i = 0; i < config->ranks; i++)
    if (rows[i].iteration < hindmost)
      hindmost = rows[i].iteration;
  for (int i = 0; i < config->ranks; i++)
    if (rows[i].iteration > hindmost && rows[i].since > hindmost)
      return false;
  return true;
}

static void decide(const struct rcl_config *config, struct state *state,
                   struct rcl_actions *actions)
{
  const struct row *rows = rows_of(config, state);
  uint32_t version = NEVER;
  for (int i = 0; i < config->ranks; i++) {
    if (rows[i].front != state->epoch || rows[i].epoch != state->epoch)
      return;
    if (rows[i].version < version)
      version = rows[i].version;
  }
  bool local = logs_reach(config, state);
  for (int i = 0; i < config->ranks; i++)
    if (i != config->self)
      rcl_send_control(actions, i, local ? LOCAL : GLOBAL, state->epoch, version);
  go_to(config, state, local ? state->at[PRESENT] : version, actions);
}

static void recover(const struct rcl_config *config, struct state *state, uint32_t epoch,
                    struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  struct row *row = &rows_of(config, state)[config->self];
  state->epoch = epoch;
  state->phase = HELD;
  state->next = 0;
  rcl_act(actions, RCL_ACTION_HOLD);
  rcl_links_all_down(&links);
  if (config->self != RCL_COORDINATOR_RANK) {
    rcl_send_control(actions, RCL_COORDINATOR_RANK, FRONT, epoch,
                     state->at[PRESENT] << 16 | state->since[PRESENT]);
    rcl_send_control(actions, RCL_COORDINATOR_RANK, VERSION, epoch, state->durable);
    return;
  }
  for (int i = 0; i < config->ranks; i++)
    rows_of(config, state)[i].durable =
        RCL_FRESH; /* to be told again when this recovery is decided */
  row->iteration = state->at[PRESENT];
  row->since = state->since[PRESENT];
  row->version = state->durable;
  row->front = row->epoch = epoch;
  decide(config, state, actions);
}

/* What the process had logged is gone with its memory: the log begins where the program does. */
static void lose_log(const struct rcl_config *config, struct state *state)
{
  struct rcl_links links = links_of(config, state);
  memset(links.log, 0, state->links.log * sizeof *links.log);
  state->links.log = 0;
  memcpy(state->since, state->at, sizeof state->since);
}

static void start(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  rcl_output_with_commit(event, actions);
  if (state->phase == ROLLING) {
    undo(config, state, event->checkpoint);
    rcl_links_go_back(&links, event->checkpoint, true, actions);
    resume(config, state, actions);
    return;
  }
  if (!event->incarnation) {
    rcl_links_all_up(&links);
    return;
  }
  if (!config->parameter[LOG_IN])
    lose_log(config, state);
  undo(config, state, event->checkpoint);
  rcl_links_go_back(&links, event->checkpoint, true, actions);
  state->durable = event->checkpoint;
  state->fresh = true;
  recover(config, state, event->incarnation, actions);
}

/* What a rank tells of an earlier recovery may come behind what it tells of this one: then nothing
 * is noted, and nothing decided once more. */
static bool note_front(struct row *row, const struct rcl_event *event)
{
  if (event->about < row->front)
    return false;
  row->front = event->about;
  row->iteration = event->value >> 16;
  row->since = event->value & UINT16_MAX;
  return true;
}

static bool note_version(struct row *row, const struct rcl_event *event)
{
  if (event->about < row->epoch)
    return false;
  row->epoch = event->about;
  row->version = event->value;
  return true;
}

static void control(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  struct row *row = &rows_of(config, state)[event->peer];
  bool current = event->about == state->epoch;
  switch ((enum control)event->control) {
  case HAVE:
    if (current && !rcl_links_peer_has(&links, event->peer, event->value))
      rcl_give_up_full(actions, RCL_FULL_AHEAD);
    break;
  case REPORT:
    if (current) {
      rcl_links_up(&links, event->peer, event->value);
      rcl_links_flush(&links, event->peer, actions);
    }
    break;
  case FRONT:
    if (note_front(row, event))
      decide(config, state, actions);
    break;
  case VERSION:
    if (note_version(row, event))
      decide(config, state, actions);
    break;
  case LOCAL:
  case GLOBAL:
    if (current)
      go_to(config, state, event->control == LOCAL ? state->at[PRESENT] : event->value, actions);
    break;
  case DURABLE_HERE:
    if (event->value == state->epoch)
      note_durable(config, state, event->peer, event->about, actions);
    break;
  case DURABLE_EVERYWHERE:
    settle(config, state, event->about, actions);
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
    recover(config, state, event->incarnation, actions);
    break;
  case RCL_EVENT_SEND:
    send(config, state, event, actions);
    break;
  case RCL_EVENT_OUTPUT:
    rcl_output(actions, event->output, RCL_FRESH);
    break;
  case RCL_EVENT_RECEIVE:
    rcl_match(actions, event);
    break;
  case RCL_EVENT_SAFE_POINT:
    begin_iteration(config, state, event, actions);
    break;
  case RCL_EVENT_ARRIVED:
    arrived(config, state, event, actions);
    break;
  case RCL_EVENT_CONTROL:
    control(config, state, event, actions);
    break;
  case RCL_EVENT_CAPTURED:
    captured(config, state, event, actions);
    break;
  case RCL_EVENT_DURABLE:
    durable(config, state, event, actions);
    break;
  default:
    break;
  }
}

/* ---- invariants, by their numbers ---- */

static bool is_capped(const struct rcl_config *config, const struct state *state)
{
  struct rcl_links links = links_of(config, state);
  uint32_t base = state->at[STORED] ? state->at[STORED] : 1;
  if (!rcl_links_are_all_up(&links))
    return true;
  for (uint32_t i = 0; i < state->links.log && !state->epoch; i++)
    if (links.log[i].interval >= base + config->parameter[LOG_SIZE])
      return false;
  return true;
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  struct rcl_links links = links_of(config, state);
  if (state->at[COMMON] > state->at[STORED])
    return 1;
  if (!is_capped(config, state))
    return 2;
  if (!rcl_links_nothing_waits(&links))
    return 3;
  if (state->at[COMMON] > state->durable)
    return 4;
  return 0;
}

/* Phases of a checkpoint, and of recoveries, for results of runs. */
static const struct rcl_phase phases[] = {
    {"capture", "capture", "captured"}, {"write", "store", "durable"},
    {"switch", "down", "roll-back"},    {"rollback", "roll-back", "start"},
    {"resend", "resend", "resend"},     {NULL, NULL, NULL}};

static const char *const promises[] = {"bounded", "frees", NULL};

extern const struct rcl_protocol protocol_hybrid;
const struct rcl_protocol protocol_hybrid = {
    .name = "hybrid",
    .title =
        "local and global rollback, capped payload logs (Dichev and Nikolopoulos, EuroMPI 2019)",
    .piggyback_bytes = 0, /* what its words say, both ends can count: the page says how */
    .control_bytes = 12,
    .independent = true,
    .controls = controls,
    .invariants = invariants,
    .phases = phases,
    .promises = promises,
    .parameters = parameters,
    .captures_at = "the beginning of iterations (recline_iteration)",
    .state_size = state_size,
    .in_use = in_use,
    .step = step,
    .violated_invariant = violated_invariant,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_SENDER}},
        .back = RCL_BACK_FAILED_OR_ALL,
        .assumes = RCL_ASSUMES_ITERATIONS | RCL_ASSUMES_SAME_AGAIN | RCL_ASSUMES_WHOLE_WRITES}};
