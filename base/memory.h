/* Allocates memory; these functions end the process when memory is exhausted. */
#ifndef RECLINE_MEMORY_H
#define RECLINE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* MEMORY_LINE is twice the size of a cache line, in bytes, because processors fetch lines in
 * pairs. */
enum { MEMORY_LINE = 128 };

/* Changes the size of `memory` (which may be NULL) to `bytes`, as realloc() does. The caller frees
 * the result with free(). */
void *memory_grow(void *memory, size_t bytes);

/* Returns an array with room for `count` items and one more. It is `list` itself, or a larger copy
 * that replaces `list`; then *room, in items, is set anew. `item` is the size of an item in bytes.
 * The caller frees the result with free(). */
void *memory_room(void *list, uint32_t count, uint32_t *room, size_t item);

/* Returns an array with room for item `number`, as memory_room() does; new items are zeroed. */
void *memory_zeroed_room(void *list, uint32_t number, uint32_t *room, size_t item);

/* Returns zeroed memory for `count` items of `size` bytes. The table shares no cache line with
 * other memory (no false sharing). Large tables get huge pages, because they are read at random
 * places. The caller frees it with free(). */
void *memory_table(size_t count, size_t size);

/* Prints the size that was asked for, on one line of standard error, and ends with
 * EXIT_INCONCLUSIVE. */
_Noreturn void memory_exhausted(size_t bytes);

#endif
