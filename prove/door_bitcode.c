/* Contains what the prover executes of recline besides protocols: a step as hosts take it, and the
 * table of the grammar. The build compiles this file, protocols/step.c and protocols/grammar.c to
 * bitcode; bitcode.c links it to a protocol. */
#include "protocols/grammar.h"

size_t prove_size(const struct rcl_protocol *, const struct rcl_config *);
uint32_t prove_in_use(const struct rcl_protocol *, const struct rcl_config *, const void *state,
                      struct rcl_piece *);
int prove_invariant(const struct rcl_protocol *, const struct rcl_config *, const void *state);
bool prove_step(const struct rcl_protocol *, const struct rcl_config *, void *state,
                const struct rcl_event *, struct rcl_actions *);
bool prove_refuses(const struct rcl_protocol *, const struct rcl_config *, const struct rcl_event *,
                   const struct rcl_actions *);

size_t prove_size(const struct rcl_protocol *protocol, const struct rcl_config *config)
{
  return protocol->state_size(config);
}

uint32_t prove_in_use(const struct rcl_protocol *protocol, const struct rcl_config *config,
                      const void *state, struct rcl_piece *piece)
{
  return protocol->in_use ? protocol->in_use(config, state, piece) : 0;
}

int prove_invariant(const struct rcl_protocol *protocol, const struct rcl_config *config,
                    const void *state)
{
  return protocol->violated_invariant ? protocol->violated_invariant(config, state) : 0;
}

/* Takes a step. Returns whether the step made more actions than fit the list. */
bool prove_step(const struct rcl_protocol *protocol, const struct rcl_config *config, void *state,
                const struct rcl_event *event, struct rcl_actions *actions)
{
  rcl_protocol_step(protocol, config, state, event, actions, false);
  return actions->overflow;
}

bool prove_refuses(const struct rcl_protocol *protocol, const struct rcl_config *config,
                   const struct rcl_event *event, const struct rcl_actions *actions)
{
  struct grammar_refusal refusal;
  return grammar_refuses(protocol, config, event, actions, &refusal);
}
