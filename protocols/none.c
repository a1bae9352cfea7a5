/* None: no fault tolerance at all, what every other protocol is measured against.
 *
 * It has no state, adds nothing to messages and gives up at the first crash.
 */
#include "protocols/parts/act.h"

static size_t bytes(const struct config *config)
{
  (void)config;
  return 8; /* a state of its own, however empty, keeps the hosts free of special cases */
}

static void step(const struct config *config, void *state, const struct event *event,
                 struct actions *actions)
{
  (void)config;
  (void)state;
  switch ((enum event_kind)event->kind) {
  case EVENT_OFFER:
    act(actions, ACTION_TRANSMIT);
    break;
  case EVENT_RECEIVE:
    match(actions, event);
    break;
  case EVENT_ARRIVED:
    act(actions, ACTION_DELIVER)->request = event->request;
    break;
  case EVENT_COLLECTIVE:
    act(actions, ACTION_JOIN);
    break;
  case EVENT_COLLECTED:
    act(actions, ACTION_DELIVER);
    break;
  case EVENT_DOWN:
    give_up(actions, REASON_NO_CHECKPOINT);
    break;
  default:
    break;
  }
}

extern const struct protocol protocol_none;
const struct protocol protocol_none = {.name = "none",
                                       .title = "no fault tolerance",
                                       .collectives = true,
                                       .bytes = bytes,
                                       .step = step};
