/* The two tables that the explorer is made of.
 *
 *     intern:  bytes        -> number     equal bytes, equal number (hash-consing)
 *     pairs:   (a, b)       -> number     the same for two 32-bit numbers, 8 bytes an entry
 *
 * Numbers count from 1 in the order of first appearance, so that two runs give the same ones.
 * Nothing is ever removed. All functions abort when memory runs out.
 *
 * `pairs` folds a tuple of numbers into one, the root of a binary tree of pairs. The visited set is
 * one of them.
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
  size_t bytes; /* memory taken by everything here */
};

/* A zeroed table is empty and ready. Size 0 is a value like any other (`bytes` may be NULL). */
uint32_t intern(struct intern *, const void *bytes, uint32_t size);
void intern_clear(struct intern *);

struct pairs {
  uint64_t *item; /* a << 32 | b; item[0] is not used */
  uint32_t count;
  uint32_t room;
  uint32_t *slot;
  uint32_t mask;
};

uint32_t pairs_add(struct pairs *, uint32_t a, uint32_t b); /* its number, old or new */
size_t pairs_bytes(const struct pairs *);                   /* memory taken */
void pairs_clear(struct pairs *);

static inline uint32_t pairs_left(const struct pairs *pairs, uint32_t number)
{
  return (uint32_t)(pairs->item[number] >> 32);
}

static inline uint32_t pairs_right(const struct pairs *pairs, uint32_t number)
{
  return (uint32_t)pairs->item[number];
}

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

#endif
