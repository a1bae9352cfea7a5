/* Holds the parts of one world in place, for hosts that follow a single run (the trace's replay,
 * the SMPI host's audit). The explorer interns parts instead.
 *
 *     struct parts parts;
 *     parts_init(&parts, &world);       sets world.memory; before world_begin()
 *     ...
 *     parts_clear(&parts);
 */
#ifndef RECLINE_IN_PLACE_H
#define RECLINE_IN_PLACE_H

#include "world/rules/world.h"

struct parts_bytes {
  void *bytes; /* the bytes in use, behind `dropped` bytes; malloc()ed memory, or address space for
                  large parts */
  uint32_t size, room; /* from `bytes` on */
  uint32_t dropped;
};

struct parts {
  struct parts_bytes *part;
  uint32_t count;
  struct parts_bytes *kept; /* kept[n - 1] is number n; its bytes are NULL when it is forgotten */
  uint32_t kept_count, kept_room;
  struct shares *shares; /* NULL: contributions to collectives are parts like others */
  uint32_t first_share, end_share, ranks;
};

/* Makes empty parts for `world`, which world_init() has filled in, and lets its `memory` point to
 * them. */
void parts_init(struct parts *parts, struct world *world);
void parts_clear(struct parts *parts);

/* Makes `copy`, which is empty, a copy that shares nothing with the original; parts_clear() frees
 * the copy. Grouped shares cannot be copied. */
void parts_copy(struct parts *copy, const struct parts *parts);

/* Holds contributions to collectives in groups (shares.h). Must not be called for programs that are
 * scripts. */
void parts_group_shares(struct parts *parts, struct world *world);

#endif
