/* Finds the times at which checkpoints are requested, after the keys are read. Only world/scenario
 * uses this file. */
#ifndef RECLINE_INSTANTS_H
#define RECLINE_INSTANTS_H

#include "world/scenario/scenario.h"

/* Reads the instants, and refuses instants that the protocol cannot meet. Sets errors as
 * scenario_complain() does. */
bool instants_judge(struct scenario *, GError **error);

#endif
