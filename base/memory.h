/* Memory that is there: these functions end the process when there is none. */
#ifndef RECLINE_MEMORY_H
#define RECLINE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* The size of a cache line, in bytes, and of the one that is fetched with it. */
enum { MEMORY_LINE = 128 };

/* realloc(): `memory` may be NULL. The caller frees the result with free(). */
void *memory_grow(void *memory, size_t bytes);

/* An array with room for one item more than `count`: `list` itself, or a larger copy, in which case
 * *room (in items) grows too. `item` is the size of an item in bytes. Freed with free(). */
void *memory_room(void *list, uint32_t count, uint32_t *room, size_t item);

/* An array with room for item `number`, zeroed where it has grown; else as memory_room(). */
void *memory_zeroed_room(void *list, uint32_t number, uint32_t *room, size_t item);

/* Zeroed memory for `count` items of `size` bytes, in cache lines of its own (no false sharing); in
 * huge pages where it is large, as such tables are read at random places. Freed with free(). */
void *memory_table(size_t count, size_t size);

/* One line on standard error, with the size that was asked for; EXIT_INCONCLUSIVE. */
_Noreturn void memory_exhausted(size_t bytes);

#endif
