/* Shortcuts: what a worker remembers of the rules, for itself, in terms of whole components.
 *
 * A trie as the memo's, but over numbers of components (and of heads of ranks): a few look-ups for
 * the moves of one origin, and one or two more for what each of them does, which is kept as what it
 * adds to a packed state and to its hash. What was looked at for the list is known when its moves
 * are looked up. Taken from the memo, which is exact and shared; dropped and learnt anew when there
 * are too many, or when the layout has changed.
 */
#ifndef RECLINE_SHORTCUTS_H
#define RECLINE_SHORTCUTS_H

#include "layout.h"
#include "world.h"

struct worker;

/* An edge of the trie: number `value` at `node` leads to `next`, where `note` says which component
 * to look at next, or what came out. */
struct hop {
  uint32_t node, value;
  uint32_t next; /* 0: a free slot */
  uint32_t note; /* 0: unknown; NOTE_RESULT and an index; else a component, + 1 */
};

#define NOTE_RESULT (UINT32_C(1) << 31)

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
  size_t jump_bytes;
  uint32_t jumps_count, jumps_room;
  uint32_t *seen, seen_count; /* components that a walk has looked at */
};

void shortcuts_init(struct shortcuts *, const struct world *, uint32_t components);
void shortcuts_clear(struct shortcuts *);
size_t shortcuts_bytes(const struct shortcuts *);

/* Before each state: drops all when there are too many, or when they are for another layout, or
 * when the memo is to be asked every time (audit). */
void shortcuts_begin(struct worker *);

/* Asks the memo for the moves of `origin` in the worker's state, and remembers them: an index of
 * shortcuts.listings. */
uint32_t shortcuts_learn_listing(struct worker *, uint32_t origin);

/* The same for what option number `option` of `origin` does. NULL: it leads to a state that does
 * not fit the layout; `numbers` are then its components, and `verdict` what the move showed. */
const struct jump *shortcuts_learn_jump(struct worker *, uint32_t origin, uint32_t option,
                                        uint32_t *numbers, uint16_t *verdict);

/* ---- looking: the innermost loops of the search ---- */

/* Slot of an edge, or the free one where it belongs. */
static inline uint32_t shortcuts_slot(const struct shortcuts *s, uint32_t node, uint32_t value)
{
  uint64_t key = ((uint64_t)node << 32 | value) * UINT64_C(0x9E3779B97F4A7C15);
  uint32_t at = (uint32_t)(key >> 32 ^ key >> 15) & s->hops_mask;
  while ((s->hops[at].node != node || s->hops[at].value != value) && s->hops[at].next)
    at = (at + 1) & s->hops_mask;
  return at;
}

/* Walks on from `node` by the numbers of a state's components. The note at the end: a result, or 0
 * where it is not known. */
static inline uint32_t shortcuts_walk(const struct shortcuts *s, const uint32_t *numbers,
                                      uint32_t node, uint32_t note)
{
  while (note && !(note & NOTE_RESULT)) {
    const struct hop *hop = &s->hops[shortcuts_slot(s, node, numbers[note - 1])];
    node = hop->next;
    note = hop->note;
  }
  return note;
}

static inline struct jump *shortcuts_jump(const struct shortcuts *s, uint32_t number)
{
  return (struct jump *)(s->jumps + number * s->jump_bytes);
}

#endif
