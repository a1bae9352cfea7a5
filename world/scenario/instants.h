/* Inside world/scenario: finds the times at which checkpoints are requested, after the keys are
 * read. */
#ifndef RECLINE_INSTANTS_H
#define RECLINE_INSTANTS_H

#include "world/scenario/scenario.h"

/* Reads the instants, and refuses those that the protocol cannot meet. Errors as
 * scenario_complain(). */
bool instants_judge(struct scenario *, GError **error);

#endif
