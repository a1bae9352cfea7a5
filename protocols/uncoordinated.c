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
 * up for late messages. The logs roll back with their owners.
 *
 * The line that would be found if all ranks failed now, from their checkpoints on storage, bounds
 * those of all later crashes: of two lines the later checkpoints of each rank make one. So a rank
 * that runs out of room for messages or checkpoints, or has outputs that wait, asks the coordinator
 * to gather the tables once more and to find that line (claim uncoordinated-collects); what is
 * before it is collected, and outputs from before it leave.
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
#include "protocols/parts/outputs.h"
#include "protocols/uncoordinated_line.h"

static const char *const invariants[] = {
    /* 1 */ "a rank depends only on intervals of peers from which it has received",
    /* 2 */ "dependencies of a checkpoint are not above those of a later one",
    /* 3 */ "no checkpoint is taken until all ranks stand on the line",
    /* 4 */ "no message waits while its link is up and the rank is not held",
    /* 5 */ "the first checkpoint that a line may need is not after the last",
    NULL};

enum phase { RUNNING, CAPTURING, HELD, ROLLING };

enum control { HAVE = 1, REPORT, TABLE, DEPENDS, END, LINE, COLLECT, GATHER, NEEDED, RECEIVED };

static const char *const controls[] = {"none", "have",    "report", "table",  "depends",  "end",
                                       "line", "collect", "gather", "needed", "received", NULL};

/* Where the program was, and on what it depended, at a checkpoint and now: messages of each peer,
 * and its last interval that this rank depends on, from 1; 0: none. */
struct mark {
  uint32_t sent, received, depends;
};

struct state {
  uint32_t phase, wanted, writing;
  uint32_t interval; /* last checkpoint */
  uint32_t epoch;    /* incarnation of the last recovery */
  uint32_t undone;   /* as above */
  uint32_t fresh;    /* restarted, and the program has not run since */
  uint32_t first;    /* checkpoint that a line may need; those before it are erased */
  uint32_t gathers;  /* coordinator: tables, for what can be collected; 2: and then once more */
  uint32_t known;    /* coordinator: it has had tables */
  struct rcl_links_counts links;
};

static size_t known_entries(const struct rcl_config *config)
{
  return (size_t)config->ranks * (rcl_checkpoints(config) + 2) * (size_t)config->ranks;
}

static size_t known_used(const struct rcl_config *config, const struct state *state)
{
  return state->known ? known_entries(config) : 0;
}

/* The marks of each checkpoint that a line may need, the beginning of the program being one, how
 * many outputs it has, and what the rank depends on now; the coordinator's rows and what each state
 * of each rank depends on; and the links. */
#define LISTS(ARRAY, LIST)                                                                         \
  LIST(marks_of, struct mark, (rcl_checkpoints(config) + (size_t)1) * (size_t)config->ranks,       \
       (state->interval - state->first + (size_t)1) * (size_t)config->ranks,                       \
       rcl_checkpoints_full(config))                                                               \
  LIST(outputs_of, uint32_t, rcl_checkpoints(config) + (size_t)1,                                  \
       state->interval - state->first + (size_t)1, rcl_checkpoints_full(config))                   \
  ARRAY(depends_now, uint32_t, config->ranks)                                                      \
  ARRAY(rows_of, struct row, config->ranks)                                                        \
  LIST(all_known, uint16_t, known_entries(config), known_used(config, state), RCL_FULL_UNNAMED)    \
  RCL_LINKS_LISTS(ARRAY, LIST, state->links)
RCL_STATE(LISTS)

static struct mark *mark_of(const struct rcl_config *config, const struct state *state,
                            uint32_t checkpoint)
{
  return marks_of(config, state) + (checkpoint - state->first) * (size_t)config->ranks;
}

static struct line line_of(const struct rcl_config *config, const struct state *state)
{
  return (struct line){.ranks = config->ranks,
                       .states = rcl_checkpoints(config) + 2,
                       .rows = rows_of(config, state),
                       .known = all_known(config, state)};
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

static void ask_for_line(const struct rcl_config *config, struct state *state,
                         struct rcl_actions *actions);

/* Checkpoints are taken when a rank likes: while there is no room for one, none is, and an interval
 * later there may be. */
static void skip_checkpoint(const struct rcl_config *config, struct state *state,
                            struct rcl_actions *actions)
{
  rcl_act(actions, RCL_ACTION_SET_TIMER);
  ask_for_line(config, state, actions);
}

static void take_checkpoint(const struct rcl_config *config, struct state *state,
                            struct rcl_actions *actions)
{
  if (!state->wanted || state->phase != RUNNING || state->writing || state->undone != NOWHERE)
    return;
  if (state->interval == NOWHERE - 2) {
    rcl_give_up_full(actions, RCL_FULL_LIMIT);
    return;
  }
  state->wanted = false;
  if (state->interval - state->first == rcl_checkpoints(config)) {
    skip_checkpoint(config, state, actions);
    return;
  }
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
  outputs_of(config, state)[state->interval - state->first] = event->output;
  rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
  state->writing = true;
}

static void end_write(struct state *state, struct rcl_actions *actions)
{
  state->writing = false;
  rcl_act(actions, RCL_ACTION_SET_TIMER);
}

/* ---- the line ---- */

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
  for (uint32_t i = checkpoint + 1; i <= state->interval; i++) {
    memset(mark_of(config, state, i), 0, (size_t)config->ranks * sizeof *mark);
    outputs_of(config, state)[i - state->first] = 0;
  }
  if (state->writing && state->interval > checkpoint)
    end_write(state, actions);
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

/* ---- the tables ---- */

static uint32_t depends_at(const struct rcl_config *config, const struct state *state, uint32_t at,
                           int peer)
{
  return at > state->interval ? depends_now(config, state)[peer]
                              : mark_of(config, state, at)[peer].depends;
}

/* This rank in the tables: as it is or, where they are gathered, as it would be if it failed now.
 */
static struct row own_row(const struct state *state)
{
  return (struct row){.first = state->first,
                      .latest = state->interval - (state->gathers && state->writing),
                      .present = !state->gathers && !state->fresh,
                      .undone = state->gathers ? NOWHERE : state->undone,
                      .complete = state->epoch};
}

static void fill_own_row(const struct rcl_config *config, struct state *state)
{
  const struct line line = line_of(config, state);
  struct row *row = &line.rows[config->self];
  *row = own_row(state);
  state->known = true;
  for (uint32_t at = row->first; at <= last_of(row); at++)
    for (int peer = 0; peer < config->ranks; peer++)
      known_of(&line, config->self, at)[peer] = (uint16_t)depends_at(config, state, at, peer);
}

static void send_table(const struct rcl_config *config, struct state *state,
                       struct rcl_actions *actions)
{
  const struct row row = own_row(state);
  rcl_send_control(actions, RCL_COORDINATOR_RANK, TABLE, row.latest, row.first << 1 | row.present);
  for (uint32_t at = row.first; at <= last_of(&row); at++)
    for (int peer = 0; peer < config->ranks; peer++) {
      uint32_t depends = depends_at(config, state, at, peer);
      if (depends)
        rcl_send_control(actions, RCL_COORDINATOR_RANK, DEPENDS, at,
                         (uint32_t)peer << 16 | depends);
    }
  rcl_send_control(actions, RCL_COORDINATOR_RANK, END, state->epoch, row.undone);
}

static void begin_row(const struct rcl_config *config, struct state *state, int rank,
                      const struct rcl_event *event)
{
  const struct line line = line_of(config, state);
  line.rows[rank] = (struct row){.first = event->value >> 1,
                                 .latest = event->about,
                                 .present = event->value & 1,
                                 .complete = NOWHERE};
  memset(known_of(&line, rank, line.rows[rank].first), 0,
         line.states * (size_t)config->ranks * sizeof(uint16_t));
}

/* ---- what no line needs ---- */

/* What is before `checkpoint` goes; peers hear what was received before it, and the outside what
 * the program has said. */
static void collect(const struct rcl_config *config, struct state *state, uint32_t checkpoint,
                    struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  size_t ranks = (size_t)config->ranks, gone = (checkpoint - state->first) * ranks;
  size_t left = (state->interval - checkpoint + (size_t)1) * ranks;
  struct mark *marks = marks_of(config, state);
  uint32_t *outputs = outputs_of(config, state), first = checkpoint - state->first;
  if (first && outputs[first])
    rcl_output(actions, outputs[first], RCL_FRESH);
  for (uint32_t i = state->first; i < checkpoint; i++)
    if (i != RCL_FRESH)
      rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = i;
  memmove(marks, marks + gone, left * sizeof *marks);
  memset(marks + left, 0, gone * sizeof *marks);
  memmove(outputs, outputs + first, left / ranks * sizeof *outputs);
  memset(outputs + left / ranks, 0, first * sizeof *outputs);
  state->first = checkpoint;
  for (int i = 0; gone && i < config->ranks; i++) {
    rcl_links_drop(links.ahead, &state->links.ahead, i, marks[i].received, 0);
    if (i == config->self)
      rcl_links_drop_sent(&links, i, marks[i].received, actions);
    else
      rcl_send_control(actions, i, RECEIVED, state->epoch, marks[i].received);
  }
}

/* Asks all for their tables, if all ranks stand on the line and it is not at that: then later. */
static bool gather(const struct rcl_config *config, struct state *state,
                   struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  if (state->gathers)
    state->gathers = 2;
  if (state->gathers || !rcl_links_are_all_up(&links))
    return false;
  state->gathers = 1;
  for (int rank = 0; rank < config->ranks; rank++) {
    rows_of(config, state)[rank].complete = NOWHERE;
    if (rank != config->self)
      rcl_send_control(actions, rank, GATHER, state->epoch, 0);
  }
  fill_own_row(config, state);
  return true;
}

/* The coordinator has all tables: tells all ranks where to stand, or what a line may need. */
static void draw_line(const struct rcl_config *config, struct state *state,
                      struct rcl_actions *actions)
{
  const struct line line = line_of(config, state);
  uint32_t own, gathers = state->gathers;
  for (int rank = 0; rank < config->ranks; rank++)
    if (line.rows[rank].complete != state->epoch)
      return;
  find_line(&line);
  own = line.rows[config->self].line;
  for (int rank = 0; rank < config->ranks; rank++)
    if (rank != config->self)
      rcl_send_control(actions, rank, gathers ? NEEDED : LINE, state->epoch, line.rows[rank].line);
  state->gathers = 0;
  if (gathers)
    collect(config, state, own, actions);
  else
    stand(config, state, own, actions);
  if (gathers > 1)
    gather(config, state, actions);
}

/* There is little room, or the last image has outputs that no line is known to keep. */
static bool wants_line(const struct rcl_config *config, const struct state *state)
{
  const uint32_t *outputs = outputs_of(config, state);
  return state->links.log >= config->capacity - config->capacity / 4 ||
         state->interval - state->first >= rcl_checkpoints(config) - rcl_checkpoints(config) / 4 ||
         outputs[state->interval - state->first] > outputs[0];
}

static void ask_for_line(const struct rcl_config *config, struct state *state,
                         struct rcl_actions *actions)
{
  if (config->self != RCL_COORDINATOR_RANK)
    rcl_send_control(actions, RCL_COORDINATOR_RANK, COLLECT, state->epoch, 0);
  else if (gather(config, state, actions))
    draw_line(config, state, actions);
}

static void durable(const struct rcl_config *config, struct state *state,
                    struct rcl_actions *actions)
{
  end_write(state, actions);
  if (wants_line(config, state))
    ask_for_line(config, state, actions);
}

/* ---- recovery ---- */

static void recover(const struct rcl_config *config, struct state *state, uint32_t epoch,
                    struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  state->epoch = epoch;
  state->gathers = 0;
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
  if (event->checkpoint < state->first) { /* its last image was lost, and others are collected */
    rcl_give_up(actions, RCL_REASON_PROTOCOL);
    return;
  }
  state->wanted = state->writing = false;
  undo(config, state, event->checkpoint, actions);
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
  const struct line line = line_of(config, state);
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
    known_of(&line, event->peer, event->about)[event->value >> 16] = (uint16_t)event->value;
    break;
  case END:
    line.rows[event->peer].complete = event->about;
    line.rows[event->peer].undone = event->value;
    draw_line(config, state, actions);
    break;
  case LINE:
    if (event->about == state->epoch)
      stand(config, state, event->value, actions);
    break;
  case COLLECT:
    gather(config, state, actions);
    break;
  case GATHER:
    state->gathers = event->about == state->epoch;
    if (state->gathers)
      send_table(config, state, actions);
    state->gathers = 0;
    break;
  case NEEDED: /* as true in a later epoch */
    collect(config, state, event->value, actions);
    break;
  case RECEIVED:
    rcl_links_drop_sent(&links, event->peer, event->value, actions);
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
    durable(config, state, actions);
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
  for (uint32_t at = state->first; at <= state->interval; at++)
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
  return state->first <= state->interval ? 0 : 5;
}

/* Phases of a checkpoint, and of recoveries, for results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"write", "store", "durable"},
                                          {"rollback", "roll-back", "start"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"once-per-failure", NULL};

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
    .promises = promises,
    .state_size = state_size,
    .in_use = in_use,
    .step = step,
    .violated_invariant = violated_invariant,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_SENDER}},
        .back = RCL_BACK_DEPENDENT,
        .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_MPI_ORDER | RCL_ASSUMES_WHOLE_WRITES |
                   RCL_ASSUMES_LOGGER}};
