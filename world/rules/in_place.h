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
  /* the bytes in use, which follow `dropped` unused bytes; malloc()ed memory or, for large
   * parts, address space */
  void *bytes;
  /* numbers of bytes from `bytes` on: those in use, and those for which there is room */
  uint32_t size, room;
  uint32_t dropped;
};

struct parts {
  struct parts_bytes *part;
  uint32_t count;
  /* kept bytes with number n are kept[n - 1]; `bytes` is NULL once they are forgotten */
  struct parts_bytes *kept;
  uint32_t kept_count, kept_room;
  /* contributions to collectives in groups, or NULL if they are parts like all others */
  struct shares *shares;
  uint32_t first_share, end_share, ranks;
};

/* Makes empty parts for `world`, which world_init() has filled in, and lets its `memory` point to
 * them. */
void parts_init(struct parts *parts, struct world *world);
void parts_clear(struct parts *parts);

/* Makes `copy`, which is empty, a copy that shares nothing with the original; parts_clear() frees
 * the copy. Grouped shares cannot be copied. */
void parts_copy(struct parts *copy, const struct parts *parts);

/* Holds contributions to collectives in groups (shares.h). It must not be called for programs that
 * are scripts. */
void parts_group_shares(struct parts *parts, struct world *world);

#endif
