/* Allocates in one arena, and tells where arenas lie. Only librecline_heap.so uses this file.
 * heap.h says what an arena is; heap.c decides which calls come here.
 *
 * Nothing here may call a function that allocates, because that would call this allocator again.
 * Functions change errno only to ENOMEM, when they return NULL. */
#ifndef RECLINE_ARENA_H
#define RECLINE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct code { /* a range of addresses of instructions */
  uintptr_t start, end;
};
struct exit_handler; /* atexit.c */

/* Holds what other parts of the library keep in an arena, so that a rollback restores it. */
struct arena_notes {
  struct exit_handler *exits; /* the handler that was registered last */
  /* instructions of the program that is awaited (heap_await()), or an empty range */
  struct code awaited;
};

/* Tells where arenas lie: one after the other, from `base` on. */
struct arena_range {
  uintptr_t base, bytes; /* begin and size of the range; the size is 0 if nothing is reserved yet */
  int log;               /* logarithm, to base 2, of the size of an arena */
};
extern struct arena_range arena_range;

/* Returns the arena that holds a pointer, or NULL if there is none. It must be fast, because each
 * free() calls it. For a pointer below the base, the difference wraps around, so it is too
 * large. */
static inline struct arena *arena_of(const void *inside)
{
  uintptr_t offset = (uintptr_t)inside - arena_range.base;
  if (offset >= arena_range.bytes)
    return NULL;
  return (struct arena *)(arena_range.base + (offset >> arena_range.log << arena_range.log));
}

/* Makes the arena of a rank. Returns NULL with errno EINVAL if there is no such rank, or ENOMEM if
 * there is no room. */
struct arena *arena_new(int rank);
struct arena *arena_of_rank(int rank); /* NULL if the rank has no arena */
int arena_rank(const struct arena *);  /* also for an arena that was never made */
struct arena_notes *arena_notes(struct arena *);
void arena_used(const struct arena *, void **start, size_t *length);

/* The next functions take and return pointers to payloads, aligned to HEAP_ALIGNMENT at least. A
 * pointer to no block ends the process. New memory is all zeros, including the part that
 * arena_realloc() adds, because remains of other blocks would depend on when the layer has freed
 * its blocks. Pages that are zeros already are not touched. */
void *arena_malloc(struct arena *, size_t bytes);
/* for the layer: may hold remains of other blocks */
void *arena_unset(struct arena *, size_t bytes);
/* `alignment` is a power of two. */
void *arena_memalign(struct arena *, size_t alignment, size_t bytes);
void *arena_realloc(struct arena *, void *, size_t bytes);
void arena_free(struct arena *, void *);
size_t arena_usable(void *);

/* Gives back to the system all whole pages that no block needs. They read as zeros from then on. */
void arena_give_back(struct arena *);

#endif
