/* Optimistic message logging: events are logged in the background, no message waits for storage,
 * and a rank that depends on events lost in a crash goes back, too.
 *
 * Source: Strom and Yemini, "Optimistic recovery in distributed systems" (ACM Transactions on
 * Computer Systems 3(3), 1985); Damani and Garg, "How to recover efficiently and asynchronously
 * when optimism fails" (International Conference on Distributed Computing Systems, 1996).
 *
 * Each event of a rank (a reception, a decision) begins an *interval*. Events are written to an
 * event logger, one write after the other, while the rank goes on. A message carries the interval
 * in which it was sent. Before the message the rank tells the receiver on which intervals of other
 * ranks it depends. It leaves out intervals of which the receiver was told, and intervals that are
 * known to be *stable* (on storage). Payloads are logged by their senders (links.h).
 *
 * A crashed rank goes on from its last checkpoint with the events that the log has. Its intervals
 * behind these events are *lost*, and it tells all ranks which intervals they are. At each failure
 * every rank holds its program until all failed ranks have told their lost intervals. A rank that
 * depends on a lost interval is an *orphan*: it goes back to a checkpoint from before its first
 * event that depends on a lost interval, and repeats the earlier events. Each rank then writes its
 * log, so that it never has to hear of that failure again, and reports to all ranks what it has
 * received. Messages that a peer lacks are sent again, all others are suppressed. A rank knows by
 * itself whether to go back, because its dependences include indirect ones. It goes back at most
 * once for each failure.
 *
 * Messages from before a failure are discarded: either their sending is undone, or their sender has
 * them in its log. A message from after the failure is sent only after its receiver's report, so
 * the receiver knows of the failure.
 *
 * An output waits until the intervals on which it depends are stable. The rank asks the other ranks
 * to tell when their intervals are stable.
 *
 * Checkpoints are independent. When one is durable, the rank asks the ranks on which it depends to
 * tell when their intervals are stable. When these are stable, no failure can undo this checkpoint.
 * Then earlier checkpoints, events and dependences are dropped, and senders drop messages that were
 * received before this checkpoint.
 *
 *            SAFE_POINT, if wanted            captured
 *     RUNNING ------------------> CAPTURING -----------> RUNNING
 *        |
 *        |  DOWN,              all told, an orphan            start            log durable
 *        |  restart   AWAITING -------------------> ROLLING --------> SAVING -------------> RUNNING
 *        +--------------^  |                                             ^
 *                          |  all told, no orphan                        |
 *                          +---------------------------------------------+
 *
 * Transitions:
 *     RUNNING -> CAPTURING : take_checkpoint()  [safe-point]
 *     CAPTURING -> RUNNING : captured()  [captured]
 *     RUNNING -> AWAITING : recover()  [down, start]
 *     SAVING -> AWAITING : recover()  [down]
 *     AWAITING -> ROLLING : decide()  [control told]
 *     AWAITING -> SAVING : decide(), save()  [control told]
 *     ROLLING -> SAVING : start(), save()  [start]
 *     SAVING -> RUNNING : stand()  [durable log]
 *
 * Its invariants are numbered: see invariants[]. */
#include "protocols/optimistic_outputs.h"

static const char *const invariants[] = {
    /* 1 */
    "no message waits to be sent while its link is up and the rank is not in a recovery: "
    "otherwise nothing would ever send the message, and its receiver would wait for ever",
    /* 2 */
    "no more events are stable, or being written, than there were: "
    "otherwise an event would count as safe that is on no storage, and a crash would undo what "
    "depends on it",
    /* 3 */
    "every message that a peer may still ask for is in the log: "
    "otherwise a peer that goes back would wait for a message that nobody can send again",
    /* 4 */
    "dependences are of events that have happened, in their order: "
    "otherwise a rollback would undo too much, or leave an orphan",
    /* 5 */
    "events of checkpoints rise, and have happened: "
    "otherwise a rank would go back to a checkpoint that does not fit what it has to undo",
    /* 6 */
    "a rank that runs awaits nobody, is no orphan, and has its failures on storage: "
    "otherwise the rank would go on from what a crash has undone",
    /* 7 */
    "no checkpoint is kept from before one that nothing can undo: "
    "otherwise storage would fill with checkpoints that no recovery needs",
    /* 8 */
    "no output waits that nothing can undo: "
    "otherwise the output would never leave",
    /* 9 */
    "a message that is logged, or ahead of a gap, is of a rank and has a number: "
    "otherwise the message could not be sent again after a crash: its receiver waits for ever",
    /* 10 */
    "a logged reception is of a message of a rank, or of none: "
    "otherwise a restarted rank would wait for a message that nobody has sent",
    /* 11 */
    "events depend on events of other ranks: "
    "otherwise a rollback would undo too much, or leave an orphan",
    NULL};

static const char *const controls[] = {
    "none",
    "have: I have your message number {value}, ahead of a gap",
    "report: messages that I have received from you: {value}",
    "lost: in failure {about} I have lost my events after event {value}",
    "told: these were all events that I have lost, up to failure {about}",
    "depends: I depend on rank {about.low} up to its event {value}",
    "ask: tell me when your events up to {value} are stable",
    "stable: my events up to {value} are stable",
    "received: your messages that I need not receive again: {value}",
    NULL};

/* ---- the event log ---- */

static void write_log(const struct rank *r)
{
  struct state *state = r->state;
  if (state->busy || (state->events == state->stable && state->unsaved != TO_SAVE))
    return;
  state->busy = true;
  state->writing = state->events;
  if (state->unsaved == TO_SAVE)
    state->unsaved = BEING_SAVED;
  rcl_store(r->actions, RCL_PART_LOG, last_image(r)->number);
}

/* Answers a peer that has asked about an interval, once the interval is stable and nothing can undo
 * it. */
static void tell_stable(const struct rank *r, int to)
{
  struct peer *peer = peer_of(r, to);
  if (!peer->asked || peer->asked > r->state->stable || recovers(r))
    return;
  peer->asked = 0;
  rcl_send_control(r->actions, to, STABLE, r->state->epoch, r->state->stable);
}

static void now_stable(const struct rank *r, uint32_t events)
{
  if (r->state->stable < events)
    r->state->stable = events;
  for (int i = 0; i < r->config->ranks; i++)
    tell_stable(r, i);
}

/* ---- events ---- */

static void note_reception(const struct rank *r)
{
  struct happened *entry = append(r);
  if (!entry)
    return;
  entry->request = r->event->request;
  entry->tag = r->event->tag;
  entry->peer = r->event->peer;
  if (r->event->kind == RCL_EVENT_ARRIVED)
    depend_on_message(r, r->event->peer, r->event->words[RCL_LINKS_INTERVAL]);
  if (r->state->depends > r->config->capacity / 2)
    ask(r, r->state->events);
  write_log(r);
}

/* Notes a decision. A polling program makes the same decision many times in a row. These decisions
 * are together one entry. */
static void note_decision(const struct rank *r, uint32_t outcome)
{
  struct happened *last = happened_of(r->config, r->state) + r->state->happened - 1;
  bool same = r->state->happened && last->event > last_image(r)->events && !last->request &&
              last->outcome == outcome;
  if (same) {
    last->count++;
    r->state->events++;
  } else if (!(last = append(r))) {
    return;
  }
  last->outcome = outcome;
  r->state->decision = r->state->happened;
  r->state->repeated = 0;
  write_log(r);
}

/* ---- sending ---- */

static void flush(const struct rank *r, int to)
{
  struct rcl_links links = links_of(r);
  if (rcl_links_may_pass(&links, to) && links.link[to].passed < links.link[to].sent)
    give(r, to);
  rcl_links_flush(&links, to, r->actions);
}

static void send(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  const struct rcl_link *link = &links.link[r->event->peer];
  if (rcl_links_may_pass(&links, r->event->peer) && link->passed == link->sent)
    give(r, r->event->peer);
  links.interval = r->state->events;
  rcl_links_send(&links, r->event->peer, r->actions);
}

/* ---- receiving, deciding ---- */

/* Takes a message. A message that is received again adds no dependences. The dependences that its
 * sender told ahead of it are noted with the sender's next new message. */
static void arrived(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (r->event->words[RCL_LINKS_EPOCH] != r->state->epoch) {
    rcl_act(r->actions, RCL_ACTION_DISCARD);
    return;
  }
  rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
  if (!rcl_links_arrived(&links, r->event->peer, r->event->words[RCL_LINKS_NUMBER]))
    rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
  if (rcl_logged_reception(r, r->event->request))
    r->state->replaying--;
  else
    note_reception(r);
}

/* ---- a checkpoint of this rank alone ---- */

/* Takes a checkpoint. Without room for one more, the checkpoint waits until earlier ones are
 * dropped. */
static void take_checkpoint(const struct rank *r)
{
  struct state *state = r->state;
  if (!state->wanted || state->phase != RUNNING || state->replaying || state->storing ||
      state->last == rcl_checkpoints(r->config))
    return;
  state->wanted = false;
  state->phase = CAPTURING;
  rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = last_image(r)->number + 1;
}

static void captured(const struct rank *r)
{
  const struct rcl_link *link = links_of(r).link;
  struct mark *mark = mark_of(r, ++r->state->last);
  for (int i = 0; i < r->config->ranks; i++)
    mark[i] = (struct mark){link[i].sent, link[i].received};
  *last_image(r) = (struct image){.number = r->event->checkpoint, .events = r->state->events};
  r->state->storing = r->event->checkpoint;
  r->state->phase = RUNNING;
  forget_released(r);
  rcl_store(r->actions, RCL_PART_IMAGE, r->event->checkpoint);
}

static void image_durable(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  r->state->storing = 0;
  rcl_links_compact(&links);
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  ask(r, last_image(r)->events);
  now_stable(r, last_image(r)->events);
  collect(r);
}

/* ---- recovery ---- */

/* Goes on, because the rank has dealt with all failures that it knows of. */
static void stand(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  r->state->phase = RUNNING;
  rcl_links_to_self(&links);
  for (int i = 0; i < r->config->ranks; i++) {
    if (i == r->config->self)
      continue;
    rcl_send_control(r->actions, i, STABLE, r->state->epoch, r->state->stable);
    rcl_links_report(&links, i, HAVE, REPORT, r->actions);
  }
  for (int i = 0; i < r->config->ranks; i++)
    flush(r, i);
}

/* Forgets own failures when all ranks, including this one, have reported. Then all ranks have noted
 * on storage that they know of these failures. */
static void forget_failures(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (!rcl_links_are_all_up(&links))
    return;
  memset(failures_of(r->config, r->state), 0, r->state->failures * sizeof(struct failure));
  r->state->failures = 0;
}

static void reported(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (r->event->about != r->state->epoch)
    return;
  rcl_links_up(&links, r->event->peer, r->event->value);
  flush(r, r->event->peer);
  forget_failures(r);
}

static void log_durable(const struct rank *r)
{
  struct state *state = r->state;
  bool saved = state->unsaved == BEING_SAVED;
  state->busy = false;
  if (saved)
    state->unsaved = SAVED;
  now_stable(r, state->writing);
  state->writing = 0;
  write_log(r);
  if (saved && state->phase == SAVING) {
    stand(r);
    forget_failures(r);
  }
}

static void save(const struct rank *r)
{
  r->state->phase = SAVING;
  r->state->unsaved = TO_SAVE;
  write_log(r);
}

/* Decides whether to go back, when all failed ranks have told their lost intervals. An orphan that
 * has not run again yet is already where it would go. */
static void decide(const struct rank *r)
{
  struct state *state = r->state;
  uint32_t place = place_before(r, state->cut);
  for (int i = 0; i < r->config->ranks; i++)
    if (peer_of(r, i)->awaited)
      return;
  bool there = place == state->last && state->replaying == state->events - last_image(r)->events;
  if (state->cut && !there) {
    state->phase = ROLLING;
    rcl_act(r->actions, RCL_ACTION_ROLL_BACK)->checkpoint = image_of(r, place)->number;
    return;
  }
  if (state->cut) {
    cut_off(r, state->cut);
    replay(r);
  }
  rcl_act(r->actions, RCL_ACTION_RELEASE);
  save(r);
}

/* Begins a recovery. Forgets what others have told since the last failure, because it is no longer
 * valid. */
static void recover(const struct rank *r, uint32_t epoch)
{
  struct rcl_links links = links_of(r);
  r->state->epoch = epoch;
  r->state->phase = AWAITING;
  rcl_act(r->actions, RCL_ACTION_HOLD);
  rcl_links_all_down(&links);
  memset(told_of(r->config, r->state), 0, r->state->told * sizeof(struct dependence));
  r->state->told = 0;
  for (int i = 0; i < r->config->ranks; i++) {
    struct peer *peer = peer_of(r, i);
    peer->stable = peer->asked = peer->asking = peer->given = 0;
  }
}

static void down(const struct rank *r)
{
  recover(r, r->event->incarnation);
  peer_of(r, r->event->peer)->awaited = true;
  tell_failures(r, r->event->peer);
}

/* Starts from the state that was stored last, with the checkpoint or after it. If the checkpoint
 * was still being stored, messages that were forgotten when it was taken have empty slots, and are
 * removed from the log. In earlier checkpoints these slots are full. */
static void restart(const struct rank *r)
{
  struct state *state = r->state;
  struct rcl_links links = links_of(r);
  uint32_t place = state->last;
  if (state->storing == r->event->checkpoint)
    rcl_links_compact(&links);
  while (place > 0 && image_of(r, place)->number > r->event->checkpoint)
    place--;
  state->storing = state->busy = state->writing = state->unsaved = state->wanted = 0;
  state->stable = state->events;
  undo(r, place, false);
  note_failure(r, r->event->incarnation);
  recover(r, r->event->incarnation);
  replay(r);
  collect(r);
  for (int i = 0; i < r->config->ranks; i++)
    if (i != r->config->self) {
      peer_of(r, i)->awaited = true;
      tell_failures(r, i);
    }
  decide(r);
}

static void start(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  outputs_again(r, r->event->output);
  if (r->state->phase == ROLLING) {
    undo(r, place_before(r, r->state->cut), true);
    cut_off(r, r->state->cut);
    replay(r);
    save(r);
    return;
  }
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  if (r->event->incarnation)
    restart(r);
  else
    rcl_links_all_up(&links);
}

/* ---- control messages ---- */

static void lost(const struct rank *r)
{
  struct peer *peer = peer_of(r, r->event->peer);
  if (r->event->about <= peer->handled)
    return;
  peer->handled = r->event->about;
  uint32_t first = first_orphan(r, r->event->peer, r->event->value);
  if (first && (!r->state->cut || first < r->state->cut))
    r->state->cut = first;
}

static void told_stable(const struct rank *r)
{
  struct peer *peer = peer_of(r, r->event->peer);
  if (r->event->about != r->state->epoch)
    return;
  peer->stable = r->event->value;
  if (peer->asking <= r->event->value)
    peer->asking = 0;
  drop_depends(r, UINT32_MAX, r->event->peer, r->event->value);
  collect(r);
}

static void control(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  struct peer *peer = peer_of(r, r->event->peer);
  bool now = r->event->about == r->state->epoch;
  switch ((enum control)r->event->control) {
  case HAVE:
    if (now && !rcl_links_peer_has(&links, r->event->peer, r->event->value))
      rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
    break;
  case REPORT:
    reported(r);
    break;
  case LOST:
    lost(r);
    break;
  case TOLD:
    peer->awaited = false;
    if (r->state->phase == AWAITING)
      decide(r);
    break;
  case DEPENDS:
    if (r->event->about >> 16 == r->state->epoch)
      hear(r, r->event->peer, (int)(r->event->about & UINT16_MAX), r->event->value);
    break;
  case ASK:
    if (now)
      peer->asked = r->event->value;
    tell_stable(r, r->event->peer);
    break;
  case STABLE:
    told_stable(r);
    break;
  case RECEIVED:
    peer->released = r->event->value;
    break;
  }
}

static void timer(const struct rank *r)
{
  r->state->wanted = true;
}

static void output(const struct rank *r)
{
  wait_for(r, r->event->output);
}

static void on_control(const struct rank *r)
{
  control(r);
  settle_outputs(r);
}

static void durable(const struct rank *r)
{
  if (r->event->part == RCL_PART_IMAGE)
    image_durable(r);
  else
    log_durable(r);
  settle_outputs(r);
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,
    [RCL_EVENT_DOWN] = down,
    [RCL_EVENT_TIMER] = timer,
    [RCL_EVENT_SEND] = send,
    [RCL_EVENT_OUTPUT] = output,
    [RCL_EVENT_RECEIVE] = rcl_replay_receive,
    [RCL_EVENT_CHOICE] = rcl_replay_choice,
    [RCL_EVENT_SAFE_POINT] = take_checkpoint,
    [RCL_EVENT_ARRIVED] = arrived,
    [RCL_EVENT_CONTROL] = on_control,
    [RCL_EVENT_CAPTURED] = captured,
    [RCL_EVENT_DURABLE] = durable,
};

static void step(const struct rank *r)
{
  rcl_take(on, r);
}

/* ---- invariants, by their numbers ---- */

static bool depends_on_ranks(const struct rank *r)
{
  const struct dependence *depends = depends_of(r->config, r->state),
                          *told = told_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->depends; i++)
    if (!rcl_is_rank(r->config, depends[i].rank) || depends[i].rank == r->config->self)
      return false;
  for (uint32_t i = 0; i < r->state->told; i++)
    if (!rcl_is_rank(r->config, told[i].rank))
      return false;
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (!rcl_links_are_sound(&links))
    return 9;
  if (!rcl_receptions_are_sound(r))
    return 10;
  if (!depends_on_ranks(r))
    return 11;
  if (!rcl_links_nothing_waits(&links))
    return 1;
  if (r->state->stable > r->state->events || r->state->writing > r->state->events)
    return 2;
  if (!log_is_whole(r))
    return 3;
  if (!dependences_happened(r))
    return 4;
  if (!images_rise(r))
    return 5;
  if (!recovers(r) && !has_recovered(r))
    return 6;
  if (last_safe(r) != 0)
    return 7;
  const struct waiting *asked = &r->state->asked;
  return asked->output && !recovers(r) && is_safe(r, asked->event) ? 8 : 0;
}

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {
    {"capture", "capture", "captured"}, {"write", "store part=image", "durable part=image"},
    {"await", "hold", "release"},       {"rollback", "roll-back", "start"},
    {"resend", "resend", "resend"},     {NULL, NULL, NULL}};

static const char *const promises[] = {"once-per-failure", "bounded", NULL};

RCL_ONLY_FORM

extern const struct rcl_protocol protocol_optimistic;
const struct rcl_protocol protocol_optimistic = {
    .name = "optimistic",
    .title = "optimistic message logging (Strom and Yemini 1985; Damani and Garg 1996)",
    .piggyback_bytes = 12,
    .control_bytes = 12,
    .independent = true,
    .piggybacks = true,
    .controls = controls,
    .invariants = invariants,
    .phases = phases,
    .promises = promises,
    .state_size = state_size,
    .in_use = in_use,
    .step = only_step,
    .violated_invariant = only_broken,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_SENDER},
                 {RCL_LOGGED_DETERMINANTS, RCL_LOGGED_LATER, RCL_LOGGED_BY_LOGGER}},
        .back = RCL_BACK_DEPENDENT,
        .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_MPI_ORDER | RCL_ASSUMES_WHOLE_WRITES |
                   RCL_ASSUMES_LOGGER}};
