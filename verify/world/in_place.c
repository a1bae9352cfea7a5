#include "verify/world/in_place.h"

#include <glib.h>
#include <string.h>

static const void *read_part(void *ctx, uint32_t part, uint32_t *size)
{
  const struct parts *parts = ctx;
  *size = parts->part[part].size;
  return parts->part[part].bytes;
}

static void *edit_part(void *ctx, uint32_t part, uint32_t size)
{
  struct parts_bytes *bytes = &((struct parts *)ctx)->part[part];
  if (size > bytes->room) {
    bytes->room = MAX(size, 2 * bytes->room);
    bytes->bytes = g_realloc(bytes->bytes, bytes->room);
  }
  if (size > bytes->size)
    memset((char *)bytes->bytes + bytes->size, 0, size - bytes->size);
  bytes->size = size;
  return bytes->bytes;
}

static uint32_t keep(void *ctx, const void *bytes, uint32_t size)
{
  struct parts *parts = ctx;
  if (parts->kept_count == parts->kept_room) {
    parts->kept_room = parts->kept_room ? 2 * parts->kept_room : 16;
    parts->kept = g_realloc_n(parts->kept, parts->kept_room, sizeof *parts->kept);
  }
  struct parts_bytes copy = {g_malloc(MAX(size, 1u)), size, size};
  if (size)
    memcpy(copy.bytes, bytes, size);
  parts->kept[parts->kept_count++] = copy;
  return parts->kept_count;
}

static const void *kept(void *ctx, uint32_t number, uint32_t *size)
{
  const struct parts *parts = ctx;
  g_assert(number >= 1 && number <= parts->kept_count);
  *size = parts->kept[number - 1].size;
  return parts->kept[number - 1].bytes;
}

static void forget(void *ctx, uint32_t number)
{
  struct parts *parts = ctx;
  g_assert(number >= 1 && number <= parts->kept_count);
  g_free(parts->kept[number - 1].bytes);
  parts->kept[number - 1] = (struct parts_bytes){0};
}

void parts_init(struct parts *parts, struct world *world)
{
  *parts = (struct parts){.count = world_parts(world)};
  parts->part = g_new0(struct parts_bytes, parts->count);
  world->memory = (struct world_memory){parts, read_part, NULL, edit_part, keep, kept, forget};
}

void parts_clear(struct parts *parts)
{
  for (uint32_t i = 0; i < parts->count; i++)
    g_free(parts->part[i].bytes);
  for (uint32_t i = 0; i < parts->kept_count; i++)
    g_free(parts->kept[i].bytes);
  g_free(parts->part);
  g_free(parts->kept);
  *parts = (struct parts){0};
}
