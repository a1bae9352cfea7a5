/* What a scenario says of the world, for both hosts. */
#ifndef RECLINE_WORLD_OF_H
#define RECLINE_WORLD_OF_H

#include "verify/scenario/scenario.h"
#include "verify/world/world.h"

/* Adds the levels of storage of the scenario; none where storage outlives all crashes. */
void world_of_levels(struct world *, const struct scenario *);

#endif
