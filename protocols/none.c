/* None: this protocol tolerates no faults, and is the baseline for the cost of every other
 * protocol.
 *
 * It has no state, adds nothing to messages and gives up at the first crash.
 */
#include "protocols/parts/outputs.h"
#include "protocols/parts/transitions.h"

static size_t state_size(const struct rcl_config *config)
{
  (void)config;
  return 8; /* hosts need no special case for a state that is not empty */
}

static void send(const struct rank *r)
{
  rcl_act(r->actions, RCL_ACTION_TRANSMIT);
}

static void arrived(const struct rank *r)
{
  rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
}

static void join(const struct rank *r)
{
  rcl_act(r->actions, RCL_ACTION_JOIN);
}

static void collected(const struct rank *r)
{
  rcl_act(r->actions, RCL_ACTION_DELIVER);
}

/* Lets an output leave at once, because nothing is ever undone. */
static void output(const struct rank *r)
{
  rcl_output(r->actions, r->event->output, RCL_FRESH);
}

static void down(const struct rank *r)
{
  rcl_give_up(r->actions, RCL_REASON_NO_CHECKPOINT);
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_DOWN] = down,           [RCL_EVENT_SEND] = send,
    [RCL_EVENT_OUTPUT] = output,       [RCL_EVENT_RECEIVE] = rcl_match_receive,
    [RCL_EVENT_ARRIVED] = arrived,     [RCL_EVENT_COLLECTIVE] = join,
    [RCL_EVENT_COLLECTED] = collected,
};

static void step(const struct rank *r)
{
  rcl_take(on, r);
}

RCL_STEP(only, NULL)

extern const struct rcl_protocol protocol_none;
const struct rcl_protocol protocol_none = {.name = "none",
                                           .title = "no fault tolerance",
                                           .collectives = true,
                                           .state_size = state_size,
                                           .step = only_step,
                                           .place =
                                               &(const struct rcl_place){.back = RCL_BACK_NONE}};
