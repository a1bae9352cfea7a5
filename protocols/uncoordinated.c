/* Uncoordinated checkpoints with dependency tracking: every rank checkpoints when it likes, and the
 * recovery line is found when it is needed.
 *
 * Source: "dependency-tracking" in the slides of Stodghill on checkpoints, and Event Logging,
 * section 2.2, with its domino effect. Intervals count the checkpoints of a rank. A message carries
 * the interval that it was sent in; its receiver depends on that interval from then on. A rank that
 * goes back to checkpoint c undoes its intervals from c on, and a rank that depends on one of these
 * must go back, too, to a checkpoint that does not: that can undo further intervals, in the worst
 * case all (claim uncoordinated-no-domino).
 *
 * At a crash every rank holds and sends its table of dependencies to the coordinator, which
 * computes the line: for each rank the last checkpoint, or the present state of a rank that lives,
 * that depends on nothing undone. No message under way survives: when a rank stands on the line it
 * reports to all what it has received, and they send again from their logs (links.h), which makes
 * up for late messages. The logs roll back with their owners; no entry is ever removed from them,
 * as the line can always go back to the beginning.
 *
 *            SAFE_POINT, if wanted            captured
 *     RUNNING ------------------> CAPTURING -----------> RUNNING
 *        |  DOWN, restart                       the line is elsewhere             start
 *        +---------------------> HELD --------------------------------> ROLLING -------> RUNNING
 *                                  |  the line is here
 *                                  +-----------------> RUNNING
 *
 * Transitions:
 *     RUNNING -> CAPTURING : take_checkpoint()  [safe-point]
 *     CAPTURING -> RUNNING : captured()  [captured]
 *     RUNNING -> HELD : recover()  [down, start]
 *     HELD -> ROLLING : stand()  [control line]
 *     HELD -> RUNNING : stand(), resume()  [control line]
 *     ROLLING -> RUNNING : resume()  [start]
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/links.h"
#include "protocols/parts/lists.h"

static const char *const invariants[] = {
    /* 1 */ "a rank depends only on intervals of peers from which it has received",
    /* 2 */ "dependencies of a checkpoint are not above those of a later one",
    /* 3 */ "no checkpoint is taken until all ranks stand on the line",
    /* 4 */ "no message waits while its link is up and the rank is not held", NULL};

enum phase { RUNNING, CAPTURING, HELD, ROLLING };

enum control { HAVE = 1, REPORT, TABLE, DEPENDS, END, LINE };

enum { CHECKPOINTS = 32, NOWHERE = UINT16_MAX };

static const char *const controls[] = {"none",    "have", "report", "table",
                                       "depends", "end",  "line",   NULL};

/* Where the program was, and on what it depended, at a checkpoint and now: messages of each peer,
 * and its last interval that this rank depends on, from 1; 0: none. */
struct mark {
  uint32_t sent, received, depends;
};

/* The coordinator's knowledge of a rank. */
struct row {
  uint32_t latest;   /* checkpoint */
  uint32_t present;  /* its present state counts as another one: it has not died */
  uint32_t undone;   /* checkpoint to which it has gone back, until all know; NOWHERE: none */
  uint32_t complete; /* epoch for which its table is all there */
  uint32_t line;     /* where it is to stand */
};

struct state {
  uint32_t phase, wanted, writing;
  uint32_t interval; /* last checkpoint */
  uint32_t epoch;    /* incarnation of the last recovery */
  uint32_t undone;   /* as above */
  uint32_t fresh;    /* restarted, and the program has not run since */
  uint32_t pad;
  struct rcl_links_counts links;
};

static uint32_t checkpoints(const struct rcl_config *config)
{
  return config->capacity < CHECKPOINTS ? config->capacity : CHECKPOINTS;
}

static enum rcl_full full_of(const struct rcl_config *config)
{
  return config->capacity < CHECKPOINTS ? RCL_FULL_CHECKPOINTS : RCL_FULL_LIMIT;
}

static size_t known_entries(const struct rcl_config *config)
{
  return (size_t)config->ranks * (checkpoints(config) + 2) * (size_t)config->ranks;
}

/* The coordinator uses it, from the first recovery on. */
static size_t known_used(const struct rcl_config *config, const struct state *state)
{
  return config->self == RCL_COORDINATOR_RANK && state->epoch ? known_entries(config) : 0;
}

/* The marks of each checkpoint, the beginning of the program being one, and what the rank depends
 * on now; the coordinator's rows and what each state of each rank depends on; and the links. */
#define LISTS(ARRAY, LIST)                                                                         \
  LIST(marks_of, struct mark, (checkpoints(config) + (size_t)1) * (size_t)config->ranks,           \
       (state->interval + (size_t)1) * (size_t)config->ranks, full_of(config))                     \
  ARRAY(depends_now, uint32_t, config->ranks)                                                      \
  ARRAY(rows_of, struct row, config->ranks)                                                        \
  LIST(all_known, uint16_t, known_entries(config), known_used(config, state), RCL_FULL_UNNAMED)    \
  RCL_LINKS_LISTS(ARRAY, LIST, state->links)
RCL_STATE(LISTS)

static struct mark *mark_of(const struct rcl_config *config, const struct state *state,
                            uint32_t checkpoint)
{
  return marks_of(config, state) + checkpoint * (size_t)config->ranks;
}

static uint16_t *known_of(const struct rcl_config *config, const struct state *state, int rank,
                          uint32_t at)
{
  size_t states = checkpoints(config) + 2, ranks = (size_t)config->ranks;
  return all_known(config, state) + ((size_t)rank * states + at) * ranks;
}

static struct rcl_links links_of(const struct rcl_config *config, const struct state *state)
{
  struct rcl_links links = rcl_links_at(config, &state->links, links_memory(config, state));
  links.held = state->phase != RUNNING;
  links.interval = state->interval;
  links.epoch = state->epoch;
  return links;
}

/* ---- messages ---- */

static void send(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  rcl_links_send(&links, event->peer, actions);
}

/* Messages under way at a crash do not count: they are sent again, or undone. */
static void arrived(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  uint32_t *depends = &depends_now(config, state)[event->peer];
  if (event->words[RCL_LINKS_EPOCH] != state->epoch) {
    rcl_act(actions, RCL_ACTION_DISCARD);
    return;
  }
  rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
  if (!rcl_links_arrived(&links, event->peer, event->words[RCL_LINKS_NUMBER]))
    rcl_give_up_full(actions, RCL_FULL_AHEAD);
  if (event->peer != config->self && *depends <= event->words[RCL_LINKS_INTERVAL])
    *depends = event->words[RCL_LINKS_INTERVAL] + 1;
}

/* ---- a checkpoint ---- */

static void take_checkpoint(const struct rcl_config *config, struct state *state,
                            struct rcl_actions *actions)
{
  if (!state->wanted || state->phase != RUNNING || state->writing || state->undone != NOWHERE)
    return;
  if (state->interval == checkpoints(config)) {
    rcl_give_up_full(actions, full_of(config));
    return;
  }
  state->wanted = false;
  state->phase = CAPTURING;
  rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = state->interval + 1;
}

static void captured(const struct rcl_config *config, struct state *state,
                     const struct rcl_event *event, struct rcl_actions *actions)
{
  const struct rcl_link *link = links_of(config, state).link;
  struct mark *mark = mark_of(config, state, event->checkpoint);
  for (int i = 0; i < config->ranks; i++)
    mark[i] = (struct mark){link[i].sent, link[i].received, depends_now(config, state)[i]};
  state->phase = RUNNING;
  state->interval = event->checkpoint;
  rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
  state->writing = true;
}

static void durable(struct state *state, struct rcl_actions *actions)
{
  state->writing = false;
  rcl_act(actions, RCL_ACTION_SET_TIMER);
}

/* ---- the line ---- */

static uint32_t last_of(const struct row *row)
{
  return row->latest + row->present;
}

/* The first interval of a rank that its peers must not depend on if it stands there. */
static uint32_t undone_by(const struct row *row)
{
  uint32_t bound = row->present && row->line == last_of(row) ? NOWHERE : row->line;
  return bound < row->undone ? bound : row->undone;
}

/* Goes back with one rank after the other until none depends on an undone interval. */
static void find_line(const struct rcl_config *config, struct state *state)
{
  struct row *rows = rows_of(config, state);
  for (int rank = 0; rank < config->ranks; rank++)
    rows[rank].line = last_of(&rows[rank]);
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < config->ranks; rank++)
      for (int peer = 0; peer < config->ranks; peer++)
        while (known_of(config, state, rank, rows[rank].line)[peer] > undone_by(&rows[peer])) {
          rows[rank].line--;
          moved = true;
        }
  }
}

/* The program is where it was at `checkpoint`; its later steps are undone. */
static void undo(const struct rcl_config *config, struct state *state, uint32_t checkpoint,
                 struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  const struct mark *mark = mark_of(config, state, checkpoint);
  for (int i = 0; i < config->ranks; i++) {
    links.link[i].sent = mark[i].sent;
    links.link[i].received = mark[i].received;
    depends_now(config, state)[i] = mark[i].depends;
  }
  rcl_links_go_back(&links, checkpoint, true, actions);
  for (uint32_t i = checkpoint + 1; i <= state->interval; i++)
    memset(mark_of(config, state, i), 0, (size_t)config->ranks * sizeof *mark);
  if (state->writing && state->interval > checkpoint)
    durable(state, actions);
  state->interval = state->undone = checkpoint;
}

/* When all peers stand on the line, none depends on an undone interval. */
static void all_stand(const struct rcl_config *config, struct state *state)
{
  struct rcl_links links = links_of(config, state);
  if (state->phase == RUNNING && rcl_links_are_all_up(&links))
    state->undone = NOWHERE;
}

/* This rank stands on the line. It hears the same from a peer when that reports. */
static void resume(const struct rcl_config *config, struct state *state,
                   struct rcl_actions *actions)
{
  state->phase = RUNNING;
  state->fresh = false;
  struct rcl_links links = links_of(config, state);
  rcl_links_stand(&links, HAVE, REPORT, actions);
  all_stand(config, state);
}

static void stand(const struct rcl_config *config, struct state *state, uint32_t checkpoint,
                  struct rcl_actions *actions)
{
  if (checkpoint > state->interval || (checkpoint == state->interval && state->fresh)) {
    rcl_act(actions, RCL_ACTION_RELEASE);
    resume(config, state, actions);
    return;
  }
  state->phase = ROLLING;
  rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = checkpoint;
}

/* The coordinator has all tables: tells all ranks where to stand. */
static void draw_line(const struct rcl_config *config, struct state *state,
                      struct rcl_actions *actions)
{
  const struct row *rows = rows_of(config, state);
  for (int rank = 0; rank < config->ranks; rank++)
    if (rows[rank].complete != state->epoch)
      return;
  find_line(config, state);
  for (int rank = 0; rank < config->ranks; rank++)
    if (rank != config->self)
      rcl_send_control(actions, rank, LINE, state->epoch, rows[rank].line);
  stand(config, state, rows[config->self].line, actions);
}

/* ---- the tables ---- */

static uint32_t depends_at(const struct rcl_config *config, const struct state *state, uint32_t at,
                           int peer)
{
  return at > state->interval ? depends_now(config, state)[peer]
                              : mark_of(config, state, at)[peer].depends;
}

static void fill_own_row(const struct rcl_config *config, struct state *state)
{
  int self = config->self;
  for (uint32_t at = 0; at <= state->interval + !state->fresh; at++)
    for (int peer = 0; peer < config->ranks; peer++)
      known_of(config, state, self, at)[peer] = (uint16_t)depends_at(config, state, at, peer);
  rows_of(config, state)[self] = (struct row){.latest = state->interval,
                                              .present = !state->fresh,
                                              .undone = state->undone,
                                              .complete = state->epoch};
}

static void send_table(const struct rcl_config *config, struct state *state,
                       struct rcl_actions *actions)
{
  rcl_send_control(actions, RCL_COORDINATOR_RANK, TABLE, state->interval, !state->fresh);
  for (uint32_t at = 1; at <= state->interval + !state->fresh; at++)
    for (int peer = 0; peer < config->ranks; peer++) {
      uint32_t depends = depends_at(config, state, at, peer);
      if (depends)
        rcl_send_control(actions, RCL_COORDINATOR_RANK, DEPENDS, at,
                         (uint32_t)peer << 16 | depends);
    }
  rcl_send_control(actions, RCL_COORDINATOR_RANK, END, state->epoch, state->undone);
}

static void begin_row(const struct rcl_config *config, struct state *state, int rank,
                      const struct rcl_event *event)
{
  rows_of(config, state)[rank] = (struct row){.latest = event->about, .present = event->value};
  memset(known_of(config, state, rank, 0), 0,
         (checkpoints(config) + 2) * (size_t)config->ranks * sizeof(uint16_t));
}

/* ---- recovery ---- */

static void recover(const struct rcl_config *config, struct state *state, uint32_t epoch,
                    struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  state->epoch = epoch;
  state->phase = HELD;
  rcl_act(actions, RCL_ACTION_HOLD);
  rcl_links_all_down(&links);
  if (config->self != RCL_COORDINATOR_RANK) {
    send_table(config, state, actions);
  } else {
    fill_own_row(config, state);
    draw_line(config, state, actions);
  }
}

static void start(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  if (state->phase == ROLLING) {
    undo(config, state, event->checkpoint, actions);
    resume(config, state, actions);
    return;
  }
  rcl_act(actions, RCL_ACTION_SET_TIMER);
  if (!event->incarnation) {
    state->undone = NOWHERE;
    rcl_links_all_up(&links);
    return;
  }
  undo(config, state, event->checkpoint, actions);
  state->wanted = state->writing = false;
  state->fresh = true;
  recover(config, state, event->incarnation, actions);
}

static void reported(const struct rcl_config *config, struct state *state,
                     const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  if (event->about != state->epoch)
    return;
  rcl_links_up(&links, event->peer, event->value);
  rcl_links_flush(&links, event->peer, actions);
  all_stand(config, state);
}

static void control(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  struct row *row = &rows_of(config, state)[event->peer];
  switch ((enum control)event->control) {
  case HAVE:
    if (event->about == state->epoch && !rcl_links_peer_has(&links, event->peer, event->value))
      rcl_give_up_full(actions, RCL_FULL_AHEAD);
    break;
  case REPORT:
    reported(config, state, event, actions);
    break;
  case TABLE:
    begin_row(config, state, event->peer, event);
    break;
  case DEPENDS:
    known_of(config, state, event->peer, event->about)[event->value >> 16] = (uint16_t)event->value;
    break;
  case END:
    row->complete = event->about;
    row->undone = event->value;
    draw_line(config, state, actions);
    break;
  case LINE:
    if (event->about == state->epoch)
      stand(config, state, event->value, actions);
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
  case RCL_EVENT_TIMER:
    state->wanted = true;
    break;
  case RCL_EVENT_SEND:
    send(config, state, event, actions);
    break;
  case RCL_EVENT_RECEIVE:
    rcl_match(actions, event);
    break;
  case RCL_EVENT_SAFE_POINT:
    take_checkpoint(config, state, actions);
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
    durable(state, actions);
    break;
  default:
    break;
  }
}

/* ---- invariants, by their numbers ---- */

static bool depends_on_received(const struct rcl_config *config, const struct state *state)
{
  struct rcl_links links = links_of(config, state);
  for (int i = 0; i < config->ranks; i++) {
    bool heard = links.link[i].received > 0;
    for (uint32_t j = 0; j < state->links.ahead; j++)
      heard |= links.ahead[j].peer == i;
    if (depends_now(config, state)[i] && !heard)
      return false;
  }
  return true;
}

static bool dependencies_rise(const struct rcl_config *config, const struct state *state)
{
  for (uint32_t at = 0; at <= state->interval; at++)
    for (int i = 0; i < config->ranks; i++)
      if (depends_at(config, state, at, i) > depends_at(config, state, at + 1, i))
        return false;
  return true;
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  struct rcl_links links = links_of(config, state);
  if (!depends_on_received(config, state))
    return 1;
  if (!dependencies_rise(config, state))
    return 2;
  if (state->phase == CAPTURING && state->undone != NOWHERE)
    return 3;
  if (!rcl_links_nothing_waits(&links))
    return 4;
  return 0;
}

/* Phases of a checkpoint, and of recoveries, for results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"write", "store", "durable"},
                                          {"rollback", "roll-back", "start"},
                                          {NULL, NULL, NULL}};

extern const struct rcl_protocol protocol_uncoordinated;
const struct rcl_protocol protocol_uncoordinated = {
    .name = "uncoordinated",
    .title = "uncoordinated checkpoints, dependencies tracked (slides of Stodghill, 2003; Event "
             "Logging)",
    .piggyback_bytes = 12,
    .control_bytes = 12,
    .independent = true,
    .controls = controls,
    .invariants = invariants,
    .phases = phases,
    .state_size = state_size,
    .in_use = in_use,
    .step = step,
    .violated_invariant = violated_invariant,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_SENDER}},
        .back = RCL_BACK_DEPENDENT,
        .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_WHOLE_WRITES}};
