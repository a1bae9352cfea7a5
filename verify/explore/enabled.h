/* Offers: the moves of each origin in the state being expanded, and where the walk to what each of
 * them does has ended.
 *
 * States come in the order in which they were found, and most are much like the one before: what an
 * origin offers stays as it is while no component changes that it depends on. Only the other
 * origins are looked up, in the shortcuts, or in the memo.
 */
#ifndef RECLINE_OFFERS_H
#define RECLINE_OFFERS_H

#include <stdint.h>

#include "verify/explore/local_cache.h"

struct offer {
  uint32_t first, count; /* in shortcuts.options */
  uint32_t room;
  uint32_t *goals; /* of each option: the end of the walk to what it does */
};

struct offers {
  struct offer *of; /* each origin */
  uint64_t *looked; /* components that it depends on; OFFER_UNKNOWN: it is to be looked up again */
  uint32_t count;
  uint32_t *own, *other; /* origins: of what ranks do by themselves, in order; all others */
  uint32_t others;
  struct world_standing *standing; /* of each rank */
  struct walk *walks;              /* of those that are looked up */
  uint32_t walks_room;
};

#define OFFER_UNKNOWN UINT64_C(1) /* no component's bit */

void offers_init(struct offers *, const struct world *);
void offers_clear(struct offers *);
void offers_forget(struct offers *); /* when the shortcuts are dropped */

/* Looks up what the origins offer in the worker's state, in which those components differ from the
 * state before. Returns how many origins are open, and how the programs stand. */
uint32_t offers_find(struct worker *, uint64_t changed, struct world_standing *all);

#endif
