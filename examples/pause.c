/* Pause: all ranks pause, flush their channels, and are captured together.
 *
 *            timer, first marker           all markers are in
 *     RUNNING ------------------> PAUSED --------------------> SAVING
 *        ^                                                        |
 *        +--------------------------------------------------------+
 *                        the checkpoint is committed
 *
 * It sits below MPI's matching, on FIFO channels: behind the markers of all peers nothing is in
 * transit to this rank, except messages to itself, which are counted.
 */
#include <recline/commit.h>

static const char *const invariants[] = {
    /* 1 */ "a running rank has no marker",
    /* 2 */ "there is at most one marker per peer",
    /* 3 */ "only the coordinator counts durable images, at most one per rank", NULL};

enum phase { RUNNING, PAUSED, SAVING };
enum control { MARKER = 1, DONE, COMMITTED };

static const char *const controls[] = {
    "none", "marker: what I send from here on is behind checkpoint {about}",
    "done: my image of checkpoint {about} is stored", "committed: checkpoint {about} is committed",
    NULL};

struct state {
  uint32_t phase;
  uint32_t captured; /* the last checkpoint captured */
  uint32_t markers;  /* received for the next one */
  uint32_t own;      /* messages in transit from this rank to itself */
  struct rcl_commit commit;
};

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

/* The checkpoint is committed: the one before is no longer needed. */
static void go_on(struct state *state, struct rcl_actions *actions)
{
  state->phase = RUNNING;
  rcl_act(actions, RCL_ACTION_RELEASE);
  if (state->captured > 1)
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = state->captured - 1;
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
    break;
  }
}

static void step(const struct rcl_config *config, void *memory, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  struct state *state = memory;
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START: /* from the state that was stored: SAVING, or zeroes */
    state->phase = RUNNING;
    state->commit = (struct rcl_commit){0};
    if (rcl_coordinator(config))
      rcl_act(actions, RCL_ACTION_SET_TIMER);
    break;
  case RCL_EVENT_DOWN:
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = event->checkpoint;
    break;
  case RCL_EVENT_TIMER:
    if (rcl_commit_begin(&state->commit, true, state->captured + 1, actions))
      pause(config, state, actions);
    break;
  case RCL_EVENT_SEND:
    state->own += event->peer == config->self;
    rcl_act(actions, RCL_ACTION_TRANSMIT);
    break;
  case RCL_EVENT_ARRIVED:
    state->own -= event->peer == config->self;
    rcl_act(actions, RCL_ACTION_DELIVER);
    break;
  case RCL_EVENT_CONTROL:
    control(config, state, event, actions);
    break;
  case RCL_EVENT_CAPTURED:
    rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
    break;
  case RCL_EVENT_DURABLE:
    rcl_commit_done(config, &state->commit, DONE, event->checkpoint, actions);
    break;
  case RCL_EVENT_COMMITTED:
    rcl_send_control_to_all(config, actions, COMMITTED, event->checkpoint);
    go_on(state, actions);
    rcl_commit_end(&state->commit, actions);
    break;
  default:
    break;
  }
  if (state->phase == RUNNING && state->markers > 0)
    pause(config, state, actions);
  if (state->phase == PAUSED && state->markers + 1 == (uint32_t)config->ranks && state->own == 0)
    save(state, actions);
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  if (state->phase == RUNNING && state->markers > 0)
    return 1;
  if (state->markers >= (uint32_t)config->ranks)
    return 2;
  return rcl_commit_is_sound(config, &state->commit) ? 0 : 3;
}

static const struct rcl_protocol pausing = {.name = "pause",
                                            .title = "all ranks pause and are captured together",
                                            .level = RCL_LEVEL_CHANNEL,
                                            .control_bytes = 12,
                                            .controls = controls,
                                            .invariants = invariants,
                                            .state_size = state_size,
                                            .step = step,
                                            .violated_invariant = violated_invariant};

RECLINE_PROTOCOLS(&pausing);
