/* C3's collectives: which calls cross the recovery line, which results are logged, and which calls
 * are made or suppressed after a restart.
 *
 * Source: Bronevetsky, Marques, Pingali, Stodghill (ICS 2003), sections 4 and 5, Figures 5 to 8;
 * the table in c3.c says it in short. The phases of a checkpoint, which a collective can end or
 * force, are in c3.c, which is the only file to include this one.
 */
#ifndef RECLINE_C3_COLLECTIVES_H
#define RECLINE_C3_COLLECTIVES_H

#include "protocols/c3_state.h"

/* ---- calls that the program has made, by communicator ---- */

/* The entry of a communicator, made when there is none; NULL when the list is full. */
static struct comm *comm_entry(const struct rcl_config *config, struct state *state, int16_t comm,
                               struct rcl_actions *actions)
{
  struct comm *entry = comms_of(config, state);
  for (uint32_t i = 0; i < state->comms; i++)
    if (entry[i].comm == comm)
      return &entry[i];
  if (state->comms == config->capacity) {
    rcl_give_up_full(actions, RCL_FULL_CALLS);
    return NULL;
  }
  entry = &entry[state->comms++];
  *entry = (struct comm){.comm = comm, .member = comm == 0};
  return entry;
}

/* Makes the rank a member of `comm`. Where a number is used again, its calls are counted on. */
static void become_member(const struct rcl_config *config, struct state *state, int16_t comm,
                          struct rcl_actions *actions)
{
  struct comm *entry = comm_entry(config, state, comm, actions);
  if (entry)
    entry->member = true;
}

/* The program has completed call `number` on `comm`. */
static void made(const struct rcl_config *config, struct state *state, int16_t comm, int32_t number,
                 struct rcl_actions *actions)
{
  struct comm *entry = comm_entry(config, state, comm, actions);
  if (!entry)
    return;
  entry->member = true;
  entry->made = number;
}

/* Whom this rank tells what concerns all: all; with a topology the initiator, which hears the end
 * of it from every rank, and passes on to all what they have to know. */
static bool is_told_calls(const struct rcl_config *config, int peer)
{
  return peer != config->self &&
         (!sparse(config) || initiator(config) || peer == RCL_COORDINATOR_RANK);
}

static void tell_call(const struct rcl_config *config, struct rcl_actions *actions,
                      enum control control, int16_t comm, int32_t number)
{
  for (int peer = 0; peer < config->ranks; peer++)
    if (is_told_calls(config, peer))
      rcl_send_control(actions, peer, control, (uint32_t)comm, (uint32_t)number);
}

/* Whether there is room to tell all of `calls` calls, and for so many other actions. */
static bool may_tell(const struct rcl_config *config, uint32_t calls, uint32_t others,
                     struct rcl_actions *actions)
{
  uint64_t wanted = ((uint64_t)calls + 3) * (uint64_t)config->ranks;
  if (actions->count + wanted + others <= RCL_ACTIONS_MAX(config))
    return true;
  rcl_give_up_full(actions, RCL_FULL_CALLS);
  return false;
}

/* Peers learn how many calls this rank had made: its contributions are late for a rank that is
 * beyond the line and has made fewer. */
static void announce_calls(const struct rcl_config *config, struct state *state,
                           struct rcl_actions *actions)
{
  struct comm *entry = comms_of(config, state);
  for (uint32_t i = 0; i < state->comms; i++) {
    if (entry[i].made == entry[i].told)
      continue;
    if (!may_tell(config, 1, 0, actions))
      return;
    entry[i].told = entry[i].made;
    tell_call(config, actions, CALLS, entry[i].comm, entry[i].made);
  }
}

/* The initiator, with a topology: all ranks have announced theirs. */
static void tell_most_calls(const struct rcl_config *config, struct state *state,
                            struct rcl_actions *actions)
{
  struct comm *entry = comms_of(config, state);
  for (uint32_t i = 0; i < state->comms; i++) {
    if (entry[i].most == entry[i].expected)
      continue;
    if (!may_tell(config, 1, 0, actions))
      return;
    entry[i].most = entry[i].expected;
    tell_call(config, actions, MOST_CALLS, entry[i].comm, entry[i].most);
  }
}

/* No result is late: this rank has come as far on each communicator as any peer before its line. */
static bool all_calls_are_made(const struct rcl_config *config, const struct state *state)
{
  const struct comm *comm = comms_of(config, state);
  if (sparse(config) && state->calls_told != state->epoch)
    return false;
  for (uint32_t i = 0; i < state->comms; i++)
    if (comm[i].member && comm[i].made < comm[i].expected)
      return false;
  return true;
}

/* ---- the program begins a call ---- */

/* Whether a call is complete for this rank as soon as it takes part: nothing flows to it. */
static bool only_gives(const struct rcl_config *config, const struct rcl_event *event)
{
  return event->flow == RCL_FLOW_FROM_ROOT
             ? event->root == config->self
             : event->flow == RCL_FLOW_TO_ROOT && event->root != config->self;
}

static struct entry *logged_result(const struct rcl_config *config, struct state *state,
                                   const struct rcl_event *event)
{
  struct entry *entry = log_of(config, state);
  for (uint32_t i = 0; state->replaying && i < state->log; i++)
    if (entry[i].kind == RESULT && entry[i].comm == event->comm && entry[i].tag == event->call)
      return &entry[i];
  return NULL;
}

static bool suppressed_call(const struct rcl_config *config, const struct state *state,
                            const struct rcl_event *event)
{
  const struct call *call = suppress_calls_of(config, state);
  for (uint32_t i = 0; event->flow == RCL_FLOW_TO_ROOT && i < state->suppress_calls; i++)
    if (call[i].comm == event->comm && call[i].root == event->root && call[i].number >= event->call)
      return true;
  return false;
}

/* This rank has made a broadcast as root, which may be early at a rank that is behind the line. */
static void gave(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event, struct rcl_actions *actions)
{
  struct comm *entry = comm_entry(config, state, event->comm, actions);
  if (entry && state->phase == LOGGING)
    entry->given = event->call;
}

static void clear_given(const struct rcl_config *config, struct state *state)
{
  for (uint32_t i = 0; i < state->comms; i++)
    comms_of(config, state)[i].given = 0;
}

static void collective(const struct rcl_config *config, struct state *state,
                       const struct rcl_event *event, struct rcl_actions *actions)
{
  struct entry *entry = logged_result(config, state, event);
  bool joins = false;
  if (entry) {
    struct rcl_action *deliver = rcl_act(actions, RCL_ACTION_DELIVER);
    deliver->slot = slot_of(config, state, entry);
    deliver->peer = event->root;
    deliver->tag = event->call;
    entry->replayed = true;
  } else if (suppressed_call(config, state, event)) {
    rcl_act(actions, RCL_ACTION_SUPPRESS);
  } else {
    struct rcl_action *join = rcl_act(actions, RCL_ACTION_JOIN);
    join->words[EPOCH] = state->epoch;
    join->words[STOPPED] = state->phase != LOGGING;
    joins = true;
  }
  if (!joins || only_gives(config, event))
    made(config, state, event->comm, event->call, actions);
  if (joins && event->flow == RCL_FLOW_FROM_ROOT && only_gives(config, event))
    gave(config, state, event, actions);
}

/* ---- a call is complete ---- */

static void log_result(const struct rcl_config *config, struct state *state,
                       const struct rcl_event *event, struct rcl_actions *actions)
{
  struct entry *entry = append(config, state, actions, RESULT);
  if (!entry)
    return;
  entry->comm = event->comm;
  entry->peer = event->root;
  entry->tag = event->call;
  rcl_act(actions, RCL_ACTION_KEEP)->slot = slot_of(config, state, entry);
}

/* Adds a call to a list, or moves the one of the same communicator and root on. */
static void note_call(struct call *list, uint32_t *count, uint32_t capacity, struct call call,
                      struct rcl_actions *actions)
{
  uint32_t i = 0;
  while (i < *count && (list[i].comm != call.comm || list[i].root != call.root))
    i++;
  if (i == capacity) {
    rcl_give_up_full(actions, RCL_FULL_CALLS);
    return;
  }
  if (i == *count)
    ++*count;
  if (list[i].number < call.number || list[i].comm != call.comm || list[i].root != call.root)
    list[i] = call;
}

static void note_broadcast(const struct rcl_config *config, struct state *state, struct call call,
                           struct rcl_actions *actions)
{
  if (state->rejoin == config->capacity)
    rcl_give_up_full(actions, RCL_FULL_CALLS);
  else
    rejoin_of(config, state)[state->rejoin++] = call;
}

/* Whether data have flowed to here from the other side of a recovery line (Figures 5 to 8). The
 * epochs of all that take part differ by one at most, so their sum tells. */
static bool crosses(const struct state *state, const struct rcl_event *event)
{
  return event->words[EPOCH] != event->contributions * state->epoch;
}

/* Whether some rank in the call is beyond a line that this rank is behind. */
static bool behind(const struct state *state, const struct rcl_event *event)
{
  return event->words[EPOCH] > event->contributions * state->epoch;
}

static void crossed(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct call call = {.comm = event->comm, .root = event->root, .number = event->call};
  bool logging = state->phase == LOGGING;
  switch ((enum rcl_flow)event->flow) {
  case RCL_FLOW_FROM_ROOT:
    if (logging)
      log_result(config, state, event, actions);
    else
      note_broadcast(config, state, call, actions);
    break;
  case RCL_FLOW_TO_ROOT:
    if (logging)
      log_result(config, state, event, actions);
    note_call(passed_of(config, state), &state->passed, config->capacity, call, actions);
    break;
  case RCL_FLOW_ALL:
    if (logging)
      log_result(config, state, event, actions);
    break;
  default:
    break;
  }
}

/* ---- recovery ---- */

/* After a restart: a root says which reductions it has passed, and broadcasts that this rank has
 * received before the line, but their root makes behind it, are taken part in once more. */
static void repeat_collectives(const struct rcl_config *config, const struct state *state,
                               struct rcl_actions *actions)
{
  const struct call *passed = passed_of(config, state), *rejoin = rejoin_of(config, state);
  if (!may_tell(config, state->passed, state->rejoin, actions))
    return;
  for (uint32_t i = 0; i < state->passed; i++)
    tell_call(config, actions, PASSED, passed[i].comm, passed[i].number);
  for (uint32_t i = 0; i < state->rejoin; i++) {
    struct rcl_action *again = rcl_act(actions, RCL_ACTION_REJOIN);
    again->comm = rejoin[i].comm;
    again->peer = rejoin[i].root;
    again->tag = rejoin[i].number;
  }
}

/* CALLS, MOST_CALLS. */
static void expect_calls(const struct rcl_config *config, struct state *state,
                         const struct rcl_event *event, struct rcl_actions *actions)
{
  struct comm *entry = comm_entry(config, state, (int16_t)event->about, actions);
  if (entry && entry->expected < (int32_t)event->value)
    entry->expected = (int32_t)event->value;
}

/* PASSED, PASSED_BY: the latter is about communicator and root. */
static void passed(const struct rcl_config *config, struct state *state,
                   const struct rcl_event *event, struct rcl_actions *actions)
{
  struct call call = {.comm = (int16_t)(event->about & UINT16_MAX),
                      .root =
                          event->control == PASSED ? event->peer : (int16_t)(event->about >> 16),
                      .number = (int32_t)event->value};
  note_call(suppress_calls_of(config, state), &state->suppress_calls, config->capacity, call,
            actions);
  if (!sparse(config) || !initiator(config))
    return;
  for (int peer = 0; peer < config->ranks; peer++)
    if (peer != config->self && peer != event->peer)
      rcl_send_control(actions, peer, PASSED_BY, event->about | (uint32_t)call.root << 16,
                       event->value);
}

#endif
