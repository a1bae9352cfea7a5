/* Gives equal bytes equal numbers (hash-consing).
 *
 * Numbers count from 1 in the order of first appearance. Nothing is ever removed. When memory runs
 * out, the process ends (memory_exhausted()).
 */
#ifndef RECLINE_INTERN_H
#define RECLINE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interned {
  const void *bytes; /* aligned to 8 bytes; not moved until intern_clear() */
  uint32_t size;
  uint32_t hash;
};

struct intern {
  struct interned *item; /* item[0] is not used */
  uint32_t count;        /* number of items; their numbers are 1 to `count` */
  uint32_t room;
  uint32_t *slot; /* numbers of items, in a hash table with open addressing; a free slot has 0 */
  uint32_t mask;
  char *chunk;   /* place in the last chunk for the next bytes */
  size_t left;   /* number of bytes left in that chunk */
  void **chunks; /* the memory that holds the bytes of all items */
  uint32_t chunk_count;
  size_t bytes; /* number of bytes of all chunks */
};

/* Returns the number of the bytes, which are copied if they are new. A zeroed table is empty and
 * ready. An item may have size 0; then `bytes` may be NULL. */
uint32_t intern(struct intern *, const void *bytes, uint32_t size);
void intern_clear(struct intern *);

/* Returns the number that the table has given to these bytes, or 0 if they are not in the table. */
uint32_t intern_find(const struct intern *, const void *bytes, uint32_t size);
/* returns the number of bytes of memory that the table takes */
size_t intern_bytes(const struct intern *);

#endif
