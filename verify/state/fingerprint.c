#include "verify/state/fingerprint.h"

#include <math.h>

#include "verify/base/breach.h"
#include "verify/base/hash.h"

/* In two numbers, as a field has 32 bits at most. */
struct layout *fingerprint_layout(unsigned bits)
{
  const uint8_t fields[] = {(uint8_t)(bits > 32 ? 32 : bits), (uint8_t)(bits > 32 ? bits - 32 : 0)};
  struct layout *layout = layout_new(fields, 2);
  if (!layout || layout->words > FINGERPRINT_WORDS)
    breach("no such fingerprints");
  return layout;
}

/* The upper bits of a sum depend on all bits of its terms, the lower ones do not: they are mixed
 * first, which maps different hashes to different ones. */
uint64_t fingerprint_pack(const struct layout *layout, uint64_t hash, uint32_t fingerprint[])
{
  uint64_t mixed = hash_mix(hash);
  const uint32_t numbers[] = {(uint32_t)(mixed >> 32) & layout->field[0].mask,
                              (uint32_t)mixed & layout->field[1].mask};
  layout_pack(layout, numbers, fingerprint);
  return layout_hash(layout, numbers);
}

/* That any of so many pairs has one fingerprint. */
static double likely(double pairs, unsigned bits)
{
  double expected = ldexp(pairs, -(int)bits);
  return expected < 1 ? expected : 1;
}

double fingerprint_omission(unsigned bits, uint64_t states)
{
  return likely((double)states / 2 * ((double)states - 1), bits);
}

double fingerprint_miss(unsigned bits, uint64_t states, unsigned depth)
{
  return likely(((double)depth + 1) * (double)states, bits);
}
