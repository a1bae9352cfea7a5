/* Compares sets of stored records, which are runs of struct world_record. */
#ifndef RECLINE_RECORDS_H
#define RECLINE_RECORDS_H

#include "base/intern.h"
#include "world/rules/world_parts.h"

/* Returns the bits of the records of `one` that `other` does not have. */
uint64_t records_lacking(const struct interned *one, const struct interned *other,
                         uint64_t (*bits_of)(const struct world_record *));

/* Returns the bits of the records that only one of the two sets has. */
uint64_t records_differing(const struct interned *one, const struct interned *other,
                           uint64_t (*bits_of)(const struct world_record *));

#endif
