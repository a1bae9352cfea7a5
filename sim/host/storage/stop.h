/* checkpoint.then: stop. When the last checkpoint has committed, the run leaves it for another one
 * (manifest.h), and ends. */
#ifndef RECLINE_STOP_H
#define RECLINE_STOP_H

#include "sim/host/rank/rank.h"

/* To be called when a step with this event has been taken in the shadow world and is not carried
 * out yet. Does not return when the run ends here. */
void stop_event(const struct rcl_event *);

#endif
