/* The local cache: what one worker knows of the rules, by whole components.
 *
 * A trie like the transition cache's, over numbers of components (and of heads of ranks). One or
 * two look-ups find the moves of an origin, one or two more what each move does: a delta, which is
 * added to a packed state and to its hash. Components that were looked at for the list are known
 * when its moves are looked up. Filled from the transition cache; emptied when it is too large, or
 * when the packing has changed.
 */
#ifndef RECLINE_LOCAL_CACHE_H
#define RECLINE_LOCAL_CACHE_H

#include "verify/base/hash.h"
#include "verify/state/packing.h"
#include "verify/world/world.h"

struct worker;

/* Where a walk in the trie stands. 0: nowhere; with CURSOR_RESULT: at its end, and the rest is an
 * index of what came out; else a node, and above local_cache.node_bits which component to look at
 * there,
 * + 1; 0: not known. */
#define CURSOR_RESULT (UINT32_C(1) << 31)

/* An edge of the trie: number `value` at `node` leads to `cursor`. */
struct edge {
  uint32_t node, value;
  uint32_t cursor; /* 0: a free slot */
};

/* The difference that a move adds to the packed state. */
struct delta {
  uint64_t hash;
  uint16_t verdict; /* in rules_cache.verdicts; 0: fine */
  uint8_t stays;    /* it changes nothing */
  uint32_t words[];
};

/* A move that can be taken. */
struct option {
  uint32_t move;
  uint32_t cursor; /* where the walk to its delta goes on */
  uint8_t action;  /* with a reduction: the action of its rank that it is */
  uint8_t kind;    /* enum crash_move */
  bool is_fault;   /* a move that the world may well never make: others are progress */
};

/* The moves of one origin. */
struct move_list {
  uint32_t first; /* in local_cache.options */
  uint16_t count;
  struct world_standing standing;
};

struct local_cache {
  const struct packing *packing; /* for which the deltas are */
  struct edge *edges;            /* open addressing */
  uint32_t edges_count, edges_room;
  uint32_t nodes;
  uint32_t node_bits; /* of a cursor: its node */
  uint32_t node_mask; /* so many ones */
  uint32_t *start;    /* of each origin: the first cursor */
  struct move_list *lists;
  uint32_t lists_count, lists_room;
  struct option *options;
  uint32_t options_count, options_room;
  char *deltas;
  size_t delta_bytes;
  uint32_t deltas_count, deltas_room;
  uint32_t *seen, seen_count; /* components that a walk has looked at */
};

void local_cache_init(struct local_cache *, const struct world *, uint32_t components);
void local_cache_clear(struct local_cache *);
size_t local_cache_bytes(const struct local_cache *);

/* Before each state: drops all when there are too many, or when they are for another packing, or
 * when the transition cache is to be asked every time (audit). Returns whether it does. */
bool local_cache_begin(struct worker *);

/* Asks the transition cache for the moves of `origin` in the worker's state, and remembers them: an
 * index of local_cache.lists. */
uint32_t local_cache_learn_list(struct worker *, uint32_t origin);

/* The same for what option number `option` of `origin` does. NULL: it leads to a state that does
 * not fit the packing; `numbers` are then its components, and `verdict` what the move showed. */
const struct delta *local_cache_learn_delta(struct worker *, uint32_t origin, uint32_t option,
                                            uint32_t *numbers, uint16_t *verdict);

/* ---- looking: the innermost loops of the search ---- */

/* Whether there is a component to look at. */
static inline bool cursor_goes_on(const struct local_cache *s, uint32_t cursor)
{
  return (int32_t)cursor > (int32_t)s->node_mask; /* a result is negative */
}

static inline uint32_t cursor_node(const struct local_cache *s, uint32_t cursor)
{
  return cursor & s->node_mask;
}

static inline uint32_t cursor_component(const struct local_cache *s, uint32_t cursor)
{
  return (cursor >> s->node_bits) - 1;
}

/* Where to begin to look for an edge. */
static inline uint32_t local_cache_home(const struct local_cache *s, uint32_t node, uint32_t value)
{
  return hash_home((uint64_t)node << 32 | value, s->edges_room);
}

/* The edge, or the free slot where it belongs. */
static inline struct edge *local_cache_edge(const struct local_cache *s, uint32_t node,
                                            uint32_t value)
{
  uint32_t at = local_cache_home(s, node, value);
  while ((s->edges[at].node != node || s->edges[at].value != value) && s->edges[at].cursor)
    at = at + 1 < s->edges_room ? at + 1 : 0;
  return &s->edges[at];
}

/* Asks for the memory that a walk needs next. */
static inline void local_cache_expect(const struct local_cache *s, const uint32_t *numbers,
                                      uint32_t cursor)
{
  if (cursor_goes_on(s, cursor))
    __builtin_prefetch(&s->edges[local_cache_home(s, cursor_node(s, cursor),
                                                  numbers[cursor_component(s, cursor)])]);
}

/* A walk, and the components that it has looked at. */
struct walk {
  uint32_t cursor, origin;
  uint64_t looked;
};

/* Walks to the ends by the numbers of a state's components, all in step, so that what one of them
 * needs comes from memory while the others go on. At the end each cursor is a result, or nothing is
 * known. */
static inline void local_cache_walk(const struct local_cache *s, const uint32_t *numbers,
                                    struct walk *walks, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    local_cache_expect(s, numbers, walks[i].cursor);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < count; i++) {
      struct walk *walk = &walks[i];
      if (!cursor_goes_on(s, walk->cursor))
        continue;
      uint32_t component = cursor_component(s, walk->cursor);
      walk->looked |= component_bit(component);
      walk->cursor = local_cache_edge(s, cursor_node(s, walk->cursor), numbers[component])->cursor;
      local_cache_expect(s, numbers, walk->cursor);
      again |= cursor_goes_on(s, walk->cursor);
    }
  }
}

static inline struct delta *local_cache_delta(const struct local_cache *s, uint32_t number)
{
  return (struct delta *)(s->deltas + number * s->delta_bytes);
}

#endif
