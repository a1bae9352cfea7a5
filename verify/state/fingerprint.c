#include "verify/state/fingerprint.h"

#include <math.h>

#include "base/breach.h"
#include "base/hash.h"

/* Makes a packing with fields for two numbers, because a field has 32 bits at most. */
struct packing *fingerprint_packing(unsigned bits)
{
  const uint8_t fields[] = {(uint8_t)(bits > 32 ? 32 : bits), (uint8_t)(bits > 32 ? bits - 32 : 0)};
  struct packing *packing = packing_new(fields, 2);
  if (!packing || packing->words > FINGERPRINT_WORDS)
    breach("no such fingerprints");
  return packing;
}

/* Mixes the hash first, by a bijection. The hash is a sum, so its lower bits depend only on the
 * lower bits of its terms. */
uint64_t fingerprint_pack(const struct packing *packing, uint64_t hash, uint32_t fingerprint[])
{
  uint64_t mixed = hash_mix(hash);
  const uint32_t numbers[] = {(uint32_t)(mixed >> 32) & packing->field[0].mask,
                              (uint32_t)mixed & packing->field[1].mask};
  packing_pack(packing, numbers, fingerprint);
  return packing_hash(packing, numbers);
}

/* Returns a bound on the probability that any of `pairs` pairs has equal fingerprints. */
static double collision_bound(double pairs, unsigned bits)
{
  double expected = ldexp(pairs, -(int)bits);
  return expected < 1 ? expected : 1;
}

double fingerprint_omission(unsigned bits, uint64_t states)
{
  return collision_bound((double)states / 2 * ((double)states - 1), bits);
}

double fingerprint_miss(unsigned bits, uint64_t states, unsigned depth)
{
  return collision_bound(((double)depth + 1) * (double)states, bits);
}
