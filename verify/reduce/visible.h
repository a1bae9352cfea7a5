/* Visible actions: those that change, at any node of the abstraction, what a crash leaves (crash.h)
 * or whether one can happen.
 *
 * In a state with a stubborn set of invisible moves no crash need be taken, nor any other move: one
 * of them that is taken before the crash can come first; and where none is, one can be inserted, as
 * the crash undoes what it did (docs/explorer.md).
 */
#ifndef RECLINE_VISIBLE_H
#define RECLINE_VISIBLE_H

#include "verify/reduce/abstraction.h"

/* A set of actions for each rank, a bit each; the caller frees it. */
uint64_t *visible_actions(const struct abstraction *);

#endif
