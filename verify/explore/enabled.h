/* Finds the enabled moves of the state being expanded, and their deltas, by origin: a rank by
 * itself, a message to it from one peer, its crash, or a detection (world_origins() in world.h).
 *
 * States are expanded in the order in which they were found, and most states differ in few
 * components from the state that was expanded before. The moves of an origin stay valid as long as
 * neither a view that they read nor a component that they change differs. The moves of all other
 * origins are looked up again.
 */
#ifndef RECLINE_ENABLED_H
#define RECLINE_ENABLED_H

#include <stdint.h>

#include "verify/explore/local_cache.h"

struct origin_moves {
  uint32_t first, count; /* range in local_cache.options */
  uint32_t room;
  /* for each option: where the descent to its effect ends, or 0 if this is not known */
  uint32_t *cursors;
  char *deltas; /* with fine views: the effects of the options in this state */
};

struct enabled {
  struct origin_moves *of; /* the moves of each origin */
  /* By origin: the views on which its moves depend. If the set has ENABLED_UNKNOWN, the moves must
   * be looked up again. */
  struct view_set *on;
  uint32_t count; /* number of origins */
  /* `own`: for each rank, the origin of the moves that it makes without a message, a crash or a
   * detection; `other`: all other origins. */
  uint32_t *own, *other;
  uint32_t others;
  struct world_standing *standing; /* by rank: the standing of the rank */
  struct walk *walks;              /* scratch: the descents under way */
  uint32_t walks_room;
};

#define ENABLED_UNKNOWN UINT64_C(1) /* a bit that stands for no component */

void enabled_init(struct enabled *, const struct world *);
void enabled_clear(struct enabled *);

/* Forgets all moves. Is called when local_cache_begin() returns true. */
void enabled_forget(struct enabled *);

/* Looks up, in the worker's state, the moves of the open origins (those that can have moves now,
 * world_open_origins()) if the moves depend on the views `changed`, which differ from the state
 * before. Returns the number of open origins. Sets `all` to the standing of all ranks together
 * (world_standing_of_all()). */
uint32_t enabled_find(struct worker *, struct view_set changed, struct world_standing *all);

/* Returns the effect of option number `number` of an origin. */
static inline const struct delta *enabled_delta(const struct local_cache *s,
                                                const struct origin_moves *moves, uint32_t number)
{
  return s->views.are_fine ? (const struct delta *)(moves->deltas + (size_t)number * s->delta_bytes)
                           : local_cache_delta(s, moves->cursors[number] & ~CURSOR_RESULT);
}

#endif
