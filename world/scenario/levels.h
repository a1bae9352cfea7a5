/* Inside world/scenario: judges levels of storage, after the keys are read. */
#ifndef RECLINE_LEVELS_H
#define RECLINE_LEVELS_H

#include "world/scenario/scenario.h"

/* Fills in values that are not stated, and refuses values that do not fit together. Errors as
 * scenario_complain(). */
bool levels_judge(struct scenario *, GError **error);

/* Returns whether all levels can be read from any node. */
bool levels_move(const struct scenario *);

#endif
