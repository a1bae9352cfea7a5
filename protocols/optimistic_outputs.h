/* Lets outputs of optimistic.c leave. An output leaves when no failure can undo it any more, that
 * is, when the rank's events are stable and the intervals of other ranks on which these events
 * depend are stable, too. The rank asks the other ranks when these intervals are stable, as it does
 * for a checkpoint. Outputs that come meanwhile wait for the next round. */
#ifndef RECLINE_OPTIMISTIC_OUTPUTS_H
#define RECLINE_OPTIMISTIC_OUTPUTS_H

#include "protocols/optimistic_images.h"
#include "protocols/parts/outputs.h"

/* Returns whether nothing can undo the events up to `event`. */
static inline bool is_safe(const struct rank *r, uint32_t event)
{
  const struct dependence *list = depends_of(r->config, r->state);
  return r->state->stable >= event && (!r->state->depends || list[0].event > event);
}

/* Lets outputs leave that are safe, and asks other ranks about the rest. */
static inline void settle_outputs(const struct rank *r)
{
  struct waiting *asked = &r->state->asked, *made = &r->state->made;
  for (; asked->output && !recovers(r); *asked = *made, *made = (struct waiting){0}) {
    if (asked->event > r->state->events) /* the event of the output was cut off */
      asked->event = r->state->events;
    ask(r, asked->event);
    if (!is_safe(r, asked->event))
      return;
    rcl_output(r->actions, asked->output, RCL_FRESH);
  }
}

/* Notes that outputs up to `output`, the program's last one so far, wait. */
static inline void wait_for(const struct rank *r, uint32_t output)
{
  struct waiting *where = r->state->asked.output ? &r->state->made : &r->state->asked;
  *where = (struct waiting){.output = output, .event = r->state->events};
  settle_outputs(r);
}

/* Notes that the program begins again with that many outputs, some of which may not have left. */
static inline void outputs_again(const struct rank *r, uint32_t outputs)
{
  r->state->made = (struct waiting){0};
  r->state->asked = (struct waiting){.output = outputs, .event = r->state->events};
}

#endif
