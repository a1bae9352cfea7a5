/* What a rank of causal.c lets the outside see: an output leaves when all determinants that the
 * rank has are stable, as f failures can undo nothing that it depends on then (Elnozahy et al., ACM
 * Computing Surveys 34 (2002), section 3.4). f peers are told them at once and confirm that.
 * Outputs that come meanwhile wait for the next time. */
#ifndef RECLINE_CAUSAL_OUTPUTS_H
#define RECLINE_CAUSAL_OUTPUTS_H

#include "protocols/causal_log.h"
#include "protocols/parts/outputs.h"

static inline bool are_stable(const struct rcl_config *config, const struct state *state,
                              uint32_t place)
{
  const struct determinant *log = log_of(config, state);
  for (uint32_t i = 0; i < state->log; i++)
    if (log[i].place <= place && !is_stable(config, state, &log[i]))
      return false;
  return true;
}

/* All determinants can be told in this step, and messages that wait for the peer be sent. */
static inline bool has_room(const struct rcl_config *config, const struct state *state,
                            const struct rcl_actions *actions)
{
  return actions->count + 2 * state->log + state->links.log + 2 < RCL_ACTIONS_MAX(config);
}

/* Peers that have failed are passed over; so are those that would be too much for this step. */
static inline void ask_for_copies(const struct rcl_config *config, struct state *state,
                                  struct rcl_actions *actions)
{
  struct rcl_links links = rcl_links_at(config, &state->links, links_memory(config, state));
  uint32_t asked = 0;
  for (int i = 1; i < config->ranks && asked < failures(config); i++) {
    int to = (config->self + i) % config->ranks;
    struct peer *peer = &peers_of(config, state)[to];
    if (!links.link[to].up)
      continue;
    asked++;
    if (peer->confirms >= state->asked.place || !has_room(config, state, actions))
      continue;
    give(config, state, to, false, actions);
    peer->confirms = state->places;
    rcl_send_control(actions, to, CONFIRM, state->places, 0);
  }
}

/* Lets out what is stable, and asks for copies of what is not yet. */
static inline void settle_outputs(const struct rcl_config *config, struct state *state,
                                  struct rcl_actions *actions)
{
  for (; state->asked.output; state->asked = state->made, state->made = (struct waiting){0}) {
    if (!are_stable(config, state, state->asked.place)) {
      ask_for_copies(config, state, actions);
      return;
    }
    rcl_output(actions, state->asked.output, RCL_FRESH);
  }
}

/* `output` is the last that the program has made so far. */
static inline void wait_for(struct state *state, uint32_t output)
{
  struct waiting *where = state->asked.output ? &state->made : &state->asked;
  *where = (struct waiting){.output = output, .place = state->places};
}

#endif
