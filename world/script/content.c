#include "world/script/content.h"

/* The keys are fractional parts of the square roots of 2, 3, 5 and 7, made odd. */
static const uint64_t KEY[] = {UINT64_C(0x6A09E667F3BCC909), UINT64_C(0xBB67AE8584CAA73B),
                               UINT64_C(0x3C6EF372FE94F82B), UINT64_C(0xA54FF53A5F1D36F1)};

/* Folds by a Feistel network on (x, y), keyed by `next`, with feed-forward. In each round one half
 * goes through a mixing bijection into the other half, and at the end the input is added. So nobody
 * can compute the input from the result. */
struct content content_fold(struct content seen, struct content next)
{
  uint64_t half[2], key[2];
  memcpy(half, &seen, sizeof half);
  memcpy(key, &next, sizeof key);
  uint64_t x = half[0], y = half[1];
  for (unsigned round = 0; round < 4; round++) {
    uint64_t mixed = hash_mix(hash_mix(y + KEY[round] + key[round % 2]) ^ key[1 - round % 2]);
    uint64_t other = x ^ mixed;
    x = y;
    y = other;
  }
  half[0] = hash_mix(x + half[0] + key[1]);
  half[1] = hash_mix(y + half[1] + key[0]) ^ (half[0] << 21 | half[0] >> 43);
  struct content result;
  memcpy(&result, half, sizeof result);
  if (content_is_none(&result))
    result.word[0] = 1;
  return result;
}
