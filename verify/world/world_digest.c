/* The world: a digest of its state. */
#include "verify/base/hash.h"
#include "verify/world/world_parts.h"

uint64_t world_digest_bytes(uint64_t digest, const void *bytes, uint32_t size)
{
  return hash_mix(digest ^ rcl_protocol_digest(bytes, size));
}

/* Kept bytes, by what they are. */
static uint32_t of_kept(const struct world *w, uint32_t number)
{
  uint32_t size;
  if (!number)
    return 0;
  const void *bytes = w->memory.kept(w->memory.ctx, number, &size);
  return (uint32_t)world_digest_bytes(size, bytes, size);
}

static uint64_t of_rank(const struct world *w, int rank)
{
  uint32_t size;
  const struct world_rank *me = world_read(w, WORLD_RANK, rank, 0, &size);
  struct world_rank head = *me;
  head.image = of_kept(w, head.image);
  return world_digest_bytes(world_digest_bytes(0, &head, sizeof head), me + 1,
                            size - (uint32_t)sizeof head);
}

static uint64_t of_stored(const struct world *w, int rank)
{
  uint32_t count;
  uint64_t digest = 0;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++) {
    struct world_record record = stored[i];
    record.image = of_kept(w, record.image);
    record.state = of_kept(w, record.state);
    digest = world_digest_bytes(digest, &record, sizeof record);
  }
  return digest;
}

static uint64_t of_part(const struct world *w, uint32_t part)
{
  uint32_t size, rank = part / WORLD_RANK_PARTS;
  bool of_ranks = rank < (uint32_t)w->ranks;
  if (of_ranks && part % WORLD_RANK_PARTS == WORLD_RANK)
    return of_rank(w, (int)rank);
  if (of_ranks && part % WORLD_RANK_PARTS == WORLD_STORED)
    return of_stored(w, (int)rank);
  const void *bytes = w->memory.read(w->memory.ctx, part, &size);
  return world_digest_bytes(0, bytes, size);
}

uint64_t world_digest(const struct world *w)
{
  uint64_t digest = 0;
  for (uint32_t part = 0; part < world_parts(w); part++)
    digest += hash_mix(of_part(w, part) + part);
  return digest;
}
