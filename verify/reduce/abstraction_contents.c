/* Follows the contents of stored parts. No rule looks at contents before a crash. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "verify/reduce/abstraction_parts.h"
#include "verify/reduce/records.h"

/* Returns the value of a RANK part without the contents of the image that the rank has captured. */
static uint32_t cut_head(const struct abstraction *c, uint32_t rank, uint32_t value)
{
  struct intern *parts = &c->model->rules_cache.parts;
  uint32_t size = parts->item[value].size;
  struct world_rank *me = memory_grow(NULL, size);
  memcpy(me, parts->item[value].bytes, size);
  if (me->image)
    me->image = world_settled_image(c->model->world, (int)rank, me->image);
  uint32_t cut = intern(parts, me, size);
  free(me);
  return cut;
}

/* Returns the value of a STORED part without the contents of records. */
static uint32_t cut_stored(const struct abstraction *c, uint32_t rank, uint32_t value)
{
  struct intern *parts = &c->model->rules_cache.parts;
  uint32_t size = parts->item[value].size, count = size / (uint32_t)sizeof(struct world_record);
  struct world_record record[count + 1];
  if (size)
    memcpy(record, parts->item[value].bytes, size);
  for (uint32_t i = 0; i < count; i++)
    world_settle_record(c->model->world, (int)rank, &record[i]);
  return intern(parts, record, size);
}

void abstraction_cut(const struct abstraction *c, uint32_t rank, const uint32_t *values,
                     uint32_t *cut)
{
  memcpy(cut, values, WORLD_RANK_PARTS * sizeof *cut);
  if (!c->before_crash)
    return;
  cut[WORLD_RANK] = cut_head(c, rank, values[WORLD_RANK]);
  cut[WORLD_STORED] = cut_stored(c, rank, values[WORLD_STORED]);
}

uint32_t abstraction_contents(struct abstraction *c, const uint32_t *values, const uint32_t *cut)
{
  const struct intern *parts = &c->model->rules_cache.parts;
  const struct world_rank *me = parts->item[values[WORLD_RANK]].bytes,
                          *cut_me = parts->item[cut[WORLD_RANK]].bytes;
  const struct world_record *record = parts->item[values[WORLD_STORED]].bytes,
                            *cut_record = parts->item[cut[WORLD_STORED]].bytes;
  uint32_t all = parts->item[values[WORLD_STORED]].size / (uint32_t)sizeof *record, count = 0;
  struct world_record written[all + 1];
  if (me->image != cut_me->image)
    written[count++] = (struct world_record){.image = me->image};
  for (uint32_t i = 0; i < all; i++)
    if (memcmp(&record[i], &cut_record[i], sizeof *record))
      written[count++] = record[i];
  return count ? intern(&c->contents, written, count * (uint32_t)sizeof *written) : 0;
}

/* Returns a bit for the image that a rank has captured, and for each record; records may share
 * bits. */
static uint64_t bit_of(const struct world_record *record)
{
  uint32_t other = record->checkpoint * RCL_PARTS + record->part;
  return record->checkpoint ? UINT64_C(2) << other % 63 : 1;
}

uint64_t abstraction_stores(const struct abstraction *c, const uint32_t *before,
                            const uint32_t *after, uint32_t writes)
{
  static const struct interned nothing = {0};
  const struct intern *parts = &c->model->rules_cache.parts;
  const struct world_rank *was = parts->item[before[WORLD_RANK]].bytes,
                          *is = parts->item[after[WORLD_RANK]].bytes;
  const struct interned *had = &parts->item[before[WORLD_STORED]],
                        *has = &parts->item[after[WORLD_STORED]];
  return records_differing(had, has, bit_of) | (was->image != is->image ? 1 : 0) |
         (writes ? records_lacking(&c->contents.item[writes], &nothing, bit_of) : 0);
}
