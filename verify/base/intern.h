/* Bytes -> number: equal bytes, equal number (hash-consing).
 *
 * Numbers count from 1 in the order of first appearance. Nothing is ever removed. All functions
 * abort when memory runs out.
 */
#ifndef RECLINE_INTERN_H
#define RECLINE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interned {
  const void *bytes; /* 8-aligned; stays where it is until intern_clear() */
  uint32_t size;
  uint32_t hash;
};

struct intern {
  struct interned *item; /* item[0] is not used */
  uint32_t count;        /* numbers are 1 .. count */
  uint32_t room;
  uint32_t *slot; /* open addressing; 0: free */
  uint32_t mask;
  char *chunk;   /* where the next bytes go */
  size_t left;   /* bytes left there */
  void **chunks; /* all of them */
  uint32_t chunk_count;
  size_t bytes; /* memory taken by all chunks */
};

/* A zeroed table is empty and ready. Size 0 is a value like any other (`bytes` may be NULL). */
uint32_t intern(struct intern *, const void *bytes, uint32_t size);
void intern_clear(struct intern *);

/* The number of bytes that are there already; 0: they are not. */
uint32_t intern_find(const struct intern *, const void *bytes, uint32_t size);
size_t intern_bytes(const struct intern *); /* memory taken */

/* Spreads the bits of a key over a table. */
static inline uint64_t intern_mix(uint64_t x)
{
  x ^= x >> 32;
  x *= UINT64_C(0xD6E8FEB86659FD93);
  x ^= x >> 32;
  x *= UINT64_C(0xD6E8FEB86659FD93);
  return x ^ x >> 32;
}

/* realloc() that does not return when memory runs out. */
void *intern_grow(void *memory, size_t bytes);

/* `list` with room for one item more than `count`. */
void *intern_room(void *list, uint32_t count, uint32_t *room, size_t item);

/* Memory that processors take from each other in one piece, in bytes. */
enum { INTERN_LINE = 128 };

/* Zeroed memory, in lines of its own: nobody waits for a neighbour's writes. In large pages where
 * it is large, as its places may be looked up at random. The caller frees it with free(); does not
 * return when memory runs out. */
void *intern_table(size_t count, size_t size);

/* Our bug: says what, and aborts. */
_Noreturn void intern_breach(const char *what);

/* Where in a table of `room` places to look for a key first. */
static inline uint32_t intern_home(uint64_t key, uint32_t room)
{
  return (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15) >> 32) * room >> 32);
}

#endif
