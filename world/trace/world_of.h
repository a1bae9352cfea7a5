/* Sets up the world of a scenario, for the explorer and the SMPI host. */
#ifndef RECLINE_WORLD_OF_H
#define RECLINE_WORLD_OF_H

#include "world/rules/world.h"
#include "world/scenario/scenario.h"

/* Tells the protocol about the run: its parameters, and program.topology, which scenario_load() has
 * judged. */
void world_of_protocol(struct world *, const struct scenario *);

/* Adds the scenario's levels of storage. There are none if storage outlives all crashes. */
void world_of_levels(struct world *, const struct scenario *);

/* Loads the shared object that has the trace's protocol, if recline itself lacks it. The object's
 * path is in the scenario that recline has written beside the trace, which is scenario.yaml for
 * trace.txt, and ID.scenario.yaml for ID.trace. */
void world_of_load_beside(const char *trace);

#endif
