#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/hash.h"
#include "base/memory.h"

enum { SLOTS_FIRST = 64, CHUNK_FIRST = 1 << 12, CHUNK_MOST = 1 << 20 };

/* Keeps tables at most three quarters full, so that probes stay short. */
static bool crowded(uint32_t count, uint32_t mask)
{
  return !mask || count >= mask / 4 * 3;
}

static uint32_t *new_slots(uint32_t *mask)
{
  size_t slots = *mask ? 2 * ((size_t)*mask + 1) : SLOTS_FIRST;
  if (slots - 1 > UINT32_MAX)
    memory_exhausted(slots * sizeof(uint32_t));
  *mask = (uint32_t)(slots - 1);
  return memory_table(slots, sizeof(uint32_t));
}

/* Returns the slot of the bytes, or the free slot where they belong. */
static uint32_t intern_slot(const struct intern *table, const void *bytes, uint32_t size,
                            uint32_t hash)
{
  uint32_t at = hash & table->mask;
  for (; table->slot[at]; at = (at + 1) & table->mask) {
    const struct interned *old = &table->item[table->slot[at]];
    if (old->hash == hash && old->size == size && (!size || !memcmp(old->bytes, bytes, size)))
      break;
  }
  return at;
}

/* Returns whether a search for the bytes of each number finds that number: no two items are equal,
 * and no item lies behind a free slot. */
static bool intern_is_complete(const struct intern *table)
{
  for (uint32_t n = 1; n <= table->count; n++) {
    const struct interned *item = &table->item[n];
    if (table->slot[intern_slot(table, item->bytes, item->size, item->hash)] != n)
      return false;
  }
  return true;
}

static void intern_rehash(struct intern *table)
{
  free(table->slot);
  table->slot = new_slots(&table->mask);
  for (uint32_t n = 1; n <= table->count; n++) {
    uint32_t at = table->item[n].hash & table->mask;
    while (table->slot[at])
      at = (at + 1) & table->mask;
    table->slot[at] = n;
  }
  CHECK(intern_is_complete(table), "interned bytes are found under their number, after a rehash");
}

static const void *intern_copy(struct intern *table, const void *bytes, uint32_t size)
{
  size_t take = ((size_t)size + 7) / 8 * 8;
  if (!table->chunk || take > table->left) {
    size_t chunk = table->bytes < CHUNK_FIRST ? CHUNK_FIRST : table->bytes;
    chunk = chunk < CHUNK_MOST ? chunk : CHUNK_MOST;
    chunk = take > chunk ? take : chunk;
    table->chunks = memory_grow(table->chunks, (table->chunk_count + 1) * sizeof *table->chunks);
    table->chunk = memory_grow(NULL, chunk);
    table->chunks[table->chunk_count++] = table->chunk;
    table->left = chunk;
    table->bytes += chunk;
  }
  char *copy = table->chunk;
  if (size)
    memcpy(copy, bytes, size);
  table->chunk += take;
  table->left -= take;
  return copy;
}

static uint32_t intern_append(struct intern *table, struct interned item)
{
  if (table->count + 2 > table->room) {
    table->room = table->room ? 2 * table->room : SLOTS_FIRST;
    table->item = memory_grow(table->item, table->room * sizeof *table->item);
  }
  table->item[++table->count] = item;
  return table->count;
}

uint32_t intern(struct intern *table, const void *bytes, uint32_t size)
{
  if (crowded(table->count, table->mask))
    intern_rehash(table);
  uint32_t hash = (uint32_t)hash_bytes(bytes, size), at = intern_slot(table, bytes, size, hash);
  if (!table->slot[at]) {
    const void *copy = intern_copy(table, bytes, size);
    table->slot[at] = intern_append(table, (struct interned){copy, size, hash});
  }
  REQUIRE(table->slot[at] <= table->count && table->count <= table->mask,
          "an intern table has a free slot, and numbers up to its count");
  return table->slot[at];
}

uint32_t intern_find(const struct intern *table, const void *bytes, uint32_t size)
{
  return table->count
             ? table->slot[intern_slot(table, bytes, size, (uint32_t)hash_bytes(bytes, size))]
             : 0;
}

size_t intern_bytes(const struct intern *table)
{
  return table->bytes + table->room * sizeof *table->item +
         (table->slot ? ((size_t)table->mask + 1) * sizeof *table->slot : 0);
}

void intern_clear(struct intern *table)
{
  for (uint32_t i = 0; i < table->chunk_count; i++)
    free(table->chunks[i]);
  free(table->chunks);
  free(table->item);
  free(table->slot);
  *table = (struct intern){0};
}
