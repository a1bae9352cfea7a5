/* Protocols for worlds that two judges explore: this source, and the model of it in referee.py.
 *
 * `pause` holds all programs for a checkpoint. A rank is captured as soon as the request reaches
 * it. Each peer sends it a mark with the number of messages that the peer has sent. The rank keeps
 * the messages that are still under way until it has that many of each peer. Then it writes its
 * state, which contains these messages, as its log. Programs go on when the checkpoint has
 * committed. A protocol `pause-without-...` is `pause` without one rule. `local` keeps no messages,
 * and ranks are captured without regard to others. `again` works below MPI's matching and takes no
 * checkpoint; after a crash all ranks begin again.
 */
#include <recline/commit.h>

enum { RANKS = 4, KEPT = 12 };
enum control { NONE, REQUEST, MARK, DONE, RELEASED };
enum stage { RUNNING, CAPTURING, COUNTING, WRITING };

/* Numbers the flaws of a protocol `pause-without-...`. */
enum flaw {
  WITHOUT_COUNT = 1,   /* the log is written at once */
  WITHOUT_LOG = 2,     /* a rank is done when its image is durable */
  WITHOUT_HOLD = 4,    /* the program goes on as soon as it is captured */
  WITHOUT_PATIENCE = 8 /* the last checkpoint is erased when the next one begins */
};

struct kept {
  uint32_t slot; /* slot of the message, or 0 if the entry is free */
  int32_t peer, tag;
};

struct state {
  uint32_t captured, stage, parts, wanted; /* `parts` has bit 1 << enum rcl_part if it is durable */
  uint32_t sent[RANKS], received[RANKS];
  uint32_t marks[RANKS]; /* 1 + the number in a peer's mark, or 0 if no mark has come */
  struct rcl_commit commit;
  struct kept kept[KEPT]; /* in the order of their arrival */
};

static size_t state_size(const struct rcl_config *config)
{
  (void)config;
  return (sizeof(struct state) + 7) / 8 * 8;
}

/* ---- kept messages ---- */

static uint32_t free_slot(const struct state *state)
{
  for (uint32_t slot = 1;; slot++) {
    uint32_t i = 0;
    while (i < KEPT && state->kept[i].slot != slot)
      i++;
    if (i == KEPT)
      return slot;
  }
}

static void keep(struct state *state, const struct rcl_event *event, struct rcl_actions *actions)
{
  uint32_t i = 0;
  while (i < KEPT && state->kept[i].slot)
    i++;
  if (i == KEPT) {
    rcl_give_up_full(actions, RCL_FULL_KEPT);
    return;
  }
  state->kept[i] = (struct kept){.slot = free_slot(state), .peer = event->peer, .tag = event->tag};
  rcl_act(actions, RCL_ACTION_KEEP)->slot = state->kept[i].slot;
}

static void receive(struct state *state, const struct rcl_event *event, struct rcl_actions *actions)
{
  uint32_t i = 0;
  while (i < KEPT && !(state->kept[i].slot && rcl_matches(event->peer, event->tag,
                                                          state->kept[i].peer, state->kept[i].tag)))
    i++;
  if (i == KEPT) {
    rcl_match(actions, event);
    return;
  }
  struct rcl_action *action = rcl_act(actions, RCL_ACTION_DELIVER);
  action->request = event->request;
  action->slot = state->kept[i].slot;
  rcl_act(actions, RCL_ACTION_FORGET)->slot = state->kept[i].slot;
  for (; i + 1 < KEPT; i++)
    state->kept[i] = state->kept[i + 1];
  state->kept[KEPT - 1] = (struct kept){0};
}

/* ---- checkpoints ---- */

static void begin(const struct rcl_config *config, struct state *state, enum flaw flaws,
                  struct rcl_actions *actions)
{
  if (flaws & WITHOUT_PATIENCE && state->captured)
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = state->captured;
  state->stage = CAPTURING;
  rcl_act(actions, RCL_ACTION_HOLD);
  rcl_act(actions, RCL_ACTION_DRAIN)->peer = RCL_ANY;
  rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = ++state->captured;
  if (flaws & WITHOUT_COUNT)
    return;
  for (int peer = 0; peer < config->ranks; peer++)
    if (peer != config->self)
      rcl_send_control(actions, peer, MARK, state->captured, state->sent[peer]);
  state->marks[config->self] = 1 + state->sent[config->self];
}

/* Writes the log when all messages from before the checkpoint are here. */
static void complete(const struct rcl_config *config, struct state *state, enum flaw flaws,
                     struct rcl_actions *actions)
{
  for (int peer = 0; peer < config->ranks && !(flaws & WITHOUT_COUNT); peer++)
    if (!state->marks[peer] || state->received[peer] + 1 < state->marks[peer])
      return;
  if (state->stage != COUNTING)
    return;
  for (int peer = 0; peer < RANKS; peer++)
    state->marks[peer] = 0;
  state->stage = WRITING;
  rcl_store(actions, RCL_PART_LOG, state->captured);
}

static void release(struct state *state, struct rcl_actions *actions)
{
  state->stage = RUNNING;
  rcl_act(actions, RCL_ACTION_RELEASE);
}

static void start(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  state->stage = state->parts = state->wanted = 0;
  state->commit = (struct rcl_commit){0};
  for (int peer = 0; peer < RANKS; peer++)
    state->marks[peer] = 0;
  if (rcl_coordinator(config))
    rcl_act(actions, RCL_ACTION_SET_TIMER);
}

static void take_control(const struct rcl_config *config, struct state *state, enum flaw flaws,
                         const struct rcl_event *event, struct rcl_actions *actions)
{
  if (event->control == REQUEST) {
    begin(config, state, flaws, actions);
  } else if (event->control == MARK) {
    state->marks[event->peer] = 1 + event->value;
    complete(config, state, flaws, actions);
  } else if (event->control == DONE) {
    rcl_commit_count(config, &state->commit, actions);
  } else {
    release(state, actions);
  }
}

static void step_pause(const struct rcl_config *config, struct state *state, enum flaw flaws,
                       const struct rcl_event *event, struct rcl_actions *actions)
{
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START:
    start(config, state, actions);
    break;
  case RCL_EVENT_DOWN:
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = event->checkpoint;
    break;
  case RCL_EVENT_TIMER:
    state->commit.in_progress = state->captured + 1;
    rcl_send_control_to_all(config, actions, REQUEST, state->captured + 1);
    begin(config, state, flaws, actions);
    break;
  case RCL_EVENT_SEND:
    state->sent[event->peer]++;
    rcl_act(actions, RCL_ACTION_TRANSMIT);
    break;
  case RCL_EVENT_RECEIVE:
    receive(state, event, actions);
    break;
  case RCL_EVENT_ARRIVED:
    state->received[event->peer]++;
    if (event->request == RCL_NO_REQUEST || state->stage == COUNTING)
      keep(state, event, actions);
    else
      rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
    complete(config, state, flaws, actions);
    break;
  case RCL_EVENT_CONTROL:
    take_control(config, state, flaws, event, actions);
    break;
  case RCL_EVENT_CAPTURED:
    state->stage = COUNTING;
    rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
    if (flaws & WITHOUT_HOLD)
      rcl_act(actions, RCL_ACTION_RELEASE);
    complete(config, state, flaws, actions);
    break;
  case RCL_EVENT_DURABLE:
    state->parts |= 1u << event->part;
    if (flaws & WITHOUT_LOG ? event->part != RCL_PART_IMAGE : state->parts != 3)
      break;
    state->parts = 0;
    rcl_commit_done(config, &state->commit, DONE, event->checkpoint, actions);
    break;
  case RCL_EVENT_COMMITTED:
    rcl_commit_end(&state->commit, actions);
    rcl_send_control_to_all(config, actions, RELEASED, event->checkpoint);
    release(state, actions);
    break;
  default:
    break;
  }
}

/* Takes a step of `local`: each rank is captured at its own next safe point. */
static void step_local(const struct rcl_config *config, struct state *state,
                       const struct rcl_event *event, struct rcl_actions *actions)
{
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_TIMER:
    state->commit.in_progress = state->captured + 1;
    state->wanted = 1;
    rcl_send_control_to_all(config, actions, REQUEST, state->captured + 1);
    break;
  case RCL_EVENT_CONTROL:
    if (event->control == REQUEST)
      state->wanted = 1;
    else
      rcl_commit_count(config, &state->commit, actions);
    break;
  case RCL_EVENT_SAFE_POINT:
    if (state->wanted)
      rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = ++state->captured;
    state->wanted = 0;
    break;
  case RCL_EVENT_SEND:
    rcl_act(actions, RCL_ACTION_TRANSMIT);
    break;
  case RCL_EVENT_ARRIVED:
    rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
    break;
  case RCL_EVENT_CAPTURED:
    rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
    break;
  case RCL_EVENT_DURABLE:
    rcl_commit_done(config, &state->commit, DONE, event->checkpoint, actions);
    break;
  case RCL_EVENT_COMMITTED:
    rcl_commit_end(&state->commit, actions);
    break;
  default:
    step_pause(config, state, 0, event, actions);
    break;
  }
}

static void local(const struct rcl_config *config, void *state, const struct rcl_event *event,
                  struct rcl_actions *actions)
{
  step_local(config, state, event, actions);
}

static void again(const struct rcl_config *config, void *state, const struct rcl_event *event,
                  struct rcl_actions *actions)
{
  (void)config;
  (void)state;
  if (event->kind == RCL_EVENT_DOWN)
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = event->checkpoint;
  else if (event->kind == RCL_EVENT_SEND)
    rcl_act(actions, RCL_ACTION_TRANSMIT);
  else if (event->kind == RCL_EVENT_ARRIVED)
    rcl_act(actions, RCL_ACTION_DELIVER);
}

#define PAUSE(NAME, FLAWS)                                                                         \
  static void NAME(const struct rcl_config *config, void *state, const struct rcl_event *event,    \
                   struct rcl_actions *actions)                                                    \
  {                                                                                                \
    step_pause(config, state, FLAWS, event, actions);                                              \
  }
PAUSE(pause, 0)
PAUSE(pause_without_count, WITHOUT_COUNT)
PAUSE(pause_without_log, WITHOUT_LOG)
PAUSE(pause_without_hold, WITHOUT_HOLD)
PAUSE(pause_without_patience, WITHOUT_PATIENCE)

static const char *const controls[] = {"none", "request", "mark", "done", "released", NULL};
static const char *const invariants[] = {NULL};

#define PROTOCOL(NAME, STEP, LEVEL)                                                                \
  &(const struct rcl_protocol)                                                                     \
  {                                                                                                \
    .name = NAME, .title = "a protocol for two judges", .control_bytes = 12, .controls = controls, \
    .invariants = invariants, .state_size = state_size, .step = STEP, .level = LEVEL               \
  }
#define ABOVE(NAME, STEP) PROTOCOL(NAME, STEP, RCL_LEVEL_APPLICATION)
RECLINE_PROTOCOLS(PROTOCOL("again", again, RCL_LEVEL_CHANNEL), ABOVE("local", local),
                  ABOVE("pause", pause), ABOVE("pause-without-count", pause_without_count),
                  ABOVE("pause-without-log", pause_without_log),
                  ABOVE("pause-without-hold", pause_without_hold),
                  ABOVE("pause-without-patience", pause_without_patience));
