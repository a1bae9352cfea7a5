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

#include "verify/base/hash.h"
#include "verify/state/packing.h"
#include "verify/world/world.h"

struct worker;

/* Where a walk in the trie stands. 0: nowhere; with GOAL_RESULT: at its end, and the rest is an
 * index of what came out; else a node, and above shortcuts.node_bits which component to look at
 * there,
 * + 1; 0: not known. */
#define GOAL_RESULT (UINT32_C(1) << 31)

/* An edge of the trie: number `value` at `node` leads to `goal`. */
struct hop {
  uint32_t node, value;
  uint32_t goal; /* 0: a free slot */
};

/* What a move adds to the packed state in which it is taken. */
struct jump {
  uint64_t hash;
  uint16_t verdict; /* in memo.verdicts; 0: fine */
  uint8_t stays;    /* it changes nothing */
  uint32_t words[];
};

/* A move that can be taken. */
struct option {
  uint32_t move;
  uint32_t goal;     /* where the walk to its jump goes on */
  uint8_t action;    /* with a reduction: the action of its rank that it is */
  uint8_t kind;      /* enum crash_move */
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
  uint32_t hops_count, hops_room;
  uint32_t nodes;
  uint32_t node_bits; /* of a goal: its node */
  uint32_t node_mask; /* so many ones */
  uint32_t *start;    /* of each origin: the first goal */
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
 * when the memo is to be asked every time (audit). Returns whether it does. */
bool shortcuts_begin(struct worker *);

/* Asks the memo for the moves of `origin` in the worker's state, and remembers them: an index of
 * shortcuts.listings. */
uint32_t shortcuts_learn_listing(struct worker *, uint32_t origin);

/* The same for what option number `option` of `origin` does. NULL: it leads to a state that does
 * not fit the layout; `numbers` are then its components, and `verdict` what the move showed. */
const struct jump *shortcuts_learn_jump(struct worker *, uint32_t origin, uint32_t option,
                                        uint32_t *numbers, uint16_t *verdict);

/* ---- looking: the innermost loops of the search ---- */

/* Whether there is a component to look at. */
static inline bool goal_goes_on(const struct shortcuts *s, uint32_t goal)
{
  return (int32_t)goal > (int32_t)s->node_mask; /* a result is negative */
}

static inline uint32_t goal_node(const struct shortcuts *s, uint32_t goal)
{
  return goal & s->node_mask;
}

static inline uint32_t goal_component(const struct shortcuts *s, uint32_t goal)
{
  return (goal >> s->node_bits) - 1;
}

/* Where to begin to look for an edge. */
static inline uint32_t shortcuts_home(const struct shortcuts *s, uint32_t node, uint32_t value)
{
  return hash_home((uint64_t)node << 32 | value, s->hops_room);
}

/* The edge, or the free slot where it belongs. */
static inline struct hop *shortcuts_hop(const struct shortcuts *s, uint32_t node, uint32_t value)
{
  uint32_t at = shortcuts_home(s, node, value);
  while ((s->hops[at].node != node || s->hops[at].value != value) && s->hops[at].goal)
    at = at + 1 < s->hops_room ? at + 1 : 0;
  return &s->hops[at];
}

/* Asks for the memory that a walk needs next. */
static inline void shortcuts_expect(const struct shortcuts *s, const uint32_t *numbers,
                                    uint32_t goal)
{
  if (goal_goes_on(s, goal))
    __builtin_prefetch(
        &s->hops[shortcuts_home(s, goal_node(s, goal), numbers[goal_component(s, goal)])]);
}

/* A walk, and the components that it has looked at. */
struct walk {
  uint32_t goal, origin;
  uint64_t looked;
};

/* Walks to the ends by the numbers of a state's components, all in step, so that what one of them
 * needs comes from memory while the others go on. At the end each goal is a result, or nothing is
 * known. */
static inline void shortcuts_walk(const struct shortcuts *s, const uint32_t *numbers,
                                  struct walk *walks, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    shortcuts_expect(s, numbers, walks[i].goal);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < count; i++) {
      struct walk *walk = &walks[i];
      if (!goal_goes_on(s, walk->goal))
        continue;
      uint32_t component = goal_component(s, walk->goal);
      walk->looked |= component_bit(component);
      walk->goal = shortcuts_hop(s, goal_node(s, walk->goal), numbers[component])->goal;
      shortcuts_expect(s, numbers, walk->goal);
      again |= goal_goes_on(s, walk->goal);
    }
  }
}

static inline struct jump *shortcuts_jump(const struct shortcuts *s, uint32_t number)
{
  return (struct jump *)(s->jumps + number * s->jump_bytes);
}

#endif
