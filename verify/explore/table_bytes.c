/* Tells the size of the search's tables, and of memory. */
#include "base/platform.h"
#include "verify/explore/search.h"

uint64_t explorer_queue_bytes(const struct explorer *e)
{
  uint64_t bytes = e->now.bytes + e->fresh.bytes;
  for (unsigned i = 0; i < e->workers; i++)
    bytes += e->worker[i].share.bytes + e->worker[i].later.bytes;
  return bytes;
}

uint64_t explorer_states(const struct explorer *e)
{
  return e->visited.count + (e->archive ? e->archive->states : 0);
}

uint64_t explorer_most_bytes(const struct explorer *e)
{
  if (!e->archive)
    return e->model.options->max_bytes;
  uint64_t most = explorer_memory(e), archive = archive_bytes(e->archive);
  return archive < most ? archive + (most - archive) / 5 * 2 : archive;
}

uint64_t explorer_bytes(const struct explorer *e)
{
  uint64_t bytes = visited_bytes(&e->visited) + model_bytes(&e->model) + explorer_queue_bytes(e);
  if (e->archive)
    bytes += archive_bytes(e->archive);
  if (e->exchange)
    bytes += exchange_bytes(e->exchange);
  for (unsigned i = 0; i < e->workers; i++)
    bytes += local_cache_bytes(&e->worker[i].cache) + line_cache_bytes(e->worker[i].line);
  return bytes;
}

size_t explorer_memory(const struct explorer *e)
{
  uint64_t all = platform_memory();
  if (e->model.options->max_bytes)
    return e->model.options->max_bytes;
  return all && all < SIZE_MAX ? (size_t)all : SIZE_MAX / 4;
}

void explorer_widen_packing(struct explorer *e)
{
  if (!model_outgrown(&e->model))
    return;
  struct packing *old = e->model.packing;
  model_make_packing(&e->model);
  if (e->archive && !archive_widen(e->archive, e->model.packing))
    e->full = BOUND_DISK;
  else if (!e->fingerprint &&
           !visited_rebuild(&e->visited, e->visited.places, e->model.packing, e->workers))
    e->full = BOUND_MEMORY;
  else
    return;
  e->model.packing = old;
}
