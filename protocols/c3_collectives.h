/* Handles C3's collectives: which calls cross the recovery line, which results are logged, and
 * which calls are repeated or suppressed after a restart.
 *
 * Source: Bronevetsky, Marques, Pingali, Stodghill (ICS 2003), sections 4 and 5, Figures 5 to 8;
 * the table in c3.c is a summary. The phases of a checkpoint, which a collective can end or force,
 * are in c3.c, which is the only file to include this one.
 */
#ifndef RECLINE_C3_COLLECTIVES_H
#define RECLINE_C3_COLLECTIVES_H

#include "protocols/c3_state.h"

/* ---- calls that the program has made, by communicator ---- */

/* Returns the entry of a communicator, and makes it if there is none. Returns NULL if the list is
 * full. */
static struct comm *comm_entry(const struct rank *r, int16_t comm)
{
  struct comm *entry = comms_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->comms; i++)
    if (entry[i].comm == comm)
      return &entry[i];
  if (r->state->comms == r->config->capacity) {
    rcl_give_up_full(r->actions, RCL_FULL_CALLS);
    return NULL;
  }
  entry = &entry[r->state->comms++];
  *entry = (struct comm){.comm = comm, .member = comm == 0};
  return entry;
}

/* Makes the rank a member of `comm`. If the number was used before, the count of its calls goes
 * on. */
static void become_member(const struct rank *r, int16_t comm)
{
  struct comm *entry = comm_entry(r, comm);
  if (entry)
    entry->member = true;
}

/* Notes that the program has completed call `number` on `comm`. */
static void made(const struct rank *r, int16_t comm, int32_t number)
{
  struct comm *entry = comm_entry(r, comm);
  if (!entry)
    return;
  entry->member = true;
  entry->made = number;
}

/* Returns whether this rank tells `peer` what all ranks must know. Without a topology it tells
 * every peer. With a topology it tells only the initiator, which hears when each rank is done and
 * tells all ranks. */
static bool is_told_calls(const struct rcl_config *config, int peer)
{
  return peer != config->self &&
         (!sparse(config) || initiator(config) || peer == RCL_COORDINATOR_RANK);
}

static void tell_call(const struct rank *r, enum control control, int16_t comm, int32_t number)
{
  for (int peer = 0; peer < r->config->ranks; peer++)
    if (is_told_calls(r->config, peer))
      rcl_send_control(r->actions, peer, control, (uint32_t)comm, (uint32_t)number);
}

/* Returns whether a step has room to tell all ranks of `calls` calls, and for `others` more
 * actions. */
static bool may_tell(const struct rank *r, uint32_t calls, uint32_t others)
{
  uint64_t wanted = ((uint64_t)calls + 3) * (uint64_t)r->config->ranks;
  if (r->actions->count + wanted + others <= RCL_ACTIONS_MAX(r->config))
    return true;
  rcl_give_up_full(r->actions, RCL_FULL_CALLS);
  return false;
}

/* Tells peers how many calls this rank has made. The contributions of this rank are late for a rank
 * that is beyond the line and has made fewer calls. */
static void announce_calls(const struct rank *r)
{
  struct comm *entry = comms_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->comms; i++) {
    if (entry[i].made == entry[i].told)
      continue;
    if (!may_tell(r, 1, 0))
      return;
    entry[i].told = entry[i].made;
    tell_call(r, CALLS, entry[i].comm, entry[i].made);
  }
}

/* With a topology, the initiator tells how many calls the rank with the most calls has made, once
 * all ranks have announced their calls. */
static void tell_most_calls(const struct rank *r)
{
  struct comm *entry = comms_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->comms; i++) {
    if (entry[i].most == entry[i].expected)
      continue;
    if (!may_tell(r, 1, 0))
      return;
    entry[i].most = entry[i].expected;
    tell_call(r, MOST_CALLS, entry[i].comm, entry[i].most);
  }
}

/* Returns whether no result is late any more: on each communicator, this rank has made as many
 * calls as any peer had made before the peer's line. */
static bool all_calls_are_made(const struct rank *r)
{
  const struct comm *comm = comms_of(r->config, r->state);
  if (sparse(r->config) && r->state->calls_told != r->state->epoch)
    return false;
  for (uint32_t i = 0; i < r->state->comms; i++)
    if (comm[i].member && comm[i].made < comm[i].expected)
      return false;
  return true;
}

/* ---- the program begins a call ---- */

/* Returns whether a call is complete for this rank as soon as the rank takes part, because no data
 * flow to this rank. */
static bool only_gives(const struct rank *r)
{
  return r->event->flow == RCL_FLOW_FROM_ROOT
             ? r->event->root == r->config->self
             : r->event->flow == RCL_FLOW_TO_ROOT && r->event->root != r->config->self;
}

static struct entry *logged_result(const struct rank *r)
{
  struct entry *entry = log_of(r->config, r->state);
  for (uint32_t i = 0; r->state->replaying && i < r->state->log; i++)
    if (entry[i].kind == RESULT && entry[i].comm == r->event->comm &&
        entry[i].tag == r->event->call)
      return &entry[i];
  return NULL;
}

static bool suppressed_call(const struct rank *r)
{
  const struct call *call = suppress_calls_of(r->config, r->state);
  for (uint32_t i = 0; r->event->flow == RCL_FLOW_TO_ROOT && i < r->state->suppress_calls; i++)
    if (call[i].comm == r->event->comm && call[i].root == r->event->root &&
        call[i].number >= r->event->call)
      return true;
  return false;
}

/* Notes that this rank has made a broadcast as root. The broadcast may be early at a rank behind
 * the line. */
static void gave(const struct rank *r)
{
  struct comm *entry = comm_entry(r, r->event->comm);
  if (entry && r->state->phase == LOGGING)
    entry->given = r->event->call;
}

static void clear_given(const struct rank *r)
{
  for (uint32_t i = 0; i < r->state->comms; i++)
    comms_of(r->config, r->state)[i].given = 0;
}

static void collective(const struct rank *r)
{
  struct entry *entry = logged_result(r);
  bool joins = false;
  if (entry) {
    struct rcl_action *deliver = rcl_act(r->actions, RCL_ACTION_DELIVER);
    deliver->slot = slot_of(r, entry);
    deliver->peer = r->event->root;
    deliver->tag = r->event->call;
    entry->replayed = true;
  } else if (suppressed_call(r)) {
    rcl_act(r->actions, RCL_ACTION_SUPPRESS);
  } else {
    struct rcl_action *join = rcl_act(r->actions, RCL_ACTION_JOIN);
    join->words[EPOCH] = r->state->epoch;
    join->words[STOPPED] = r->state->phase != LOGGING;
    joins = true;
  }
  if (!joins || only_gives(r))
    made(r, r->event->comm, r->event->call);
  if (joins && r->event->flow == RCL_FLOW_FROM_ROOT && only_gives(r))
    gave(r);
}

/* ---- a call is complete ---- */

static void log_result(const struct rank *r)
{
  struct entry *entry = append(r, RESULT);
  if (!entry)
    return;
  entry->comm = r->event->comm;
  entry->peer = r->event->root;
  entry->tag = r->event->call;
  rcl_act(r->actions, RCL_ACTION_KEEP)->slot = slot_of(r, entry);
}

/* Adds a call to a list, or advances the entry of the same communicator and root. */
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

static void note_broadcast(const struct rank *r, struct call call)
{
  if (r->state->rejoin == r->config->capacity)
    rcl_give_up_full(r->actions, RCL_FULL_CALLS);
  else
    rejoin_of(r->config, r->state)[r->state->rejoin++] = call;
}

/* Returns whether data have come from the other side of a recovery line (Figures 5 to 8). The
 * epochs of the participants differ by one at most, so their sum tells. */
static bool crosses(const struct rank *r)
{
  return r->event->words[EPOCH] != r->event->contributions * r->state->epoch;
}

/* Returns whether some rank in the call is beyond a line and this rank is behind it. */
static bool behind(const struct rank *r)
{
  return r->event->words[EPOCH] > r->event->contributions * r->state->epoch;
}

static void crossed(const struct rank *r)
{
  struct call call = {.comm = r->event->comm, .root = r->event->root, .number = r->event->call};
  bool logging = r->state->phase == LOGGING;
  switch ((enum rcl_flow)r->event->flow) {
  case RCL_FLOW_FROM_ROOT:
    if (logging)
      log_result(r);
    else
      note_broadcast(r, call);
    break;
  case RCL_FLOW_TO_ROOT:
    if (logging)
      log_result(r);
    note_call(passed_of(r->config, r->state), &r->state->passed, r->config->capacity, call,
              r->actions);
    break;
  case RCL_FLOW_ALL:
    if (logging)
      log_result(r);
    break;
  default:
    break;
  }
}

/* ---- recovery ---- */

/* Repeats collectives after a restart. A root tells which reductions it has passed. A rank takes
 * part again in the broadcasts that it received before the line but that their root makes after the
 * line. */
static void repeat_collectives(const struct rank *r)
{
  const struct call *passed = passed_of(r->config, r->state),
                    *rejoin = rejoin_of(r->config, r->state);
  if (!may_tell(r, r->state->passed, r->state->rejoin))
    return;
  for (uint32_t i = 0; i < r->state->passed; i++)
    tell_call(r, PASSED, passed[i].comm, passed[i].number);
  for (uint32_t i = 0; i < r->state->rejoin; i++) {
    struct rcl_action *again = rcl_act(r->actions, RCL_ACTION_REJOIN);
    again->comm = rejoin[i].comm;
    again->peer = rejoin[i].root;
    again->tag = rejoin[i].number;
  }
}

/* Handles CALLS and MOST_CALLS. */
static void expect_calls(const struct rank *r)
{
  struct comm *entry = comm_entry(r, (int16_t)r->event->about);
  if (entry && entry->expected < (int32_t)r->event->value)
    entry->expected = (int32_t)r->event->value;
}

/* Handles PASSED, and PASSED_BY, which is about a communicator and a root. */
static void passed(const struct rank *r)
{
  struct call call = {.comm = (int16_t)(r->event->about & UINT16_MAX),
                      .root = r->event->control == PASSED ? r->event->peer
                                                          : (int16_t)(r->event->about >> 16),
                      .number = (int32_t)r->event->value};
  note_call(suppress_calls_of(r->config, r->state), &r->state->suppress_calls, r->config->capacity,
            call, r->actions);
  if (!sparse(r->config) || !initiator(r->config))
    return;
  for (int peer = 0; peer < r->config->ranks; peer++)
    if (peer != r->config->self && peer != r->event->peer)
      rcl_send_control(r->actions, peer, PASSED_BY, r->event->about | (uint32_t)call.root << 16,
                       r->event->value);
}

#endif
