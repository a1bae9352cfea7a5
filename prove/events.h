/* Makes the events that the door allows, with unknown fields. */
#ifndef RECLINE_PROVE_EVENTS_H
#define RECLINE_PROVE_EVENTS_H

#include "prove/prove_rank.h"

/* Calls `each` for every form of every event that may come to the rank. `fresh` is true if the
 * rank's state is all zeroes. The event is in w->event, and `conditions` (GPtrArray of Z3_ast) are
 * the door's rules for its fields. Stops when `each` returns false. */
void events_each(struct rank_world *w,
                 bool (*each)(void *ctx, struct rank_world *, const GPtrArray *conditions,
                              enum rcl_event_kind, bool fresh),
                 void *ctx);

#endif
