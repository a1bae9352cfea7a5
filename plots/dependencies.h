/* The rollback-dependency graph of a trace: intervals between checkpoints, and which ranks must go
 * back if which others do. */
#ifndef RECLINE_DEPENDENCIES_H
#define RECLINE_DEPENDENCIES_H

#include "plots/history.h"
#include "plots/picture.h"

struct picture *dependencies_draw(const struct history *);

#endif
