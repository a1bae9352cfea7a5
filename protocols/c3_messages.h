/* Handles C3's messages and decisions: which of them cross the recovery line, which are logged, and
 * which are replayed or suppressed after a restart.
 *
 * Source: Bronevetsky, Marques, Pingali, Stodghill (ICS 2003), section 3. The phases of a
 * checkpoint are in c3.c, which is the only file to include this one.
 */
#ifndef RECLINE_C3_MESSAGES_H
#define RECLINE_C3_MESSAGES_H

#include "protocols/c3_state.h"

/* ---- messages and decisions to be replayed, or suppressed ---- */

/* Clears the early messages, and the reductions and broadcasts that cross the line: they are on
 * disk with the checkpoint or, after a restart, peers were told of them. */
static void clear_early(const struct rank *r)
{
  memset(early_of(r->config, r->state), 0, r->state->early * sizeof(struct number));
  memset(passed_of(r->config, r->state), 0, r->state->passed * sizeof(struct call));
  memset(rejoin_of(r->config, r->state), 0, r->state->rejoin * sizeof(struct call));
  r->state->early = r->state->passed = r->state->rejoin = 0;
}

static bool broadcasts_are_repeated(const struct rank *r)
{
  for (uint32_t i = 0; i < r->state->comms; i++)
    if (comms_of(r->config, r->state)[i].made < comms_of(r->config, r->state)[i].given)
      return false;
  return true;
}

/* Returns whether nothing of the replay is left. As a root, this rank must also have repeated every
 * broadcast that it made while logging, because peers take part in these again, and the next
 * checkpoint does not hold the peers' lists of them (`rejoin`). */
static bool replay_is_over(const struct rank *r)
{
  if (!broadcasts_are_repeated(r))
    return false;
  for (uint32_t i = 0; i < r->state->log; i++)
    if (!log_of(r->config, r->state)[i].replayed)
      return false;
  return r->state->suppress == 0;
}

/* ---- the program's messages and decisions ---- */

/* Returns what identifies a message: its number, or its envelope. An envelope is enough because
 * messages with the same envelope do not overtake each other (MPI 3.1, section 3.5). */
static struct number identity(const struct rank *r, uint32_t number)
{
  if (r->state->by_envelope)
    return (struct number){r->event->peer, r->event->comm, (uint32_t)r->event->tag};
  return (struct number){.peer = r->event->peer, .number = number};
}

static bool suppressed(const struct rank *r, struct number message)
{
  struct number *list = suppress_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->suppress; i++)
    if (list[i].peer == message.peer && list[i].comm == message.comm &&
        list[i].number == message.number) {
      list[i] = list[--r->state->suppress];
      list[r->state->suppress] = (struct number){0};
      return true;
    }
  return false;
}

static void send(const struct rank *r)
{
  uint32_t number = r->state->next_message++;
  peers(r->config, r->state)[r->event->peer].sent++;
  if (suppressed(r, identity(r, number))) {
    rcl_act(r->actions, RCL_ACTION_SUPPRESS);
    return;
  }
  struct rcl_action *transmit = rcl_act(r->actions, RCL_ACTION_TRANSMIT);
  transmit->words[FLAGS] =
      (r->state->epoch & COLOUR) | (r->state->phase == LOGGING ? (uint32_t)IS_LOGGING : 0);
  transmit->words[NUMBER] = r->state->by_envelope ? 0 : number;
}

/* Returns the log's entry for receive `request` of the program, or NULL if there is none. The
 * program posts the same receives in the same order when it replays. */
static struct entry *logged(const struct rank *r, uint32_t request)
{
  struct entry *entry = log_of(r->config, r->state);
  for (uint32_t i = 0; r->state->replaying && i < r->state->log; i++)
    if ((entry[i].kind == LATE || entry[i].kind == OUTCOME) && entry[i].request == request &&
        !entry[i].replayed)
      return &entry[i];
  return NULL;
}

/* Returns the log's entry for the cancellation of a receive, or NULL if there is none. */
static struct entry *cancellation(const struct rank *r, uint32_t request)
{
  struct entry *entry = log_of(r->config, r->state);
  for (uint32_t i = 0; r->state->replaying && i < r->state->log; i++)
    if (entry[i].kind == CANCELLED && entry[i].request == request && !entry[i].replayed)
      return &entry[i];
  return NULL;
}

/* Returns whether a receive was cancelled in the end, so that it must stay unmatched until it is
 * cancelled. */
static bool will_be_cancelled(const struct rank *r, uint32_t request)
{
  const struct entry *entry = cancellation(r, request);
  return entry && entry->outcome;
}

static void receive(const struct rank *r)
{
  struct entry *entry = logged(r, r->event->request);
  struct rcl_action *answer =
      rcl_act(r->actions, entry && entry->kind == LATE ? RCL_ACTION_DELIVER : RCL_ACTION_MATCH);
  answer->request = r->event->request;
  answer->peer = entry ? entry->peer : r->event->peer;
  answer->tag = entry ? entry->tag : r->event->tag;
  if (will_be_cancelled(r, r->event->request))
    answer->peer = RCL_NOBODY;
  if (!entry)
    return;
  entry->replayed = true;
  if (entry->kind == LATE)
    answer->slot = slot_of(r, entry);
}

static void choose(const struct rank *r)
{
  struct entry *entry = log_of(r->config, r->state);
  if (r->state->phase == LOGGING) {
    struct entry *last = r->state->log ? &entry[r->state->log - 1] : NULL;
    if (!last || last->kind != CHOICE || last->outcome != r->event->outcome)
      last = append(r, CHOICE);
    if (last) {
      last->outcome = r->event->outcome;
      last->times++;
    }
    return;
  }
  for (uint32_t i = 0; r->state->replaying && i < r->state->log; i++)
    if (entry[i].kind == CHOICE && !entry[i].replayed) {
      rcl_act(r->actions, RCL_ACTION_FORCE)->outcome = entry[i].outcome;
      entry[i].replayed = --entry[i].times == 0;
      return;
    }
}

/* While logging, logs whether a receive is cancelled or completes: this depends on time, like other
 * decisions. In a replay, forces the logged outcome. */
static void cancel(const struct rank *r)
{
  struct entry *entry = cancellation(r, r->event->request);
  if (r->state->phase == LOGGING && (entry = append(r, CANCELLED))) {
    entry->request = r->event->request;
    entry->outcome = r->event->outcome;
  } else if (entry) {
    rcl_act(r->actions, RCL_ACTION_FORCE)->outcome = entry->outcome;
    entry->replayed = true;
  }
}

#endif
