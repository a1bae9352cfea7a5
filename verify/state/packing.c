#include "verify/state/packing.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

/* Returns the first word with room for `bits`; opens a new one if there is none. */
static uint32_t find_word(uint8_t *used, uint32_t *words, uint8_t bits)
{
  uint32_t word = 0;
  while (word < *words && used[word] + bits > 32)
    word++;
  if (word == *words && word < PACKING_WORDS)
    used[(*words)++] = 0;
  return word;
}

struct packing *packing_new(const uint8_t *bits, uint32_t count)
{
  uint8_t used[PACKING_WORDS] = {TAG_BITS};
  if (count > PACKING_FIELDS)
    return NULL;
  struct packing *packing = memory_table(1, sizeof *packing + count * sizeof *packing->field);
  packing->count = count;
  packing->words = 1;
  for (uint8_t size = 32; size > 0;
       size--) /* the widest fields come first, because then fewer gaps are left */
    for (uint32_t i = 0; i < count; i++) {
      if (bits[i] != size)
        continue;
      uint32_t word = find_word(used, &packing->words, size);
      if (word == PACKING_WORDS) {
        free(packing);
        return NULL;
      }
      packing->field[i] = (struct field){.word = (uint8_t)word,
                                         .shift = used[word],
                                         .bits = size,
                                         .mask = UINT32_MAX >> (32 - size)};
      for (uint32_t bit = used[word]; bit < used[word] + size; bit++)
        packing->field_of[word][bit] = (uint16_t)i;
      used[word] = (uint8_t)(used[word] + size);
    }
  for (uint32_t i = 0; i < count; i++) {
    if (!bits[i])
      packing->field[i] = (struct field){0};
    packing->field[i].factor = hash_mix(i + 1) | 1;
  }
  return packing;
}
