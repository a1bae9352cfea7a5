/* Restart: when a rank fails, all ranks begin again from the start of the program.
 *
 *            down                 start
 *     RUNNING -----> (rolled back) -----> RUNNING
 */
#include <recline/act.h>

struct state {
  uint32_t begun; /* starts of this memory: a restart from RCL_FRESH begins with zeroes */
  uint32_t told;
};

static const char *const invariants[] = {
    "a rank begins once, and once more for each failure",
    NULL,
};

static size_t state_size(const struct rcl_config *config)
{
  (void)config;
  return sizeof(struct state);
}

static void step(const struct rcl_config *config, void *memory, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  struct state *state = memory;
  (void)config;
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START:
    state->begun++;
    break;
  case RCL_EVENT_SEND:
    rcl_act(actions, RCL_ACTION_TRANSMIT);
    break;
  case RCL_EVENT_RECEIVE:
    rcl_match(actions, event);
    break;
  case RCL_EVENT_ARRIVED:
    rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
    break;
  case RCL_EVENT_DOWN:
    state->told++;
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = RCL_FRESH;
    break;
  default:
    break;
  }
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  (void)config;
  return state->begun > state->told + 1;
}

static const struct rcl_protocol restart = {.name = "restart",
                                            .title = "begin again from the start",
                                            .control_bytes = 12,
                                            .invariants = invariants,
                                            .state_size = state_size,
                                            .step = step,
                                            .violated_invariant = violated_invariant};

RECLINE_PROTOCOLS(&restart);
