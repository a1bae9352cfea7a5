/* Judges levels of storage, after the keys are read. Only world/scenario uses this file. */
#ifndef RECLINE_LEVELS_H
#define RECLINE_LEVELS_H

#include "world/scenario/scenario.h"

/* Fills in values that are not stated, and refuses values that do not fit together. Sets errors as
 * scenario_complain() does. */
bool levels_judge(struct scenario *, GError **error);

/* Returns whether the data of all levels can be read from any node. */
bool levels_move(const struct scenario *);

#endif
