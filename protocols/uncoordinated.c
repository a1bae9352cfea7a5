/* Uncoordinated checkpoints with dependency tracking: every rank takes checkpoints at times of its
 * own, and the recovery line is found when it is needed.
 *
 * Source: "dependency-tracking" in the slides of Stodghill on checkpoints, and Event Logging,
 * section 2.2, with its domino effect. Intervals count the checkpoints of a rank. A message carries
 * the interval in which it was sent; from its reception on, the receiver depends on that interval.
 * A rank that goes back to checkpoint c undoes its intervals from c on. A rank that depends on an
 * undone interval must go back, too, to a checkpoint that does not depend on that interval. This
 * can undo further intervals, in the worst case all (claim uncoordinated-no-domino).
 *
 * At a crash every rank holds its program and sends its table of dependences to the coordinator,
 * which computes the line. On the line, a living rank has its present state if that state depends
 * on no undone interval. Every other rank has its last checkpoint that depends on no undone
 * interval. No message under way survives. When a rank stands on the line it reports to all ranks
 * what it has received, and they send all other messages again from their logs (links.h). The logs
 * roll back with their owners.
 *
 * Suppose that all ranks failed now and went back to a line of checkpoints on storage. No later
 * crash leads to an earlier line: if each rank takes the later of its checkpoints on two lines,
 * these checkpoints form a line, too. So a rank that runs out of room for messages or checkpoints,
 * or has outputs that wait, asks the coordinator to gather the tables again and to find that line
 * (claim uncoordinated-collects). Checkpoints and messages from before that line are collected, and
 * outputs that were made before it leave.
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
#include "protocols/parts/outputs.h"
#include "protocols/parts/transitions.h"
#include "protocols/uncoordinated_line.h"

static const char *const invariants[] = {
    /* 1 */
    "a rank depends only on intervals of peers from which it has received: "
    "otherwise a rollback would undo more than it must",
    /* 2 */
    "dependencies of a checkpoint are not above those of a later one: "
    "otherwise the line that a recovery finds would not be consistent, or not be the last one",
    /* 3 */
    "no checkpoint is taken until all ranks stand on the line: "
    "otherwise the checkpoint would have what the recovery is about to undo",
    /* 4 */
    "no message waits to be sent while its link is up and the rank is not held: "
    "otherwise nothing would ever send the message, and its receiver would wait for ever",
    /* 5 */
    "the first checkpoint that a line may need is not after the last: "
    "otherwise a checkpoint would be erased that a recovery needs",
    /* 6 */
    "a message that is logged, or ahead of a gap, is of a rank and has a number: "
    "otherwise the message could not be sent again after a crash: its receiver waits for ever",
    NULL};

enum phase { RUNNING, CAPTURING, HELD, ROLLING };

enum control { HAVE = 1, REPORT, TABLE, DEPENDS, END, LINE, COLLECT, GATHER, NEEDED, RECEIVED };

static const char *const controls[] = {
    "none",
    "have: I have your message number {value}, ahead of a gap",
    "report: messages that I have received from you: {value}",
    "table: what my states depend on; my last checkpoint is {about?0:the beginning|%}",
    "depends: my state {about} depends on interval {value.low} of rank {value.high}",
    "end: that was all in recovery {about}{value?65535:|, and I have gone back to checkpoint %}",
    "line: stand on checkpoint {value}, or where you are if you have no such checkpoint",
    "collect: find out which checkpoints are needed no more",
    "gather: what do your states depend on?",
    "needed: no line needs your checkpoints before checkpoint {value}",
    "received: your messages that I need not receive again: {value}",
    NULL};

/* Counts the messages to and from a peer, at a checkpoint or now. Also holds the peer's last
 * interval on which this rank depends, counted from 1, or 0 if there is none. */
struct mark {
  uint32_t sent, received, depends;
};

struct state {
  uint32_t phase, wanted, writing;
  uint32_t interval; /* number of the last checkpoint */
  uint32_t epoch;    /* incarnation of the last recovery */
  uint32_t undone;   /* as in struct row */
  uint32_t fresh;    /* 1 if the rank was restarted and its program has not run since */
  uint32_t first;    /* first checkpoint that a line may need; earlier ones are erased */
  /* At the coordinator: 1 while it asks for tables, to find what can be collected; 2 if it will ask
   * again afterwards. */
  uint32_t gathers;
  uint32_t known; /* at the coordinator: 1 if it has had tables */
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

/* Lists, for each checkpoint that a line may need, its marks and its number of outputs. The
 * beginning of the program counts as such a checkpoint. Then come the present dependences, the
 * coordinator's rows, the dependences of each state of each rank, and the links. */
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

static struct mark *mark_of(const struct rank *r, uint32_t checkpoint)
{
  return marks_of(r->config, r->state) + (checkpoint - r->state->first) * (size_t)r->config->ranks;
}

static struct line line_of(const struct rank *r)
{
  return (struct line){.ranks = r->config->ranks,
                       .states = rcl_checkpoints(r->config) + 2,
                       .rows = rows_of(r->config, r->state),
                       .known = all_known(r->config, r->state)};
}

static struct rcl_links links_of(const struct rank *r)
{
  struct rcl_links links =
      rcl_links_at(r->config, &r->state->links, links_memory(r->config, r->state));
  links.held = r->state->phase != RUNNING;
  links.interval = r->state->interval;
  links.epoch = r->state->epoch;
  return links;
}

/* ---- messages ---- */

static void send(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  rcl_links_send(&links, r->event->peer, r->actions);
}

/* Takes a message, unless it was under way at a crash: such messages are sent again, or undone. */
static void arrived(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  uint32_t *depends = &depends_now(r->config, r->state)[r->event->peer];
  if (r->event->words[RCL_LINKS_EPOCH] != r->state->epoch) {
    rcl_act(r->actions, RCL_ACTION_DISCARD);
    return;
  }
  rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
  if (!rcl_links_arrived(&links, r->event->peer, r->event->words[RCL_LINKS_NUMBER]))
    rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
  if (r->event->peer != r->config->self && *depends <= r->event->words[RCL_LINKS_INTERVAL])
    *depends = r->event->words[RCL_LINKS_INTERVAL] + 1;
}

/* ---- a checkpoint ---- */

static void ask_for_line(const struct rank *r);

/* Skips a checkpoint for lack of room, and tries again an interval later. */
static void skip_checkpoint(const struct rank *r)
{
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  ask_for_line(r);
}

static void take_checkpoint(const struct rank *r)
{
  if (!r->state->wanted || r->state->phase != RUNNING || r->state->writing ||
      r->state->undone != NOWHERE)
    return;
  if (r->state->interval == NOWHERE - 2) {
    rcl_give_up_full(r->actions, RCL_FULL_LIMIT);
    return;
  }
  r->state->wanted = false;
  if (r->state->interval - r->state->first == rcl_checkpoints(r->config)) {
    skip_checkpoint(r);
    return;
  }
  r->state->phase = CAPTURING;
  rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = r->state->interval + 1;
}

static void captured(const struct rank *r)
{
  const struct rcl_link *link = links_of(r).link;
  struct mark *mark = mark_of(r, r->event->checkpoint);
  for (int i = 0; i < r->config->ranks; i++)
    mark[i] = (struct mark){link[i].sent, link[i].received, depends_now(r->config, r->state)[i]};
  r->state->phase = RUNNING;
  r->state->interval = r->event->checkpoint;
  outputs_of(r->config, r->state)[r->state->interval - r->state->first] = r->event->output;
  rcl_store(r->actions, RCL_PART_IMAGE, r->event->checkpoint);
  r->state->writing = true;
}

static void end_write(const struct rank *r)
{
  r->state->writing = false;
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
}

/* ---- the line ---- */

/* Sets the state back to where the program was at `checkpoint`, because its later steps are
 * undone. */
static void undo(const struct rank *r, uint32_t checkpoint)
{
  struct rcl_links links = links_of(r);
  const struct mark *mark = mark_of(r, checkpoint);
  for (int i = 0; i < r->config->ranks; i++) {
    links.link[i].sent = mark[i].sent;
    links.link[i].received = mark[i].received;
    depends_now(r->config, r->state)[i] = mark[i].depends;
  }
  rcl_links_go_back(&links, checkpoint, true, r->actions);
  for (uint32_t i = checkpoint + 1; i <= r->state->interval; i++) {
    memset(mark_of(r, i), 0, (size_t)r->config->ranks * sizeof *mark);
    outputs_of(r->config, r->state)[i - r->state->first] = 0;
  }
  if (r->state->writing && r->state->interval > checkpoint)
    end_write(r);
  r->state->interval = r->state->undone = checkpoint;
}

/* Notes that all peers stand on the line, so that no peer depends on an undone interval. */
static void all_stand(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (r->state->phase == RUNNING && rcl_links_are_all_up(&links))
    r->state->undone = NOWHERE;
}

/* Goes on, because this rank stands on the line. A peer's report tells it that the peer stands on
 * the line, too. */
static void resume(const struct rank *r)
{
  r->state->phase = RUNNING;
  r->state->fresh = false;
  struct rcl_links links = links_of(r);
  rcl_links_stand(&links, HAVE, REPORT, r->actions);
  all_stand(r);
}

static void stand(const struct rank *r, uint32_t checkpoint)
{
  if (checkpoint > r->state->interval || (checkpoint == r->state->interval && r->state->fresh)) {
    rcl_act(r->actions, RCL_ACTION_RELEASE);
    resume(r);
    return;
  }
  r->state->phase = ROLLING;
  rcl_act(r->actions, RCL_ACTION_ROLL_BACK)->checkpoint = checkpoint;
}

/* ---- the tables ---- */

static uint32_t depends_at(const struct rank *r, uint32_t at, int peer)
{
  return at > r->state->interval ? depends_now(r->config, r->state)[peer]
                                 : mark_of(r, at)[peer].depends;
}

/* Returns this rank's row of the tables: the present row or, when tables are gathered, the row that
 * it would have if it failed now. */
static struct row own_row(const struct rank *r)
{
  return (struct row){.first = r->state->first,
                      .latest = r->state->interval - (r->state->gathers && r->state->writing),
                      .present = !r->state->gathers && !r->state->fresh,
                      .undone = r->state->gathers ? NOWHERE : r->state->undone,
                      .complete = r->state->epoch};
}

static void fill_own_row(const struct rank *r)
{
  const struct line line = line_of(r);
  struct row *row = &line.rows[r->config->self];
  *row = own_row(r);
  r->state->known = true;
  for (uint32_t at = row->first; at <= last_of(row); at++)
    for (int peer = 0; peer < r->config->ranks; peer++)
      known_of(&line, r->config->self, at)[peer] = (uint16_t)depends_at(r, at, peer);
}

static void send_table(const struct rank *r)
{
  const struct row row = own_row(r);
  rcl_send_control(r->actions, RCL_COORDINATOR_RANK, TABLE, row.latest,
                   row.first << 1 | row.present);
  for (uint32_t at = row.first; at <= last_of(&row); at++)
    for (int peer = 0; peer < r->config->ranks; peer++) {
      uint32_t depends = depends_at(r, at, peer);
      if (depends)
        rcl_send_control(r->actions, RCL_COORDINATOR_RANK, DEPENDS, at,
                         (uint32_t)peer << 16 | depends);
    }
  rcl_send_control(r->actions, RCL_COORDINATOR_RANK, END, r->state->epoch, row.undone);
}

static void begin_row(const struct rank *r, int rank)
{
  const struct line line = line_of(r);
  line.rows[rank] = (struct row){.first = r->event->value >> 1,
                                 .latest = r->event->about,
                                 .present = r->event->value & 1,
                                 .complete = NOWHERE};
  memset(known_of(&line, rank, line.rows[rank].first), 0,
         line.states * (size_t)r->config->ranks * sizeof(uint16_t));
}

/* ---- what no line needs ---- */

/* Drops everything before `checkpoint`. Tells peers what was received before `checkpoint`, and lets
 * outputs leave that were made before it. */
static void collect(const struct rank *r, uint32_t checkpoint)
{
  struct rcl_links links = links_of(r);
  size_t ranks = (size_t)r->config->ranks, gone = (checkpoint - r->state->first) * ranks;
  size_t left = (r->state->interval - checkpoint + (size_t)1) * ranks;
  struct mark *marks = marks_of(r->config, r->state);
  uint32_t *outputs = outputs_of(r->config, r->state), first = checkpoint - r->state->first;
  if (first && outputs[first])
    rcl_output(r->actions, outputs[first], RCL_FRESH);
  for (uint32_t i = r->state->first; i < checkpoint; i++)
    if (i != RCL_FRESH)
      rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = i;
  memmove(marks, marks + gone, left * sizeof *marks);
  memset(marks + left, 0, gone * sizeof *marks);
  memmove(outputs, outputs + first, left / ranks * sizeof *outputs);
  memset(outputs + left / ranks, 0, first * sizeof *outputs);
  r->state->first = checkpoint;
  for (int i = 0; gone && i < r->config->ranks; i++) {
    rcl_links_drop(links.ahead, &r->state->links.ahead, i, marks[i].received, 0);
    if (i == r->config->self)
      rcl_links_drop_sent(&links, i, marks[i].received, r->actions);
    else
      rcl_send_control(r->actions, i, RECEIVED, r->state->epoch, marks[i].received);
  }
}

/* Asks all ranks for their tables, if all ranks stand on the line. If the coordinator is already
 * asking, it will ask once more afterwards. */
static bool gather(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (r->state->gathers)
    r->state->gathers = 2;
  if (r->state->gathers || !rcl_links_are_all_up(&links))
    return false;
  r->state->gathers = 1;
  for (int rank = 0; rank < r->config->ranks; rank++) {
    rows_of(r->config, r->state)[rank].complete = NOWHERE;
    if (rank != r->config->self)
      rcl_send_control(r->actions, rank, GATHER, r->state->epoch, 0);
  }
  fill_own_row(r);
  return true;
}

/* Tells all ranks where to stand, or which checkpoints a line may need. The coordinator has all
 * tables now. */
static void draw_line(const struct rank *r)
{
  const struct line line = line_of(r);
  uint32_t own, gathers = r->state->gathers;
  for (int rank = 0; rank < r->config->ranks; rank++)
    if (line.rows[rank].complete != r->state->epoch)
      return;
  find_line(&line);
  own = line.rows[r->config->self].line;
  for (int rank = 0; rank < r->config->ranks; rank++)
    if (rank != r->config->self)
      rcl_send_control(r->actions, rank, gathers ? NEEDED : LINE, r->state->epoch,
                       line.rows[rank].line);
  r->state->gathers = 0;
  if (gathers)
    collect(r, own);
  else
    stand(r, own);
  if (gathers > 1)
    gather(r);
}

/* Returns whether there is little room, or whether the last image has outputs that were made after
 * the last known line. */
static bool wants_line(const struct rank *r)
{
  const uint32_t *outputs = outputs_of(r->config, r->state);
  return r->state->links.log >= r->config->capacity - r->config->capacity / 4 ||
         r->state->interval - r->state->first >=
             rcl_checkpoints(r->config) - rcl_checkpoints(r->config) / 4 ||
         outputs[r->state->interval - r->state->first] > outputs[0];
}

static void ask_for_line(const struct rank *r)
{
  if (r->config->self != RCL_COORDINATOR_RANK)
    rcl_send_control(r->actions, RCL_COORDINATOR_RANK, COLLECT, r->state->epoch, 0);
  else if (gather(r))
    draw_line(r);
}

static void durable(const struct rank *r)
{
  end_write(r);
  if (wants_line(r))
    ask_for_line(r);
}

/* ---- recovery ---- */

static void recover(const struct rank *r, uint32_t epoch)
{
  struct rcl_links links = links_of(r);
  r->state->epoch = epoch;
  r->state->gathers = 0;
  r->state->phase = HELD;
  rcl_act(r->actions, RCL_ACTION_HOLD);
  rcl_links_all_down(&links);
  if (r->config->self != RCL_COORDINATOR_RANK) {
    send_table(r);
  } else {
    fill_own_row(r);
    draw_line(r);
  }
}

/* Returns whether the checkpoint is noted, that is, was taken and is not collected. */
static bool is_noted(const struct rank *r, uint32_t checkpoint)
{
  return checkpoint >= r->state->first && checkpoint <= r->state->interval;
}

static void start(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (!is_noted(r, r->event->checkpoint)) { /* the rank's last image was lost */
    rcl_give_up(r->actions, RCL_REASON_PROTOCOL);
    return;
  }
  if (r->state->phase == ROLLING) {
    undo(r, r->event->checkpoint);
    resume(r);
    return;
  }
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  if (!r->event->incarnation) {
    r->state->undone = NOWHERE;
    rcl_links_all_up(&links);
    return;
  }
  r->state->wanted = r->state->writing = false;
  undo(r, r->event->checkpoint);
  r->state->fresh = true;
  recover(r, r->event->incarnation);
}

static void reported(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (r->event->about != r->state->epoch)
    return;
  rcl_links_up(&links, r->event->peer, r->event->value);
  rcl_links_flush(&links, r->event->peer, r->actions);
  all_stand(r);
}

static void control(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  const struct line line = line_of(r);
  switch ((enum control)r->event->control) {
  case HAVE:
    if (r->event->about == r->state->epoch &&
        !rcl_links_peer_has(&links, r->event->peer, r->event->value))
      rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
    break;
  case REPORT:
    reported(r);
    break;
  case TABLE:
    begin_row(r, r->event->peer);
    break;
  case DEPENDS:
    known_of(&line, r->event->peer, r->event->about)[r->event->value >> 16] =
        (uint16_t)r->event->value;
    break;
  case END:
    line.rows[r->event->peer].complete = r->event->about;
    line.rows[r->event->peer].undone = r->event->value;
    draw_line(r);
    break;
  case LINE:
    if (r->event->about == r->state->epoch)
      stand(r, r->event->value);
    break;
  case COLLECT:
    gather(r);
    break;
  case GATHER:
    r->state->gathers = r->event->about == r->state->epoch;
    if (r->state->gathers)
      send_table(r);
    r->state->gathers = 0;
    break;
  case NEEDED: /* the message is also valid in later epochs */
    collect(r, r->event->value);
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
  r->state->wanted = true;
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,
    [RCL_EVENT_DOWN] = down,
    [RCL_EVENT_TIMER] = timer,
    [RCL_EVENT_SEND] = send,
    [RCL_EVENT_RECEIVE] = rcl_match_receive,
    [RCL_EVENT_SAFE_POINT] = take_checkpoint,
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

static bool depends_on_received(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  for (int i = 0; i < r->config->ranks; i++) {
    bool heard = links.link[i].received > 0;
    for (uint32_t j = 0; j < r->state->links.ahead; j++)
      heard |= links.ahead[j].peer == i;
    if (depends_now(r->config, r->state)[i] && !heard)
      return false;
  }
  return true;
}

static bool dependencies_rise(const struct rank *r)
{
  for (uint32_t at = r->state->first; at <= r->state->interval; at++)
    for (int i = 0; i < r->config->ranks; i++)
      if (depends_at(r, at, i) > depends_at(r, at + 1, i))
        return false;
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (!rcl_links_are_sound(&links))
    return 6;
  if (!depends_on_received(r))
    return 1;
  if (!dependencies_rise(r))
    return 2;
  if (r->state->phase == CAPTURING && r->state->undone != NOWHERE)
    return 3;
  if (!rcl_links_nothing_waits(&links))
    return 4;
  return r->state->first <= r->state->interval ? 0 : 5;
}

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"write", "store", "durable"},
                                          {"rollback", "roll-back", "start"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"once-per-failure", NULL};

RCL_ONLY_FORM

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
    .step = only_step,
    .violated_invariant = only_broken,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_SENDER}},
        .back = RCL_BACK_DEPENDENT,
        .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_MPI_ORDER | RCL_ASSUMES_WHOLE_WRITES |
                   RCL_ASSUMES_LOGGER}};
