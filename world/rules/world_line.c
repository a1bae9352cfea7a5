/* Finds the image from which a rank would be started. */
#include <stdlib.h>

#include "base/memory.h"
#include "world/rules/world_step.h"

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

const void *world_part_of_image(const struct world *w, uint32_t image, enum part_kind kind,
                                uint32_t *size)
{
  const unsigned char *at = w->memory.kept(w->memory.ctx, image, size);
  for (int i = 0; i < IMAGE_PARTS; i++, at += *size) {
    memcpy(size, at, sizeof *size);
    at += sizeof *size;
    if (world_image_parts[i] == kind)
      return at;
  }
  return NULL;
}

const void *world_line_part(const struct world *w, int rank, enum part_kind kind, uint32_t *size)
{
  uint32_t line = w->protocol->independent ? world_last_image(w, rank) : read_global(w)->committed;
  const struct world_record *record = world_durable_record(w, rank, line, RCL_PART_IMAGE);
  return record ? world_part_of_image(w, record->image, kind, size) : NULL;
}

/* Reduces `flows`, in place, to the flows in which messages were given, each with only the number
 * of these messages. Returns the number of flows left. */
static uint32_t cut_to_received(struct world_flow *flows, uint32_t count)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (flows[i].delivered)
      flows[kept++] = (struct world_flow){.peer = flows[i].peer,
                                          .comm = flows[i].comm,
                                          .tag = flows[i].tag,
                                          .delivered = flows[i].delivered};
  return kept;
}

uint32_t world_keep_received(const struct world *w, int rank, uint32_t image, bool counts)
{
  uint32_t size;
  const void *flows = image ? world_part_of_image(w, image, WORLD_FLOWS, &size)
                            : world_read(w, WORLD_FLOWS, rank, 0, &size);
  unsigned char *bytes = memory_grow(NULL, IMAGE_PARTS * sizeof size + size), *at = bytes;
  struct world_flow *received = memory_grow(NULL, size + 1);
  if (size)
    memcpy(received, flows, size);
  size = counts ? cut_to_received(received, size / sizeof *received) : 0;
  size *= (uint32_t)sizeof *received;
  for (int i = 0; i < IMAGE_PARTS; i++) {
    uint32_t length = world_image_parts[i] == WORLD_FLOWS ? size : 0;
    memcpy(at, &length, sizeof length);
    memcpy(at + sizeof length, received, length);
    at += sizeof length + length;
  }
  free(received);
  uint32_t number = w->memory.keep(w->memory.ctx, bytes, (uint32_t)(at - bytes));
  free(bytes);
  return number;
}
