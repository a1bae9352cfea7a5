#include "verify/reduce/visible.h"

#include <string.h>

#include "verify/base/memory.h"
#include "verify/reduce/terminal.h"

static const struct interned *part(const struct abstraction *c, const uint32_t *values,
                                   enum part_kind kind)
{
  return &c->model->rules_cache.parts.item[values[kind]];
}

/* Ranks that have not started stay as they are; where all programs have ended and none is held no
 * rank crashes. */
static unsigned standing(const struct abstraction *c, const uint32_t *values)
{
  const struct world_rank *me = part(c, values, WORLD_RANK)->bytes;
  return (me->phase == RANK_NEW ? 1u : 0) + (terminal_is_at_end(c, values) ? 2u : 0);
}

/* The place of the next record from `i` on that is durable. */
static uint32_t durable(const struct world_record *record, uint32_t count, uint32_t i)
{
  while (i < count && !record[i].durable)
    i++;
  return i;
}

static bool same_stored(const struct interned *before, const struct interned *after)
{
  const struct world_record *a = before->bytes, *b = after->bytes;
  uint32_t as = before->size / (uint32_t)sizeof *a, bs = after->size / (uint32_t)sizeof *b;
  uint32_t i = durable(a, as, 0), k = durable(b, bs, 0);
  for (; i < as && k < bs; i = durable(a, as, i + 1), k = durable(b, bs, k + 1))
    if (memcmp(&a[i], &b[k], sizeof *a))
      return false;
  return i == as && k == bs;
}

static bool is_visible(const struct abstraction *c, uint32_t rank, uint32_t node,
                       const struct abstraction_edge *edge)
{
  if (edge->target == VIOLATES || edge->shares)
    return true;
  const uint32_t *before = abstraction_values(c, rank, node),
                 *after = abstraction_values(c, rank, edge->target);
  return standing(c, before) != standing(c, after) ||
         !same_stored(part(c, before, WORLD_STORED), part(c, after, WORLD_STORED));
}

uint64_t *visible_actions(const struct abstraction *c)
{
  uint64_t *visible = memory_table(c->ranks, sizeof *visible);
  for (uint32_t rank = 0; rank < c->ranks; rank++) {
    const struct abstraction_rank *r = &c->rank[rank];
    for (uint32_t node = 1; node <= r->nodes.count; node++)
      for (uint32_t i = r->first[node]; i < r->first[node + 1]; i++)
        if (is_visible(c, rank, node, &r->edges[i]))
          visible[rank] |= UINT64_C(1) << r->edges[i].action;
  }
  return visible;
}
