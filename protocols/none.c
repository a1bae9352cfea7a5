/* None: no fault tolerance; the baseline for the cost of every other protocol.
 *
 * It has no state, adds nothing to messages and gives up at the first crash.
 */
#include "protocols/parts/outputs.h"

static size_t state_size(const struct rcl_config *config)
{
  (void)config;
  return 8; /* a state of its own, however empty, keeps the hosts free of special cases */
}

static void step(const struct rcl_config *config, void *state, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  (void)config;
  (void)state;
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
  case RCL_EVENT_OUTPUT: /* nothing is ever undone */
    rcl_output(actions, event->output, RCL_FRESH);
    break;
  case RCL_EVENT_DOWN:
    rcl_give_up(actions, RCL_REASON_NO_CHECKPOINT);
    break;
  default:
    break;
  }
}

extern const struct rcl_protocol protocol_none;
const struct rcl_protocol protocol_none = {.name = "none",
                                           .title = "no fault tolerance",
                                           .collectives = true,
                                           .state_size = state_size,
                                           .step = step,
                                           .place =
                                               &(const struct rcl_place){.back = RCL_BACK_NONE}};
