/* What a scenario says of the world, for both hosts. */
#ifndef RECLINE_WORLD_OF_H
#define RECLINE_WORLD_OF_H

#include "world/rules/world.h"
#include "world/scenario/scenario.h"

/* Tells the world what its protocol knows of the run: its parameters, and program.topology, which
 * scenario_load() has judged. */
void world_of_protocol(struct world *, const struct scenario *);

/* Adds the levels of storage of the scenario; none where storage outlives all crashes. */
void world_of_levels(struct world *, const struct scenario *);

/* Loads the shared object of a protocol that is kept elsewhere, as the scenario says that recline
 * has written beside the trace: scenario.yaml of trace.txt, ID.scenario.yaml of ID.trace. */
void world_of_load_beside(const char *trace);

#endif
