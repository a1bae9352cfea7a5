/* C3's messages and decisions: which cross the recovery line, what of them is logged, and what is
 * replayed or suppressed after a restart.
 *
 * Source: Bronevetsky, Marques, Pingali, Stodghill (ICS 2003), section 3. The phases of a
 * checkpoint are in c3.c, which is the only file to include this one.
 */
#ifndef RECLINE_C3_MESSAGES_H
#define RECLINE_C3_MESSAGES_H

#include "protocols/c3_state.h"

/* ---- messages and decisions to be replayed, or suppressed ---- */

/* Forgets what has crossed the line from beyond it, which is on disk, or told after a restart. */
static void clear_early(const struct rcl_config *config, struct state *state)
{
  memset(early_of(config, state), 0, state->early * sizeof(struct number));
  memset(passed_of(config, state), 0, state->passed * sizeof(struct call));
  memset(rejoin_of(config, state), 0, state->rejoin * sizeof(struct call));
  state->early = state->passed = state->rejoin = 0;
}

static bool broadcasts_are_repeated(const struct rcl_config *config, const struct state *state)
{
  for (uint32_t i = 0; i < state->comms; i++)
    if (comms_of(config, state)[i].made < comms_of(config, state)[i].given)
      return false;
  return true;
}

/* Broadcasts that ranks must rejoin are not kept beyond the next line, so their roots repeat them
 * before it is begun. */
static bool replay_is_over(const struct rcl_config *config, const struct state *state)
{
  if (!broadcasts_are_repeated(config, state))
    return false;
  for (uint32_t i = 0; i < state->log; i++)
    if (!log_of(config, state)[i].replayed)
      return false;
  return state->suppress == 0;
}

/* ---- the program's messages and decisions ---- */

/* What tells a message from others: its number, or its envelope, as messages with one envelope do
 * not overtake each other (MPI 3.1, section 3.5). */
static struct number identity(const struct state *state, const struct rcl_event *event,
                              uint32_t number)
{
  if (state->by_envelope)
    return (struct number){event->peer, event->comm, (uint32_t)event->tag};
  return (struct number){.peer = event->peer, .number = number};
}

static bool suppressed(const struct rcl_config *config, struct state *state, struct number message)
{
  struct number *list = suppress_of(config, state);
  for (uint32_t i = 0; i < state->suppress; i++)
    if (list[i].peer == message.peer && list[i].comm == message.comm &&
        list[i].number == message.number) {
      list[i] = list[--state->suppress];
      list[state->suppress] = (struct number){0};
      return true;
    }
  return false;
}

static void send(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  uint32_t number = state->next_message++;
  peers(config, state)[event->peer].sent++;
  if (suppressed(config, state, identity(state, event, number))) {
    rcl_act(actions, RCL_ACTION_SUPPRESS);
    return;
  }
  struct rcl_action *transmit = rcl_act(actions, RCL_ACTION_TRANSMIT);
  transmit->words[FLAGS] =
      (state->epoch & COLOUR) | (state->phase == LOGGING ? (uint32_t)IS_LOGGING : 0);
  transmit->words[NUMBER] = state->by_envelope ? 0 : number;
}

/* The log's entry for this receive of the program, which replays deterministically. */
static struct entry *logged(const struct rcl_config *config, struct state *state, uint32_t request)
{
  struct entry *entry = log_of(config, state);
  for (uint32_t i = 0; state->replaying && i < state->log; i++)
    if ((entry[i].kind == LATE || entry[i].kind == OUTCOME) && entry[i].request == request &&
        !entry[i].replayed)
      return &entry[i];
  return NULL;
}

/* The log's entry of the cancelling of a receive. */
static struct entry *cancellation(const struct rcl_config *config, struct state *state,
                                  uint32_t request)
{
  struct entry *entry = log_of(config, state);
  for (uint32_t i = 0; state->replaying && i < state->log; i++)
    if (entry[i].kind == CANCELLED && entry[i].request == request && !entry[i].replayed)
      return &entry[i];
  return NULL;
}

/* A receive that was cancelled in the end has to stay unmatched until it is. */
static bool will_be_cancelled(const struct rcl_config *config, struct state *state,
                              uint32_t request)
{
  const struct entry *entry = cancellation(config, state, request);
  return entry && entry->outcome;
}

static void receive(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct entry *entry = logged(config, state, event->request);
  struct rcl_action *answer =
      rcl_act(actions, entry && entry->kind == LATE ? RCL_ACTION_DELIVER : RCL_ACTION_MATCH);
  answer->request = event->request;
  answer->peer = entry ? entry->peer : event->peer;
  answer->tag = entry ? entry->tag : event->tag;
  if (will_be_cancelled(config, state, event->request))
    answer->peer = RCL_NOBODY;
  if (!entry)
    return;
  entry->replayed = true;
  if (entry->kind == LATE)
    answer->slot = slot_of(config, state, entry);
}

static void choose(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  struct entry *entry = log_of(config, state);
  if (state->phase == LOGGING) {
    struct entry *last = state->log ? &entry[state->log - 1] : NULL;
    if (!last || last->kind != CHOICE || last->outcome != event->outcome)
      last = append(config, state, actions, CHOICE);
    if (last) {
      last->outcome = event->outcome;
      last->times++;
    }
    return;
  }
  for (uint32_t i = 0; state->replaying && i < state->log; i++)
    if (entry[i].kind == CHOICE && !entry[i].replayed) {
      rcl_act(actions, RCL_ACTION_FORCE)->outcome = entry[i].outcome;
      entry[i].replayed = --entry[i].times == 0;
      return;
    }
}

/* Whether a receive is cancelled or too late for it depends on time, as other decisions do. */
static void cancel(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  struct entry *entry = cancellation(config, state, event->request);
  if (state->phase == LOGGING && (entry = append(config, state, actions, CANCELLED))) {
    entry->request = event->request;
    entry->outcome = event->outcome;
  } else if (entry) {
    rcl_act(actions, RCL_ACTION_FORCE)->outcome = entry->outcome;
    entry->replayed = true;
  }
}

#endif
