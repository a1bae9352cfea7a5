/* Computes hashes for tables in memory, which are never stored or printed, and hashes of 128 bits,
 * which traces have as digests of contents. */
#ifndef RECLINE_HASH_H
#define RECLINE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Spreads the bits of a key: a bijection whose lower bits depend on all bits of the key. */
static inline uint64_t hash_mix(uint64_t x)
{
  x ^= x >> 32;
  x *= UINT64_C(0xD6E8FEB86659FD93);
  x ^= x >> 32;
  x *= UINT64_C(0xD6E8FEB86659FD93);
  return x ^ x >> 32;
}

/* Returns the first slot to probe for a key in a table of `room` slots. */
static inline uint32_t hash_home(uint64_t key, uint32_t room)
{
  return (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15) >> 32) * room >> 32);
}

/* Returns the hash of `size` bytes, at any alignment; `bytes` may be NULL if size is 0. */
uint64_t hash_bytes(const void *bytes, size_t size);

/* Sets `digest` to a hash of 128 bits, in two halves that are computed apart. Different bytes have
 * the same 128 bits with a probability of about 2^-128. Machines with the same byte order compute
 * the same bits. */
void hash_bytes_wide(const void *bytes, size_t size, uint64_t digest[2]);

#endif
