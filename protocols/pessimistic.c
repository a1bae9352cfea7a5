/* Pessimistic sender-based message logging with an event logger: a crashed rank alone goes back.
 *
 * Source: the family that Dichev and Nikolopoulos (EuroMPI 2019, sections 2 and 3.3) compare with:
 * payloads are logged by their sender, non-deterministic events by an event logger before anything
 * that depends on them leaves the rank. `pessimistic` logs every reception and every decision;
 * `pessimistic-wildcards` as Bouteiller et al. (their reference [9]) only what the program
 * does not determine: which message a wildcard receive was given, and decisions (tests, probes,
 * choices).
 *
 * Messages to each peer are numbered. A sent one stays in the sender's log until a durable
 * checkpoint of its receiver covers it. It goes on the wire when all events before the send are
 * stable and the link is up; until then the program's send is complete and the message waits in the
 * log. Events behind the send do not count: a program that polls makes them faster than they are
 * written. An output leaves under the same condition.
 *
 * After a crash both ends of a link report what they have received. The restarted rank's program
 * runs again: receives and decisions come out as logged, what its peers have received is not put on
 * the wire again, and they send again from their logs what it has not received. Survivors never go
 * back.
 *
 *     the rank      SAFE_POINT, if wanted          captured
 *             RUNNING ----------------> CAPTURING ----------> WRITING
 *                ^                                               |
 *                +-----------------------------------------------+
 *                                    durable
 *     a link     DOWN of the peer, own restart
 *             UP ------------------------------> DOWN
 *              ^                                   |
 *              +-----------------------------------+
 *                          peer's report
 *
 * Transitions:
 *     RUNNING -> CAPTURING : take_checkpoint()  [safe-point]
 *     CAPTURING -> WRITING : captured()  [captured]
 *     WRITING -> RUNNING : image_durable()  [durable image]
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/links.h"
#include "protocols/parts/lists.h"
#include "protocols/parts/outputs.h"

static const char *const invariants[] = {
    /* 1 */ "no message waits while its link is up and all events before it are stable",
    /* 2 */ "no more events are stable, or being written, than there were",
    /* 3 */ "every message that a peer may still ask for is in the log",
    /* 4 */ "what was received ahead of a gap is beyond it",
    /* 5 */ "what a checkpoint says of the event log lies within it",
    /* 6 */ "no output waits when all events are stable",
    NULL};

enum phase { RUNNING, CAPTURING, WRITING };

enum control { HAVE = 1, REPORT, CHECKPOINTED };

static const char *const controls[] = {"none", "have", "report", "checkpointed", NULL};

/* What happened, in order: receive `request` was given a message of (peer, tag), or was cancelled
 * (RCL_NOBODY), or `count` decisions in a row came out as `outcome`. */
struct happened {
  uint32_t request; /* 0: decisions */
  uint32_t outcome;
  int32_t tag;
  int16_t peer;
  uint16_t pad;
  uint32_t count;
};

/* Where the program was at a checkpoint. Its counts of messages are in counts_of(). */
struct checkpoint {
  uint32_t number;
  uint32_t events;   /* all that had happened */
  uint32_t happened; /* entries of the event log from before it */
};

struct state {
  uint32_t phase, wanted;
  struct checkpoint durable, pending; /* the one to start from, and the one on its way */
  uint32_t events, writing, stable;   /* numbers of events: happened, in the write, on stable
                                         storage */
  uint32_t happened;                  /* entries of the event log */
  uint32_t replaying;                 /* events that have yet to happen again */
  uint32_t decision, repeated;        /* entry from which decisions are taken, how many were */
  uint32_t output, writing_output;    /* the last that waits, and for the write; 0: none */
  struct rcl_links_counts links;
};

struct counts {
  uint32_t sent, received;
};

/* The counts of both checkpoints, the durable one first; for each rank which of its messages no
 * restart of it will ask for; the event log; and the links. */
#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(all_counts, struct counts, 2 * config->ranks)                                              \
  ARRAY(released_of, uint32_t, config->ranks)                                                      \
  LIST(happened_of, struct happened, config->capacity, state->happened, RCL_FULL_EVENTS)           \
  RCL_LINKS_LISTS(ARRAY, LIST, state->links)
RCL_STATE(LISTS)

static struct counts *counts_of(const struct rcl_config *config, const struct state *state,
                                bool pending)
{
  return all_counts(config, state) + pending * config->ranks;
}

static struct rcl_links links_of(const struct rcl_config *config, const struct state *state)
{
  struct rcl_links links = rcl_links_at(config, &state->links, links_memory(config, state));
  links.interval = state->phase == WRITING ? state->pending.number : state->durable.number;
  links.events = state->events;
  links.stable = state->stable;
  return links;
}

/* ---- the event log ---- */

static void write_log(struct state *state, struct rcl_actions *actions)
{
  if (state->writing || state->events == state->stable)
    return;
  state->writing = state->events;
  state->writing_output = state->output;
  rcl_store(actions, RCL_PART_LOG, state->durable.number);
}

static struct happened *append(const struct rcl_config *config, struct state *state,
                               struct rcl_actions *actions)
{
  if (state->happened == config->capacity) {
    rcl_give_up_full(actions, RCL_FULL_EVENTS);
    return NULL;
  }
  return &happened_of(config, state)[state->happened++];
}

static void note_reception(const struct rcl_config *config, struct state *state,
                           const struct rcl_event *event, struct rcl_actions *actions)
{
  struct happened *entry = append(config, state, actions);
  if (!entry)
    return;
  *entry = (struct happened){.request = event->request, .tag = event->tag, .peer = event->peer};
  state->events++;
  write_log(state, actions);
}

/* A program that polls decides the same many times over: that is one entry. */
static void note_decision(const struct rcl_config *config, struct state *state, uint32_t outcome,
                          struct rcl_actions *actions)
{
  uint32_t first = state->phase == WRITING ? state->pending.happened : state->durable.happened;
  struct happened *last = happened_of(config, state) + state->happened - 1;
  bool same = state->happened > first && !last->request && last->outcome == outcome;
  if (!same && !(last = append(config, state, actions)))
    return;
  last->outcome = outcome;
  last->count++;
  state->events++;
  state->decision = state->happened;
  state->repeated = 0;
  write_log(state, actions);
}

static const struct happened *reception(const struct rcl_config *config, const struct state *state,
                                        uint32_t request)
{
  const struct happened *entry = happened_of(config, state);
  for (uint32_t i = 0; state->replaying && i < state->happened; i++)
    if (entry[i].request == request && request)
      return &entry[i];
  return NULL;
}

/* The next decision to be made again; NULL when the program is free. */
static const struct happened *next_decision(const struct rcl_config *config, struct state *state)
{
  const struct happened *entry = happened_of(config, state);
  while (state->decision < state->happened &&
         (entry[state->decision].request || entry[state->decision].count == state->repeated)) {
    state->decision++;
    state->repeated = 0;
  }
  return state->decision < state->happened ? &entry[state->decision] : NULL;
}

/* ---- the outside ---- */

static void let_out(struct state *state, uint32_t output, struct rcl_actions *actions)
{
  if (output)
    rcl_output(actions, output, RCL_FRESH);
  if (state->output == output)
    state->output = 0;
  state->writing_output = 0;
}

static void output(struct state *state, const struct rcl_event *event, struct rcl_actions *actions)
{
  state->output = event->output;
  if (state->events == state->stable)
    let_out(state, event->output, actions);
  else if (state->events == state->writing)
    state->writing_output = event->output;
}

/* ---- sending ---- */

static void flush_all(const struct rcl_config *config, struct state *state,
                      struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  for (int peer = 0; peer < config->ranks; peer++)
    rcl_links_flush(&links, peer, actions);
}

static void send(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  rcl_links_send(&links, event->peer, actions);
}

/* ---- receiving ---- */

static void receive(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  const struct happened *entry = reception(config, state, event->request);
  struct rcl_action *match = rcl_act(actions, RCL_ACTION_MATCH);
  match->request = event->request;
  match->peer = entry ? entry->peer : event->peer;
  match->tag = entry && entry->peer != RCL_NOBODY ? entry->tag : event->tag;
}

static void arrived(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, bool all, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
  if (!rcl_links_arrived(&links, event->peer, event->words[RCL_LINKS_NUMBER]))
    rcl_give_up_full(actions, RCL_FULL_AHEAD);
  if (reception(config, state, event->request))
    state->replaying--;
  else if (all || event->wildcard)
    note_reception(config, state, event, actions);
}

static void choose(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  const struct happened *entry = next_decision(config, state);
  if (!entry) {
    note_decision(config, state, event->outcome, actions);
    return;
  }
  rcl_act(actions, RCL_ACTION_FORCE)->outcome = entry->outcome;
  state->repeated++;
  state->replaying--;
}

/* A receive is cancelled, and will never be given anything; or it is too late for it, as it is
 * where it was given a message before the crash, which is a decision like any other. */
static void cancel(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  const struct happened *entry = reception(config, state, event->request);
  if (entry && entry->peer == RCL_NOBODY) {
    rcl_act(actions, RCL_ACTION_FORCE)->outcome = 1;
    state->replaying--;
  } else if (entry && !next_decision(config, state)) {
    rcl_act(actions, RCL_ACTION_FORCE)->outcome = 0;
    note_decision(config, state, 0, actions);
  } else if (event->outcome && !next_decision(config, state)) {
    struct rcl_event nobody = {.request = event->request, .peer = RCL_NOBODY};
    note_reception(config, state, &nobody, actions);
  } else {
    choose(config, state, event, actions);
  }
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
    if (links.log[i].number <= released_of(config, state)[links.log[i].peer])
      rcl_links_forget(&links.log[i], actions);
}

static void captured(const struct rcl_config *config, struct state *state,
                     const struct rcl_event *event, struct rcl_actions *actions)
{
  state->phase = WRITING;
  state->pending = (struct checkpoint){
      .number = event->checkpoint, .events = state->events, .happened = state->happened};
  struct counts *counts = counts_of(config, state, true);
  const struct rcl_link *link = links_of(config, state).link;
  for (int i = 0; i < config->ranks; i++)
    counts[i] = (struct counts){link[i].sent, link[i].received};
  forget_released(config, state, actions);
  rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
}

/* The pending checkpoint is the one to start from: entries that only the old one needed go. */
static void settle(const struct rcl_config *config, struct state *state)
{
  struct rcl_links links = links_of(config, state);
  struct happened *happened = happened_of(config, state);
  const struct counts *counts = counts_of(config, state, true);
  uint32_t old = state->pending.happened;
  state->happened -= old;
  memmove(happened, happened + old, state->happened * sizeof *happened);
  memset(happened + state->happened, 0, old * sizeof *happened);
  state->decision -= state->decision < old ? state->decision : old;
  rcl_links_compact(&links);
  for (int i = 0; i < config->ranks; i++)
    rcl_links_drop(links.ahead, &state->links.ahead, i, counts[i].received, 0);
  state->durable = state->pending;
  state->durable.happened = 0;
  memcpy(counts_of(config, state, false), counts, (size_t)config->ranks * sizeof *counts);
}

/* No checkpoint is pending. */
static void clear_pending(const struct rcl_config *config, struct state *state)
{
  state->phase = RUNNING;
  state->pending = (struct checkpoint){0};
  memset(counts_of(config, state, true), 0, (size_t)config->ranks * sizeof(struct counts));
}

static void image_durable(const struct rcl_config *config, struct state *state,
                          struct rcl_actions *actions)
{
  uint32_t old = state->durable.number;
  if (state->stable < state->pending.events)
    state->stable = state->pending.events;
  settle(config, state);
  clear_pending(config, state);
  if (state->events == state->stable)
    let_out(state, state->output, actions);
  for (int i = 0; i < config->ranks; i++)
    if (i == config->self)
      released_of(config, state)[i] = counts_of(config, state, false)[i].received;
    else
      rcl_send_control(actions, i, CHECKPOINTED, state->durable.number,
                       counts_of(config, state, false)[i].received);
  if (old != RCL_FRESH)
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = old;
  rcl_act(actions, RCL_ACTION_SET_TIMER);
  flush_all(config, state, actions);
}

static void durable(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  if (event->part == RCL_PART_IMAGE) {
    image_durable(config, state, actions);
    return;
  }
  if (state->stable < state->writing)
    state->stable = state->writing;
  state->writing = 0;
  let_out(state, state->writing_output, actions);
  write_log(state, actions);
  flush_all(config, state, actions);
}

/* ---- recovery ---- */

static void link_up(const struct rcl_config *config, struct state *state, int from,
                    uint32_t received, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  rcl_links_up(&links, from, received);
  rcl_links_flush(&links, from, actions);
}

static void link_down(const struct rcl_config *config, struct state *state, int peer,
                      struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  rcl_links_down(&links, peer);
  rcl_links_report(&links, peer, HAVE, REPORT, actions);
}

/* The program is where it was at the checkpoint; so are counts and the log of sent messages. */
static void go_back(const struct rcl_config *config, struct state *state,
                    struct rcl_actions *actions)
{
  const struct counts *counts = counts_of(config, state, false);
  struct rcl_links links = links_of(config, state);
  for (int i = 0; i < config->ranks; i++) {
    links.link[i].sent = counts[i].sent;
    links.link[i].received = counts[i].received;
  }
  rcl_links_go_back(&links, state->durable.number, false, actions);
}

/* All that the event logger has is stable, and happens again. */
static void replay(const struct rcl_config *config, struct state *state)
{
  const struct happened *entry = happened_of(config, state);
  state->stable = state->events;
  state->wanted = state->writing = state->decision = state->repeated = state->replaying = 0;
  for (uint32_t i = 0; i < state->happened; i++)
    state->replaying += entry[i].request ? 1 : entry[i].count;
}

static void restart(const struct rcl_config *config, struct state *state, uint32_t checkpoint,
                    struct rcl_actions *actions)
{
  if (state->phase == WRITING && state->pending.number == checkpoint)
    settle(config, state);
  clear_pending(config, state);
  go_back(config, state, actions);
  replay(config, state);
  for (int i = 0; i < config->ranks; i++)
    if (i != config->self)
      link_down(config, state, i, actions);
  struct rcl_links links = links_of(config, state);
  rcl_links_to_self(&links);
  rcl_links_flush(&links, config->self, actions);
}

static void start(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  rcl_act(actions, RCL_ACTION_SET_TIMER);
  if (event->incarnation)
    restart(config, state, event->checkpoint, actions);
  else
    rcl_links_all_up(&links);
  let_out(state, state->output = event->output, actions);
}

static void control(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_links links = links_of(config, state);
  switch ((enum control)event->control) {
  case HAVE:
    if (!rcl_links_peer_has(&links, event->peer, event->value))
      rcl_give_up_full(actions, RCL_FULL_AHEAD);
    break;
  case REPORT:
    link_up(config, state, event->peer, event->value, actions);
    break;
  case CHECKPOINTED:
    released_of(config, state)[event->peer] = event->value;
    break;
  }
}

static void step_logging(const struct rcl_config *config, struct state *state,
                         const struct rcl_event *event, bool all, struct rcl_actions *actions)
{
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START:
    start(config, state, event, actions);
    break;
  case RCL_EVENT_DOWN:
    link_down(config, state, event->peer, actions);
    break;
  case RCL_EVENT_TIMER:
    state->wanted = true;
    break;
  case RCL_EVENT_SEND:
    send(config, state, event, actions);
    break;
  case RCL_EVENT_OUTPUT:
    output(state, event, actions);
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
    arrived(config, state, event, all, actions);
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

static void step(const struct rcl_config *config, void *state, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  step_logging(config, state, event, true, actions);
}

static void step_wildcards(const struct rcl_config *config, void *state,
                           const struct rcl_event *event, struct rcl_actions *actions)
{
  step_logging(config, state, event, false, actions);
}

/* ---- invariants, by their numbers ---- */

/* Numbers below a gap are kept for a checkpoint from before that gap was closed. */
static bool beyond_gaps(const struct rcl_config *config, const struct state *state)
{
  struct rcl_links links = links_of(config, state);
  for (uint32_t i = 0; i < state->links.ahead; i++)
    if (links.ahead[i].number == links.link[links.ahead[i].peer].received + 1)
      return false;
  return true;
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  struct rcl_links links = links_of(config, state);
  if (!rcl_links_nothing_waits(&links))
    return 1;
  if (state->stable > state->events || state->writing > state->events)
    return 2;
  if (!rcl_links_log_is_whole(&links, released_of(config, state)))
    return 3;
  if (!beyond_gaps(config, state))
    return 4;
  if (state->pending.happened > state->happened || state->pending.events > state->events)
    return 5;
  return state->output && state->events == state->stable ? 6 : 0;
}

/* Phases of a checkpoint, and of recoveries, for results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"write", "store part=image", "durable part=image"},
                                          {"resend", "resend", "resend"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"local-rollback", "bounded", "frees-at-capture", NULL};

static const struct rcl_place place = {
    .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_ALWAYS, RCL_LOGGED_BY_SENDER},
             {RCL_LOGGED_DETERMINANTS, RCL_LOGGED_FIRST, RCL_LOGGED_BY_LOGGER}},
    .back = RCL_BACK_FAILED,
    .assumes = RCL_ASSUMES_CONTROL_ORDER | RCL_ASSUMES_WHOLE_WRITES | RCL_ASSUMES_LOGGER};

#define PROTOCOL(NAME, TITLE, STEP, NEXT)                                                          \
  {                                                                                                \
    .name = NAME, .title = TITLE, .piggyback_bytes = 4, .control_bytes = 12, .independent = true,  \
    .daemon = true, .controls = controls, .invariants = invariants, .phases = phases,              \
    .promises = promises, .state_size = state_size, .in_use = in_use, .step = STEP,                \
    .violated_invariant = violated_invariant, .place = &place, .variant = NEXT                     \
  }

static const struct rcl_protocol wildcards =
    PROTOCOL("pessimistic-wildcards",
             "pessimistic, of non-deterministic events only (Bouteiller et al., cited there)",
             step_wildcards, NULL);

extern const struct rcl_protocol protocol_pessimistic;
const struct rcl_protocol protocol_pessimistic = PROTOCOL(
    "pessimistic", "sender-based message logging, an event logger (Dichev and Nikolopoulos 2019)",
    step, &wildcards);
