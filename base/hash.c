#include "base/hash.h"

#include <string.h>

enum { LANES = 4, STRIPE = LANES * sizeof(uint64_t), BLOCK = 16 * STRIPE };

static const uint64_t PRIME = UINT64_C(0x9E3779B97F4A7C15), OTHER = UINT64_C(0xD6E8FEB86659FD93);

static uint64_t fold(uint64_t hash, uint64_t word)
{
  hash = (hash ^ word) * PRIME;
  return hash ^ hash >> 29;
}

/* Takes `size` bytes, a multiple of STRIPE, into the lanes. */
static void fold_stripes(uint64_t lane[LANES], const unsigned char *at, size_t size)
{
  uint64_t word[LANES];
  for (size_t i = 0; i < size; i += STRIPE) {
    memcpy(word, at + i, sizeof word);
    for (int k = 0; k < LANES; k++) {
      uint64_t mixed = lane[k] ^ word[k];
      lane[k] = (mixed << 31 | mixed >> 33) * PRIME;
    }
  }
}

/* Multiplies and rotates in independent lanes. Protocol states consist mostly of unused list
 * entries, so a block of zeros is skipped after one comparison. The offset of the next block is
 * hashed with it, and tells how many blocks were skipped. */
uint64_t hash_bytes(const void *bytes, size_t size)
{
  static const unsigned char zeros[BLOCK];
  const unsigned char *at = bytes;
  uint64_t lane[LANES] = {1, 2, 3, 4}, word, hash = PRIME ^ size;
  size_t i = 0, whole = size / STRIPE * STRIPE;
  while (i < whole) {
    size_t block = whole - i < BLOCK ? whole - i : BLOCK;
    if (block < BLOCK || memcmp(at + i, zeros, BLOCK) != 0) {
      lane[0] ^= i;
      fold_stripes(lane, at + i, block);
    }
    i += block;
  }
  for (int k = 0; k < LANES && whole; k++)
    hash = fold(hash, lane[k]);
  for (; i < size; i += sizeof word) {
    word = 0;
    memcpy(&word, at + i, size - i < sizeof word ? size - i : sizeof word);
    hash = fold(hash, word);
  }
  return hash ^ hash >> 32;
}

static inline void fold_twice(uint64_t lane[LANES], uint64_t twin[LANES], const void *stripe)
{
  uint64_t word[LANES];
  memcpy(word, stripe, sizeof word);
  /* moves high bits down again, which rotations alone do not do enough */
  for (int k = 0; k < LANES; k++) {
    lane[k] = fold(lane[k], word[k]);
    twin[k] = (twin[k] + word[k]) * OTHER;
    twin[k] ^= twin[k] >> 32;
  }
}

void hash_bytes_wide(const void *bytes, size_t size, uint64_t digest[2])
{
  const unsigned char *at = bytes, *end = at + size / STRIPE * STRIPE;
  uint64_t lane[LANES] = {1, 2, 3, 4}, twin[LANES] = {5, 6, 7, 8};
  unsigned char last[STRIPE] = {0};
  for (; at < end; at += STRIPE)
    fold_twice(lane, twin, at);
  if (size % STRIPE)
    memcpy(last, at, size % STRIPE);
  fold_twice(lane, twin, last);
  digest[0] = PRIME ^ size;
  digest[1] = OTHER ^ size;
  for (int k = 0; k < LANES; k++) {
    digest[0] = hash_mix(fold(digest[0], lane[k]));
    digest[1] = hash_mix(fold(digest[1], twin[k]));
  }
}
