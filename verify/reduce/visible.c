#include "verify/reduce/visible.h"

#include <string.h>

#include "verify/reduce/at_end.h"
#include "verify/reduce/crash.h"
#include "verify/reduce/records.h"

static const struct interned *part(const struct abstraction *c, const uint32_t *values,
                                   enum part_kind kind)
{
  return &c->model->rules_cache.parts.item[values[kind]];
}

/* Returns those facts about the rank's standing on which a crash depends. A crash does not change a
 * rank that has not started. No rank crashes once all programs have ended and none of them is
 * held. */
static unsigned standing(const struct abstraction *c, const uint32_t *values)
{
  const struct world_rank *me = part(c, values, WORLD_RANK)->bytes;
  return (me->phase == RANK_NEW ? 1u : 0) + (terminal_is_at_end(c, values) ? 2u : 0);
}

static const struct world_global *global_at(const struct abstraction *c, uint32_t entry)
{
  const uint32_t *shared = c->shared[SHARED_GLOBAL].item[entry].bytes;
  return c->model->rules_cache.parts.item[shared[0]].bytes;
}

static uint64_t checkpoint_if_durable(const struct world_record *record)
{
  return record->durable ? visible_checkpoint(record->checkpoint) : 0;
}

uint64_t visible_stores(const struct abstraction *c, uint32_t rank, uint32_t node,
                        const struct abstraction_edge *edge)
{
  if (edge->target == VIOLATES)
    return 0;
  const struct interned *before = part(c, abstraction_values(c, rank, node), WORLD_STORED),
                        *after = part(c, abstraction_values(c, rank, edge->target), WORLD_STORED);
  return records_differing(before, after, checkpoint_if_durable);
}

/* Returns whether the shared part that a crash leaves is different after the action. */
static bool shares_visibly(const struct abstraction *c, uint32_t shares)
{
  const struct interned *item = &c->shares.item[shares];
  const uint32_t *table = item->bytes;
  for (uint32_t i = 1; i < item->size / sizeof *table; i += 2) {
    if (table[0] != SHARED_GLOBAL || table[i + 1] == VIOLATES)
      return true;
    struct world_global before = crash_leaves_global(global_at(c, table[i])),
                        after = crash_leaves_global(global_at(c, table[i + 1]));
    if (memcmp(&before, &after, sizeof before))
      return true;
  }
  return false;
}

/* Returns whether the edge is visible. A move that violates a property is not visible: a run could
 * take the move before the crash, and the search looks for that run. */
bool visible_edge(const struct abstraction *c, uint32_t rank, uint32_t node,
                  const struct abstraction_edge *edge)
{
  if (edge->target == VIOLATES)
    return false;
  return (edge->shares && shares_visibly(c, edge->shares)) ||
         standing(c, abstraction_values(c, rank, node)) !=
             standing(c, abstraction_values(c, rank, edge->target));
}

bool visible_commits(const struct abstraction *c, const struct abstraction_edge *edge)
{
  if (!edge->shares)
    return false;
  const struct interned *item = &c->shares.item[edge->shares];
  const uint32_t *table = item->bytes;
  if (table[0] != SHARED_GLOBAL)
    return false;
  for (uint32_t i = 1; i < item->size / sizeof *table; i += 2)
    if (table[i + 1] == VIOLATES ||
        global_at(c, table[i])->committed != global_at(c, table[i + 1])->committed)
      return true;
  return false;
}
