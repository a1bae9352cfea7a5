/* Pages lie in chunks. A chunk is aligned to its size, so that the chunk can be found from the
 * address of a page. A list contains the chunks with room. Some chunks without any used page are
 * kept for the next image, because fresh memory costs more than copying. */
#define _GNU_SOURCE
#include "sim/memory/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

enum {
  /* number of pages in a chunk and of bits in `taken`; the first page contains the chunk's own
   * data */
  SLOTS = 64,
  CHUNK = SLOTS * PAGE,
  SPARE = 4 /* one unused chunk is kept for every four chunks in use */
};

struct chunk {
  uint64_t taken; /* a bit is set if the slot is in use */
  uint32_t references[SLOTS];
  struct chunk *next, *previous; /* neighbours in the list of chunks with room */
};

static struct {
  struct chunk *roomy;
  size_t used, empty; /* number of chunks with a page in use, and of chunks without one */
} store;

static void list_insert(struct chunk *chunk)
{
  chunk->previous = NULL;
  chunk->next = store.roomy;
  if (store.roomy)
    store.roomy->previous = chunk;
  store.roomy = chunk;
}

static void list_remove(struct chunk *chunk)
{
  if (chunk->next)
    chunk->next->previous = chunk->previous;
  if (chunk->previous)
    chunk->previous->next = chunk->next;
  else
    store.roomy = chunk->next;
}

static struct chunk *chunk_new(void)
{
  char *memory = mmap(NULL, 2 * (size_t)CHUNK, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  size_t before = (CHUNK - (uintptr_t)memory % CHUNK) % CHUNK;
  struct chunk *chunk = (struct chunk *)(memory + before);
  if (before)
    munmap(memory, before);
  munmap((char *)chunk + CHUNK, CHUNK - before);
  chunk->taken = 1;
  store.empty++;
  list_insert(chunk);
  return chunk;
}

static bool is_empty(const struct chunk *chunk)
{
  return chunk->taken == 1;
}

static bool is_full(const struct chunk *chunk)
{
  return chunk->taken == UINT64_MAX;
}

static struct chunk *chunk_of(char *copy)
{
  return (struct chunk *)((uintptr_t)copy / CHUNK * CHUNK);
}

static size_t slot_of(char *copy)
{
  return (uintptr_t)copy % CHUNK / PAGE;
}

char *page_new(void)
{
  struct chunk *chunk = store.roomy ? store.roomy : chunk_new();
  if (!chunk)
    return NULL;
  if (is_empty(chunk)) {
    store.empty--;
    store.used++;
  }
  int slot = __builtin_ctzll(~chunk->taken);
  chunk->taken |= UINT64_C(1) << slot;
  chunk->references[slot] = 1;
  if (is_full(chunk))
    list_remove(chunk);
  return (char *)chunk + (size_t)slot * PAGE;
}

char *page_share(char *copy)
{
  chunk_of(copy)->references[slot_of(copy)]++;
  return copy;
}

static void chunk_emptied(struct chunk *chunk)
{
  store.used--;
  if (store.empty <= store.used / SPARE) {
    store.empty++;
    return;
  }
  list_remove(chunk);
  munmap(chunk, CHUNK);
}

void page_drop(char *copy)
{
  struct chunk *chunk = chunk_of(copy);
  size_t slot = slot_of(copy);
  if (--chunk->references[slot])
    return;
  if (is_full(chunk))
    list_insert(chunk);
  chunk->taken &= ~(UINT64_C(1) << slot);
  if (is_empty(chunk))
    chunk_emptied(chunk);
}
