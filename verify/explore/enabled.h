/* Finds enabled moves: those of each origin in the state being expanded, and their deltas.
 *
 * States are expanded in the order in which they were found, and most differ from the one before in
 * few components. The moves of an origin stay valid while neither a view that they look at nor a
 * component that they rewrite changes; the moves of all other origins are looked up again.
 */
#ifndef RECLINE_ENABLED_H
#define RECLINE_ENABLED_H

#include <stdint.h>

#include "verify/explore/local_cache.h"

struct origin_moves {
  uint32_t first, count; /* range in local_cache.options */
  uint32_t room;
  uint32_t *cursors; /* for each option: the end of the walk to its effect; 0: not known */
  char *deltas;      /* with fine views: the effect in this state */
};

struct enabled {
  struct origin_moves *of; /* the moves of each origin */
  /* The components on which the moves of each origin depend; ENABLED_UNKNOWN: must be looked up
   * again. */
  struct view_set *on;
  uint32_t count;
  uint32_t *own, *other; /* the origins of ranks by themselves, in order; all other origins */
  uint32_t others;
  struct world_standing *standing; /* of each rank */
  struct walk *walks;              /* scratch: the walks under way */
  uint32_t walks_room;
};

#define ENABLED_UNKNOWN UINT64_C(1) /* no component's bit */

void enabled_init(struct enabled *, const struct world *);
void enabled_clear(struct enabled *);

/* Forgets all moves. Is called when local_cache_begin() returns true. */
void enabled_forget(struct enabled *);

/* Looks up the moves of open origins in the worker's state, if they depend on the views `changed`,
 * which differ from the state before. Returns the number of open origins. Sets `all` to how all
 * ranks stand. */
uint32_t enabled_find(struct worker *, struct view_set changed, struct world_standing *all);

/* Returns the effect of option number `number` of an origin. */
static inline const struct delta *enabled_delta(const struct local_cache *s,
                                                const struct origin_moves *moves, uint32_t number)
{
  return s->views.are_fine ? (const struct delta *)(moves->deltas + (size_t)number * s->delta_bytes)
                           : local_cache_delta(s, moves->cursors[number] & ~CURSOR_RESULT);
}

#endif
