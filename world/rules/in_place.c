#include "world/rules/in_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "base/platform.h"
#include "world/rules/shares.h"

static const void *read_part(void *ctx, uint32_t part, uint32_t *size)
{
  const struct parts *parts = ctx;
  if (part >= parts->first_share && part < parts->end_share) {
    uint32_t pair = part - parts->first_share;
    return shares_read(parts->shares, (int)(pair / parts->ranks), (int)(pair % parts->ranks), size);
  }
  *size = parts->part[part].size;
  return parts->part[part].bytes;
}

enum {
  LARGE = 1 << 16
}; /* number of bytes of address space for a part; only written pages take memory */

static void *begin_of(const struct parts_bytes *bytes)
{
  return bytes->bytes ? (char *)bytes->bytes - bytes->dropped : NULL;
}

static void free_bytes(struct parts_bytes *bytes)
{
  uint32_t all = bytes->dropped + bytes->room;
  if (all < LARGE)
    free(begin_of(bytes));
  else
    platform_release(begin_of(bytes), all);
}

/* Gives a part `size` bytes; new bytes are zero. */
static void grow(struct parts_bytes *bytes, uint32_t size)
{
  struct parts_bytes grown = {.size = size, .room = size};
  if (grown.room < 2 * bytes->room)
    grown.room = 2 * bytes->room;
  grown.bytes = grown.room < LARGE ? calloc(1, grown.room) : platform_reserve(grown.room);
  if (!grown.bytes)
    memory_exhausted(grown.room);
  if (bytes->size)
    memcpy(grown.bytes, bytes->bytes, bytes->size);
  free_bytes(bytes);
  *bytes = grown;
}

/* Moves the bytes in use to the beginning of the memory. */
static void move_to_front(struct parts_bytes *bytes)
{
  if (bytes->size)
    memmove(begin_of(bytes), bytes->bytes, bytes->size);
  bytes->bytes = begin_of(bytes);
  bytes->room += bytes->dropped;
  bytes->dropped = 0;
}

/* Drops bytes from the front of a part. The rest is moved only when at least as many bytes have
 * been dropped, so dropping and adding an item takes constant time on average. */
static void drop_from_part(void *ctx, uint32_t part, uint32_t count)
{
  struct parts_bytes *bytes = &((struct parts *)ctx)->part[part];
  bytes->bytes = (char *)bytes->bytes + count;
  bytes->size -= count;
  bytes->room -= count;
  bytes->dropped += count;
  if (bytes->size == 0)
    move_to_front(bytes);
}

static void *edit_part(void *ctx, uint32_t part, uint32_t size)
{
  struct parts_bytes *bytes = &((struct parts *)ctx)->part[part];
  if (size > bytes->room && bytes->dropped >= bytes->size)
    move_to_front(bytes);
  if (size > bytes->room)
    grow(bytes, size);
  if (size > bytes->size)
    memset((char *)bytes->bytes + bytes->size, 0, size - bytes->size);
  bytes->size = size;
  return bytes->bytes;
}

/* Returns a copy of bytes to keep. The copy is memory of malloc(), however large it is, because it
 * never grows. */
static struct parts_bytes kept_copy(const void *bytes, uint32_t size)
{
  struct parts_bytes copy = {.bytes = memory_grow(NULL, size), .size = size, .room = size};
  if (size)
    memcpy(copy.bytes, bytes, size);
  return copy;
}

static uint32_t keep_bytes(void *ctx, const void *bytes, uint32_t size)
{
  struct parts *parts = ctx;
  if (parts->kept_count == parts->kept_room) {
    parts->kept_room = parts->kept_room ? 2 * parts->kept_room : 16;
    parts->kept = memory_grow(parts->kept, parts->kept_room * sizeof *parts->kept);
  }
  parts->kept[parts->kept_count++] = kept_copy(bytes, size);
  return parts->kept_count;
}

static const void *kept_bytes(void *ctx, uint32_t number, uint32_t *size)
{
  const struct parts *parts = ctx;
  REQUIRE(number >= 1 && number <= parts->kept_count && parts->kept[number - 1].bytes,
          "kept bytes have been kept, and not been forgotten");
  *size = parts->kept[number - 1].size;
  return parts->kept[number - 1].bytes;
}

static void forget_bytes(void *ctx, uint32_t number)
{
  struct parts *parts = ctx;
  REQUIRE(number >= 1 && number <= parts->kept_count && parts->kept[number - 1].bytes,
          "kept bytes have been kept, and not been forgotten");
  free(parts->kept[number - 1].bytes);
  parts->kept[number - 1] = (struct parts_bytes){0};
}

void parts_init(struct parts *parts, struct world *world)
{
  *parts = (struct parts){.count = world_parts(world)};
  parts->part =
      calloc(parts->count, sizeof *parts->part); /* most pairs of ranks are never touched */
  if (!parts->part)
    memory_exhausted(parts->count * sizeof *parts->part);
  world->memory = (struct world_memory){parts,          read_part,  NULL,       edit_part,
                                        drop_from_part, keep_bytes, kept_bytes, forget_bytes};
}

void parts_group_shares(struct parts *parts, struct world *world)
{
  parts->shares = world->shares = shares_new(world->ranks);
  parts->ranks = (uint32_t)world->ranks;
  parts->first_share = world_part(world, WORLD_SHARE, 0, 0);
  parts->end_share = world_part(world, WORLD_GLOBAL, 0, 0);
}

void parts_copy(struct parts *copy, const struct parts *parts)
{
  REQUIRE(!parts->shares, "parts that are copied have no grouped shares");
  *copy = *parts;
  copy->part = memory_table((size_t)parts->count + 1, sizeof *copy->part);
  for (uint32_t i = 0; i < parts->count; i++) {
    const struct parts_bytes *from = &parts->part[i];
    if (!from->size)
      continue;
    grow(&copy->part[i], from->size);
    memcpy(copy->part[i].bytes, from->bytes, from->size);
  }
  copy->kept_room = parts->kept_count + 1;
  copy->kept = memory_table(copy->kept_room, sizeof *copy->kept);
  for (uint32_t i = 0; i < parts->kept_count; i++)
    if (parts->kept[i].bytes) /* otherwise the bytes are forgotten */
      copy->kept[i] = kept_copy(parts->kept[i].bytes, parts->kept[i].size);
}

void parts_clear(struct parts *parts)
{
  for (uint32_t i = 0; i < parts->count; i++)
    free_bytes(&parts->part[i]);
  for (uint32_t i = 0; i < parts->kept_count; i++)
    free(parts->kept[i].bytes);
  shares_free(parts->shares);
  free(parts->part);
  free(parts->kept);
  *parts = (struct parts){0};
}
