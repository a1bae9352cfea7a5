/* Has short functions by which protocols append actions. Hosts do not use them. */
#ifndef RECLINE_ACT_H
#define RECLINE_ACT_H

#include <string.h>

#include "protocols/protocol.h"

/* Appends an action and returns it. All members but `kind` are zero, and the caller fills them in.
 * If there is no room, the last action is reused and `overflow` is set, which hosts report as a
 * breach. */
static inline struct rcl_action *rcl_act(struct rcl_actions *actions, enum rcl_action_kind kind)
{
  if (actions->count == actions->capacity) {
    actions->overflow = true;
    actions->count--;
  }
  struct rcl_action *action = &actions->item[actions->count++];
  memset(action, 0, sizeof *action); /* C++ would warn of an initializer */
  action->kind = (uint8_t)kind;
  return action;
}

static inline bool rcl_is_rank(const struct rcl_config *config, int rank)
{
  return rank >= 0 && rank < config->ranks;
}

/* Sends control message `control`, an index in rcl_protocol.controls, with the checkpoint or epoch
 * that it is about, and a value. */
static inline void rcl_send_control(struct rcl_actions *actions, int peer, uint32_t control,
                                    uint32_t about, uint32_t value)
{
  struct rcl_action *action = rcl_act(actions, RCL_ACTION_CONTROL);
  action->peer = (int16_t)peer;
  action->control = control;
  action->about = about;
  action->value = value;
}

static inline void rcl_send_control_to_all(const struct rcl_config *config,
                                           struct rcl_actions *actions, uint32_t control,
                                           uint32_t about)
{
  for (int peer = 0; peer < config->ranks; peer++)
    if (peer != config->self)
      rcl_send_control(actions, peer, control, about, 0);
}

static inline void rcl_send_control_to_neighbours(const struct rcl_config *config,
                                                  struct rcl_actions *actions, uint32_t control,
                                                  uint32_t about)
{
  for (int peer = 0; peer < config->ranks; peer++)
    if (rcl_is_neighbour(config, peer))
      rcl_send_control(actions, peer, control, about, 0);
}

/* Answers RECEIVE: the receive matches as the program has asked. */
static inline void rcl_match(struct rcl_actions *actions, const struct rcl_event *receive)
{
  struct rcl_action *action = rcl_act(actions, RCL_ACTION_MATCH);
  action->request = receive->request;
  action->peer = receive->peer;
  action->tag = receive->tag;
}

/* Asks for a write of `part` of `checkpoint`, with the state after this step. */
static inline void rcl_store(struct rcl_actions *actions, enum rcl_part part, uint32_t checkpoint)
{
  struct rcl_action *action = rcl_act(actions, RCL_ACTION_STORE);
  action->part = (uint8_t)part;
  action->checkpoint = checkpoint;
}

/* Asks for a write of an image with the state, but without the slots, which stay in memory only. */
static inline void rcl_store_bare(struct rcl_actions *actions, uint32_t checkpoint)
{
  struct rcl_action *action = rcl_act(actions, RCL_ACTION_STORE);
  action->bare = 1;
  action->checkpoint = checkpoint;
}

/* With clocks, sets an alarm. Its time is the instant of `checkpoint` plus each bound times its
 * factor (struct rcl_action.after). */
static inline void rcl_set_alarm(struct rcl_actions *actions, uint32_t checkpoint, int deviations,
                                 int longest, int shortest)
{
  struct rcl_action *action = rcl_act(actions, RCL_ACTION_SET_TIMER);
  action->checkpoint = checkpoint;
  action->after[RCL_BOUND_DEVIATION] = (int8_t)deviations;
  action->after[RCL_BOUND_LONGEST] = (int8_t)longest;
  action->after[RCL_BOUND_SHORTEST] = (int8_t)shortest;
}

/* Gives up because `list` is full. */
static inline void rcl_give_up_full(struct rcl_actions *actions, enum rcl_full list)
{
  struct rcl_action *action = rcl_act(actions, RCL_ACTION_GIVE_UP);
  action->reason = RCL_REASON_FULL;
  action->list = list;
}

static inline void rcl_give_up(struct rcl_actions *actions, enum rcl_reason reason)
{
  rcl_act(actions, RCL_ACTION_GIVE_UP)->reason = (uint8_t)reason;
}

#endif
