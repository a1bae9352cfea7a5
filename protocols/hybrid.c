/* Hybrid rollback: local while the payload logs reach, global when they do not.
 *
 * Source: Dichev and Nikolopoulos (EuroMPI 2019), sections 3 to 6. The program marks where its
 * iterations begin; each is a transaction: there the rank is captured, in memory, and every
 * `interval` iterations (CP_INT) this image is stored. Payloads of the first `log` iterations
 * (LOG_SIZE) behind a stored one are kept by their sender. There is no event logging: the program
 * must be deterministic.
 *
 * At a crash all hold and tell the coordinator the iteration that they are in: the front of the
 * computation (Algorithm 4's allgather). If every payload from the hindmost iteration up to that of
 * each rank is in a log, recovery is local: who lives goes back to the beginning of its iteration,
 * and links (links.h) are the send wrapper of Algorithm 3: what the peer has is not sent, what it
 * misses is sent again from the log, what is new is sent. Otherwise all go back to the last
 * checkpoint that is durable everywhere.
 *
 *               place of an iteration         captured
 *     RUNNING ------------------> CAPTURING -----------> RUNNING
 *        |  the last checkpoint is not durable everywhere   it is
 *        +---------------------> WAITING ----------------------> CAPTURING
 *        |  DOWN, restart                   the coordinator has decided             start
 *        +---------------------> HELD --------------------------------> ROLLING -------> RUNNING
 *                                  |  a restarted rank that is there already
 *                                  +-----------------> RUNNING
 *
 * Transitions:
 *     RUNNING -> CAPTURING : begin_iteration()  [place]
 *     RUNNING -> WAITING : begin_iteration()  [place]
 *     WAITING -> CAPTURING : settle()  [durable, control durable-here, control durable-everywhere]
 *     CAPTURING -> RUNNING : captured()  [captured]
 *     RUNNING -> HELD : recover()  [down, start]
 *     HELD -> ROLLING : go_to()  [control local, control global]
 *     HELD -> RUNNING : go_to(), resume()  [control local, control global]
 *     ROLLING -> RUNNING : resume()  [start]
 *
 * All store the same iterations, or they could not go back to the same one: at the next of them a
 * rank waits until the last is durable everywhere, as nobody has room for more than two.
 *
 * Iterations count from 1, and a checkpoint has the number of the iteration that begins with it;
 * FRESH is before the first.
 *
 * Invariants:
 *     1. The checkpoint that all have is not newer than the last of this rank.
 *     2. No log reaches further than `log` iterations behind the last stored checkpoint while the
 *        links are up.
 *     3. While a link is up and the rank runs, no message to that peer waits.
 */
#include "protocols/parts/links.h"

enum phase { RUNNING, WAITING, CAPTURING, HELD, ROLLING };

enum control { HAVE = 1, REPORT, FRONT, VERSION, LOCAL, GLOBAL, DURABLE_HERE, DURABLE_EVERYWHERE };

enum { NEVER = UINT16_MAX }; /* links.h has 16 bits for an iteration */

static const char *const controls[] = {"none",   "have",         "report",
                                       "front",  "version",      "local",
                                       "global", "durable-here", "durable-everywhere",
                                       NULL};

static const char *const invariants[] = {"what all have, this rank has",
                                         "payloads are capped while links are up",
                                         "nothing waits while the link is up", NULL};

/* Places to which the program can go back: the checkpoint that all have, one that this rank has
 * stored since, and the beginning of the present iteration. */
enum place { COMMON, STORED, PRESENT, PLACES };

struct mark {
  uint32_t sent, received;
};

/* What the coordinator knows of a rank. */
struct row {
  uint32_t iteration; /* where it stands */
  uint32_t since;     /* from when on its log has all until then */
  uint32_t version;   /* last durable checkpoint */
  uint32_t epoch;     /* for which this holds */
  uint32_t durable;   /* as it has said while all was well */
};

struct state {
  uint32_t phase;
  uint32_t at[PLACES];    /* checkpoints; COMMON, FRESH at first, is durable */
  uint32_t since[PLACES]; /* the log has all messages from this iteration on up to the place */
  uint32_t unlogged;      /* it lacks one of the present iteration */
  uint32_t durable;       /* last one of this rank: COMMON or STORED */
  uint32_t epoch;
  uint32_t fresh; /* restarted, and the program has not run since */
  uint32_t next;  /* iteration that a held program is to begin; 0: none */
  struct links_counts links;
};

/* The state is struct state, the marks of each place, the coordinator's rows and the links. */
static struct mark *mark_of(const struct config *config, const void *state, enum place place)
{
  return (struct mark *)((struct state *)state + 1) + (size_t)place * (size_t)config->ranks;
}

static struct row *rows_of(const struct config *config, const void *state)
{
  return (struct row *)mark_of(config, state, PLACES);
}

/* It has not to go back, or has. */
static bool stands(const struct state *state)
{
  return state->phase != HELD && state->phase != ROLLING;
}

static struct links links_of(const struct config *config, const void *memory)
{
  struct state *state = (struct state *)memory;
  struct links links = links_at(config, &state->links, rows_of(config, state) + config->ranks);
  links.held = !stands(state);
  links.interval = state->at[PRESENT];
  links.epoch = state->epoch;
  return links;
}

static size_t bytes(const struct config *config)
{
  size_t size = sizeof(struct state) + links_bytes(config) +
                (size_t)config->ranks * (PLACES * sizeof(struct mark) + sizeof(struct row));
  return (size + 7) / 8 * 8;
}

/* ---- messages ---- */

static bool is_logged(const struct config *config, const struct state *state)
{
  uint32_t base = state->at[STORED] ? state->at[STORED] : 1;
  return state->at[PRESENT] < base + config->log;
}

static void offer(const struct config *config, struct state *state, const struct event *event,
                  struct actions *actions)
{
  struct links links = links_of(config, state);
  if (is_logged(config, state) || !links_may_pass(&links, event->peer)) {
    links_offer(&links, event->peer, actions);
    return;
  }
  state->unlogged = true;
  links_offer_unlogged(&links, event->peer, actions);
}

/* What was under way at the crash is sent again. A message of another iteration than the receiver's
 * is none of the protocol's: the image of the receiver's iteration would hold it, or its sender's
 * log would not. */
static void arrived(const struct config *config, struct state *state, const struct event *event,
                    struct actions *actions)
{
  struct links links = links_of(config, state);
  if (event->words[2] != state->epoch) {
    act(actions, ACTION_DISCARD);
    return;
  }
  if (event->words[1] != state->at[PRESENT])
    give_up(actions, REASON_PROTOCOL);
  act(actions, ACTION_DELIVER)->request = event->request;
  if (!links_arrived(&links, event->peer, event->words[0]))
    give_up(actions, REASON_FULL);
}

/* ---- iterations and checkpoints ---- */

/* Each iteration that begins a new interval is stored. */
static bool is_due(const struct config *config, uint32_t iteration)
{
  return iteration > 1 && config->interval && (iteration - 1) % config->interval == 0;
}

static void begin_iteration(const struct config *config, struct state *state,
                            const struct event *event, struct actions *actions)
{
  uint32_t iteration = event->outcome;
  if (!iteration || state->phase != RUNNING)
    return;
  if (iteration >= NEVER) {
    give_up(actions, REASON_FULL);
    return;
  }
  if (is_due(config, iteration) && state->at[STORED] != state->at[COMMON]) {
    state->phase = WAITING;
    state->next = iteration;
    act(actions, ACTION_HOLD);
    return;
  }
  state->phase = CAPTURING;
  act(actions, ACTION_CAPTURE)->checkpoint = iteration;
}

static void mark(const struct config *config, struct state *state, enum place place)
{
  const struct link *link = links_of(config, state).link;
  state->at[place] = state->at[PRESENT];
  state->since[place] = state->since[PRESENT];
  for (int i = 0; i < config->ranks; i++)
    mark_of(config, state, place)[i] = (struct mark){link[i].sent, link[i].received};
}

static void copy_mark(const struct config *config, struct state *state, enum place to,
                      enum place from)
{
  state->at[to] = state->at[from];
  state->since[to] = state->since[from];
  memmove(mark_of(config, state, to), mark_of(config, state, from),
          (size_t)config->ranks * sizeof(struct mark));
}

static void captured(const struct config *config, struct state *state, const struct event *event,
                     struct actions *actions)
{
  uint32_t last = state->at[PRESENT];
  state->phase = RUNNING;
  if (state->next)
    act(actions, ACTION_RELEASE);
  state->next = 0;
  if (last && last != state->at[COMMON] && last != state->at[STORED])
    act(actions, ACTION_ERASE)->checkpoint = last;
  state->at[PRESENT] = event->checkpoint;
  if (state->unlogged)
    state->since[PRESENT] = event->checkpoint;
  state->unlogged = false;
  mark(config, state, PRESENT);
  if (!is_due(config, event->checkpoint))
    return;
  mark(config, state, STORED);
  store(actions, PART_IMAGE, event->checkpoint);
}

/* No rank will go back behind that checkpoint: the logs from before it are not needed. */
static void settle(const struct config *config, struct state *state, uint32_t checkpoint,
                   struct actions *actions)
{
  struct links links = links_of(config, state);
  if (checkpoint != state->at[STORED] || checkpoint == state->at[COMMON])
    return;
  if (state->at[COMMON])
    act(actions, ACTION_ERASE)->checkpoint = state->at[COMMON];
  copy_mark(config, state, COMMON, STORED);
  for (int place = 0; place < PLACES; place++)
    if (state->since[place] < checkpoint)
      state->since[place] = checkpoint;
  for (uint32_t i = 0; i < state->links.log; i++)
    if (links.log[i].interval < checkpoint)
      links_forget(&links.log[i], actions);
  links_compact(&links);
  if (state->phase != WAITING)
    return;
  state->phase = CAPTURING;
  act(actions, ACTION_CAPTURE)->checkpoint = state->next;
}

/* The last checkpoint that all have told of, as what they store are the same ones. */
static uint32_t durable_everywhere(const struct config *config, const struct state *state)
{
  uint32_t least = NEVER;
  for (int i = 0; i < config->ranks; i++)
    if (rows_of(config, state)[i].durable < least)
      least = rows_of(config, state)[i].durable;
  return least;
}

/* Coordinator: when all have one, all may forget the one before. */
static void note_durable(const struct config *config, struct state *state, int rank,
                         uint32_t checkpoint, struct actions *actions)
{
  uint32_t before = durable_everywhere(config, state);
  rows_of(config, state)[rank].durable = checkpoint;
  uint32_t now = durable_everywhere(config, state);
  if (now == before)
    return;
  tell_all(config, actions, DURABLE_EVERYWHERE, now);
  settle(config, state, now, actions);
}

/* Only of a checkpoint that stands: while a recovery has yet to be decided it may be undone. */
static void tell_durable(const struct config *config, struct state *state, struct actions *actions)
{
  if (!stands(state) || state->durable == state->at[COMMON])
    return;
  if (config->self == COORDINATOR_RANK)
    note_durable(config, state, config->self, state->durable, actions);
  else
    tell(actions, COORDINATOR_RANK, DURABLE_HERE, state->durable, state->epoch);
}

static void durable(const struct config *config, struct state *state, const struct event *event,
                    struct actions *actions)
{
  state->durable = event->checkpoint;
  tell_durable(config, state, actions);
}

/* ---- recovery ---- */

/* The program is where it was at `checkpoint`; what it did since happens again. */
static void undo(const struct config *config, struct state *state, uint32_t checkpoint)
{
  struct links links = links_of(config, state);
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
  state->unlogged = false; /* what was not is sent again */
}

static void resume(const struct config *config, struct state *state, struct actions *actions)
{
  state->phase = RUNNING;
  state->fresh = false;
  struct links links = links_of(config, state);
  links_stand(&links, HAVE, REPORT, actions);
  tell_durable(config, state, actions);
}

/* A restarted rank may be there already. */
static void go_to(const struct config *config, struct state *state, uint32_t checkpoint,
                  struct actions *actions)
{
  if (state->fresh && checkpoint == state->at[PRESENT]) {
    act(actions, ACTION_RELEASE);
    resume(config, state, actions);
    return;
  }
  state->phase = ROLLING;
  act(actions, ACTION_ROLL_BACK)->checkpoint = checkpoint;
}

/* Whether the logs have all that ranks behind others need. */
static bool logs_reach(const struct config *config, const struct state *state)
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

static void decide(const struct config *config, struct state *state, struct actions *actions)
{
  const struct row *rows = rows_of(config, state);
  uint32_t version = NEVER;
  for (int i = 0; i < config->ranks; i++) {
    if (rows[i].epoch != state->epoch)
      return;
    if (rows[i].version < version)
      version = rows[i].version;
  }
  bool local = logs_reach(config, state);
  for (int i = 0; i < config->ranks; i++)
    if (i != config->self)
      tell(actions, i, local ? LOCAL : GLOBAL, state->epoch, version);
  go_to(config, state, local ? state->at[PRESENT] : version, actions);
}

static void recover(const struct config *config, struct state *state, uint32_t epoch,
                    struct actions *actions)
{
  struct links links = links_of(config, state);
  struct row *row = &rows_of(config, state)[config->self];
  state->epoch = epoch;
  state->phase = HELD;
  state->next = 0;
  act(actions, ACTION_HOLD);
  links_all_down(&links);
  if (config->self != COORDINATOR_RANK) {
    tell(actions, COORDINATOR_RANK, FRONT, state->at[PRESENT], state->since[PRESENT]);
    tell(actions, COORDINATOR_RANK, VERSION, epoch, state->durable);
    return;
  }
  for (int i = 0; i < config->ranks; i++)
    rows_of(config, state)[i].durable = FRESH; /* to be told again by those who stand */
  row->iteration = state->at[PRESENT];
  row->since = state->since[PRESENT];
  row->version = state->durable;
  row->epoch = epoch;
  decide(config, state, actions);
}

static void start(const struct config *config, struct state *state, const struct event *event,
                  struct actions *actions)
{
  struct links links = links_of(config, state);
  if (state->phase == ROLLING) {
    undo(config, state, event->checkpoint);
    links_go_back(&links, event->checkpoint, true, actions);
    resume(config, state, actions);
    return;
  }
  if (!event->outcome) {
    links_all_up(&links);
    return;
  }
  undo(config, state, event->checkpoint);
  links_go_back(&links, event->checkpoint, true, actions);
  state->durable = event->checkpoint;
  state->fresh = true;
  recover(config, state, event->outcome, actions);
}

static void control(const struct config *config, struct state *state, const struct event *event,
                    struct actions *actions)
{
  struct links links = links_of(config, state);
  struct row *row = &rows_of(config, state)[event->peer];
  bool current = event->words[1] == state->epoch;
  switch ((enum control)event->words[0]) {
  case HAVE:
    if (current && !links_peer_has(&links, event->peer, event->words[2]))
      give_up(actions, REASON_FULL);
    break;
  case REPORT:
    if (current) {
      links_up(&links, event->peer, event->words[2]);
      links_flush(&links, event->peer, actions);
    }
    break;
  case FRONT:
    row->iteration = event->words[1];
    row->since = event->words[2];
    break;
  case VERSION:
    row->epoch = event->words[1];
    row->version = event->words[2];
    decide(config, state, actions);
    break;
  case LOCAL:
  case GLOBAL:
    if (current)
      go_to(config, state, event->words[0] == LOCAL ? state->at[PRESENT] : event->words[2],
            actions);
    break;
  case DURABLE_HERE:
    if (event->words[2] == state->epoch)
      note_durable(config, state, event->peer, event->words[1], actions);
    break;
  case DURABLE_EVERYWHERE:
    settle(config, state, event->words[1], actions);
    break;
  }
}

static void step(const struct config *config, void *memory, const struct event *event,
                 struct actions *actions)
{
  struct state *state = memory;
  switch ((enum event_kind)event->kind) {
  case EVENT_START:
    start(config, state, event, actions);
    break;
  case EVENT_DOWN:
    recover(config, state, event->outcome, actions);
    break;
  case EVENT_OFFER:
    offer(config, state, event, actions);
    break;
  case EVENT_RECEIVE:
    match(actions, event);
    break;
  case EVENT_PLACE:
    begin_iteration(config, state, event, actions);
    break;
  case EVENT_ARRIVED:
    arrived(config, state, event, actions);
    break;
  case EVENT_CONTROL:
    control(config, state, event, actions);
    break;
  case EVENT_CAPTURED:
    captured(config, state, event, actions);
    break;
  case EVENT_DURABLE:
    durable(config, state, event, actions);
    break;
  default:
    break;
  }
}

/* ---- invariants, by their numbers above ---- */

static bool is_capped(const struct config *config, const struct state *state)
{
  struct links links = links_of(config, state);
  uint32_t base = state->at[STORED] ? state->at[STORED] : 1;
  if (!links_are_all_up(&links))
    return true;
  for (uint32_t i = 0; i < state->links.log && !state->epoch; i++)
    if (links.log[i].interval >= base + config->log)
      return false;
  return true;
}

static int broken(const struct config *config, const void *memory)
{
  const struct state *state = memory;
  struct links links = links_of(config, state);
  if (state->at[COMMON] > state->at[STORED])
    return 1;
  if (!is_capped(config, state))
    return 2;
  if (!links_nothing_waits(&links))
    return 3;
  return 0;
}

extern const struct protocol protocol_hybrid;
const struct protocol protocol_hybrid = {
    .name = "hybrid",
    .title =
        "hybrid of local and global rollback with capped payload logs (Dichev and Nikolopoulos)",
    .piggyback_bytes = 12,
    .control_bytes = 12,
    .independent = true,
    .controls = controls,
    .invariants = invariants,
    .bytes = bytes,
    .step = step,
    .broken = broken};
