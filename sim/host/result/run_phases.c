#include "sim/host/result/run_phases.h"

#include "sim/host/rank/shadow.h"
#include "world/result/phases.h"

static struct phases *phases; /* the phases, or NULL as long as no rank has taken a step */

void run_phases_step(const struct rank *r, const struct rcl_event *event,
                     const struct rcl_actions *actions)
{
  if (!phases)
    phases = phases_new(shadow_protocol(), layer.ranks);
  phases_step(phases, r->index, machine_now(), event, actions);
}

void run_phases_report(struct result *result)
{
  if (phases)
    phases_report(phases, result);
  phases_free(phases);
  phases = NULL;
}
