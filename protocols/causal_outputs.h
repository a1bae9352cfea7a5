/* Lets outputs of causal.c leave. An output leaves when all determinants that the rank has are
 * stable, because then f failures can undo nothing on which the output depends (Elnozahy et al.,
 * ACM Computing Surveys 34 (2002), section 3.4). The rank at once tells these determinants to f
 * peers, which confirm that they have them. Outputs that come meanwhile wait for the next round. */
#ifndef RECLINE_CAUSAL_OUTPUTS_H
#define RECLINE_CAUSAL_OUTPUTS_H

#include "protocols/causal_log.h"
#include "protocols/parts/outputs.h"

static inline bool are_stable(const struct rank *r, uint32_t place)
{
  const struct determinant *log = log_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->log; i++)
    if (log[i].place <= place && !is_stable(r, &log[i]))
      return false;
  return true;
}

/* Returns whether this step has room to tell all determinants, and to send the messages that wait
 * for the peer. */
static inline bool has_room(const struct rank *r, const struct rcl_actions *actions)
{
  return actions->count + 2 * r->state->log + r->state->links.log + 2 < RCL_ACTIONS_MAX(r->config);
}

/* Asks f peers to confirm. Leaves out peers that have failed, and peers for which this step has no
 * room. */
static inline void ask_for_copies(const struct rank *r)
{
  struct rcl_links links =
      rcl_links_at(r->config, &r->state->links, links_memory(r->config, r->state));
  uint32_t asked = 0;
  for (int i = 1; i < r->config->ranks && asked < failures(r->config); i++) {
    int to = (r->config->self + i) % r->config->ranks;
    struct peer *peer = &peers_of(r->config, r->state)[to];
    if (!links.link[to].up)
      continue;
    asked++;
    if (peer->confirms >= r->state->asked.place || !has_room(r, r->actions))
      continue;
    give(r, to, false);
    peer->confirms = r->state->places;
    rcl_send_control(r->actions, to, CONFIRM, r->state->places, 0);
  }
}

/* Lets the outputs leave that depend on stable determinants only. For all other outputs, asks peers
 * to confirm determinants. */
static inline void settle_outputs(const struct rank *r)
{
  for (; r->state->asked.output;
       r->state->asked = r->state->made, r->state->made = (struct waiting){0}) {
    if (!are_stable(r, r->state->asked.place)) {
      ask_for_copies(r);
      return;
    }
    rcl_output(r->actions, r->state->asked.output, RCL_FRESH);
  }
}

/* Notes that outputs up to `output`, the program's last one so far, wait. */
static inline void wait_for(const struct rank *r, uint32_t output)
{
  struct waiting *where = r->state->asked.output ? &r->state->made : &r->state->asked;
  *where = (struct waiting){.output = output, .place = r->state->places};
}

#endif
