/* Inside world/scenario: levels of storage, once keys are read. */
#ifndef RECLINE_LEVELS_H
#define RECLINE_LEVELS_H

#include "world/scenario/scenario.h"

/* Fills in what is not stated, and refuses what does not fit together; errors as
 * scenario_complain(). */
bool levels_judge(struct scenario *, GError **error);

/* Returns whether all levels can be read from any node. */
bool levels_move(const struct scenario *);

#endif
