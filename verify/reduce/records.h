/* Sets of records that are stored, as runs of struct world_record. */
#ifndef RECLINE_RECORDS_H
#define RECLINE_RECORDS_H

#include "base/intern.h"
#include "world/rules/world_parts.h"

/* The bits of those of `one` that `other` does not have. */
uint64_t records_lacking(const struct interned *one, const struct interned *other,
                         uint64_t (*bits_of)(const struct world_record *));

/* The bits of those that only one of them has. */
uint64_t records_differing(const struct interned *one, const struct interned *other,
                           uint64_t (*bits_of)(const struct world_record *));

#endif
