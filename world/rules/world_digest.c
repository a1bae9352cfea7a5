/* Computes a digest of the world's state. */
#include "base/hash.h"
#include "world/rules/world_parts.h"

uint64_t world_digest_bytes(uint64_t digest, const void *bytes, uint32_t size)
{
  return hash_mix(digest ^ rcl_protocol_digest(bytes, size));
}

/* ---- kept bytes ---- */

static uint32_t kind_of(const struct world *w, uint32_t part)
{
  return part / WORLD_RANK_PARTS < (uint32_t)w->ranks ? part % WORLD_RANK_PARTS : WORLD_RANK_PARTS;
}

void world_map_kept(const struct world *w, uint32_t part, void *bytes, uint32_t size,
                    uint32_t (*map)(void *ctx, uint32_t number), void *ctx)
{
  struct world_rank *rank = bytes;
  struct world_record *stored = bytes;
  uint32_t kind = size ? kind_of(w, part) : WORLD_RANK_PARTS;
  if (kind == WORLD_RANK && rank->image)
    rank->image = map(ctx, rank->image);
  for (uint32_t i = 0; kind == WORLD_STORED && i < size / sizeof *stored; i++) {
    stored[i].image = stored[i].image ? map(ctx, stored[i].image) : 0;
    stored[i].state = stored[i].state ? map(ctx, stored[i].state) : 0;
  }
}

/* Returns the digest of kept bytes. It does not depend on the number under which they are kept. */
static uint32_t of_kept(void *ctx, uint32_t number)
{
  const struct world *w = ctx;
  uint32_t size;
  const void *bytes = w->memory.kept(w->memory.ctx, number, &size);
  return (uint32_t)world_digest_bytes(size, bytes, size);
}

/* ---- digests ---- */

static uint64_t of_rank(const struct world *w, uint32_t part, const struct world_rank *me,
                        uint32_t size)
{
  struct world_rank head = *me;
  world_map_kept(w, part, &head, sizeof head, of_kept, (void *)w);
  return world_digest_bytes(world_digest_bytes(0, &head, sizeof head), me + 1,
                            size - (uint32_t)sizeof head);
}

static uint64_t of_stored(const struct world *w, uint32_t part, const struct world_record *stored,
                          uint32_t size)
{
  uint64_t digest = 0;
  for (uint32_t i = 0; i < size / sizeof *stored; i++) {
    struct world_record record = stored[i];
    world_map_kept(w, part, &record, sizeof record, of_kept, (void *)w);
    digest = world_digest_bytes(digest, &record, sizeof record);
  }
  return digest;
}

static uint64_t of_part(const struct world *w, uint32_t part)
{
  uint32_t size, kind = kind_of(w, part);
  const void *bytes = w->memory.read(w->memory.ctx, part, &size);
  if (kind == WORLD_RANK)
    return of_rank(w, part, bytes, size);
  if (kind == WORLD_STORED)
    return of_stored(w, part, bytes, size);
  return world_digest_bytes(0, bytes, size);
}

uint64_t world_digest_part(const struct world *w, uint32_t part)
{
  return hash_mix(of_part(w, part) + part);
}

uint64_t world_digest(const struct world *w)
{
  uint64_t digest = 0;
  for (uint32_t part = 0; part < world_parts(w); part++)
    digest += world_digest_part(w, part);
  return digest;
}
