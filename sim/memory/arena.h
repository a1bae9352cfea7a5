/* The allocator of one arena, and where arenas lie: inside librecline_heap.so. heap.h says what an
 * arena is; heap.c decides which calls come here.
 *
 * Nothing here may call anything that allocates: it would come back in. All functions leave errno
 * alone, but for ENOMEM with a result of NULL. */
#ifndef RECLINE_ARENA_H
#define RECLINE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct code { /* addresses of instructions */
  uintptr_t start, end;
};
struct exit_handler; /* atexit.c */

/* Data of other parts of the library in an arena: a rollback puts it back. */
struct arena_notes {
  struct exit_handler *exits; /* the last one that was registered */
  struct code awaited;        /* see heap_await; empty: nothing */
};

/* Where all arenas lie: one behind the other, from `base` on. */
struct arena_range {
  uintptr_t base, bytes; /* 0: there is none yet */
  int log;               /* log2 of the bytes of an arena */
};
extern struct arena_range arena_range;

/* Returns the arena of a pointer; NULL: it is in no rank's part of the range. Called for every
 * block that is freed. Below the base the difference wraps and is too large. */
static inline struct arena *arena_of(const void *inside)
{
  uintptr_t offset = (uintptr_t)inside - arena_range.base;
  if (offset >= arena_range.bytes)
    return NULL;
  return (struct arena *)(arena_range.base + (offset >> arena_range.log << arena_range.log));
}

/* Returns NULL, with errno EINVAL if there is no such rank, ENOMEM if there is no room. */
struct arena *arena_new(int rank);
struct arena *arena_of_rank(int rank); /* NULL: it has none */
int arena_rank(const struct arena *);  /* also of an arena that was never made */
struct arena_notes *arena_notes(struct arena *);
void arena_used(const struct arena *, void **start, size_t *length);

/* Pointers are to payloads: HEAP_ALIGNMENT at least. A pointer to no block ends the process. Memory
 * is all zeros, also the part that arena_realloc() adds; pages that are zeros are not touched.
 * Otherwise memory would hold remains of other blocks, which depend on when the layer has freed its
 * own.
 */
void *arena_malloc(struct arena *, size_t bytes);
void *arena_unset(struct arena *, size_t bytes); /* with the remains, for the layer */
void *arena_memalign(struct arena *, size_t alignment, size_t bytes); /* a power of two */
void *arena_realloc(struct arena *, void *, size_t bytes);
void arena_free(struct arena *, void *);
size_t arena_usable(void *);

/* Gives all whole pages that no block needs back to the system. They read as zeros from then on. */
void arena_give_back(struct arena *);

#endif
