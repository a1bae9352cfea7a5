#include "verify/base/hash.h"

#include <string.h>

enum { LANES = 4, STRIPE = LANES * sizeof(uint64_t), BLOCK = 16 * STRIPE };

static const uint64_t PRIME = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t fold(uint64_t hash, uint64_t word)
{
  hash = (hash ^ word) * PRIME;
  return hash ^ hash >> 29;
}

/* `size` is a multiple of STRIPE. */
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

/* Multiply and rotate in independent lanes. Protocol states consist mostly of unused list entries:
 * a block of zeros is only compared, and its offset goes into the next block. */
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
