/* Has the output commit of protocols whose recovery is global: outputs made before a capture leave
 * once that checkpoint is committed, because then no crash undoes them any more. Later outputs wait
 * for the next checkpoint (Elnozahy et al., ACM Computing Surveys 34 (2002), section 2.3).
 *
 * Hosts hold outputs. If a protocol never lets an output leave, the output waits for the end of the
 * run. */
#ifndef RECLINE_OUTPUTS_H
#define RECLINE_OUTPUTS_H

#include "protocols/parts/act.h"

static inline void rcl_output(struct rcl_actions *actions, uint32_t output, uint32_t checkpoint)
{
  struct rcl_action *action = rcl_act(actions, RCL_ACTION_OUTPUT);
  action->output = output;
  action->checkpoint = checkpoint;
}

/* Lets outputs leave, at CAPTURED (once the checkpoint is committed) and at START. A rank starts
 * from a committed checkpoint, so at START the outputs leave that were made before its image and
 * that a crash has kept back. */
static inline void rcl_output_with_commit(const struct rcl_event *event,
                                          struct rcl_actions *actions)
{
  if (event->kind == RCL_EVENT_CAPTURED && event->output)
    rcl_output(actions, event->output, event->checkpoint);
  if (event->kind == RCL_EVENT_START && event->output)
    rcl_output(actions, event->output, RCL_FRESH);
}

#endif
