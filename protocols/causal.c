/* Causal message logging: determinants travel with the messages that depend on them.
 *
 * Source: Elnozahy and Zwaenepoel, Manetho (IEEE Transactions on Computers 41(5), 1992); Alvisi and
 * Marzullo, family-based logging for f failures (Message Logging, IEEE Transactions on Software
 * Engineering 24(2), 1998, section 6).
 *
 * A *determinant* tells what an event of a rank was: which message a receive was given, how a
 * decision came out. Payloads are logged by their senders (links.h). The rank keeps the
 * determinants of its events, and of all events on which it depends, in memory. Before a message to
 * a peer it tells it those that the peer may not have and that are not *stable*, that is at f + 1
 * ranks: they travel with the message. So whoever depends on an event has its determinant, or f + 1
 * ranks have it; no message waits for storage. A determinant is dropped when a durable checkpoint
 * covers it.
 *
 * After a crash the rank asks all others for determinants, and holds its program until all have
 * answered: with all that they have, so that it is again one of those that have them. When another
 * rank fails meanwhile it asks again: an answer is given when the failure was noticed, and what the
 * dead rank had under way does not come any more. Then the program runs again, with receives
 * and decisions as they were. Both ends of a link have reported what they have received
 * (links.h). Survivors never go back, and go on meanwhile.
 *
 * An output waits until the determinants before it are stable; some peers are asked to confirm that
 * they have them (causal_outputs.h).
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
    /* 1 */ "no message waits while its link is up",
    /* 2 */ "no peer has acknowledged more determinants than it was told",
    /* 3 */ "every message that a peer may still ask for is in the log",
    /* 4 */ "what was received ahead of a gap is beyond it",
    /* 5 */ "a rank that runs has the determinants of all its events since its checkpoint",
    /* 6 */ "nothing happens again before all have answered",
    /* 7 */ "no output waits when the determinants before it are stable",
    NULL};

static const char *const controls[] = {"none",    "have",      "report",      "checkpointed",
                                       "ask",     "answer",    "determinant", "of",
                                       "confirm", "confirmed", NULL};

static const char *const parameters[] = {"failures", NULL};

static struct rcl_links links_of(const struct rcl_config *config, const struct state *state)
{
  return rcl_links_at(config, &state->links, links_memory(config, state));
}

/* ---- events ---- */

static void note_reception(const struct rcl_config *config, struct state *state,
                           const struct rcl_event *event, struct rcl_actions *actions)
{
  struct determinant d = {.receiver = config->self,
                          .from = config->self,
                          .position = state->events + 1,
                          .peer = event->peer,
                          .request = event->request,
                          .tag = (uint32_t)event->tag};
  if (append(config, state, &d, actions))
    state->events++;
}

/* A program that polls decides the same many times over: that is one event, until others know it.
 * It is not repeated, although receptions before it may yet be. */
static void note_decision(const struct rcl_config *config, struct state *state, uint32_t outcome,
                          struct rcl_actions *actions)
{
  struct determinant *last = log_of(config, state) + state->log - 1;
  struct determinant d = {.receiver = config->self,
                          .from = config->self,
                          .position = state->events + 1,
                          .peer = RCL_ANY,
                          .request = outcome,
                          .tag = 1};
  if (state->events > state->told && last->receiver == config->self && last->peer == RCL_ANY &&
      last->request == outcome) {
    last->tag++;
  } else if (append(config, state, &d, actions)) {
    state->events++;
    state->decision += state->replaying > 0;
  }
}

/* An event happens again; after the last one the program is free. */
static void repeat(struct state *state)
{
  state->replaying--;
  if (!state->replaying)
    state->decision = state->repeated = 0;
}

static const struct determinant *reception(const struct rcl_config *config,
                                           const struct state *state, uint32_t request)
{
  const struct determinant *log = log_of(config, state);
  for (uint32_t i = 0; state->replaying && i < state->log; i++)
    if (log[i].receiver == config->self && log[i].peer != RCL_ANY && log[i].request == request)
      return &log[i];
  return NULL;
}

/* The next decision to be made again; NULL when the program is free. */
static const struct determinant *next_decision(const struct rcl_config *config, struct state *state)
{
  while (state->replaying && state->decision <= state->events) {
    const struct determinant *d = find(config, state, config->self, state->decision);
    if (d && d->peer == RCL_ANY && d->tag > state->repeated)
      return d;
    state->decision++;
    state->repeated = 0;
  }
  return NULL;
}

/* ---- sending ---- */

/* What waits for a rank that was down. It has asked, and runs only when it was told all. Until then
 * it was told nothing and has told nothing: these messages carry no places. */
static void flush(const struct rcl_config *config, struct state *state, int to,
                  struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  rcl_links_flush(&links, to, actions);
}

static void send(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  const struct rcl_link *link = &links.link[event->peer];
  if (link->up && link->passed == link->sent)
    give(config, state, event->peer, false, actions);
  rcl_links_send(&links, event->peer, actions);
  put_places(config, state, event->peer, &actions->item[actions->count - 1]);
}

/* ---- receiving ---- */

static void receive(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  const struct determinant *d = reception(config, state, event->request);
  struct rcl_action *match = rcl_act(actions, RCL_ACTION_MATCH);
  match->request = event->request;
  match->peer = d ? d->peer : event->peer;
  match->tag = d && d->peer != RCL_NOBODY ? (int32_t)d->tag : event->tag;
}

static void arrived(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  struct peer *peer = &peers_of(config, state)[event->peer];
  if (peer->seen < event->words[WORD_GIVEN])
    peer->seen = event->words[WORD_GIVEN];
  if (peer->acked < event->words[WORD_ACKED])
    peer->acked = event->words[WORD_ACKED];
  rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
  if (!rcl_links_arrived(&links, event->peer, event->words[RCL_LINKS_NUMBER]))
    rcl_give_up_full(actions, RCL_FULL_AHEAD);
  if (reception(config, state, event->request))
    repeat(state);
  else
    note_reception(config, state, event, actions);
}

static void choose(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  const struct determinant *d = next_decision(config, state);
  if (!d) {
    note_decision(config, state, event->outcome, actions);
    return;
  }
  rcl_act(actions, RCL_ACTION_FORCE)->outcome = d->request;
  state->repeated++;
  repeat(state);
}

/* A receive is cancelled, and will never be given anything; or it is too late for it, as it is
 * where it was given a message before the crash, which is a decision like any other. */
static void cancel(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  const struct determinant *d = reception(config, state, event->request);
  if (d && d->peer == RCL_NOBODY) {
    rcl_act(actions, RCL_ACTION_FORCE)->outcome = 1;
    repeat(state);
  } else if (d && !next_decision(config, state)) {
    rcl_act(actions, RCL_ACTION_FORCE)->outcome = 0;
    note_decision(config, state, 0, actions);
  } else if (event->outcome && !next_decision(config, state)) {
    struct rcl_event nobody = {.request = event->request, .peer = RCL_NOBODY};
    note_reception(config, state, &nobody, actions);
  } else {
    choose(config, state, event, actions);
  }
}

/* A peer tells a determinant. Those of a rank come in its order, but for those that were stable; so
 * after a restart only can an earlier one be news. */
static void learn(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  struct peer *peer = peers_of(config, state);
  uint32_t *half = peer[event->peer].half;
  struct determinant d = {.receiver = (int16_t)(half[0] >> 16),
                          .peer = (int16_t)(half[0] & UINT16_MAX),
                          .position = half[1],
                          .request = event->about,
                          .tag = event->value,
                          .from = event->peer};
  half[0] = half[1] = 0;
  uint32_t *known = &peer[d.receiver].known;
  bool asks = state->phase == ASKING, own = d.receiver == config->self;
  if (own && (!asks || d.position <= state->durable.events))
    return;
  if (d.position <= *known && (!asks || find(config, state, d.receiver, d.position)))
    return;
  if (*known < d.position)
    *known = d.position;
  append(config, state, &d, actions);
}

/* ---- a checkpoint, of this rank alone ---- */

static void take_checkpoint(struct state *state, struct rcl_actions *actions)
{
  if (!state->wanted || state->phase != RUNNING || state->replaying)
    return;
  state->wanted = false;
  state->phase = CAPTURING;
  rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = state->durable.number + 1;
}

static void forget_released(const struct rcl_config *config, struct state *state,
                            struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  for (uint32_t i = 0; i < state->links.log; i++)
    if (links.log[i].number <= peers_of(config, state)[links.log[i].peer].released)
      rcl_links_forget(&links.log[i], actions);
}

static void captured(const struct rcl_config *config, struct state *state,
                     const struct rcl_event *event, struct rcl_actions *actions)
{
  state->phase = WRITING;
  state->pending = (struct checkpoint){.number = event->checkpoint, .events = state->events};
  state->told = state->events;
  for (int i = 0; i < config->ranks; i++)
    received_of(config, state)[i] = links_of(config, state).link[i].received;
  forget_released(config, state, actions);
  rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
}

/* The pending checkpoint is the one to start from: entries that only the old one needed go. */
static void settle(const struct rcl_config *config, struct state *state)
{
  struct rcl_links links = links_of(config, state);
  drop(config, state, config->self, 0, state->pending.events);
  rcl_links_compact(&links);
  memset(received_of(config, state), 0, (size_t)config->ranks * sizeof(uint32_t));
  state->durable = state->pending;
  state->pending = (struct checkpoint){0};
  state->phase = RUNNING;
}

static void image_durable(const struct rcl_config *config, struct state *state,
                          struct rcl_actions *actions)
{
  uint32_t old = state->durable.number;
  for (int i = 0; i < config->ranks; i++) {
    uint32_t received = received_of(config, state)[i];
    if (i == config->self)
      peers_of(config, state)[i].released = received;
    else
      rcl_send_control(actions, i, CHECKPOINTED, state->pending.events, received);
  }
  settle(config, state);
  if (old != RCL_FRESH)
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = old;
  rcl_act(actions, RCL_ACTION_SET_TIMER);
}

static void checkpointed(const struct rcl_config *config, struct state *state,
                         const struct rcl_event *event)
{
  struct peer *peer = &peers_of(config, state)[event->peer];
  peer->released = event->value;
  if (peer->known < event->about)
    peer->known = event->about;
  drop(config, state, event->peer, 0, event->about);
}

/* ---- recovery ---- */

/* What the peer was told, and has told, was in its memory. */
static void link_down(const struct rcl_config *config, struct state *state, int rank,
                      struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  struct peer *peer = &peers_of(config, state)[rank];
  peer->given = peer->acked = peer->seen = peer->answered = peer->half[0] = peer->half[1] = 0;
  peer->confirms = 0;
  rcl_links_down(&links, rank);
  rcl_links_report(&links, rank, HAVE, REPORT, actions);
}

static void link_up(const struct rcl_config *config, struct state *state, int from,
                    uint32_t received, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  rcl_links_up(&links, from, received);
  flush(config, state, from, actions);
}

/* All that is known of what the rank has done happens again; nothing behind a gap can. */
static void replay(const struct rcl_config *config, struct state *state)
{
  const struct determinant *log = log_of(config, state);
  sort_log(config, state);
  for (uint32_t i = 0; i < state->log; i++) {
    if (log[i].receiver != config->self || log[i].position != state->events + 1)
      continue;
    state->events++;
    state->replaying += log[i].peer == RCL_ANY ? log[i].tag : 1;
  }
  drop(config, state, config->self, state->events, UINT32_MAX);
  state->decision = state->replaying ? state->durable.events + 1 : 0;
  state->told = state->events;
}

static void check_answers(const struct rcl_config *config, struct state *state,
                          struct rcl_actions *actions)
{
  for (int i = 0; i < config->ranks; i++)
    if (i != config->self && peers_of(config, state)[i].answered != state->epoch)
      return;
  for (int i = 0; i < config->ranks; i++)
    peers_of(config, state)[i].answered = 0;
  state->phase = RUNNING;
  replay(config, state);
  state->asked.place = state->asked.output ? state->places : 0;
  rcl_act(actions, RCL_ACTION_RELEASE);
}

static void ask(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  rcl_send_control_to_all(config, actions, ASK, state->epoch);
  check_answers(config, state, actions);
}

/* The state is as it was stored with the image: that of the checkpoint, or the first one. */
static void restart(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  if (state->phase == WRITING)
    settle(config, state);
  state->phase = ASKING;
  state->epoch = event->incarnation;
  state->wanted = false;
  rcl_act(actions, RCL_ACTION_HOLD);
  for (int i = 0; i < config->ranks; i++)
    if (i != config->self)
      link_down(config, state, i, actions);
  struct rcl_links links = links_of(config, state);
  rcl_links_to_self(&links);
  flush(config, state, config->self, actions);
  ask(config, state, actions);
}

static void start(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  rcl_act(actions, RCL_ACTION_SET_TIMER);
  if (event->incarnation)
    restart(config, state, event, actions);
  else
    rcl_links_all_up(&links);
}

static void down(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  state->epoch = event->incarnation;
  link_down(config, state, event->peer, actions);
  if (state->phase == ASKING)
    ask(config, state, actions);
}

static void control(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  struct peer *peer = &peers_of(config, state)[event->peer];
  switch ((enum control)event->control) {
  case HAVE:
    if (!rcl_links_peer_has(&links, event->peer, event->value))
      rcl_give_up_full(actions, RCL_FULL_AHEAD);
    break;
  case REPORT:
    link_up(config, state, event->peer, event->value, actions);
    break;
  case CHECKPOINTED:
    checkpointed(config, state, event);
    break;
  case ASK:
    give(config, state, event->peer, true, actions);
    rcl_send_control(actions, event->peer, ANSWER, event->about, 0);
    break;
  case ANSWER:
    peer->answered = event->about;
    if (state->phase == ASKING)
      check_answers(config, state, actions);
    break;
  case DETERMINANT:
    peer->half[0] = event->about;
    peer->half[1] = event->value;
    break;
  case OF:
    learn(config, state, event, actions);
    break;
  case CONFIRM:
    rcl_send_control(actions, event->peer, CONFIRMED, event->about, 0);
    break;
  case CONFIRMED:
    if (peer->acked < event->about)
      peer->acked = event->about;
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
    down(config, state, event, actions);
    break;
  case RCL_EVENT_TIMER:
    state->wanted = true;
    break;
  case RCL_EVENT_SEND:
    send(config, state, event, actions);
    break;
  case RCL_EVENT_OUTPUT:
    wait_for(state, event->output);
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
  case RCL_EVENT_CAPTURED:
    captured(config, state, event, actions);
    break;
  case RCL_EVENT_DURABLE:
    image_durable(config, state, actions);
    break;
  default:
    break;
  }
  settle_outputs(config, state, actions);
}

/* ---- invariants, by their numbers ---- */

static bool log_is_whole(const struct rcl_config *config, const struct state *state)
{
  struct rcl_links links = links_of(config, state);
  uint32_t released[config->ranks];
  for (int i = 0; i < config->ranks; i++)
    released[i] = peers_of(config, state)[i].released;
  return rcl_links_log_is_whole(&links, released);
}

/* The message that closes a gap takes those behind it from the list. */
static bool beyond_gaps(const struct rcl_config *config, const struct state *state)
{
  struct rcl_links links = links_of(config, state);
  for (uint32_t i = 0; i < state->links.ahead; i++)
    if (links.ahead[i].number == links.link[links.ahead[i].peer].received + 1)
      return false;
  return true;
}

static bool has_own(const struct rcl_config *config, const struct state *state)
{
  const struct determinant *log = log_of(config, state);
  uint32_t own = 0;
  for (uint32_t i = 0; i < state->log; i++)
    own += log[i].receiver == config->self;
  return own == state->events - state->durable.events;
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  struct rcl_links links = links_of(config, state);
  if (!rcl_links_nothing_waits(&links))
    return 1;
  for (int i = 0; i < config->ranks; i++)
    if (peers_of(config, state)[i].acked > peers_of(config, state)[i].given)
      return 2;
  if (!log_is_whole(config, state))
    return 3;
  if (!beyond_gaps(config, state))
    return 4;
  if (state->phase != ASKING && !has_own(config, state))
    return 5;
  if (state->phase == ASKING && state->replaying)
    return 6;
  return state->asked.output && are_stable(config, state, state->asked.place) ? 7 : 0;
}

/* Phases of a checkpoint, and of recoveries, for results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"write", "store part=image", "durable part=image"},
                                          {"ask", "hold", "release"},
                                          {"resend", "resend", "resend"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"local-rollback", "bounded", "frees-at-capture", NULL};

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
    .step = step,
    .violated_invariant = violated_invariant,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_SENDER},
                 {RCL_LOGGED_DETERMINANTS, RCL_LOGGED_WITH_MESSAGES, RCL_LOGGED_BY_PEERS}},
        .back = RCL_BACK_FAILED,
        .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_WHOLE_WRITES | RCL_ASSUMES_LOGGER |
                   RCL_ASSUMES_FAILURES}};
