/* Lets logged events happen again after a restart, for protocols that log receptions and decisions
 * of a rank in one list (pessimistic.c, optimistic.c).
 *
 * A protocol includes this file after its state. The protocol has happened_of(), a list of struct
 * happened. Its struct state has the number of entries (`happened`), the number of events that
 * still have to happen again (`replaying`), the entry from which decisions are repeated
 * (`decision`), and how many decisions of that entry were repeated (`repeated`). The protocol
 * defines note_reception() and note_decision(), which log a new event. */
#ifndef RECLINE_REPLAYED_H
#define RECLINE_REPLAYED_H

#include "protocols/parts/transitions.h"

static void note_reception(const struct rank *r);
static void note_decision(const struct rank *r, uint32_t outcome);

/* Returns the logged reception or cancellation of receive `request`, or NULL if the log has none or
 * the replay is over. */
static inline const struct happened *rcl_logged_reception(const struct rank *r, uint32_t request)
{
  const struct happened *entry = happened_of(r->config, r->state);
  for (uint32_t i = 0; r->state->replaying && i < r->state->happened; i++)
    if (entry[i].request == request && request)
      return &entry[i];
  return NULL;
}

/* Checks an invariant: the sender of a logged reception is a rank, or nobody. */
static inline bool rcl_receptions_are_sound(const struct rank *r)
{
  const struct happened *entry = happened_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->happened; i++)
    if (entry[i].request && entry[i].peer != RCL_NOBODY && !rcl_is_rank(r->config, entry[i].peer))
      return false;
  return true;
}

/* Returns the next decision to repeat, or NULL if the program may decide anew. */
static inline const struct happened *rcl_next_decision(const struct rank *r)
{
  const struct happened *entry = happened_of(r->config, r->state);
  struct state *state = r->state;
  while (state->decision < state->happened &&
         (entry[state->decision].request || entry[state->decision].count == state->repeated)) {
    state->decision++;
    state->repeated = 0;
  }
  return state->decision < state->happened ? &entry[state->decision] : NULL;
}

/* Is the transition of RECEIVE: the receive matches the message that the log has for it. */
RCL_MAYBE static void rcl_replay_receive(const struct rank *r)
{
  const struct happened *entry = rcl_logged_reception(r, r->event->request);
  struct rcl_action *match = rcl_act(r->actions, RCL_ACTION_MATCH);
  match->request = r->event->request;
  match->peer = entry ? entry->peer : r->event->peer;
  match->tag = entry && entry->peer != RCL_NOBODY ? entry->tag : r->event->tag;
}

/* Repeats a logged decision. */
static inline void rcl_repeat(const struct rank *r, uint32_t outcome)
{
  rcl_act(r->actions, RCL_ACTION_FORCE)->outcome = outcome;
  r->state->repeated++;
  r->state->replaying--;
}

static inline void rcl_replay_decision(const struct rank *r)
{
  const struct happened *entry = rcl_next_decision(r);
  if (entry)
    rcl_repeat(r, entry->outcome);
  else
    note_decision(r, r->event->outcome);
}

/* Cancels or completes a receive, which is a decision like any other. A receive that is cancelled
 * is never given a message; a receive that was given a message before the crash must complete. */
static inline void rcl_replay_cancel(const struct rank *r)
{
  const struct happened *entry = rcl_logged_reception(r, r->event->request);
  if (entry && entry->peer == RCL_NOBODY) {
    rcl_act(r->actions, RCL_ACTION_FORCE)->outcome = 1;
    r->state->replaying--;
  } else if (entry && !rcl_next_decision(r)) {
    rcl_act(r->actions, RCL_ACTION_FORCE)->outcome = 0;
    note_decision(r, 0);
  } else if (r->event->outcome && !rcl_next_decision(r)) {
    const struct rcl_event nobody = {.request = r->event->request, .peer = RCL_NOBODY};
    note_reception(&(struct rank){r->config, r->variant, r->state, &nobody, r->actions});
  } else if (rcl_next_decision(r)) {
    rcl_repeat(r, 0); /* for a cancelled receive the log would have a reception from RCL_NOBODY */
  } else {
    note_decision(r, 0);
  }
}

/* Is the transition of CHOICE: a decision comes out as the log has it. */
RCL_MAYBE static void rcl_replay_choice(const struct rank *r)
{
  if (r->event->request)
    rcl_replay_cancel(r);
  else
    rcl_replay_decision(r);
}

#endif
