/* Hybrid rollback: recovery is local as long as the payload logs reach back far enough, and global
 * otherwise.
 *
 * Source: Dichev and Nikolopoulos (EuroMPI 2019), sections 3 to 6. The program marks where its
 * iterations begin. Each iteration is a transaction: at its beginning the rank is captured in
 * memory, and every `interval` iterations (CP_INT) this image is stored. Senders keep the payloads
 * of the first `log` iterations (LOG_SIZE) after a stored image. No events are logged, so the
 * program must be deterministic. After a rollback such a program makes the same outputs again, so
 * no output waits.
 *
 * At a crash all ranks hold their programs and tell the coordinator their iterations, which are the
 * front of the computation (Algorithm 4's allgather). If the logs have every payload from the
 * hindmost rank's iteration up to each other rank's iteration, recovery is local. A survivor goes
 * back to the beginning of its iteration. Links (links.h) do what Algorithm 3's send wrapper does:
 * they send new messages, send logged messages again that the peer lacks, and do not send messages
 * that the peer has. Otherwise all ranks go back to the last checkpoint that is durable everywhere.
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
 * All ranks store the same iterations, because they must be able to go back to the same one. Each
 * rank has room for two stored images, so before it stores the next one it waits until the last one
 * is durable everywhere.
 *
 * Iterations count from 1, and a checkpoint has the number of the iteration that begins with it;
 * RCL_FRESH is before the first.
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/links.h"
#include "protocols/parts/outputs.h"
#include "protocols/parts/transitions.h"

static const char *const invariants[] = {
    /* 1 */
    "the checkpoint that all ranks have is not newer than the last of this rank: "
    "otherwise all would have to go back to a checkpoint that this rank has not taken",
    /* 2 */
    "while the links are up, no log reaches beyond `log` iterations after a checkpoint: "
    "otherwise memory would fill with the log, which is capped on purpose",
    /* 3 */
    "no message waits for a peer while the link is up and the rank runs: "
    "otherwise nothing would ever send the message, and its receiver would wait for ever",
    /* 4 */
    "the checkpoint that all ranks have is durable here: "
    "otherwise a rollback of all would need a checkpoint that is not on storage",
    /* 5 */
    "a message that is logged, or ahead of a gap, is of a rank and has a number: "
    "otherwise the message could not be sent again after a crash: its receiver waits for ever",
    NULL};

enum phase { RUNNING, WAITING, CAPTURING, HELD, ROLLING };

enum control { HAVE = 1, REPORT, FRONT, VERSION, LOCAL, GLOBAL, DURABLE_HERE, DURABLE_EVERYWHERE };

/* Numbers the parameters: number of iterations from one checkpoint to the next, or 0 for no
 * checkpoints; number of iterations of each interval whose payloads are kept; whether a checkpoint
 * also stores the log. */
enum parameter { CP_INT, LOG_SIZE, LOG_IN };

static const char *const parameters[] = {"interval", "log", "log_in", NULL};

enum { NEVER = UINT16_MAX }; /* links.h has 16 bits for an iteration */

static const char *const controls[] = {
    "none",
    "have: I have your message number {value}, ahead of a gap",
    "report: messages that I have received from you: {value}",
    "front: I am in iteration {value.high}; my log is complete from iteration {value.low} on",
    "version: the last checkpoint that I have stored: {value?0:none|%}",
    "local: the logs suffice: begin your iteration again",
    "global: go back to {value?0:the beginning|checkpoint %}",
    "durable-here: I have stored checkpoint {about}",
    "durable-everywhere: all have stored checkpoint {about}",
    NULL};

/* Names the places to which the program can go back: the checkpoint that all ranks have, a later
 * checkpoint that this rank has stored, and the beginning of the present iteration. */
enum place { COMMON, STORED, PRESENT, PLACES };

struct mark {
  uint32_t sent, received;
};

/* Holds what the coordinator knows of a rank. */
struct row {
  uint32_t iteration; /* the iteration in which the rank is */
  uint32_t since;     /* the rank's log is complete from this iteration on, up to `iteration` */
  uint32_t front;     /* epoch of `iteration` and `since` */
  uint32_t version;   /* the rank's last durable checkpoint */
  uint32_t epoch;     /* epoch of `version` */
  /* last durable checkpoint of which the rank has told while there was no failure */
  uint32_t durable;
};

struct state {
  uint32_t phase;
  /* by place: its checkpoint; at[COMMON], which is RCL_FRESH at first, is durable */
  uint32_t at[PLACES];
  /* by place: iteration from which on the log has all messages up to the place */
  uint32_t since[PLACES];
  uint32_t unlogged; /* 1 if the log lacks a message of the present iteration */
  uint32_t durable;  /* last durable checkpoint of this rank, at[COMMON] or at[STORED] */
  uint32_t epoch;
  uint32_t fresh; /* 1 if the rank was restarted and its program has not run since */
  uint32_t next;  /* iteration that a held program begins next, or 0 if there is none */
  struct rcl_links_counts links;
};

/* Lists the marks of each place, the coordinator's rows, and the links. */
#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(marks_of, struct mark, PLACES * config->ranks)                                             \
  ARRAY(rows_of, struct row, config->ranks)                                                        \
  RCL_LINKS_LISTS(ARRAY, LIST, state->links)
RCL_STATE(LISTS)

static struct mark *mark_of(const struct rank *r, enum place place)
{
  return marks_of(r->config, r->state) + (size_t)place * (size_t)r->config->ranks;
}

/* Returns whether no rollback is pending. */
static bool stands(const struct rank *r)
{
  return r->state->phase != HELD && r->state->phase != ROLLING;
}

static struct rcl_links links_of(const struct rank *r)
{
  struct rcl_links links =
      rcl_links_at(r->config, &r->state->links, links_memory(r->config, r->state));
  links.held = !stands(r);
  links.interval = r->state->at[PRESENT];
  links.epoch = r->state->epoch;
  return links;
}

/* ---- messages ---- */

static bool is_logged(const struct rank *r)
{
  uint32_t base = r->state->at[STORED] ? r->state->at[STORED] : 1;
  return r->state->at[PRESENT] < base + r->config->parameter[LOG_SIZE];
}

static void send(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (is_logged(r) || !rcl_links_may_pass(&links, r->event->peer)) {
    rcl_links_send(&links, r->event->peer, r->actions);
    return;
  }
  r->state->unlogged = true;
  rcl_links_send_unlogged(&links, r->event->peer, r->actions);
}

/* Takes a message. Gives up if the message is not of the receiver's iteration, because then the
 * image of the receiver's iteration already holds it, or its sender's log lacks it. Discards
 * messages that were under way at a crash, because they are sent again. */
static void arrived(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (r->event->words[RCL_LINKS_EPOCH] != r->state->epoch) {
    rcl_act(r->actions, RCL_ACTION_DISCARD);
    return;
  }
  if (r->event->words[RCL_LINKS_INTERVAL] != r->state->at[PRESENT])
    rcl_give_up(r->actions, RCL_REASON_PROTOCOL);
  rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
  if (!rcl_links_arrived(&links, r->event->peer, r->event->words[RCL_LINKS_NUMBER]))
    rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
}

/* ---- iterations and checkpoints ---- */

/* Returns whether the iteration begins a new interval, so that it is stored. */
static bool is_due(const struct rcl_config *config, uint32_t iteration)
{
  return iteration > 1 && config->parameter[CP_INT] &&
         (iteration - 1) % config->parameter[CP_INT] == 0;
}

static void begin_iteration(const struct rank *r)
{
  uint32_t iteration = r->event->iteration;
  if (!iteration || r->state->phase != RUNNING)
    return;
  if (iteration >= NEVER) {
    rcl_give_up_full(r->actions, RCL_FULL_LIMIT);
    return;
  }
  if (is_due(r->config, iteration) && r->state->at[STORED] != r->state->at[COMMON]) {
    r->state->phase = WAITING;
    r->state->next = iteration;
    rcl_act(r->actions, RCL_ACTION_HOLD);
    return;
  }
  r->state->phase = CAPTURING;
  rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = iteration;
}

static void mark(const struct rank *r, enum place place)
{
  const struct rcl_link *link = links_of(r).link;
  r->state->at[place] = r->state->at[PRESENT];
  r->state->since[place] = r->state->since[PRESENT];
  for (int i = 0; i < r->config->ranks; i++)
    mark_of(r, place)[i] = (struct mark){link[i].sent, link[i].received};
}

static void copy_mark(const struct rank *r, enum place to, enum place from)
{
  r->state->at[to] = r->state->at[from];
  r->state->since[to] = r->state->since[from];
  memmove(mark_of(r, to), mark_of(r, from), (size_t)r->config->ranks * sizeof(struct mark));
}

static void store(const struct rank *r, uint32_t checkpoint)
{
  if (r->config->parameter[LOG_IN])
    rcl_store(r->actions, RCL_PART_IMAGE, checkpoint);
  else
    rcl_store_bare(r->actions, checkpoint);
}

static void captured(const struct rank *r)
{
  uint32_t last = r->state->at[PRESENT];
  r->state->phase = RUNNING;
  if (r->state->next)
    rcl_act(r->actions, RCL_ACTION_RELEASE);
  r->state->next = 0;
  if (last && last != r->state->at[COMMON] && last != r->state->at[STORED])
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = last;
  r->state->at[PRESENT] = r->event->checkpoint;
  if (r->state->unlogged)
    r->state->since[PRESENT] = r->event->checkpoint;
  r->state->unlogged = false;
  mark(r, PRESENT);
  if (!is_due(r->config, r->event->checkpoint))
    return;
  mark(r, STORED);
  store(r, r->event->checkpoint);
}

/* Drops logs from before that checkpoint, because no rank will go back behind it. */
static void settle(const struct rank *r, uint32_t checkpoint)
{
  struct rcl_links links = links_of(r);
  if (checkpoint != r->state->at[STORED] || checkpoint == r->state->at[COMMON])
    return;
  if (r->state->at[COMMON])
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = r->state->at[COMMON];
  copy_mark(r, COMMON, STORED);
  for (int place = 0; place < PLACES; place++)
    if (r->state->since[place] < checkpoint)
      r->state->since[place] = checkpoint;
  for (uint32_t i = 0; i < r->state->links.log; i++)
    if (links.log[i].interval < checkpoint)
      rcl_links_forget(&links.log[i], r->actions);
  rcl_links_compact(&links);
  if (r->state->phase != WAITING)
    return;
  r->state->phase = CAPTURING;
  rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = r->state->next;
}

/* Returns the last checkpoint that is durable at every rank. All ranks store the same
 * iterations. */
static uint32_t durable_everywhere(const struct rank *r)
{
  uint32_t least = NEVER;
  for (int i = 0; i < r->config->ranks; i++)
    if (rows_of(r->config, r->state)[i].durable < least)
      least = rows_of(r->config, r->state)[i].durable;
  return least;
}

/* Notes, at the coordinator, a durable checkpoint of a rank. Once all ranks have this checkpoint,
 * they may forget the checkpoint before it. */
static void note_durable(const struct rank *r, int rank, uint32_t checkpoint)
{
  uint32_t before = durable_everywhere(r);
  rows_of(r->config, r->state)[rank].durable = checkpoint;
  uint32_t now = durable_everywhere(r);
  if (now == before)
    return;
  rcl_send_control_to_all(r->config, r->actions, DURABLE_EVERYWHERE, now);
  settle(r, now);
}

/* Tells the last durable checkpoint, but waits while a recovery is undecided, because the recovery
 * may undo the checkpoint. */
static void tell_durable(const struct rank *r)
{
  if (!stands(r) || r->state->durable == r->state->at[COMMON])
    return;
  if (r->config->self == RCL_COORDINATOR_RANK)
    note_durable(r, r->config->self, r->state->durable);
  else
    rcl_send_control(r->actions, RCL_COORDINATOR_RANK, DURABLE_HERE, r->state->durable,
                     r->state->epoch);
}

static void durable(const struct rank *r)
{
  r->state->durable = r->event->checkpoint;
  tell_durable(r);
}

/* ---- recovery ---- */

/* Sets the state back to where the program was at `checkpoint`; the program will make its later
 * steps again. */
static void undo(const struct rank *r, uint32_t checkpoint)
{
  struct rcl_links links = links_of(r);
  enum place there = COMMON;
  while (there < PRESENT && r->state->at[there] != checkpoint)
    there++;
  copy_mark(r, PRESENT, there);
  for (int i = 0; i < r->config->ranks; i++) {
    links.link[i].sent = mark_of(r, PRESENT)[i].sent;
    links.link[i].received = mark_of(r, PRESENT)[i].received;
  }
  if (r->state->at[STORED] > checkpoint)
    copy_mark(r, STORED, COMMON);
  if (r->state->durable > checkpoint)
    r->state->durable = checkpoint;
  r->state->unlogged = false; /* an unlogged message is sent again */
}

static void resume(const struct rank *r)
{
  r->state->phase = RUNNING;
  r->state->fresh = false;
  struct rcl_links links = links_of(r);
  rcl_links_stand(&links, HAVE, REPORT, r->actions);
  tell_durable(r);
}

/* Goes to the beginning of an iteration. A restarted rank may already be there. */
static void go_to(const struct rank *r, uint32_t checkpoint)
{
  if (r->state->fresh && checkpoint == r->state->at[PRESENT]) {
    rcl_act(r->actions, RCL_ACTION_RELEASE);
    resume(r);
    return;
  }
  r->state->phase = ROLLING;
  rcl_act(r->actions, RCL_ACTION_ROLL_BACK)->checkpoint = checkpoint;
}

/* Returns whether the logs have all messages that ranks need to catch up with ranks that are
 * ahead. */
static bool logs_reach(const struct rank *r)
{
  const struct row *rows = rows_of(r->config, r->state);
  uint32_t hindmost = NEVER;
  for (int i = 0; i < r->config->ranks; i++)
    if (rows[i].iteration < hindmost)
      hindmost = rows[i].iteration;
  for (int i = 0; i < r->config->ranks; i++)
    if (rows[i].iteration > hindmost && rows[i].since > hindmost)
      return false;
  return true;
}

static void decide(const struct rank *r)
{
  const struct row *rows = rows_of(r->config, r->state);
  uint32_t version = NEVER;
  for (int i = 0; i < r->config->ranks; i++) {
    if (rows[i].front != r->state->epoch || rows[i].epoch != r->state->epoch)
      return;
    if (rows[i].version < version)
      version = rows[i].version;
  }
  bool local = logs_reach(r);
  for (int i = 0; i < r->config->ranks; i++)
    if (i != r->config->self)
      rcl_send_control(r->actions, i, local ? LOCAL : GLOBAL, r->state->epoch, version);
  go_to(r, local ? r->state->at[PRESENT] : version);
}

static void recover(const struct rank *r, uint32_t epoch)
{
  struct rcl_links links = links_of(r);
  struct row *row = &rows_of(r->config, r->state)[r->config->self];
  r->state->epoch = epoch;
  r->state->phase = HELD;
  r->state->next = 0;
  rcl_act(r->actions, RCL_ACTION_HOLD);
  rcl_links_all_down(&links);
  if (r->config->self != RCL_COORDINATOR_RANK) {
    rcl_send_control(r->actions, RCL_COORDINATOR_RANK, FRONT, epoch,
                     r->state->at[PRESENT] << 16 | r->state->since[PRESENT]);
    rcl_send_control(r->actions, RCL_COORDINATOR_RANK, VERSION, epoch, r->state->durable);
    return;
  }
  for (int i = 0; i < r->config->ranks; i++)
    rows_of(r->config, r->state)[i].durable =
        RCL_FRESH; /* the checkpoint is told again when this recovery is decided */
  row->iteration = r->state->at[PRESENT];
  row->since = r->state->since[PRESENT];
  row->version = r->state->durable;
  row->front = row->epoch = epoch;
  decide(r);
}

/* Begins a new log where the program starts, because the old log is lost with the memory of the
 * process. */
static void lose_log(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  memset(links.log, 0, r->state->links.log * sizeof *links.log);
  r->state->links.log = 0;
  memcpy(r->state->since, r->state->at, sizeof r->state->since);
}

static void start(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  rcl_output_with_commit(r->event, r->actions);
  if (r->state->phase == ROLLING) {
    undo(r, r->event->checkpoint);
    rcl_links_go_back(&links, r->event->checkpoint, true, r->actions);
    resume(r);
    return;
  }
  if (!r->event->incarnation) {
    rcl_links_all_up(&links);
    return;
  }
  if (!r->config->parameter[LOG_IN])
    lose_log(r);
  undo(r, r->event->checkpoint);
  rcl_links_go_back(&links, r->event->checkpoint, true, r->actions);
  r->state->durable = r->event->checkpoint;
  r->state->fresh = true;
  recover(r, r->event->incarnation);
}

/* Notes what a rank has told about this recovery. If a message about an earlier recovery comes
 * late, nothing is noted and nothing is decided again. */
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

static void control(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  struct row *row = &rows_of(r->config, r->state)[r->event->peer];
  bool current = r->event->about == r->state->epoch;
  switch ((enum control)r->event->control) {
  case HAVE:
    if (current && !rcl_links_peer_has(&links, r->event->peer, r->event->value))
      rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
    break;
  case REPORT:
    if (current) {
      rcl_links_up(&links, r->event->peer, r->event->value);
      rcl_links_flush(&links, r->event->peer, r->actions);
    }
    break;
  case FRONT:
    if (note_front(row, r->event))
      decide(r);
    break;
  case VERSION:
    if (note_version(row, r->event))
      decide(r);
    break;
  case LOCAL:
  case GLOBAL:
    if (current)
      go_to(r, r->event->control == LOCAL ? r->state->at[PRESENT] : r->event->value);
    break;
  case DURABLE_HERE:
    if (r->event->value == r->state->epoch)
      note_durable(r, r->event->peer, r->event->about);
    break;
  case DURABLE_EVERYWHERE:
    settle(r, r->event->about);
    break;
  }
}

static void down(const struct rank *r)
{
  recover(r, r->event->incarnation);
}

static void output(const struct rank *r)
{
  rcl_output(r->actions, r->event->output, RCL_FRESH);
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,
    [RCL_EVENT_DOWN] = down,
    [RCL_EVENT_SEND] = send,
    [RCL_EVENT_OUTPUT] = output,
    [RCL_EVENT_RECEIVE] = rcl_match_receive,
    [RCL_EVENT_SAFE_POINT] = begin_iteration,
    [RCL_EVENT_ARRIVED] = arrived,
    [RCL_EVENT_CONTROL] = control,
    [RCL_EVENT_CAPTURED] = captured,
    [RCL_EVENT_DURABLE] = durable,
};

static void step(const struct rank *r)
{
  rcl_take(on, r);
}

/* ---- invariants, by their numbers ---- */

static bool is_capped(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  uint32_t base = r->state->at[STORED] ? r->state->at[STORED] : 1;
  if (!rcl_links_are_all_up(&links))
    return true;
  for (uint32_t i = 0; i < r->state->links.log && !r->state->epoch; i++)
    if (links.log[i].interval >= base + r->config->parameter[LOG_SIZE])
      return false;
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (!rcl_links_are_sound(&links))
    return 5;
  if (r->state->at[COMMON] > r->state->at[STORED])
    return 1;
  if (!is_capped(r))
    return 2;
  if (!rcl_links_nothing_waits(&links))
    return 3;
  if (r->state->at[COMMON] > r->state->durable)
    return 4;
  return 0;
}

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {
    {"capture", "capture", "captured"}, {"write", "store", "durable"},
    {"switch", "down", "roll-back"},    {"rollback", "roll-back", "start"},
    {"resend", "resend", "resend"},     {NULL, NULL, NULL}};

static const char *const promises[] = {"bounded", "frees", NULL};

RCL_ONLY_FORM

extern const struct rcl_protocol protocol_hybrid;
const struct rcl_protocol protocol_hybrid = {
    .name = "hybrid",
    .title =
        "local and global rollback, capped payload logs (Dichev and Nikolopoulos, EuroMPI 2019)",
    /* both ends can count the numbers in the words, so these cost no bytes
     * (docs/protocols/hybrid.md) */
    .piggyback_bytes = 0,
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
    .step = only_step,
    .violated_invariant = only_broken,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_SENDER}},
        .back = RCL_BACK_FAILED_OR_ALL,
        .assumes = RCL_ASSUMES_ITERATIONS | RCL_ASSUMES_SAME_AGAIN | RCL_ASSUMES_WHOLE_WRITES}};
