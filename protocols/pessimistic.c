/* Pessimistic sender-based message logging with an event logger: a crashed rank alone goes back.
 *
 * Source: the family that Kadichev et al. (seed 004, section 2 and 3.3) compare with: payloads are
 * logged by their sender, non-deterministic events by an event logger before anything that depends
 * on them leaves the rank. `pessimistic` logs every reception and every decision;
 * `pessimistic-wildcards` as Bouteiller et al. (their reference [9]) only what is not determined by
 * the program: which message a wildcard receive was given, and decisions (tests, probes, choices).
 *
 * Messages to each peer are numbered. A sent one stays in the sender's log until a durable
 * checkpoint of its receiver covers it. It goes on the wire when all events so far are stable and
 * the link is up; until then the program's send is complete and the message waits in the log.
 *
 * After a crash both ends of a link report what they have received. The restarted rank's program
 * runs again: receives and decisions come out as logged, what its peers have received is not put on
 * the wire again, and they send again from their logs what it has not received. Survivors never go
 * back.
 *
 *      a link                                           the rank
 *                                                                    place, if wanted
 *          DOWN of the peer, own restart                  RUNNING ----------------------->
 * CAPTURING UP ------------------------------> DOWN              ^                               |
 *       ^                                   |                |  durable                      |
 * captured
 *       +-----------------------------------+                +----------- WRITING <----------+
 *                peer's report
 *
 * Transitions:
 *     RUNNING -> CAPTURING : take_checkpoint()  [place]
 *     CAPTURING -> WRITING : captured()  [captured]
 *     WRITING -> RUNNING : image_durable()  [durable image]
 *
 * Invariants:
 *     1. While a link is up and all events are stable, no message to that peer waits.
 *     2. No more events are stable, or being written, than there were.
 *     3. Every message that a peer may still ask for is in the log.
 *     4. What was received ahead of a gap is beyond it.
 *     5. What a checkpoint says of the event log lies within it.
 */
#include "act.h"

#include <string.h>

enum phase { RUNNING, CAPTURING, WRITING };

enum control { HAVE = 1, REPORT, CHECKPOINTED };

static const char *const controls[] = {"none", "have", "report", "checkpointed", NULL};

static const char *const invariants[] = {
    "nothing waits while the link is up and all events are stable",
    "no more events are stable, or being written, than there were",
    "every message that a peer may still ask for is in the log",
    "what was received ahead of a gap is beyond it",
    "what a checkpoint says of the event log lies within it",
    NULL};

/* Messages to and from a peer are numbered from 1, over all tags and communicators. */
struct peer {
  uint32_t sent;     /* by the program */
  uint32_t passed;   /* of these, all up to this one are on the wire or with the peer */
  uint32_t received; /* of the peer's, all up to this one have arrived */
  uint32_t released; /* those up to this one no restart of the peer will ask for */
  uint32_t up;       /* the link is */
};

/* A number of a message of, or to, a peer. */
struct number {
  int16_t peer;
  uint16_t pad;
  uint32_t number;
};

/* A sent message in the log. */
struct sent {
  int16_t peer;
  uint16_t forgotten; /* its slot is empty; the entry goes when the checkpoint is durable */
  uint32_t number, slot;
};

/* What happened, in order: receive `request` was given a message of (peer, tag), or `count`
 * decisions in a row came out as `outcome`. */
struct happened {
  uint32_t request; /* 0: decisions */
  uint32_t outcome;
  int32_t tag;
  int16_t peer;
  uint16_t pad;
  uint32_t count;
};

/* Where the program was at a checkpoint. Its counts and its numbers ahead of gaps follow, below. */
struct checkpoint {
  uint32_t number;
  uint32_t events;   /* all that had happened */
  uint32_t happened; /* entries of the event log from before it */
  uint32_t ahead;
};

struct state {
  uint32_t phase, wanted;
  struct checkpoint durable, pending; /* the one to start from, and the one on its way */
  uint32_t events, writing, stable;   /* numbers of events: happened, in the write, on stable
                                         storage */
  uint32_t slots;                     /* used so far */
  uint32_t log, ahead, had, happened; /* entries of the lists */
  uint32_t replaying;                 /* events that have yet to happen again */
  uint32_t decision, repeated;        /* entry from which decisions are taken, how many were */
};

struct counts {
  uint32_t sent, received;
};

/* The state is struct state and then these, one after the other. */
static struct peer *peers(const void *state)
{
  return (struct peer *)((struct state *)state + 1);
}

static struct counts *counts_of(const struct config *config, const void *state, bool pending)
{
  return (struct counts *)(peers(state) + config->ranks) + pending * config->ranks;
}

static struct sent *log_of(const struct config *config, const void *state)
{
  return (struct sent *)(counts_of(config, state, false) + 2 * config->ranks);
}

static struct happened *happened_of(const struct config *config, const void *state)
{
  return (struct happened *)(log_of(config, state) + config->capacity);
}

/* Numbers of messages received ahead of a gap. */
static struct number *ahead_of(const struct config *config, const void *state)
{
  return (struct number *)(happened_of(config, state) + config->capacity);
}

static struct number *checkpoint_ahead_of(const struct config *config, const void *state,
                                          bool pending)
{
  return ahead_of(config, state) + (1 + pending) * config->capacity;
}

/* Numbers of messages that a peer has received ahead of a gap, and that `passed` has yet to pass.
 */
static struct number *had_of(const struct config *config, const void *state)
{
  return ahead_of(config, state) + 3 * config->capacity;
}

static size_t bytes(const struct config *config)
{
  size_t size = sizeof(struct state) +
                (size_t)config->ranks * (sizeof(struct peer) + 2 * sizeof(struct counts)) +
                config->capacity *
                    (sizeof(struct sent) + sizeof(struct happened) + 4 * sizeof(struct number));
  return (size + 7) / 8 * 8;
}

/* ---- lists of numbers ---- */

static bool add_number(const struct config *config, struct number *list, uint32_t *count, int peer,
                       uint32_t number)
{
  if (*count == config->capacity)
    return false;
  list[(*count)++] = (struct number){.peer = (int16_t)peer, .number = number};
  return true;
}

static bool has_number(const struct number *list, uint32_t count, int peer, uint32_t number)
{
  for (uint32_t i = 0; i < count; i++)
    if (list[i].peer == peer && list[i].number == number)
      return true;
  return false;
}

/* Removes the numbers of `peer` up to `last`. */
static void drop_numbers(struct number *list, uint32_t *count, int peer, uint32_t last)
{
  uint32_t left = 0;
  for (uint32_t i = 0; i < *count; i++)
    if (list[i].peer != peer || list[i].number > last)
      list[left++] = list[i];
  memset(&list[left], 0, (*count - left) * sizeof *list);
  *count = left;
}

/* ---- the event log ---- */

static void write_log(struct state *state, struct actions *actions)
{
  if (state->writing || state->events == state->stable)
    return;
  state->writing = state->events;
  struct action *store = act(actions, ACTION_STORE);
  store->part = PART_LOG;
  store->checkpoint = state->durable.number;
}

static struct happened *append(const struct config *config, struct state *state,
                               struct actions *actions)
{
  if (state->happened == config->capacity) {
    give_up(actions, REASON_FULL);
    return NULL;
  }
  return &happened_of(config, state)[state->happened++];
}

static void note_reception(const struct config *config, struct state *state,
                           const struct event *event, struct actions *actions)
{
  struct happened *entry = append(config, state, actions);
  if (!entry)
    return;
  *entry = (struct happened){.request = event->request, .tag = event->tag, .peer = event->peer};
  state->events++;
  write_log(state, actions);
}

/* A program that polls decides the same many times over: that is one entry. */
static void note_decision(const struct config *config, struct state *state, uint32_t outcome,
                          struct actions *actions)
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

static const struct happened *reception(const struct config *config, const struct state *state,
                                        uint32_t request)
{
  const struct happened *entry = happened_of(config, state);
  for (uint32_t i = 0; state->replaying && i < state->happened; i++)
    if (entry[i].request == request && request)
      return &entry[i];
  return NULL;
}

/* The next decision to be made again; NULL when the program is free. */
static const struct happened *next_decision(const struct config *config, struct state *state)
{
  const struct happened *entry = happened_of(config, state);
  while (state->decision < state->happened &&
         (entry[state->decision].request || entry[state->decision].count == state->repeated)) {
    state->decision++;
    state->repeated = 0;
  }
  return state->decision < state->happened ? &entry[state->decision] : NULL;
}

/* ---- sending ---- */

static bool may_pass(const struct state *state, int peer)
{
  return peers(state)[peer].up && state->stable >= state->events;
}

/* Puts on the wire what waits for the peer. */
static void flush(const struct config *config, struct state *state, int to, struct actions *actions)
{
  struct peer *peer = &peers(state)[to];
  if (!may_pass(state, to))
    return;
  for (uint32_t i = 0; i < state->log; i++) {
    const struct sent *entry = &log_of(config, state)[i];
    if (entry->peer != to || entry->number <= peer->passed)
      continue;
    peer->passed = entry->number;
    if (has_number(had_of(config, state), state->had, to, entry->number))
      continue;
    struct action *resend = act(actions, ACTION_RESEND);
    resend->peer = entry->peer;
    resend->slot = entry->slot;
    resend->words[0] = entry->number;
  }
  drop_numbers(had_of(config, state), &state->had, to, peer->passed);
}

static void flush_all(const struct config *config, struct state *state, struct actions *actions)
{
  for (int peer = 0; peer < config->ranks; peer++)
    flush(config, state, peer, actions);
}

static void offer(const struct config *config, struct state *state, const struct event *event,
                  struct actions *actions)
{
  struct peer *peer = &peers(state)[event->peer];
  if (state->log == config->capacity) {
    give_up(actions, REASON_FULL);
    return;
  }
  uint32_t number = ++peer->sent;
  log_of(config, state)[state->log++] =
      (struct sent){.peer = event->peer, .number = number, .slot = ++state->slots};
  act(actions, ACTION_KEEP)->slot = state->slots;
  bool passes = may_pass(state, event->peer) && number > peer->passed;
  if (passes)
    peer->passed = number;
  if (!passes || has_number(had_of(config, state), state->had, event->peer, number)) {
    act(actions, ACTION_SUPPRESS);
  } else {
    act(actions, ACTION_TRANSMIT)->words[0] = number;
  }
}

/* ---- receiving ---- */

static void receive(const struct config *config, struct state *state, const struct event *event,
                    struct actions *actions)
{
  const struct happened *entry = reception(config, state, event->request);
  struct action *match = act(actions, ACTION_MATCH);
  match->request = event->request;
  match->peer = entry ? entry->peer : event->peer;
  match->tag = entry ? entry->tag : event->tag;
}

/* False when the list of those ahead of a gap is full. */
static bool count_in(const struct config *config, struct state *state, int from, uint32_t number)
{
  struct peer *peer = &peers(state)[from];
  struct number *ahead = ahead_of(config, state);
  if (number != peer->received + 1)
    return add_number(config, ahead, &state->ahead, from, number);
  peer->received++;
  while (has_number(ahead, state->ahead, from, peer->received + 1))
    peer->received++;
  drop_numbers(ahead, &state->ahead, from, peer->received);
  return true;
}

static void arrived(const struct config *config, struct state *state, const struct event *event,
                    bool all, struct actions *actions)
{
  act(actions, ACTION_DELIVER)->request = event->request;
  if (!count_in(config, state, event->peer, event->words[0]))
    give_up(actions, REASON_FULL);
  if (reception(config, state, event->request))
    state->replaying--;
  else if (all || event->wildcard)
    note_reception(config, state, event, actions);
}

static void choose(const struct config *config, struct state *state, const struct event *event,
                   struct actions *actions)
{
  const struct happened *entry = next_decision(config, state);
  if (!entry) {
    note_decision(config, state, event->outcome, actions);
    return;
  }
  act(actions, ACTION_FORCE)->outcome = entry->outcome;
  state->repeated++;
  state->replaying--;
}

/* ---- a checkpoint, of this rank alone ---- */

static void take_checkpoint(struct state *state, struct actions *actions)
{
  if (!state->wanted || state->phase != RUNNING || state->replaying)
    return;
  state->wanted = false;
  state->phase = CAPTURING;
  act(actions, ACTION_CAPTURE)->checkpoint = state->durable.number + 1;
}

static void forget_released(const struct config *config, struct state *state,
                            struct actions *actions)
{
  for (uint32_t i = 0; i < state->log; i++) {
    struct sent *entry = &log_of(config, state)[i];
    if (entry->number > peers(state)[entry->peer].released)
      continue;
    entry->forgotten = true;
    act(actions, ACTION_FORGET)->slot = entry->slot;
  }
}

static void captured(const struct config *config, struct state *state, const struct event *event,
                     struct actions *actions)
{
  state->phase = WRITING;
  state->pending = (struct checkpoint){.number = event->checkpoint,
                                       .events = state->events,
                                       .happened = state->happened,
                                       .ahead = state->ahead};
  struct counts *counts = counts_of(config, state, true);
  for (int i = 0; i < config->ranks; i++)
    counts[i] = (struct counts){peers(state)[i].sent, peers(state)[i].received};
  memcpy(checkpoint_ahead_of(config, state, true), ahead_of(config, state),
         config->capacity * sizeof(struct number));
  forget_released(config, state, actions);
  struct action *store = act(actions, ACTION_STORE);
  store->part = PART_IMAGE;
  store->checkpoint = event->checkpoint;
}

/* The pending checkpoint is the one to start from: what only the old one needed goes. */
static void settle(const struct config *config, struct state *state)
{
  struct happened *happened = happened_of(config, state);
  struct sent *log = log_of(config, state);
  uint32_t old = state->pending.happened, left = 0;
  state->happened -= old;
  memmove(happened, happened + old, state->happened * sizeof *happened);
  memset(happened + state->happened, 0, old * sizeof *happened);
  state->decision -= state->decision < old ? state->decision : old;
  for (uint32_t i = 0; i < state->log; i++)
    if (!log[i].forgotten)
      log[left++] = log[i];
  memset(&log[left], 0, (state->log - left) * sizeof *log);
  state->log = left;
  state->durable = state->pending;
  state->durable.happened = 0;
  memcpy(counts_of(config, state, false), counts_of(config, state, true),
         (size_t)config->ranks * sizeof(struct counts));
  memcpy(checkpoint_ahead_of(config, state, false), checkpoint_ahead_of(config, state, true),
         config->capacity * sizeof(struct number));
}

/* Nothing is pending. */
static void clear_pending(const struct config *config, struct state *state)
{
  state->phase = RUNNING;
  state->pending = (struct checkpoint){0};
  memset(counts_of(config, state, true), 0, (size_t)config->ranks * sizeof(struct counts));
  memset(checkpoint_ahead_of(config, state, true), 0, config->capacity * sizeof(struct number));
}

static void image_durable(const struct config *config, struct state *state, struct actions *actions)
{
  uint32_t old = state->durable.number;
  if (state->stable < state->pending.events)
    state->stable = state->pending.events;
  settle(config, state);
  clear_pending(config, state);
  for (int i = 0; i < config->ranks; i++)
    if (i == config->self)
      peers(state)[i].released = counts_of(config, state, false)[i].received;
    else
      tell(actions, i, CHECKPOINTED, state->durable.number,
           counts_of(config, state, false)[i].received);
  if (old != FRESH)
    act(actions, ACTION_ERASE)->checkpoint = old;
  act(actions, ACTION_SET_TIMER);
  flush_all(config, state, actions);
}

static void durable(const struct config *config, struct state *state, const struct event *event,
                    struct actions *actions)
{
  if (event->part == PART_IMAGE) {
    image_durable(config, state, actions);
    return;
  }
  if (state->stable < state->writing)
    state->stable = state->writing;
  state->writing = 0;
  write_log(state, actions);
  flush_all(config, state, actions);
}

/* ---- recovery ---- */

/* What this rank has received from the peer: the peer passes over it. */
static void report(const struct config *config, struct state *state, int peer,
                   struct actions *actions)
{
  const struct number *ahead = ahead_of(config, state);
  for (uint32_t i = 0; i < state->ahead; i++)
    if (ahead[i].peer == peer)
      tell(actions, peer, HAVE, 0, ahead[i].number);
  tell(actions, peer, REPORT, 0, peers(state)[peer].received);
}

static void link_up(const struct config *config, struct state *state, int from, uint32_t received,
                    struct actions *actions)
{
  peers(state)[from].up = true;
  peers(state)[from].passed = received;
  flush(config, state, from, actions);
}

static void link_down(const struct config *config, struct state *state, int peer)
{
  peers(state)[peer].up = false;
  drop_numbers(had_of(config, state), &state->had, peer, UINT32_MAX);
}

/* The program is where it was at the checkpoint; so are counts and the log of sent messages. */
static void go_back(const struct config *config, struct state *state)
{
  const struct counts *counts = counts_of(config, state, false);
  struct sent *log = log_of(config, state);
  uint32_t left = 0;
  for (int i = 0; i < config->ranks; i++) {
    peers(state)[i].sent = counts[i].sent;
    peers(state)[i].received = counts[i].received;
    link_down(config, state, i);
  }
  for (uint32_t i = 0; i < state->log; i++)
    if (log[i].number <= counts[log[i].peer].sent) {
      log[left] = log[i];
      log[left++].forgotten = false;
    }
  memset(&log[left], 0, (state->log - left) * sizeof *log);
  state->log = left;
  state->ahead = state->durable.ahead;
  memcpy(ahead_of(config, state), checkpoint_ahead_of(config, state, false),
         config->capacity * sizeof(struct number));
}

/* All that the event logger has is stable, and happens again. */
static void replay(const struct config *config, struct state *state)
{
  const struct happened *entry = happened_of(config, state);
  state->stable = state->events;
  state->writing = state->decision = state->repeated = state->replaying = 0;
  for (uint32_t i = 0; i < state->happened; i++)
    state->replaying += entry[i].request ? 1 : entry[i].count;
}

/* A rank keeps what it sends to itself in its log, too: it is its own peer. */
static void link_to_self(const struct config *config, struct state *state, struct actions *actions)
{
  int self = config->self;
  const struct number *ahead = ahead_of(config, state);
  for (uint32_t i = 0; i < state->ahead; i++)
    if (ahead[i].peer == self)
      add_number(config, had_of(config, state), &state->had, self, ahead[i].number);
  link_up(config, state, self, peers(state)[self].received, actions);
}

static void restart(const struct config *config, struct state *state, uint32_t checkpoint,
                    struct actions *actions)
{
  if (state->phase == WRITING && state->pending.number == checkpoint)
    settle(config, state);
  clear_pending(config, state);
  go_back(config, state);
  replay(config, state);
  state->wanted = false;
  for (int i = 0; i < config->ranks; i++)
    if (i != config->self)
      report(config, state, i, actions);
  link_to_self(config, state, actions);
}

static void start(const struct config *config, struct state *state, const struct event *event,
                  struct actions *actions)
{
  act(actions, ACTION_SET_TIMER);
  if (event->outcome)
    restart(config, state, event->checkpoint, actions);
  else
    for (int i = 0; i < config->ranks; i++)
      peers(state)[i].up = true;
}

static void control(const struct config *config, struct state *state, const struct event *event,
                    struct actions *actions)
{
  struct peer *peer = &peers(state)[event->peer];
  switch ((enum control)event->words[0]) {
  case HAVE:
    if (!add_number(config, had_of(config, state), &state->had, event->peer, event->words[2]))
      give_up(actions, REASON_FULL);
    break;
  case REPORT:
    link_up(config, state, event->peer, event->words[2], actions);
    break;
  case CHECKPOINTED:
    peer->released = event->words[2];
    break;
  }
}

static void step_logging(const struct config *config, struct state *state,
                         const struct event *event, bool all, struct actions *actions)
{
  switch ((enum event_kind)event->kind) {
  case EVENT_START:
    start(config, state, event, actions);
    break;
  case EVENT_DOWN:
    link_down(config, state, event->peer);
    report(config, state, event->peer, actions);
    break;
  case EVENT_TIMER:
    state->wanted = true;
    break;
  case EVENT_OFFER:
    offer(config, state, event, actions);
    break;
  case EVENT_RECEIVE:
    receive(config, state, event, actions);
    break;
  case EVENT_CHOOSE:
    choose(config, state, event, actions);
    break;
  case EVENT_PLACE:
    take_checkpoint(state, actions);
    break;
  case EVENT_ARRIVED:
    arrived(config, state, event, all, actions);
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

static void step(const struct config *config, void *state, const struct event *event,
                 struct actions *actions)
{
  step_logging(config, state, event, true, actions);
}

static void step_wildcards(const struct config *config, void *state, const struct event *event,
                           struct actions *actions)
{
  step_logging(config, state, event, false, actions);
}

/* ---- invariants, by their numbers above ---- */

static bool nothing_waits(const struct config *config, const struct state *state)
{
  for (int i = 0; i < config->ranks; i++)
    if (may_pass(state, i) && peers(state)[i].passed < peers(state)[i].sent)
      return false;
  return true;
}

/* Numbers in the log count up to `sent`, from the first that is not released. */
static bool log_is_whole(const struct config *config, const struct state *state)
{
  for (int i = 0; i < config->ranks; i++) {
    const struct peer *peer = &peers(state)[i];
    uint32_t found = 0;
    for (uint32_t j = 0; j < state->log; j++)
      found +=
          log_of(config, state)[j].peer == i && log_of(config, state)[j].number > peer->released;
    if (peer->sent > peer->released && found != peer->sent - peer->released)
      return false;
  }
  return true;
}

static bool beyond_gaps(const struct config *config, const struct state *state)
{
  const struct number *ahead = ahead_of(config, state);
  for (uint32_t i = 0; i < state->ahead; i++)
    if (ahead[i].number <= peers(state)[ahead[i].peer].received + 1)
      return false;
  return true;
}

static int broken(const struct config *config, const void *memory)
{
  const struct state *state = memory;
  if (!nothing_waits(config, state))
    return 1;
  if (state->stable > state->events || state->writing > state->events)
    return 2;
  if (!log_is_whole(config, state))
    return 3;
  if (!beyond_gaps(config, state))
    return 4;
  if (state->pending.happened > state->happened || state->pending.events > state->events)
    return 5;
  return 0;
}

extern const struct protocol protocol_pessimistic, protocol_pessimistic_wildcards;

const struct protocol protocol_pessimistic = {
    .name = "pessimistic",
    .title = "pessimistic sender-based message logging with an event logger",
    .piggyback_bytes = 4,
    .control_bytes = 12,
    .independent = true,
    .controls = controls,
    .invariants = invariants,
    .bytes = bytes,
    .step = step,
    .broken = broken};

const struct protocol protocol_pessimistic_wildcards = {
    .name = "pessimistic-wildcards",
    .title = "pessimistic message logging, of non-deterministic events only (Bouteiller et al.)",
    .piggyback_bytes = 4,
    .control_bytes = 12,
    .independent = true,
    .controls = controls,
    .invariants = invariants,
    .bytes = bytes,
    .step = step_wildcards,
    .broken = broken};
