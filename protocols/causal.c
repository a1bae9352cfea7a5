/* Causal message logging: determinants travel with the messages that depend on them.
 *
 * Source: Elnozahy and Zwaenepoel, Manetho (IEEE Transactions on Computers 41(5), 1992); Alvisi and
 * Marzullo, family-based logging for f failures (Message Logging, IEEE Transactions on Software
 * Engineering 24(2), 1998, section 6).
 *
 * A *determinant* tells what an event of a rank was: which message a receive was given, or how a
 * decision came out. Payloads are logged by their senders (links.h). A rank keeps the determinants
 * of its events, and of all events on which it depends, in memory. A determinant is *stable* when
 * f + 1 ranks have it. Other determinants travel with a message if its receiver may lack them. So
 * each rank that depends on an event has its determinant, or f + 1 ranks have it, and no message
 * waits for storage. A determinant is dropped when a durable checkpoint covers it.
 *
 * After a crash the restarted rank asks all others for determinants, and holds its program until
 * all have answered. The others send all their determinants, so that the restarted rank counts
 * again among the ranks that have them. If another rank fails meanwhile, the restarted rank asks
 * again. A rank answers the new question only after it has noticed that failure, when no message of
 * the dead rank can reach it any more. Then the program runs again, with the same receives and
 * decisions, after both ends of each link have reported what they have received (links.h).
 * Survivors never go back, and go on during the recovery.
 *
 * An output waits until the determinants before it are stable. The rank asks some peers to confirm
 * that they have these determinants (causal_outputs.h).
 *
 *     the rank      SAFE_POINT, if wanted          captured
 *             RUNNING ----------------> CAPTURING ----------> WRITING
 *              ^    ^                                           |
 *              |    +-------------------------------------------+
 *     all have |                     durable
 *     answered |
 *            ASKING     from each restart on
 *
 * Transitions:
 *     RUNNING -> CAPTURING : take_checkpoint()  [safe-point]
 *     CAPTURING -> WRITING : captured()  [captured]
 *     WRITING -> RUNNING : image_durable()  [durable image]
 *     RUNNING -> ASKING : restart()  [start]
 *     ASKING -> RUNNING : check_answers()  [control answer]
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/causal_outputs.h"

static const char *const invariants[] = {
    /* 1 */
    "no message waits to be sent while its link is up: "
    "otherwise nothing would ever send the message, and its receiver would wait for ever",
    /* 2 */
    "no peer has acknowledged more determinants than it was told: "
    "otherwise a determinant would count as known to a peer that lacks it, and be lost by a crash",
    /* 3 */
    "every message that a peer may still ask for is in the log: "
    "otherwise a peer that goes back would wait for a message that nobody can send again",
    /* 4 */
    "a message that was received ahead of a gap is behind the gap: "
    "otherwise a message that is missing would count as received, and be lost",
    /* 5 */
    "a rank that runs has the determinants of all its events since its checkpoint: "
    "otherwise after a crash its events would come out otherwise than others have seen",
    /* 6 */
    "nothing happens again before all have answered: "
    "otherwise a decision would be made anew although another rank knows how it came out",
    /* 7 */
    "no output waits when the determinants before it are stable: "
    "otherwise the output would never leave",
    /* 8 */
    "a message that is logged, or ahead of a gap, is of a rank and has a number: "
    "otherwise the message could not be sent again after a crash: its receiver waits for ever",
    /* 9 */
    "a determinant is of a rank's event: a decision, or a message of a rank or of nobody: "
    "otherwise a restarted rank would repeat what has not happened",
    NULL};

static const char *const controls[] = {
    "none",
    "have: I have your message number {value}, ahead of a gap",
    "report: messages that I have received from you: {value}",
    "checkpointed: my checkpoint has my events up to {about}, and your messages up to {value}",
    "ask: what determinants do you have? It is recovery {about}",
    "answer: these were all determinants that I have, in recovery {about}",
    ("determinant: event {value} of rank {about.high} was {about.low?65535:a decision|65534:a "
     "receive that was cancelled|the receipt of a message from rank %}"),
    "of-request: the receive was request {about}, with tag {value}",
    "confirm: do you have my determinants up to place {about}?",
    "confirmed: I have your determinants up to place {about}",
    "of-decision: the decision came out as {about}, {value?1:once|% times}",
    NULL};

static const char *const parameters[] = {"failures", NULL};

static struct rcl_links links_of(const struct rank *r)
{
  return rcl_links_at(r->config, &r->state->links, links_memory(r->config, r->state));
}

/* ---- events ---- */

static void note_reception(const struct rank *r)
{
  struct determinant d = {.receiver = r->config->self,
                          .from = r->config->self,
                          .position = r->state->events + 1,
                          .peer = r->event->peer,
                          .request = r->event->request,
                          .tag = (uint32_t)r->event->tag};
  if (append(r, &d))
    r->state->events++;
}

/* Notes a decision. A polling program makes the same decision many times in a row. These decisions
 * are together one event, until others know of it. */
static void note_decision(const struct rank *r, uint32_t outcome)
{
  struct determinant *last = log_of(r->config, r->state) + r->state->log - 1;
  struct determinant d = {.receiver = r->config->self,
                          .from = r->config->self,
                          .position = r->state->events + 1,
                          .peer = RCL_ANY,
                          .request = outcome,
                          .tag = 1};
  if (r->state->events > r->state->told && last->receiver == r->config->self &&
      last->peer == RCL_ANY && last->request == outcome) {
    last->tag++;
  } else if (append(r, &d)) {
    r->state->events++;
    r->state->decision += r->state->replaying > 0;
  }
}

/* Notes that an event has happened again. After the last one the program decides anew. */
static void repeat(const struct rank *r)
{
  r->state->replaying--;
  if (!r->state->replaying)
    r->state->decision = r->state->repeated = 0;
}

static const struct determinant *reception(const struct rank *r, uint32_t request)
{
  const struct determinant *log = log_of(r->config, r->state);
  for (uint32_t i = 0; r->state->replaying && i < r->state->log; i++)
    if (log[i].receiver == r->config->self && log[i].peer != RCL_ANY && log[i].request == request)
      return &log[i];
  return NULL;
}

/* Returns the next decision to repeat, or NULL if the program decides anew. */
static const struct determinant *next_decision(const struct rank *r)
{
  while (r->state->replaying && r->state->decision <= r->state->events) {
    const struct determinant *d = find(r, r->config->self, r->state->decision);
    if (d && d->peer == RCL_ANY && d->tag > r->state->repeated)
      return d;
    r->state->decision++;
    r->state->repeated = 0;
  }
  return NULL;
}

/* ---- sending ---- */

/* Sends the messages that wait for a rank that was down. That rank runs only after it has heard the
 * answers that it asked for. Until then neither side has told the other any determinants, so these
 * messages carry no places. */
static void flush(const struct rank *r, int to)
{
  struct rcl_links links = links_of(r);
  rcl_links_flush(&links, to, r->actions);
}

static void send(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  const struct rcl_link *link = &links.link[r->event->peer];
  if (link->up && link->passed == link->sent)
    give(r, r->event->peer, false);
  rcl_links_send(&links, r->event->peer, r->actions);
  put_places(r, r->event->peer, &r->actions->item[r->actions->count - 1]);
}

/* ---- receiving ---- */

static void receive(const struct rank *r)
{
  const struct determinant *d = reception(r, r->event->request);
  struct rcl_action *match = rcl_act(r->actions, RCL_ACTION_MATCH);
  match->request = r->event->request;
  match->peer = d ? d->peer : r->event->peer;
  match->tag = d && d->peer != RCL_NOBODY ? (int32_t)d->tag : r->event->tag;
}

static void arrived(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  struct peer *peer = &peers_of(r->config, r->state)[r->event->peer];
  if (peer->seen < r->event->words[WORD_GIVEN])
    peer->seen = r->event->words[WORD_GIVEN];
  if (peer->acked < r->event->words[WORD_ACKED])
    peer->acked = r->event->words[WORD_ACKED];
  rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
  if (!rcl_links_arrived(&links, r->event->peer, r->event->words[RCL_LINKS_NUMBER]))
    rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
  if (reception(r, r->event->request))
    repeat(r);
  else
    note_reception(r);
}

static void choose(const struct rank *r)
{
  const struct determinant *d = next_decision(r);
  if (!d) {
    note_decision(r, r->event->outcome);
    return;
  }
  rcl_act(r->actions, RCL_ACTION_FORCE)->outcome = d->request;
  r->state->repeated++;
  repeat(r);
}

/* Cancels or completes a receive, which is a decision like any other. A receive that is cancelled
 * is never given a message; a receive that was given one before the crash must complete. */
static void cancel(const struct rank *r)
{
  const struct determinant *d = reception(r, r->event->request);
  if (d && d->peer == RCL_NOBODY) {
    rcl_act(r->actions, RCL_ACTION_FORCE)->outcome = 1;
    repeat(r);
  } else if (d && !next_decision(r)) {
    rcl_act(r->actions, RCL_ACTION_FORCE)->outcome = 0;
    note_decision(r, 0);
  } else if (r->event->outcome && !next_decision(r)) {
    const struct rcl_event nobody = {.request = r->event->request, .peer = RCL_NOBODY};
    note_reception(&(struct rank){r->config, r->variant, r->state, &nobody, r->actions});
  } else {
    choose(r);
  }
}

/* Takes a determinant from a peer. The determinants of a rank come in that rank's order, and stable
 * determinants are left out, so an earlier determinant can be new only after a restart. */
static void learn(const struct rank *r)
{
  struct peer *peer = peers_of(r->config, r->state);
  uint32_t *half = peer[r->event->peer].half;
  struct determinant d = {.receiver = (int16_t)(half[0] >> 16),
                          .peer = (int16_t)(half[0] & UINT16_MAX),
                          .position = half[1],
                          .request = r->event->about,
                          .tag = r->event->value,
                          .from = r->event->peer};
  half[0] = half[1] = 0;
  uint32_t *known = &peer[d.receiver].known;
  bool asks = r->state->phase == ASKING, own = d.receiver == r->config->self;
  if (own && (!asks || d.position <= r->state->durable.events))
    return;
  if (d.position <= *known && (!asks || find(r, d.receiver, d.position)))
    return;
  if (*known < d.position)
    *known = d.position;
  append(r, &d);
}

/* ---- a checkpoint of this rank alone ---- */

static void take_checkpoint(const struct rank *r)
{
  if (!r->state->wanted || r->state->phase != RUNNING || r->state->replaying)
    return;
  r->state->wanted = false;
  r->state->phase = CAPTURING;
  rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = r->state->durable.number + 1;
}

static void forget_released(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  for (uint32_t i = 0; i < r->state->links.log; i++)
    if (links.log[i].number <= peers_of(r->config, r->state)[links.log[i].peer].released)
      rcl_links_forget(&links.log[i], r->actions);
}

static void captured(const struct rank *r)
{
  r->state->phase = WRITING;
  r->state->pending =
      (struct checkpoint){.number = r->event->checkpoint, .events = r->state->events};
  r->state->told = r->state->events;
  for (int i = 0; i < r->config->ranks; i++)
    received_of(r->config, r->state)[i] = links_of(r).link[i].received;
  forget_released(r);
  rcl_store(r->actions, RCL_PART_IMAGE, r->event->checkpoint);
}

/* Makes the pending checkpoint the checkpoint to start from, and drops entries that only the old
 * checkpoint needed. */
static void settle(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  drop(r, r->config->self, 0, r->state->pending.events);
  rcl_links_compact(&links);
  memset(received_of(r->config, r->state), 0, (size_t)r->config->ranks * sizeof(uint32_t));
  r->state->durable = r->state->pending;
  r->state->pending = (struct checkpoint){0};
  r->state->phase = RUNNING;
}

static void image_durable(const struct rank *r)
{
  uint32_t old = r->state->durable.number;
  for (int i = 0; i < r->config->ranks; i++) {
    uint32_t received = received_of(r->config, r->state)[i];
    if (i == r->config->self)
      peers_of(r->config, r->state)[i].released = received;
    else
      rcl_send_control(r->actions, i, CHECKPOINTED, r->state->pending.events, received);
  }
  settle(r);
  if (old != RCL_FRESH)
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = old;
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
}

static void checkpointed(const struct rank *r)
{
  struct peer *peer = &peers_of(r->config, r->state)[r->event->peer];
  peer->released = r->event->value;
  if (peer->known < r->event->about)
    peer->known = r->event->about;
  drop(r, r->event->peer, 0, r->event->about);
}

/* ---- recovery ---- */

/* Forgets which determinants this rank and the peer have told each other, because the peer's memory
 * is lost. */
static void link_down(const struct rank *r, int rank)
{
  struct rcl_links links = links_of(r);
  struct peer *peer = &peers_of(r->config, r->state)[rank];
  peer->given = peer->acked = peer->seen = peer->answered = peer->half[0] = peer->half[1] = 0;
  peer->confirms = 0;
  rcl_links_down(&links, rank);
  rcl_links_report(&links, rank, HAVE, REPORT, r->actions);
}

static void link_up(const struct rank *r, int from, uint32_t received)
{
  struct rcl_links links = links_of(r);
  rcl_links_up(&links, from, received);
  flush(r, from);
}

/* Replays all known events of the rank; events behind a gap do not happen again. */
static void replay(const struct rank *r)
{
  const struct determinant *log = log_of(r->config, r->state);
  sort_log(r);
  for (uint32_t i = 0; i < r->state->log; i++) {
    if (log[i].receiver != r->config->self || log[i].position != r->state->events + 1)
      continue;
    r->state->events++;
    r->state->replaying += log[i].peer == RCL_ANY ? log[i].tag : 1;
  }
  drop(r, r->config->self, r->state->events, UINT32_MAX);
  r->state->decision = r->state->replaying ? r->state->durable.events + 1 : 0;
  r->state->told = r->state->events;
}

static void check_answers(const struct rank *r)
{
  for (int i = 0; i < r->config->ranks; i++)
    if (i != r->config->self && peers_of(r->config, r->state)[i].answered != r->state->epoch)
      return;
  for (int i = 0; i < r->config->ranks; i++)
    peers_of(r->config, r->state)[i].answered = 0;
  r->state->phase = RUNNING;
  replay(r);
  r->state->asked.place = r->state->asked.output ? r->state->places : 0;
  rcl_act(r->actions, RCL_ACTION_RELEASE);
}

static void ask(const struct rank *r)
{
  rcl_send_control_to_all(r->config, r->actions, ASK, r->state->epoch);
  check_answers(r);
}

/* Starts from the state that was stored with the image, or from the first state. */
static void restart(const struct rank *r)
{
  if (r->state->phase == WRITING)
    settle(r);
  r->state->phase = ASKING;
  r->state->epoch = r->event->incarnation;
  r->state->wanted = false;
  rcl_act(r->actions, RCL_ACTION_HOLD);
  for (int i = 0; i < r->config->ranks; i++)
    if (i != r->config->self)
      link_down(r, i);
  struct rcl_links links = links_of(r);
  rcl_links_to_self(&links);
  flush(r, r->config->self);
  ask(r);
}

static void start(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  if (r->event->incarnation)
    restart(r);
  else
    rcl_links_all_up(&links);
}

static void down(const struct rank *r)
{
  r->state->epoch = r->event->incarnation;
  link_down(r, r->event->peer);
  if (r->state->phase == ASKING)
    ask(r);
}

static void control(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  struct peer *peer = &peers_of(r->config, r->state)[r->event->peer];
  switch ((enum control)r->event->control) {
  case HAVE:
    if (!rcl_links_peer_has(&links, r->event->peer, r->event->value))
      rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
    break;
  case REPORT:
    link_up(r, r->event->peer, r->event->value);
    break;
  case CHECKPOINTED:
    checkpointed(r);
    break;
  case ASK:
    give(r, r->event->peer, true);
    rcl_send_control(r->actions, r->event->peer, ANSWER, r->event->about, 0);
    break;
  case ANSWER:
    peer->answered = r->event->about;
    if (r->state->phase == ASKING)
      check_answers(r);
    break;
  case DETERMINANT:
    peer->half[0] = r->event->about;
    peer->half[1] = r->event->value;
    break;
  case OF_REQUEST:
  case OF_DECISION:
    learn(r);
    break;
  case CONFIRM:
    rcl_send_control(r->actions, r->event->peer, CONFIRMED, r->event->about, 0);
    break;
  case CONFIRMED:
    if (peer->acked < r->event->about)
      peer->acked = r->event->about;
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

static void choice(const struct rank *r)
{
  if (r->event->request)
    cancel(r);
  else
    choose(r);
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,       [RCL_EVENT_DOWN] = down,
    [RCL_EVENT_TIMER] = timer,       [RCL_EVENT_SEND] = send,
    [RCL_EVENT_OUTPUT] = output,     [RCL_EVENT_RECEIVE] = receive,
    [RCL_EVENT_CHOICE] = choice,     [RCL_EVENT_SAFE_POINT] = take_checkpoint,
    [RCL_EVENT_ARRIVED] = arrived,   [RCL_EVENT_CONTROL] = control,
    [RCL_EVENT_CAPTURED] = captured, [RCL_EVENT_DURABLE] = image_durable,
};

static void step(const struct rank *r)
{
  rcl_take(on, r);
  settle_outputs(r);
}

/* ---- invariants, by their numbers ---- */

static bool log_is_whole(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  uint32_t released[r->config->ranks];
  for (int i = 0; i < r->config->ranks; i++)
    released[i] = peers_of(r->config, r->state)[i].released;
  return rcl_links_log_is_whole(&links, released);
}

/* Checks that no number in the list is the next expected number, because the message that closes a
 * gap takes the numbers behind the gap out of the list. */
static bool beyond_gaps(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  for (uint32_t i = 0; i < r->state->links.ahead; i++)
    if (links.ahead[i].number == links.link[links.ahead[i].peer].received + 1)
      return false;
  return true;
}

static bool has_own(const struct rank *r)
{
  const struct determinant *log = log_of(r->config, r->state);
  uint32_t own = 0;
  for (uint32_t i = 0; i < r->state->log; i++)
    own += log[i].receiver == r->config->self;
  return own == r->state->events - r->state->durable.events;
}

static bool determinants_name_ranks(const struct rank *r)
{
  const struct determinant *log = log_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->log; i++) {
    bool sent = log[i].peer != RCL_ANY && log[i].peer != RCL_NOBODY;
    if (!rcl_is_rank(r->config, log[i].receiver) || !rcl_is_rank(r->config, log[i].from) ||
        (sent && !rcl_is_rank(r->config, log[i].peer)))
      return false;
  }
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (!rcl_links_are_sound(&links))
    return 8;
  if (!determinants_name_ranks(r))
    return 9;
  if (!rcl_links_nothing_waits(&links))
    return 1;
  for (int i = 0; i < r->config->ranks; i++)
    if (peers_of(r->config, r->state)[i].acked > peers_of(r->config, r->state)[i].given)
      return 2;
  if (!log_is_whole(r))
    return 3;
  if (!beyond_gaps(r))
    return 4;
  if (r->state->phase != ASKING && !has_own(r))
    return 5;
  if (r->state->phase == ASKING && r->state->replaying)
    return 6;
  return r->state->asked.output && are_stable(r, r->state->asked.place) ? 7 : 0;
}

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"write", "store part=image", "durable part=image"},
                                          {"ask", "hold", "release"},
                                          {"resend", "resend", "resend"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"local-rollback", "bounded", "frees-at-capture", NULL};

RCL_ONLY_FORM

extern const struct rcl_protocol protocol_causal;
const struct rcl_protocol protocol_causal = {
    .name = "causal",
    .title = "causal message logging (Elnozahy and Zwaenepoel 1992; Alvisi and Marzullo 1998)",
    .piggyback_bytes = 12,
    .control_bytes = 8,
    .independent = true,
    .piggybacks = true,
    .controls = controls,
    .invariants = invariants,
    .parameters = parameters,
    .phases = phases,
    .promises = promises,
    .state_size = state_size,
    .in_use = in_use,
    .step = only_step,
    .violated_invariant = only_broken,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_SENDER},
                 {RCL_LOGGED_DETERMINANTS, RCL_LOGGED_WITH_MESSAGES, RCL_LOGGED_BY_PEERS}},
        .back = RCL_BACK_FAILED,
        .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_WHOLE_WRITES | RCL_ASSUMES_LOGGER |
                   RCL_ASSUMES_FAILURES}};
