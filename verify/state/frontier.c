#include "verify/state/frontier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/memory.h"
#include "base/platform.h"

static size_t bytes_of(const struct chunk *chunk)
{
  size_t states = chunk->spill ? 0 : CHUNK_STATES * chunk->packing->words * sizeof(uint32_t);
  return sizeof(struct chunk) + states;
}

static size_t bytes_of_states(const struct chunk *chunk)
{
  return chunk->count * chunk->packing->words * sizeof(uint32_t);
}

static struct chunk *new_chunk(const struct packing *packing)
{
  struct chunk model = {.packing = packing}, *chunk = memory_grow(NULL, bytes_of(&model));
  *chunk = model;
  return chunk;
}

static struct chunk *link_last(struct frontier *frontier, struct chunk *chunk)
{
  chunk->next = NULL;
  if (frontier->last)
    frontier->last->next = chunk;
  else
    frontier->first = chunk;
  frontier->last = chunk;
  frontier->states += chunk->count;
  frontier->bytes += bytes_of(chunk);
  return chunk;
}

/* Returns whether the totals of the frontier are the sums over its chunks, and the list of chunks
 * leads from its first end to its last. */
static bool is_consistent(const struct frontier *frontier)
{
  uint64_t states = 0, bytes = 0;
  const struct chunk *last = NULL;
  for (const struct chunk *chunk = frontier->first; chunk; chunk = chunk->next) {
    states += chunk->count;
    bytes += bytes_of(chunk);
    last = chunk;
  }
  return states == frontier->states && bytes == frontier->bytes && last == frontier->last;
}

static struct chunk *unlink_first(struct frontier *frontier)
{
  struct chunk *chunk = frontier->first;
  REQUIRE(frontier->states >= chunk->count && frontier->bytes >= bytes_of(chunk),
          "a frontier counts the states and bytes of its chunks");
  frontier->first = chunk->next;
  if (!frontier->first)
    frontier->last = NULL;
  if (frontier->spilled == chunk)
    frontier->spilled = NULL;
  frontier->states -= chunk->count;
  frontier->bytes -= bytes_of(chunk);
  return chunk;
}

void frontier_append(struct frontier *frontier, const struct packing *packing,
                     const uint32_t *state)
{
  struct chunk *chunk = frontier->last;
  if (!chunk || chunk->spill || chunk->count == CHUNK_STATES || chunk->packing != packing)
    chunk = link_last(frontier, new_chunk(packing));
  memcpy(chunk->states + chunk->count++ * packing->words, state, packing->words * sizeof *state);
  frontier->states++;
}

void frontier_move(struct frontier *to, struct frontier *from)
{
  if (!from->first)
    return;
  if (to->last)
    to->last->next = from->first;
  else
    to->first = from->first;
  to->last = from->last;
  to->states += from->states;
  to->bytes += from->bytes;
  *from = (struct frontier){0};
  CHECK(is_consistent(to), "totals of a frontier after a move");
}

void frontier_share(struct frontier *from, struct frontier *to, uint64_t states)
{
  while (from->first && to->states < states)
    link_last(to, unlink_first(from));
  CHECK(is_consistent(from) && is_consistent(to),
        "totals of two frontiers after a share was taken");
}

/* ---- on disk ---- */

bool spill_init(struct spill *spill)
{
  *spill = (struct spill){.file = platform_file_new()};
  return spill->file >= 0;
}

void spill_reset(struct spill *spill)
{
  if (spill->end && platform_file_empty(spill->file))
    spill->end = 0;
}

void spill_clear(struct spill *spill)
{
  if (spill->file > 0)
    platform_file_close(spill->file);
}

/* Writes a chunk to the file. Returns false if the file does not take the chunk. Moves the chunk's
 * header to memory of its own. If the header stayed, it would lie between two pieces of free memory
 * that are both too small for another chunk. */
static bool spill_chunk(struct chunk **chunk, struct spill *spill)
{
  size_t size = bytes_of_states(*chunk);
  uint64_t place = __atomic_fetch_add(&spill->end, size, __ATOMIC_RELAXED);
  if (!platform_file_write(spill->file, (*chunk)->states, size, place))
    return false;
  (*chunk)->spill = spill;
  (*chunk)->place = place;
  struct chunk *left = memory_grow(NULL, bytes_of(*chunk));
  *left = **chunk;
  free(*chunk);
  *chunk = left;
  return true;
}

void frontier_spill(struct frontier *frontier, struct spill *spill)
{
  struct chunk **link = frontier->spilled ? &frontier->spilled->next : &frontier->first;
  while (*link && *link != frontier->last) {
    size_t bytes = bytes_of(*link);
    if (!(*link)->spill && !spill_chunk(link, spill))
      return;
    frontier->bytes -= bytes - bytes_of(*link);
    frontier->spilled = *link;
    link = &(*link)->next;
  }
  CHECK(is_consistent(frontier), "totals of a frontier after chunks were spilled");
}

struct chunk *chunk_copy(const struct chunk *chunk)
{
  struct chunk *copy = new_chunk(chunk->packing);
  copy->count = chunk->count;
  if (!chunk->spill) {
    memcpy(copy->states, chunk->states, bytes_of_states(chunk));
  } else if (!platform_file_read(chunk->spill->file, copy->states, bytes_of_states(chunk),
                                 chunk->place)) {
    fputs("recline: states in a temporary file cannot be read back\n", stderr);
    _Exit(EXIT_BAD_INPUT);
  }
  return copy;
}

/* ---- taking ---- */

struct chunk *frontier_take(struct frontier *frontier)
{
  if (!frontier->first)
    return NULL;
  struct chunk *chunk = unlink_first(frontier);
  if (!chunk->spill)
    return chunk;
  struct chunk *copy = chunk_copy(chunk);
  free(chunk);
  return copy;
}

void frontier_clear(struct frontier *frontier)
{
  while (frontier->first) {
    struct chunk *next = frontier->first->next;
    free(frontier->first);
    frontier->first = next;
  }
  *frontier = (struct frontier){0};
}
