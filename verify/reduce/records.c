#include "verify/reduce/records.h"

#include <string.h>

static bool has_record(const struct interned *stored, const struct world_record *record)
{
  const struct world_record *of = stored->bytes;
  for (uint32_t i = 0; i < stored->size / sizeof *of; i++)
    if (!memcmp(&of[i], record, sizeof *of))
      return true;
  return false;
}

uint64_t records_lacking(const struct interned *one, const struct interned *other,
                         uint64_t (*bits_of)(const struct world_record *))
{
  const struct world_record *of = one->bytes;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < one->size / sizeof *of; i++)
    if (!has_record(other, &of[i]))
      bits |= bits_of(&of[i]);
  return bits;
}

uint64_t records_differing(const struct interned *one, const struct interned *other,
                           uint64_t (*bits_of)(const struct world_record *))
{
  return records_lacking(one, other, bits_of) | records_lacking(other, one, bits_of);
}
