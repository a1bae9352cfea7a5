/* Shortcuts: what a worker remembers of the rules, for itself, in terms of whole components.
 *
 * A trie as the memo's, but over numbers of components: a few look-ups for the moves of one origin,
 * and one or two more for what each of them does, which is kept as what it adds to a packed state
 * and to its hash. What was looked at for the list is known when its moves are looked up. Taken
 * from the memo, which is exact and shared; dropped and learnt anew when there are too many, or
 * when the layout has changed.
 */
#ifndef RECLINE_SHORTCUTS_H
#define RECLINE_SHORTCUTS_H

#include "layout.h"
#include "world.h"

struct worker;
struct hop;

/* What a move adds to the packed state in which it is taken. */
struct jump {
  uint64_t hash;
  uint16_t verdict; /* in memo.verdicts; 0: fine */
  uint8_t stays;    /* it changes nothing */
  uint32_t words[];
};

/* A move that can be taken; `node` and `note` are where the walk to its jump goes on. */
struct option {
  uint32_t move;
  uint32_t node, note;
  bool uncalled_for; /* a move that the world may well never make: others are progress */
};

/* The moves of one origin. */
struct listing {
  uint32_t first; /* in shortcuts.options */
  uint16_t count;
  struct world_standing standing;
};

struct shortcuts {
  const struct layout *layout; /* for which the jumps are */
  struct hop *hops;            /* open addressing */
  uint32_t hops_count, hops_mask;
  uint32_t nodes;
  uint32_t *start; /* of each origin: the first note */
  struct listing *listings;
  uint32_t listings_count, listings_room;
  struct option *options;
  uint32_t options_count, options_room;
  char *jumps;
  uint32_t jumps_count, jumps_room;
  uint32_t *seen, seen_count; /* components that a walk has looked at */
};

void shortcuts_init(struct shortcuts *, const struct world *, uint32_t components);
void shortcuts_clear(struct shortcuts *);
size_t shortcuts_bytes(const struct shortcuts *);

/* Before each state: drops all when there are too many, or when they are for another layout. */
void shortcuts_begin(struct worker *);

/* The moves of `origin` in the worker's state: an index of shortcuts.listings. */
uint32_t shortcuts_listing(struct worker *, uint32_t origin);

/* What option number `option` of `origin` does in the worker's state. NULL: it leads to a state
 * that does not fit the layout; `numbers` are then its components, and `verdict` what the move
 * showed. */
const struct jump *shortcuts_jump(struct worker *, uint32_t origin, uint32_t option,
                                  uint32_t *numbers, uint16_t *verdict);

#endif
