/* Pessimistic sender-based message logging with an event logger: only a crashed rank goes back.
 *
 * Source: the protocols with which Dichev and Nikolopoulos (EuroMPI 2019, sections 2 and 3.3)
 * compare theirs. Senders log payloads, and an event logger logs non-deterministic events before
 * any message that depends on them leaves the rank. `pessimistic` logs every reception and every
 * decision. `pessimistic-wildcards` logs only what the program does not determine, as Bouteiller et
 * al. do (reference [9] there): which message a wildcard receive was given, and how decisions
 * (tests, probes, choices) came out.
 *
 * Messages to each peer are numbered. A message stays in the sender's log until a durable
 * checkpoint of the receiver covers it and the sender has taken a checkpoint after that. The
 * message goes on the wire when all events before the send are stable and the link is up. The
 * program's send is complete at once, while the message waits in the log. The message does not wait
 * for events after the send, because a polling program makes events faster than they are written.
 * An output leaves when all events before it are stable.
 *
 * After a crash both ends of a link report what they have received. The restarted rank's program
 * runs again: receives and decisions come out as logged, and messages that its peers have received
 * are not sent again. Peers send again, from their logs, the messages that the restarted rank has
 * not received. Survivors never go back.
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
#include "protocols/parts/outputs.h"
#include "protocols/parts/transitions.h"

static const char *const invariants[] = {
    /* 1 */
    "no message waits to be sent while its link is up and all events before it are stable: "
    "otherwise nothing would ever send the message, and its receiver would wait for ever",
    /* 2 */
    "no more events are stable, or being written, than there were: "
    "otherwise a message would leave before the events that it depends on are safe, and be an "
    "orphan after a crash",
    /* 3 */
    "every message that a peer may still ask for is in the log: "
    "otherwise a peer that goes back would wait for a message that nobody can send again",
    /* 4 */
    "a message that was received ahead of a gap is behind the gap: "
    "otherwise a message that is missing would count as received, and be lost",
    /* 5 */
    "the events that a checkpoint names are in the event log: "
    "otherwise a restart would repeat other events than those since the checkpoint",
    /* 6 */
    "no output waits when all events are stable: "
    "otherwise the output would never leave",
    /* 7 */
    "a message that is logged, or ahead of a gap, is of a rank and has a number: "
    "otherwise the message could not be sent again after a crash: its receiver waits for ever",
    /* 8 */
    "a logged reception is of a message of a rank, or of none: "
    "otherwise a restarted rank would wait for a message that nobody has sent",
    NULL};

enum phase { RUNNING, CAPTURING, WRITING };

enum control { HAVE = 1, REPORT, CHECKPOINTED };

static const char *const controls[] = {
    "none", "have: I have your message number {value}, ahead of a gap",
    "report: messages that I have received from you: {value}",
    "checkpointed: my checkpoint {about} has your messages up to {value}", NULL};

/* Describes an entry of the event log, which is in the order of events. The entry says one of three
 * things: receive `request` was given a message of (peer, tag); it was cancelled (peer is
 * RCL_NOBODY); or `count` decisions in a row, each an event, came out as `outcome`. */
struct happened {
  uint32_t request; /* number of the receive, or 0 if the entry is about decisions */
  uint32_t outcome;
  int32_t tag;
  int16_t peer;
  uint16_t pad;
  uint32_t count;
};

/* Holds where the program was at a checkpoint. counts_of() has its counts of messages. */
struct checkpoint {
  uint32_t number;
  uint32_t events;   /* number of events that had happened */
  uint32_t happened; /* number of entries that the event log had */
};

struct state {
  uint32_t phase, wanted;
  struct checkpoint durable,
      /* `durable` is the checkpoint to start from, `pending` the one that is being written */
      pending;
  uint32_t events, writing,
      /* Numbers of the last event, of the last event that is being written, and of the last event
       * on stable storage. */
      stable;
  uint32_t happened;  /* number of entries of the event log */
  uint32_t replaying; /* number of events that still have to happen again */
  uint32_t decision,
      /* entry from which decisions are repeated, and how many of its decisions were repeated */
      repeated;
  /* Numbers of the last output that waits, and of the last output that waits for the write under
   * way, or 0 if there is none. */
  uint32_t output, writing_output;
  struct rcl_links_counts links;
};

struct variant {
  /* true if every reception is logged, not only receptions that could have come out otherwise */
  bool all;
};

struct counts {
  uint32_t sent, received;
};

/* Lists the counts of both checkpoints (the durable one first); for each rank, the number of the
 * last message for which no restart of the rank will ask; the event log; and the links. */
#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(all_counts, struct counts, 2 * config->ranks)                                              \
  ARRAY(released_of, uint32_t, config->ranks)                                                      \
  LIST(happened_of, struct happened, config->capacity, state->happened, RCL_FULL_EVENTS)           \
  RCL_LINKS_LISTS(ARRAY, LIST, state->links)
RCL_STATE(LISTS)

#include "protocols/parts/replayed.h" /* events that happen again */

static struct counts *counts_of(const struct rank *r, bool pending)
{
  return all_counts(r->config, r->state) + pending * r->config->ranks;
}

static struct rcl_links links_of(const struct rank *r)
{
  struct rcl_links links =
      rcl_links_at(r->config, &r->state->links, links_memory(r->config, r->state));
  links.interval = r->state->phase == WRITING ? r->state->pending.number : r->state->durable.number;
  links.events = r->state->events;
  links.stable = r->state->stable;
  return links;
}

/* ---- the event log ---- */

static void write_log(const struct rank *r)
{
  if (r->state->writing || r->state->events == r->state->stable)
    return;
  r->state->writing = r->state->events;
  r->state->writing_output = r->state->output;
  rcl_store(r->actions, RCL_PART_LOG, r->state->durable.number);
}

static struct happened *append(const struct rank *r)
{
  if (r->state->happened == r->config->capacity) {
    rcl_give_up_full(r->actions, RCL_FULL_EVENTS);
    return NULL;
  }
  return &happened_of(r->config, r->state)[r->state->happened++];
}

static void note_reception(const struct rank *r)
{
  struct happened *entry = append(r);
  if (!entry)
    return;
  *entry =
      (struct happened){.request = r->event->request, .tag = r->event->tag, .peer = r->event->peer};
  r->state->events++;
  write_log(r);
}

/* Notes a decision. A polling program makes the same decision many times in a row. These decisions
 * are together one entry. */
static void note_decision(const struct rank *r, uint32_t outcome)
{
  uint32_t first =
      r->state->phase == WRITING ? r->state->pending.happened : r->state->durable.happened;
  struct happened *last = happened_of(r->config, r->state) + r->state->happened - 1;
  bool same = r->state->happened > first && !last->request && last->outcome == outcome;
  if (!same && !(last = append(r)))
    return;
  last->outcome = outcome;
  last->count++;
  r->state->events++;
  r->state->decision = r->state->happened;
  r->state->repeated = 0;
  write_log(r);
}

/* ---- the outside ---- */

static void let_out(const struct rank *r, uint32_t output)
{
  if (output)
    rcl_output(r->actions, output, RCL_FRESH);
  if (r->state->output == output)
    r->state->output = 0;
  r->state->writing_output = 0;
}

static void output(const struct rank *r)
{
  r->state->output = r->event->output;
  if (r->state->events == r->state->stable)
    let_out(r, r->event->output);
  else if (r->state->events == r->state->writing)
    r->state->writing_output = r->event->output;
}

/* ---- sending ---- */

static void flush_all(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  for (int peer = 0; peer < r->config->ranks; peer++)
    rcl_links_flush(&links, peer, r->actions);
}

static void send(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  rcl_links_send(&links, r->event->peer, r->actions);
}

/* ---- receiving ---- */

static void arrived(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
  if (!rcl_links_arrived(&links, r->event->peer, r->event->words[RCL_LINKS_NUMBER]))
    rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
  if (rcl_logged_reception(r, r->event->request))
    r->state->replaying--;
  else if (r->variant->all || r->event->wildcard)
    note_reception(r);
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
    if (links.log[i].number <= released_of(r->config, r->state)[links.log[i].peer])
      rcl_links_forget(&links.log[i], r->actions);
}

static void captured(const struct rank *r)
{
  r->state->phase = WRITING;
  r->state->pending = (struct checkpoint){
      .number = r->event->checkpoint, .events = r->state->events, .happened = r->state->happened};
  struct counts *counts = counts_of(r, true);
  const struct rcl_link *link = links_of(r).link;
  for (int i = 0; i < r->config->ranks; i++)
    counts[i] = (struct counts){link[i].sent, link[i].received};
  forget_released(r);
  rcl_store(r->actions, RCL_PART_IMAGE, r->event->checkpoint);
}

/* Makes the pending checkpoint the checkpoint to start from, and drops entries that only the old
 * checkpoint needed. */
static void settle(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  struct happened *happened = happened_of(r->config, r->state);
  const struct counts *counts = counts_of(r, true);
  uint32_t old = r->state->pending.happened;
  r->state->happened -= old;
  memmove(happened, happened + old, r->state->happened * sizeof *happened);
  memset(happened + r->state->happened, 0, old * sizeof *happened);
  r->state->decision -= r->state->decision < old ? r->state->decision : old;
  rcl_links_compact(&links);
  for (int i = 0; i < r->config->ranks; i++)
    rcl_links_drop(links.ahead, &r->state->links.ahead, i, counts[i].received, 0);
  r->state->durable = r->state->pending;
  r->state->durable.happened = 0;
  memcpy(counts_of(r, false), counts, (size_t)r->config->ranks * sizeof *counts);
}

/* Forgets the pending checkpoint. */
static void clear_pending(const struct rank *r)
{
  r->state->phase = RUNNING;
  r->state->pending = (struct checkpoint){0};
  memset(counts_of(r, true), 0, (size_t)r->config->ranks * sizeof(struct counts));
}

static void image_durable(const struct rank *r)
{
  uint32_t old = r->state->durable.number;
  if (r->state->stable < r->state->pending.events)
    r->state->stable = r->state->pending.events;
  settle(r);
  clear_pending(r);
  if (r->state->events == r->state->stable)
    let_out(r, r->state->output);
  for (int i = 0; i < r->config->ranks; i++)
    if (i == r->config->self)
      released_of(r->config, r->state)[i] = counts_of(r, false)[i].received;
    else
      rcl_send_control(r->actions, i, CHECKPOINTED, r->state->durable.number,
                       counts_of(r, false)[i].received);
  if (old != RCL_FRESH)
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = old;
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  flush_all(r);
}

static void durable(const struct rank *r)
{
  if (r->event->part == RCL_PART_IMAGE) {
    image_durable(r);
    return;
  }
  if (r->state->stable < r->state->writing)
    r->state->stable = r->state->writing;
  r->state->writing = 0;
  let_out(r, r->state->writing_output);
  write_log(r);
  flush_all(r);
}

/* ---- recovery ---- */

static void link_up(const struct rank *r, int from, uint32_t received)
{
  struct rcl_links links = links_of(r);
  rcl_links_up(&links, from, received);
  rcl_links_flush(&links, from, r->actions);
}

static void link_down(const struct rank *r, int peer)
{
  struct rcl_links links = links_of(r);
  rcl_links_down(&links, peer);
  rcl_links_report(&links, peer, HAVE, REPORT, r->actions);
}

/* Sets counts and the log of sent messages back to where the program was at the checkpoint. */
static void go_back(const struct rank *r)
{
  const struct counts *counts = counts_of(r, false);
  struct rcl_links links = links_of(r);
  for (int i = 0; i < r->config->ranks; i++) {
    links.link[i].sent = counts[i].sent;
    links.link[i].received = counts[i].received;
  }
  rcl_links_go_back(&links, r->state->durable.number, false, r->actions);
}

/* Replays all events that the event logger has, which are stable. */
static void replay(const struct rank *r)
{
  const struct happened *entry = happened_of(r->config, r->state);
  r->state->stable = r->state->events;
  r->state->wanted = r->state->writing = r->state->decision = r->state->repeated =
      r->state->replaying = 0;
  for (uint32_t i = 0; i < r->state->happened; i++)
    r->state->replaying += entry[i].request ? 1 : entry[i].count;
}

static void restart(const struct rank *r, uint32_t checkpoint)
{
  if (r->state->phase == WRITING && r->state->pending.number == checkpoint)
    settle(r);
  clear_pending(r);
  go_back(r);
  replay(r);
  for (int i = 0; i < r->config->ranks; i++)
    if (i != r->config->self)
      link_down(r, i);
  struct rcl_links links = links_of(r);
  rcl_links_to_self(&links);
  rcl_links_flush(&links, r->config->self, r->actions);
}

static void start(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  if (r->event->incarnation)
    restart(r, r->event->checkpoint);
  else
    rcl_links_all_up(&links);
  let_out(r, r->state->output = r->event->output);
}

static void control(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  switch ((enum control)r->event->control) {
  case HAVE:
    if (!rcl_links_peer_has(&links, r->event->peer, r->event->value))
      rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
    break;
  case REPORT:
    link_up(r, r->event->peer, r->event->value);
    break;
  case CHECKPOINTED:
    released_of(r->config, r->state)[r->event->peer] = r->event->value;
    break;
  }
}

static void down(const struct rank *r)
{
  link_down(r, r->event->peer);
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
    [RCL_EVENT_OUTPUT] = output,
    [RCL_EVENT_RECEIVE] = rcl_replay_receive,
    [RCL_EVENT_CHOICE] = rcl_replay_choice,
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

/* Checks that no message noted as ahead of a gap is the next expected message, which would close
 * the gap. Numbers up to `received` may remain, because a checkpoint from before the gap was closed
 * needs them. */
static bool beyond_gaps(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  for (uint32_t i = 0; i < r->state->links.ahead; i++)
    if (links.ahead[i].number == links.link[links.ahead[i].peer].received + 1)
      return false;
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (!rcl_links_are_sound(&links))
    return 7;
  if (!rcl_receptions_are_sound(r))
    return 8;
  if (!rcl_links_nothing_waits(&links))
    return 1;
  if (r->state->stable > r->state->events || r->state->writing > r->state->events)
    return 2;
  if (!rcl_links_log_is_whole(&links, released_of(r->config, r->state)))
    return 3;
  if (!beyond_gaps(r))
    return 4;
  if (r->state->pending.happened > r->state->happened ||
      r->state->pending.events > r->state->events)
    return 5;
  return r->state->output && r->state->events == r->state->stable ? 6 : 0;
}

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
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

#define PROTOCOL(ID, NAME, TITLE, NEXT)                                                            \
  {                                                                                                \
    .name = NAME, .title = TITLE, .piggyback_bytes = 4, .control_bytes = 12, .independent = true,  \
    .daemon = true, .controls = controls, .invariants = invariants, .phases = phases,              \
    .promises = promises, .state_size = state_size, .in_use = in_use, .step = ID##_step,           \
    .violated_invariant = ID##_broken, .place = &place, .variant = NEXT                            \
  }

static const struct variant every = {.all = true};
static const struct variant wildcards = {.all = false};

RCL_FORM(every)
RCL_FORM(wildcards)

static const struct rcl_protocol pessimistic_wildcards = PROTOCOL(
    wildcards, "pessimistic-wildcards",
    "pessimistic, of non-deterministic events only (Bouteiller et al., cited there)", NULL);

extern const struct rcl_protocol protocol_pessimistic;
const struct rcl_protocol protocol_pessimistic =
    PROTOCOL(every, "pessimistic",
             "sender-based message logging, an event logger (Dichev and Nikolopoulos 2019)",
             &pessimistic_wildcards);
