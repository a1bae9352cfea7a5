/* Shorthands for protocols: appending actions. Hosts have no use for them. */
#ifndef RECLINE_ACT_H
#define RECLINE_ACT_H

#include "protocols/protocol.h"

/* Appends an action and returns it, zeroed but for its kind, for the caller to fill in. On
 * overflow the last item is reused and `overflow` is set, which protocol_step() reports. */
static inline struct action *act(struct actions *actions, enum action_kind kind)
{
  if (actions->count == actions->capacity) {
    actions->overflow = true;
    actions->count--;
  }
  struct action *action = &actions->item[actions->count++];
  *action = (struct action){.kind = (uint8_t)kind};
  return action;
}

/* Sends a control message of the usual shape: what it is, for which checkpoint, and a number. */
static inline void tell(struct actions *actions, int peer, uint32_t control, uint32_t checkpoint,
                        uint32_t number)
{
  struct action *action = act(actions, ACTION_CONTROL);
  action->peer = (int16_t)peer;
  action->words[0] = control;
  action->words[1] = checkpoint;
  action->words[2] = number;
}

static inline void tell_all(const struct config *config, struct actions *actions, uint32_t control,
                            uint32_t checkpoint)
{
  for (int peer = 0; peer < config->ranks; peer++)
    if (peer != config->self)
      tell(actions, peer, control, checkpoint, 0);
}

/* Lets a receive of the program match what it asks for, in the network. */
static inline void match(struct actions *actions, const struct event *receive)
{
  struct action *action = act(actions, ACTION_MATCH);
  action->request = receive->request;
  action->peer = receive->peer;
  action->tag = receive->tag;
}

/* Has that part written, with the state as it is after this step. */
static inline void store(struct actions *actions, enum part part, uint32_t checkpoint)
{
  struct action *action = act(actions, ACTION_STORE);
  action->part = (uint8_t)part;
  action->checkpoint = checkpoint;
}

/* Clocks: an alarm so many bounds behind the instant of `checkpoint`. */
static inline void set_alarm(struct actions *actions, uint32_t checkpoint, int deviations,
                             int longest, int shortest)
{
  struct action *action = act(actions, ACTION_SET_TIMER);
  action->checkpoint = checkpoint;
  action->after[BOUND_DEVIATION] = (int8_t)deviations;
  action->after[BOUND_LONGEST] = (int8_t)longest;
  action->after[BOUND_SHORTEST] = (int8_t)shortest;
}

static inline void give_up(struct actions *actions, enum reason reason)
{
  act(actions, ACTION_GIVE_UP)->reason = (uint8_t)reason;
}

#endif
