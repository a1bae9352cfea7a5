/* The world: the image from which a rank would be started. */
#include "verify/world/world_step.h"

const enum part_kind world_image_parts[IMAGE_PARTS] = {WORLD_PROGRAM, WORLD_POSTED, WORLD_FLOWS,
                                                       WORLD_SENT, WORLD_UNEXPECTED};

uint32_t world_last_image(const struct world *w, int rank)
{
  uint32_t count, last = RCL_FRESH;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].part == RCL_PART_IMAGE && stored[i].durable && stored[i].checkpoint > last &&
        world_is_there(w, rank, &stored[i]))
      last = stored[i].checkpoint;
  return last;
}

const void *world_line_part(const struct world *w, int rank, enum part_kind kind, uint32_t *size)
{
  uint32_t line = w->protocol->independent ? world_last_image(w, rank) : read_global(w)->committed;
  const struct world_record *record = world_durable_record(w, rank, line, RCL_PART_IMAGE);
  if (!record)
    return NULL;
  const unsigned char *at = w->memory.kept(w->memory.ctx, record->image, size);
  for (int i = 0; i < IMAGE_PARTS; i++, at += *size) {
    memcpy(size, at, sizeof *size);
    at += sizeof *size;
    if (world_image_parts[i] == kind)
      return at;
  }
  return NULL;
}
