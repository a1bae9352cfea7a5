/* Packs states. A packed state has the numbers of its components side by side in words of 32 bits,
 * each number in as many bits as it needs. No number straddles two words.
 *
 *     word 0:  tag | RANK 0   | 0>1        word 1:  RANK 1 | GLOBAL | 1>0        ...
 *
 * The tag is not part of the state. In the visited set the tag is the state's depth (modulo
 * TAG_MASK) and never zero, so that a zero in word 0 marks a free place.
 *
 * Hash and packed state are sums over the components. A move adds the same difference to both sums
 * in all states in which it changes components in the same way.
 */
#ifndef RECLINE_PACKING_H
#define RECLINE_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  TAG_BITS = 6,
  TAG_MASK = (1 << TAG_BITS) - 1,
  PACKING_WORDS = 64, /* largest number of words of a packed state */
  PACKING_FIELDS = 2048
};

/* Begins the definition of a function that is compiled separately for each number of words. It is
 * for innermost loops of the search, which are much shorter if the number of words is known. */
#define FOR_EACH_SIZE static inline __attribute__((always_inline))

struct field {
  uint64_t factor; /* factor of its number in the hash */
  uint32_t mask;
  uint8_t word, shift, bits;
};

struct packing {
  /* number of fields, which is the number of components of the world */
  uint32_t count;
  uint32_t words;                       /* words of a packed state */
  uint16_t field_of[PACKING_WORDS][32]; /* for each bit: the field that has it */
  struct field field[];
};

/* Makes a packing whose fields have these numbers of bits; with 0 bits, the number is always 0. The
 * caller frees it with free(). Returns NULL if there are more than PACKING_FIELDS fields, or if it
 * would need more than PACKING_WORDS words. */
struct packing *packing_new(const uint8_t *bits, uint32_t count);

static inline uint64_t packing_hash(const struct packing *packing, const uint32_t *numbers)
{
  uint64_t hash = 0;
  for (uint32_t i = 0; i < packing->count; i++)
    hash += numbers[i] * packing->field[i].factor;
  return hash;
}

/* Returns the hash of a packed state, which does not depend on the tag. packing_hash() of the
 * numbers returns the same hash. */
static inline uint64_t packing_hash_packed(const struct packing *packing, const uint32_t *state)
{
  uint64_t hash = 0;
  for (uint32_t i = 0; i < packing->count; i++) {
    const struct field *field = &packing->field[i];
    hash += (state[field->word] >> field->shift & field->mask) * field->factor;
  }
  return hash;
}

/* Returns whether each number fits into its field. */
static inline bool packing_fits(const struct packing *packing, const uint32_t *numbers)
{
  for (uint32_t i = 0; i < packing->count; i++)
    if (numbers[i] > packing->field[i].mask)
      return false;
  return true;
}

/* Packs numbers into `state`, with tag 0. */
static inline void packing_pack(const struct packing *packing, const uint32_t *numbers,
                                uint32_t *state)
{
  for (uint32_t i = 0; i < packing->words; i++)
    state[i] = 0;
  for (uint32_t i = 0; i < packing->count; i++)
    state[packing->field[i].word] |= numbers[i] << packing->field[i].shift;
}

static inline void packing_unpack(const struct packing *packing, const uint32_t *state,
                                  uint32_t *numbers)
{
  for (uint32_t i = 0; i < packing->count; i++)
    numbers[i] = state[packing->field[i].word] >> packing->field[i].shift & packing->field[i].mask;
}

/* Returns a bit for a component, for sets of components. Components beyond 62 share a bit. Bit 0
 * belongs to no component. */
static inline uint64_t component_bit(uint32_t component)
{
  return UINT64_C(2) << (component < 62 ? component : 62);
}

/* Goes from one state to another: `state` (tag 0), `numbers` and `hash` become those of `to`.
 * Returns the components that differ. */
static inline uint64_t packing_go(const struct packing *packing, const uint32_t *to,
                                  uint32_t *state, uint32_t *numbers, uint64_t *hash)
{
  uint64_t changed = 0;
  for (uint32_t i = 0; i < packing->words; i++) {
    uint32_t word = i ? to[i] : to[i] & ~(uint32_t)TAG_MASK;
    for (uint32_t differs = word ^ state[i]; differs;) {
      uint32_t number = packing->field_of[i][__builtin_ctz(differs)];
      const struct field *field = &packing->field[number];
      uint32_t value = word >> field->shift & field->mask;
      *hash += ((uint64_t)value - numbers[number]) * field->factor;
      numbers[number] = value;
      changed |= component_bit(number);
      differs &= ~(field->mask << field->shift);
    }
    state[i] = word;
  }
  return changed;
}

#endif
