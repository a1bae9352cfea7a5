/* Tells which actions are visible at a node of the abstraction: they change what a crash leaves
 * (crash.h), or whether a crash can happen.
 *
 * In a state with a stubborn set of invisible moves, only these moves have to be taken, and no
 * crash. A run that takes one of these moves before the crash can begin with it. Into any other run
 * one of these moves can be inserted, because the crash undoes it. In other states crashes are
 * taken, and a stubborn set with all visible actions (docs/explorer.md).
 *
 * A crash leaves a durable record once its checkpoint is committed. Until then, the action that
 * makes the record durable is invisible, provided that no commit can come before the action.
 */
#ifndef RECLINE_VISIBLE_H
#define RECLINE_VISIBLE_H

#include "verify/reduce/abstraction.h"

/* Returns whether the edge is visible, apart from what it stores. */
bool visible_edge(const struct abstraction *, uint32_t rank, uint32_t node,
                  const struct abstraction_edge *);

/* Returns the set that has only this checkpoint. Each checkpoint has a bit; the last bit stands for
 * all checkpoints from 63 on. */
static inline uint64_t visible_checkpoint(uint32_t checkpoint)
{
  return UINT64_C(1) << (checkpoint < 63 ? checkpoint : 63);
}

/* Returns the checkpoints whose durable records an edge changes. */
uint64_t visible_stores(const struct abstraction *, uint32_t rank, uint32_t node,
                        const struct abstraction_edge *);

/* Returns whether the edge can commit a checkpoint. */
bool visible_commits(const struct abstraction *, const struct abstraction_edge *);

#endif
