/* Writes the state of a protocol as text. */
#include <string.h>

#include "play/session.h"
#include "world/rules/world_parts.h"

static void put_words(struct buffer *out, const unsigned char *state, uint32_t from, uint32_t end)
{
  for (uint32_t size, i = from; i < end; i += size) {
    uint64_t word = 0;
    size = end - i < sizeof word ? end - i : (uint32_t)sizeof word;
    memcpy(&word, state + i, size);
    if (!word)
      continue;
    buffer_printf(out, " %u:", i);
    for (uint32_t k = 0; k < size; k++)
      buffer_printf(out, "%02x", state[i + k]);
  }
}

void session_put_state(const struct world *world, struct buffer *out, int rank)
{
  struct rcl_piece piece[RCL_PIECES];
  const unsigned char *state = (const unsigned char *)(read_rank(world, rank) + 1);
  uint32_t pieces = world_in_use(world, rank, state, piece);
  for (uint32_t k = 0; k < pieces; k++)
    put_words(out, state, piece[k].offset, piece[k].offset + piece[k].bytes);
}
