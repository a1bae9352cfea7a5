/* Two reference worlds whose numbers of states are known: the bare Chandy-Lamport snapshot.
 *
 * Source: Chandy and Lamport, "Distributed snapshots" (TOCS 1985), without anything that makes it a
 * checkpoint: no image, no storage, no recovery. SPIN, TLC, LTSmin and Rumur explore hand-written
 * models of the same two worlds; with free programs the explorer must visit exactly as many states.
 *
 *     cl-c   a message has the colour of its sender, which tells whether the sender has recorded.
 *            The claim: a message is white until the marker has come through its channel, and
 *            black after that.
 *     cl-t   tokens as well: the recorded tokens of all ranks and channels are all tokens
 *            (property tokens).
 *
 * Rank 0 alone begins. A rank records at the first marker and sends markers to all; a channel is
 * closed by the marker that comes out of it.
 *
 *                  timer, marker                     last marker (cl-t)
 *     NOT RECORDED ---------------> RECORDING ------------------------------> DONE
 */
#include <string.h>

#include "protocols/parts/act.h"

enum { MARKER = 1, RANKS_MAX = 8 };

static const char *const controls[] = {"none", "marker", NULL};

static const char *const invariants[] = {
    "a message is white until the marker has come out of its channel, and black after", NULL};

struct state {
  uint8_t recorded, wrong, done, pad[5];
  uint8_t closed[RANKS_MAX];
  /* In cl-t: the number of messages that the rank has received, less the number that it has sent,
   * now and when the rank recorded; then, by channel, the number of messages that were recorded as
   * under way. */
  int32_t more, recorded_more;
  uint8_t under_way[RANKS_MAX];
};

static size_t state_size(const struct rcl_config *config)
{
  (void)config;
  return sizeof(struct state);
}

static void record(const struct rcl_config *config, struct state *state,
                   struct rcl_actions *actions)
{
  if (state->recorded)
    return;
  state->recorded = true;
  state->recorded_more = state->more;
  rcl_send_control_to_all(config, actions, MARKER, 1);
}

static void arrived(struct state *state, const struct rcl_event *event, struct rcl_actions *actions)
{
  state->wrong |= (event->words[0] != 0) != state->closed[event->peer];
  rcl_act(actions, RCL_ACTION_DELIVER);
}

static void step(const struct rcl_config *config, void *memory, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  struct state *state = memory;
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START:
    if (config->ranks > RANKS_MAX)
      rcl_give_up(actions, RCL_REASON_FULL);
    if (config->self == RCL_COORDINATOR_RANK)
      rcl_act(actions, RCL_ACTION_SET_TIMER);
    break;
  case RCL_EVENT_TIMER:
    record(config, state, actions);
    break;
  case RCL_EVENT_SEND:
    rcl_act(actions, RCL_ACTION_TRANSMIT)->words[0] = state->recorded;
    break;
  case RCL_EVENT_ARRIVED:
    arrived(state, event, actions);
    break;
  case RCL_EVENT_CONTROL:
    record(config, state, actions);
    state->closed[event->peer] = true;
    break;
  case RCL_EVENT_DOWN:
    rcl_give_up(actions, RCL_REASON_NO_CHECKPOINT);
    break;
  default:
    break;
  }
}

/* ---- cl-t ---- */

static bool all_closed(const struct rcl_config *config, const struct state *state)
{
  for (int peer = 0; peer < config->ranks; peer++)
    if (peer != config->self && !state->closed[peer])
      return false;
  return state->recorded;
}

static void report(struct state *state, struct rcl_action *stopped)
{
  int32_t more = state->recorded_more;
  for (int peer = 0; peer < RANKS_MAX; peer++)
    more += state->under_way[peer];
  stopped->checkpoint = 1;
  stopped->surplus = (uint32_t)more;
  state->done = true;
  state->recorded_more = 0;
  memset(state->under_way, 0, sizeof state->under_way);
}

static void step_tokens(const struct rcl_config *config, void *memory,
                        const struct rcl_event *event, struct rcl_actions *actions)
{
  struct state *state = memory;
  step(config, state, event, actions);
  state->wrong = false; /* only property `tokens` may find the flaw */
  if (event->kind == RCL_EVENT_SEND)
    state->more--;
  if (event->kind == RCL_EVENT_ARRIVED) {
    state->more++;
    if (state->recorded && !state->closed[event->peer])
      state->under_way[event->peer]++;
  }
  if (state->done || !all_closed(config, state))
    return;
  report(state, rcl_act(actions, RCL_ACTION_STOPPED_LOGGING));
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  (void)config;
  return ((const struct state *)memory)->wrong;
}

static void rename_ranks(const struct rcl_config *config, void *memory, const int16_t *to)
{
  struct state *state = memory, old = *state;
  for (int rank = 0; rank < config->ranks; rank++) {
    state->closed[to[rank]] = old.closed[rank];
    state->under_way[to[rank]] = old.under_way[rank];
  }
}

extern const struct rcl_protocol protocol_cl_c, protocol_cl_t;

#define REFERENCE(NAME, TITLE, STEP)                                                               \
  {                                                                                                \
    .name = NAME, .title = "reference world: Chandy-Lamport, " TITLE, .control_bytes = 12,         \
    .level = RCL_LEVEL_CHANNEL, .controls = controls, .invariants = invariants,                    \
    .state_size = state_size, .step = STEP, .violated_invariant = violated_invariant,              \
    .permute_ranks = rename_ranks                                                                  \
  }

const struct rcl_protocol protocol_cl_c = REFERENCE("cl-c", "colours", step);
const struct rcl_protocol protocol_cl_t = REFERENCE("cl-t", "tokens", step_tokens);
