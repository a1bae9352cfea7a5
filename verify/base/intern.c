#define _DEFAULT_SOURCE
#include "verify/base/intern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "protocols/protocol.h"

enum { SLOTS_FIRST = 64, CHUNK_FIRST = 1 << 12, CHUNK_MOST = 1 << 20 };

static _Noreturn void out_of_memory(size_t bytes)
{
  fprintf(stderr, "explorer: out of memory at %zu bytes in one piece\n", bytes);
  abort();
}

void *intern_grow(void *memory, size_t bytes)
{
  void *grown = realloc(memory, bytes);
  if (!grown)
    out_of_memory(bytes);
  return grown;
}

void *intern_room(void *list, uint32_t count, uint32_t *room, size_t item)
{
  if (count < *room)
    return list;
  *room = *room ? *room + *room / 2 : 256;
  return intern_grow(list, *room * item);
}

void intern_breach(const char *what)
{
  fprintf(stderr, "breach: explorer: %s\n", what);
  abort();
}

void *intern_table(size_t count, size_t size)
{
  static const size_t page = 1 << 21;
  size_t bytes = count * size, unit = bytes < page ? INTERN_LINE : page;
  size_t units = (bytes + unit - 1) / unit * unit;
  void *memory = aligned_alloc(unit, units);
  if (!memory)
    out_of_memory(bytes);
  if (unit == page)
    madvise(memory, units, MADV_HUGEPAGE); /* a hint: fewer misses of the TLB */
  return memset(memory, 0, bytes);
}

/* Tables are at most three quarters full: probes stay short. */
static bool crowded(uint32_t count, uint32_t mask)
{
  return !mask || count >= mask / 4 * 3;
}

static uint32_t *new_slots(uint32_t *mask)
{
  size_t slots = *mask ? 2 * ((size_t)*mask + 1) : SLOTS_FIRST;
  if (slots - 1 > UINT32_MAX) {
    fputs("explorer: more entries than 32 bits can number\n", stderr);
    abort();
  }
  *mask = (uint32_t)(slots - 1);
  uint32_t *slot = calloc(slots, sizeof *slot);
  if (!slot) {
    fprintf(stderr, "explorer: out of memory at a table of %zu slots\n", slots);
    abort();
  }
  return slot;
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
}

static const void *intern_copy(struct intern *table, const void *bytes, uint32_t size)
{
  size_t take = ((size_t)size + 7) / 8 * 8;
  if (!table->chunk || take > table->left) {
    size_t chunk = table->bytes < CHUNK_FIRST ? CHUNK_FIRST : table->bytes;
    chunk = chunk < CHUNK_MOST ? chunk : CHUNK_MOST;
    chunk = take > chunk ? take : chunk;
    table->chunks = intern_grow(table->chunks, (table->chunk_count + 1) * sizeof *table->chunks);
    table->chunk = intern_grow(NULL, chunk);
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
    table->item = intern_grow(table->item, table->room * sizeof *table->item);
  }
  table->item[++table->count] = item;
  return table->count;
}

/* Slot of the bytes, or the free one where they belong. */
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

uint32_t intern(struct intern *table, const void *bytes, uint32_t size)
{
  if (crowded(table->count, table->mask))
    intern_rehash(table);
  uint32_t hash = (uint32_t)rcl_protocol_digest(bytes, size),
           at = intern_slot(table, bytes, size, hash);
  if (!table->slot[at]) {
    const void *copy = intern_copy(table, bytes, size);
    table->slot[at] = intern_append(table, (struct interned){copy, size, hash});
  }
  return table->slot[at];
}

uint32_t intern_find(const struct intern *table, const void *bytes, uint32_t size)
{
  return table->count ? table->slot[intern_slot(table, bytes, size,
                                                (uint32_t)rcl_protocol_digest(bytes, size))]
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
