/* The abstraction: contents of what is stored, which no rule looks at before a crash. */
#include <stdlib.h>
#include <string.h>

#include "verify/base/memory.h"
#include "verify/reduce/abstraction_parts.h"

/* The value of a RANK part without the contents of the image that the rank has captured. */
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

/* The value of a STORED part without the contents of records. */
static uint32_t cut_stored(const struct abstraction *c, uint32_t rank, uint32_t value)
{
  struct intern *parts = &c->model->rules_cache.parts;
  uint32_t size = parts->item[value].size, count = size / (uint32_t)sizeof(struct world_record);
  struct world_record record[count + 1];
  if (size)
    memcpy(record, parts->item[value].bytes, size);
  for (uint32_t i = 0; i < count; i++) {
    if (record[i].image)
      record[i].image = world_settled_image(c->model->world, (int)rank, record[i].image);
    record[i].state = world_settled_state(c->model->world);
  }
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

/* A bit for the image that a rank has captured, and for each record, which some may share. */
static uint64_t bit_of(const struct world_record *record)
{
  uint32_t other = record->checkpoint * RCL_PARTS + record->part;
  return record->checkpoint ? UINT64_C(2) << other % 63 : 1;
}

/* Those of `one` that `other` does not have. */
static uint64_t lacking(const struct interned *one, const struct interned *other)
{
  const struct world_record *of = one->bytes, *others = other->bytes;
  uint64_t lacking = 0;
  for (uint32_t i = 0; i < one->size / sizeof *of; i++) {
    uint32_t k = 0, count = other->size / (uint32_t)sizeof *of;
    while (k < count && memcmp(&of[i], &others[k], sizeof *of))
      k++;
    lacking |= k < count ? 0 : bit_of(&of[i]);
  }
  return lacking;
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
  return lacking(had, has) | lacking(has, had) | (was->image != is->image ? 1 : 0) |
         (writes ? lacking(&c->contents.item[writes], &nothing) : 0);
}
