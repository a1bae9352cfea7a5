/* Draws the random numbers of a walk. The numbers are the same on every machine. Each walk has its
 * own numbers, because splitmix64 jumps to any place of its sequence (Steele et al., OOPSLA
 * 2014). */
#ifndef RECLINE_DICE_H
#define RECLINE_DICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

struct dice {
  uint64_t at;
};

/* Returns the dice of a walk, which depend on the seed and on the number of the walk only. */
static inline struct dice dice_of(uint64_t seed, uint64_t walk)
{
  return (struct dice){hash_mix(hash_mix(seed + 1) + walk)};
}

static inline uint64_t dice_roll(struct dice *dice)
{
  uint64_t x = dice->at += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

/* Returns a number below `below`, which is at least 1. */
static inline unsigned dice_below(struct dice *dice, unsigned below)
{
  return (unsigned)((dice_roll(dice) >> 32) * below >> 32);
}

/* Returns a number from `least` to `most`. */
static inline int dice_from(struct dice *dice, int least, int most)
{
  return least + (int)dice_below(dice, (unsigned)(most - least) + 1);
}

/* Returns true once in `times` calls. */
static inline bool dice_once_in(struct dice *dice, unsigned times)
{
  return dice_below(dice, times) == 0;
}

/* Returns a number from `least` to `most`; small numbers are more frequent. An upper end is drawn
 * first, and its logarithm is uniform. */
static inline int dice_small(struct dice *dice, int least, int most)
{
  int width = 1;
  while (width < most - least + 1 && !dice_once_in(dice, 3))
    width *= 2;
  int end = least + width - 1;
  return dice_from(dice, least, end < most ? end : most);
}

#endif
