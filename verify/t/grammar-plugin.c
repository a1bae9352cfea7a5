/* Takes checkpoints, and one step that hosts refuse. The key protocol.interval is the number of
 * that step in grammar-cases.h, counted from 1. A rank takes the step at the first event to which
 * the step belongs. The protocol `random` sometimes adds drawn actions that are allowed at any
 * event; for this protocol protocol.interval is the seed. */
#include "protocols/parts/commit.h"
#include "verify/t/grammar-cases.h"

enum control { NONE, TAKE, DONE };
enum parameter { CASE };

static const char *const controls[] = {"none", "take", "done", NULL};
static const char *const parameters[] = {[CASE] = "interval", NULL};

struct state {
  uint32_t wanted, captured; /* checkpoints */
  struct rcl_commit commit;
  uint32_t steps, pad; /* random */
};

static size_t state_size(const struct rcl_config *config)
{
  (void)config;
  return sizeof(struct state);
}

static void captured(const struct rcl_config *config, struct state *state, uint32_t checkpoint,
                     struct rcl_actions *actions)
{
  state->captured = checkpoint;
  rcl_store(actions, RCL_PART_IMAGE, checkpoint);
  (void)config;
}

/* Begins a checkpoint. No checkpoint is taken where ranks are independent or have clocks. */
static void take(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  if (!rcl_commit_begin(&state->commit, true, state->captured + 1, actions))
    return;
  state->wanted = state->captured + 1;
  rcl_send_control_to_all(config, actions, TAKE, state->wanted);
}

static void control(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  if (event->control == TAKE)
    state->wanted = event->about;
  else
    rcl_commit_count(config, &state->commit, actions);
}

static void answer(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_SEND:
    rcl_act(actions, RCL_ACTION_TRANSMIT);
    break;
  case RCL_EVENT_RECEIVE:
    rcl_match(actions, event);
    break;
  case RCL_EVENT_ARRIVED:
    rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
    break;
  case RCL_EVENT_COLLECTIVE:
    rcl_act(actions, RCL_ACTION_JOIN);
    break;
  case RCL_EVENT_COLLECTED:
    rcl_act(actions, RCL_ACTION_DELIVER);
    break;
  case RCL_EVENT_TIMER:
    take(config, state, actions);
    break;
  case RCL_EVENT_CONTROL:
    control(config, state, event, actions);
    break;
  case RCL_EVENT_SAFE_POINT:
    if (state->wanted > state->captured)
      rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = state->wanted;
    break;
  case RCL_EVENT_CAPTURED:
    captured(config, state, event->checkpoint, actions);
    break;
  case RCL_EVENT_DURABLE:
    rcl_commit_done(config, &state->commit, DONE, event->checkpoint, actions);
    break;
  case RCL_EVENT_COMMITTED:
    rcl_commit_end(&state->commit, actions);
    break;
  case RCL_EVENT_DOWN:
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = event->checkpoint;
    break;
  default:
    break;
  }
}

static const struct grammar_case *case_of(const struct rcl_config *config,
                                          const struct rcl_event *event)
{
  uint32_t number = config->parameter[CASE];
  bool here = number && number <= GRAMMAR_CASES && grammar_cases[number - 1].event == event->kind;
  return here ? &grammar_cases[number - 1] : NULL;
}

static void step(const struct rcl_config *config, void *state, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  const struct grammar_case *refused = case_of(config, event);
  if (!refused || !refused->instead)
    answer(config, state, event, actions);
  for (uint32_t i = 0; refused && i < refused->count; i++)
    *rcl_act(actions, RCL_ACTION_NONE) = refused->list[i];
}

/* With global recovery and without clocks this sets the coordinator's timer. */
static void step_above(const struct rcl_config *config, void *state, const struct rcl_event *event,
                       struct rcl_actions *actions)
{
  step(config, state, event, actions);
  const struct grammar_case *refused = case_of(config, event);
  if (event->kind == RCL_EVENT_START && rcl_coordinator(config) && !refused)
    rcl_act(actions, RCL_ACTION_SET_TIMER);
}

static uint32_t draw(uint32_t *random, uint32_t below)
{
  *random = *random * 1664525u + 1013904223u;
  return (*random >> 16) % below;
}

static void step_random(const struct rcl_config *config, void *state, const struct rcl_event *event,
                        struct rcl_actions *actions)
{
  static const struct rcl_action any[] = {{A(FORGET), .slot = 1},
                                          {A(RESEND), .slot = 1},
                                          {A(RESEND), .slot = 2, .peer = 1},
                                          {A(HOLD)},
                                          {A(RELEASE)},
                                          {A(DRAIN), .peer = RCL_ANY},
                                          {A(CAPTURE), .checkpoint = 1},
                                          {A(CAPTURE), .checkpoint = 3},
                                          {A(STORE), .checkpoint = 1},
                                          {A(STORE), .checkpoint = 1, .part = RCL_PART_LOG},
                                          {A(STORE), .checkpoint = 3},
                                          {A(ERASE), .checkpoint = 1},
                                          {A(OUTPUT), .output = 1},
                                          {A(OUTPUT), .output = 2, .checkpoint = 1},
                                          {A(REJOIN), .call = 1},
                                          {A(STOPPED_LOGGING), .checkpoint = 1},
                                          {A(COMMIT), .checkpoint = 1}};
  struct state *now = state;
  uint32_t random = config->parameter[CASE] * 977u + (uint32_t)config->self * 31u + ++now->steps;
  uint32_t kinds = sizeof any / sizeof *any - !rcl_coordinator(config);
  draw(&random, 1);
  bool keeps = event->kind == RCL_EVENT_SEND || event->kind == RCL_EVENT_ARRIVED;
  if (keeps && !draw(&random, 4))
    rcl_act(actions, RCL_ACTION_KEEP)->slot = 1 + draw(&random, 2);
  answer(config, state, event, actions);
  if (event->kind == RCL_EVENT_START && rcl_coordinator(config))
    rcl_act(actions, RCL_ACTION_SET_TIMER);
  if (event->kind != RCL_EVENT_DOWN && !draw(&random, 8))
    *rcl_act(actions, RCL_ACTION_NONE) = any[draw(&random, kinds)];
}

#define PROTOCOL(as, ...)                                                                          \
  {                                                                                                \
    .name = as, .title = "one step of grammar-cases.h", .controls = controls,                      \
    .parameters = parameters, .state_size = state_size, __VA_ARGS__                                \
  }

static const struct rcl_protocol protocols[GRAMMAR_PROTOCOLS] = {
    [ABOVE] = PROTOCOL("above", .step = step_above, .collectives = true),
    [BELOW] = PROTOCOL("below", .step = step, .level = RCL_LEVEL_CHANNEL),
    [ALONE] = PROTOCOL("alone", .step = step, .independent = true),
    [CLOCKED] = PROTOCOL("clocked", .step = step, .clocks = true),
    [RANDOM] = PROTOCOL("random", .step = step_random, .collectives = true)};

RECLINE_PROTOCOLS(&protocols[ABOVE], &protocols[BELOW], &protocols[ALONE], &protocols[CLOCKED],
                  &protocols[RANDOM]);
