/* Sets alarms, and lets them go off when world_clock_rules.c allows it. */
#include "world/rules/world_step.h"

void world_set_alarm(struct step_context *t, const struct rcl_action *action)
{
  struct world_rank *me = edit_rank(t->w, t->rank);
  if (me->set.checkpoint || action->checkpoint < me->rung.checkpoint) {
    world_violate(t, "legal", "an alarm of checkpoint %u, expected no other that is set, or later",
                  action->checkpoint);
    return;
  }
  me->set = (struct world_alarm){.checkpoint = action->checkpoint};
  memcpy(me->set.after, action->after, sizeof me->set.after);
}

/* Lets the alarm go off. Messages under way that were sent after the last alarm were sent before
 * the alarm that goes off now. */
void world_ring(struct step_context *t)
{
  const struct world *w = t->w;
  struct world_rank *me = edit_rank(w, t->rank);
  me->rung = me->set;
  me->set = (struct world_alarm){0};
  const struct world_alarm rung = me->rung;
  for (int peer = 0; peer < w->ranks; peer++) {
    uint32_t count;
    const struct world_message *channel =
        READ_LIST(struct world_message, w, WORLD_CHANNEL, t->rank, peer, &count);
    for (uint32_t i = 0; i < count; i++) {
      if (is_control(&channel[i]) || channel[i].before.checkpoint)
        continue;
      struct world_message *message =
          world_edit(w, WORLD_CHANNEL, t->rank, peer, count * (uint32_t)sizeof *message);
      message[i].before = rung;
      channel = message;
    }
  }
}
