/* Restart, as restart.c has it, in C++: when a rank fails, all ranks begin again. */
#include <recline/act.h>

namespace
{

struct State {
  uint32_t begun; // starts of this memory: a restart from RCL_FRESH begins with zeroes
  uint32_t told;
};

constexpr const char *invariants[] = {"a rank begins once, and once more for each failure",
                                      nullptr};

size_t state_size(const rcl_config *)
{
  return sizeof(State);
}

void step(const rcl_config *, void *memory, const rcl_event *event, rcl_actions *actions)
{
  auto *state = static_cast<State *>(memory);
  switch (event->kind) {
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

int violated_invariant(const rcl_config *, const void *memory)
{
  const auto *state = static_cast<const State *>(memory);
  return state->begun > state->told + 1;
}

constexpr rcl_protocol make()
{
  rcl_protocol protocol = {};
  protocol.name = "restart";
  protocol.title = "begin again from the start";
  protocol.control_bytes = 12;
  protocol.invariants = invariants;
  protocol.state_size = state_size;
  protocol.step = step;
  protocol.violated_invariant = violated_invariant;
  return protocol;
}

constexpr rcl_protocol restart = make(); // nothing is left to be done when it is loaded

} // namespace

extern "C" {
RECLINE_PROTOCOLS(&restart);
}
