/* Draws the rollback-dependency graph of a trace: the intervals between checkpoints, and which
 * intervals a rollback undoes together. */
#ifndef RECLINE_DEPENDENCIES_H
#define RECLINE_DEPENDENCIES_H

#include "plots/history.h"
#include "plots/picture.h"
/* Returns the picture; the caller frees it with picture_free(). */

struct picture *dependencies_draw(const struct history *);

#endif
