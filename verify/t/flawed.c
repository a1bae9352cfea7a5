/* A protocol for verify/t/sound.t: all ranks pause, flush their channels and are captured together,
 * as in examples/pause.c. The compiler is given FLAW, which says how the protocol differs from
 * that example. */
#include <recline/commit.h>

/* Names the variants. Variants above the line are correct. A name at the beginning of a comment
 * says that the variant also does what the named one does. */
enum flaw {
  NONE,
  AGAIN,      /* a TIMER begins a checkpoint and sets the timer again, or puts it off */
  EVERY_2ND,  /* the first TIMER sets the timer again and sends a message, the second one begins */
  OTHER_ASKS, /* rank 1 has the timer, and asks the coordinator */
  TAGS_TOKEN, /* after a message of tag 7 a control message goes round for ever */
  RECONNECTS, /* a rank that starts with closed connections waits until all are open */
  ALONE,      /* each rank is captured alone, and recovers on its own */
  /* ---- */
  NO_DONE,         /* AGAIN; a rank that gets a message while its image is written is never done */
  WANTS,           /* a TIMER sets the timer again, and notes in the state that it did */
  TELLS,           /* a TIMER sets the timer again, and sends control messages */
  PUTS_OFF,        /* a TIMER sets the timer again, and nothing else */
  OTHER_ASKS_ONCE, /* OTHER_ASKS; the timer is set once */
  TOKEN,           /* a control message goes round for ever */
  TOKEN_KEEPS,     /* TOKEN; nothing is erased */
  TOKEN_STAYS,     /* TOKEN; a rank that pauses for the second checkpoint stays paused */
  OUTPUTS,         /* a rank that starts from an image with outputs stays paused */
  STAYS_CLOSED,    /* RECONNECTS; a rank that starts from an image stays paused */
  OLD_COMMIT,      /* the second TIMER commits the first checkpoint once more */
  ALONE_ONCE,      /* ALONE; the timer is set once */
  ALONE_PUTS_OFF,  /* ALONE; rank 1 sets its timer again and captures nothing */
  KEEPS,           /* nothing is erased */
  LARGE            /* a rank does not wait for its own messages of more than 1,024 bytes */
};

enum {
  CLOSES = FLAW == RECONNECTS || FLAW == STAYS_CLOSED,
  LONELY = FLAW == ALONE || FLAW == ALONE_ONCE || FLAW == ALONE_PUTS_OFF
};

enum phase { RUNNING, PAUSED, SAVING };
enum control { MARKER = 1, DONE, COMMITTED, PING, ASK, OPENED };

static const char *const controls[] = {"none", "marker", "done",   "committed",
                                       "ping", "ask",    "opened", NULL};
static const char *const promises[] = {"bounded", NULL};

struct state {
  uint32_t phase;
  uint32_t captured; /* the last checkpoint captured */
  uint32_t markers;  /* markers received for the next checkpoint */
  uint32_t own;      /* messages in transit from this rank to itself */
  struct rcl_commit commit;
  uint32_t ticks, stored, given;
  uint32_t opened; /* peers whose connections are open */
};

static bool again(void)
{
  return FLAW == AGAIN || FLAW == NO_DONE;
}

static bool other_asks(void)
{
  return FLAW == OTHER_ASKS || FLAW == OTHER_ASKS_ONCE;
}

static bool token(void)
{
  return FLAW == TAGS_TOKEN || FLAW == TOKEN || FLAW == TOKEN_KEEPS || FLAW == TOKEN_STAYS;
}

static size_t state_size(const struct rcl_config *config)
{
  (void)config;
  return sizeof(struct state);
}

static void pause(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  state->phase = PAUSED;
  rcl_act(actions, RCL_ACTION_HOLD);
  rcl_send_control_to_all(config, actions, MARKER, state->captured + 1);
}

static void save(struct state *state, struct rcl_actions *actions)
{
  state->phase = SAVING;
  state->markers = 0;
  rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = ++state->captured;
}

static void go_on(struct state *state, struct rcl_actions *actions)
{
  state->phase = RUNNING;
  state->stored = state->given = 0;
  if (FLAW != TOKEN_STAYS || state->captured < 2)
    rcl_act(actions, RCL_ACTION_RELEASE);
  if (state->captured > 1 && FLAW != TOKEN_KEEPS && FLAW != KEEPS)
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = state->captured - 1;
}

static void set_timer(const struct rcl_config *config, struct rcl_actions *actions)
{
  if (config->self == (other_asks() ? 1 : RCL_COORDINATOR_RANK))
    rcl_act(actions, RCL_ACTION_SET_TIMER);
}

static void begin(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  if (rcl_commit_begin(&state->commit, true, state->captured + 1, actions))
    pause(config, state, actions);
}

/* Begins a checkpoint in variant AGAIN, which sets the timer in any case. */
static void begin_again(const struct rcl_config *config, struct state *state,
                        struct rcl_actions *actions)
{
  rcl_act(actions, RCL_ACTION_SET_TIMER);
  if (state->commit.in_progress)
    return;
  state->commit = (struct rcl_commit){.in_progress = state->captured + 1};
  pause(config, state, actions);
}

static void timer(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  if (other_asks())
    rcl_send_control(actions, RCL_COORDINATOR_RANK, ASK, 0, 0);
  else if (again())
    begin_again(config, state, actions);
  else if (FLAW == WANTS || FLAW == TELLS || FLAW == PUTS_OFF ||
           (FLAW == EVERY_2ND && ++state->ticks % 2))
    rcl_act(actions, RCL_ACTION_SET_TIMER);
  else if (FLAW == OLD_COMMIT && state->captured)
    rcl_act(actions, RCL_ACTION_COMMIT)->checkpoint = state->captured;
  else
    begin(config, state, actions);
  state->ticks += FLAW == WANTS;
  if (FLAW == TELLS || (FLAW == EVERY_2ND && state->ticks % 2))
    rcl_send_control_to_all(config, actions, PING, 0);
}

static void control(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  switch ((enum control)event->control) {
  case MARKER:
    state->markers++;
    break;
  case DONE:
    rcl_commit_count(config, &state->commit, actions);
    break;
  case COMMITTED:
    go_on(state, actions);
    if (FLAW == OTHER_ASKS)
      set_timer(config, actions);
    break;
  case PING:
    if (token())
      rcl_send_control(actions, event->peer, PING, 0, 0);
    break;
  case ASK:
    state->commit = (struct rcl_commit){.in_progress = state->captured + 1};
    pause(config, state, actions);
    break;
  case OPENED:
    if (++state->opened + 1 == (uint32_t)config->ranks)
      rcl_act(actions, RCL_ACTION_RELEASE);
    break;
  }
}

static void start(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  bool stays = FLAW == OUTPUTS && event->output && state->stored;
  stays |= FLAW == STAYS_CLOSED && event->closed && state->stored;
  state->phase = RUNNING;
  state->commit = (struct rcl_commit){0};
  state->stored = state->given = state->ticks = 0;
  state->opened = stays ? (uint32_t)config->ranks : 0;
  set_timer(config, actions);
  if (stays || event->closed)
    rcl_act(actions, RCL_ACTION_HOLD);
  if (event->closed) {
    rcl_act(actions, RCL_ACTION_OPEN);
    rcl_send_control_to_all(config, actions, OPENED, 0);
  }
  if (token() && FLAW != TAGS_TOKEN && rcl_coordinator(config))
    rcl_send_control(actions, 1, PING, 0, 0);
}

static void done(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  if (FLAW != NO_DONE || !state->given)
    rcl_commit_done(config, &state->commit, DONE, event->checkpoint, actions);
}

static void end_commit(const struct rcl_config *config, struct state *state,
                       const struct rcl_event *event, struct rcl_actions *actions)
{
  if (FLAW != OLD_COMMIT || state->stored)
    rcl_send_control_to_all(config, actions, COMMITTED, event->checkpoint);
  if (FLAW != OLD_COMMIT || state->stored)
    go_on(state, actions);
  if (again() || other_asks())
    state->commit.in_progress = 0; /* the timer is set */
  else
    rcl_commit_end(&state->commit, actions);
}

/* Returns whether a capture waits for the message: it is to this rank itself; for LARGE, also
 * short. */
static bool counts(const struct rcl_config *config, const struct rcl_event *event)
{
  return event->peer == config->self && (FLAW != LARGE || event->bytes <= 1024);
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
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = event->checkpoint;
    break;
  case RCL_EVENT_TIMER:
    timer(config, state, actions);
    break;
  case RCL_EVENT_SEND:
    state->own += counts(config, event);
    rcl_act(actions, RCL_ACTION_TRANSMIT);
    break;
  case RCL_EVENT_ARRIVED:
    state->own -= counts(config, event);
    state->given = FLAW == NO_DONE && state->stored;
    rcl_act(actions, RCL_ACTION_DELIVER);
    if (FLAW == TAGS_TOKEN && event->tag == 7)
      rcl_send_control(actions, 1 - config->self, PING, 0, 0);
    break;
  case RCL_EVENT_CONTROL:
    control(config, state, event, actions);
    break;
  case RCL_EVENT_CAPTURED:
    state->stored = 1;
    if (event->closed)
      rcl_act(actions, RCL_ACTION_OPEN);
    if (FLAW == NO_DONE)
      rcl_act(actions, RCL_ACTION_RELEASE);
    rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
    break;
  case RCL_EVENT_DURABLE:
    done(config, state, event, actions);
    break;
  case RCL_EVENT_COMMITTED:
    end_commit(config, state, event, actions);
    break;
  default:
    break;
  }
  if (state->phase == RUNNING && state->markers > 0)
    pause(config, state, actions);
  if (state->phase == PAUSED && state->markers + 1 == (uint32_t)config->ranks && state->own == 0)
    save(state, actions);
}

/* Steps ALONE, ALONE_ONCE and ALONE_PUTS_OFF, in which a TIMER captures. */
static void step_alone(const struct rcl_config *config, void *memory, const struct rcl_event *event,
                       struct rcl_actions *actions)
{
  struct state *state = memory;
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START:
    rcl_act(actions, RCL_ACTION_SET_TIMER);
    break;
  case RCL_EVENT_TIMER:
    if (FLAW == ALONE_PUTS_OFF && config->self == 1)
      rcl_act(actions, RCL_ACTION_SET_TIMER);
    else
      rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = ++state->captured;
    break;
  case RCL_EVENT_SEND:
    rcl_act(actions, RCL_ACTION_TRANSMIT);
    break;
  case RCL_EVENT_ARRIVED:
    rcl_act(actions, RCL_ACTION_DELIVER);
    break;
  case RCL_EVENT_CAPTURED:
    rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
    break;
  case RCL_EVENT_DURABLE:
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = event->checkpoint - 1;
    if (FLAW == ALONE || FLAW == ALONE_PUTS_OFF)
      rcl_act(actions, RCL_ACTION_SET_TIMER);
    break;
  default:
    break;
  }
}

static const struct rcl_protocol flawed = {.name = "flawed",
                                           .title = "all ranks pause and are captured together",
                                           .level = RCL_LEVEL_CHANNEL,
                                           .control_bytes = 12,
                                           .controls = controls,
                                           .promises = promises,
                                           .state_size = state_size,
                                           .reconnects = CLOSES,
                                           .independent = LONELY,
                                           .step = LONELY ? step_alone : step};

RECLINE_PROTOCOLS(&flawed);
