/* Inside world/scenario: when checkpoints are asked for, once keys are read. */
#ifndef RECLINE_INSTANTS_H
#define RECLINE_INSTANTS_H

#include "world/scenario/scenario.h"

/* Reads the instants, and refuses what the protocol cannot do; errors as scenario_complain(). */
bool instants_judge(struct scenario *, GError **error);

#endif
