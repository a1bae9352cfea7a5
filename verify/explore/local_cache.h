/* Keeps the steps of the rules that one worker has learnt, by views of components.
 *
 * The cache is a trie like the transition cache's, over numbers of views (verify/explore/views.h).
 * One or two look-ups find the moves of an origin, and one or two more the effect of each move. The
 * look-up of a move goes on from the views that the look-up of the list of moves has read. The
 * cache is filled from the transition cache, and emptied when it is too large.
 *
 * At first, views are complete components, and each end of the trie has a delta for the present
 * packing. Components may have far more values than the rules have steps. When that becomes
 * apparent, views become fine: they have only the parts that the rules read. An end of the trie
 * then holds a result: which components are rewritten, and how. A rewrite sets parts of a
 * component; one look-up more leads from the component's value to the new one.
 */
#ifndef RECLINE_LOCAL_CACHE_H
#define RECLINE_LOCAL_CACHE_H

#include "base/hash.h"
#include "verify/explore/views.h"
#include "verify/state/packing.h"
#include "world/rules/world.h"

struct worker;

/* A cursor tells where a descent of the trie stands. If it is 0, the descent stands nowhere. If it
 * has CURSOR_RESULT, the descent is at its end, and the other bits are the index of the result.
 * Otherwise the lower local_cache.node_bits bits are the node, and the upper bits are 1 + the view
 * to read at this node, or 0 if that view is not known. */
#define CURSOR_RESULT (UINT32_C(1) << 31)

/* Holds an edge of the trie: number `value` at `node` leads to `cursor`. The same structure also
 * describes rewrites: rewrite number `node` turns the component's value `value` into `cursor` -
 * 1. */
struct edge {
  uint32_t node, value;
  uint32_t cursor; /* 0 in a free slot */
};

struct edges {
  struct edge *edge; /* open addressing */
  uint32_t count, room;
};

/* Names a component that is rewritten, and by which rewrite. */
struct rewrite {
  uint32_t component, node;
};

/* Holds the effect of a move. */
struct result {
  uint32_t verdict; /* index in rules_cache.verdicts, or 0 if nothing is violated */
  struct rewrite rewrite[];
};

/* Holds the difference that a move adds to a packed state and to its hash. */
struct delta {
  uint64_t hash;
  uint16_t verdict; /* has the same meaning as in `struct result` */
  uint8_t stays;    /* the move changes nothing */
  uint32_t words[];
};

static inline uint32_t delta_bytes(uint32_t words)
{
  return ((uint32_t)offsetof(struct delta, words) + words * (uint32_t)sizeof(uint32_t) + 7) / 8 * 8;
}

/* Holds a move that can be taken. */
struct option {
  uint32_t move;
  uint32_t cursor; /* the node at which the descent to the move's effect goes on */
  uint8_t action;  /* with a reduction: number of the action among those of its rank */
  uint8_t kind;    /* enum crash_move */
  bool is_fault;   /* the move need not ever happen; only other moves are progress */
};

/* Holds the moves of one origin. */
struct move_list {
  uint32_t first; /* index in local_cache.options */
  uint16_t count;
  struct world_standing standing;
};

struct local_cache {
  struct views views;
  const struct packing *packing; /* the packing of the deltas */
  /* they do not depend on origins, because a few lists serve all origins */
  struct edges trie, rewritten;
  uint32_t nodes;
  uint32_t node_bits; /* number of bits of a cursor that hold its node */
  uint32_t node_mask; /* a mask with node_bits ones */
  uint32_t *start;    /* first cursor of each origin */
  struct move_list *lists;
  uint32_t lists_count, lists_room;
  struct option *options;
  uint32_t options_count, options_room;
  char *deltas; /* deltas at the ends of the trie, as long as views are complete components */
  uint32_t delta_bytes;
  uint32_t deltas_count, deltas_room;
  struct intern results;  /* struct result: the ends of the trie, when views are fine */
  struct intern rewrites; /* the component, then place and value of each part that is set */
  /* The number of steps learnt since the cache was last emptied, and the serial of the state at
   * that moment. */
  uint64_t learnt, began;
  uint64_t *seen; /* parts of each component that a descent has looked at */
};

/* Prepares a cache. `numbers` is for the numbers of views in the worker's state, as for
 * views_init(). */
void local_cache_init(struct local_cache *, struct model *, uint32_t *numbers);
void local_cache_clear(struct local_cache *);
size_t local_cache_bytes(const struct local_cache *);

/* Prepares for a state. It must be called before each state. Empties the cache if it has too many
 * edges, if views must become fine, if whole components were learnt in another packing, or if the
 * transition cache must be asked every time (audit). Returns whether it emptied the cache or the
 * packing is new; in both cases the worker forgets its enabled moves. */
bool local_cache_begin(struct worker *);

/* Asks the transition cache for the moves of `origin` in the worker's state, and remembers them.
 * Returns an index of local_cache.lists. */
uint32_t local_cache_learn_list(struct worker *, uint32_t origin);

/* Asks the transition cache for the effect of an option of `origin`, and remembers it. Sets the
 * option's delta, and sets `numbers` to the components of the state to which the option leads.
 * Returns false if that state does not fit the packing; in that case there is only a verdict. */
bool local_cache_learn_delta(struct worker *, uint32_t origin, struct option *, uint32_t *numbers,
                             struct delta *);

/* ---- looking: the innermost loops of the search ---- */

/* Returns whether the cursor has a view to read. */
static inline bool cursor_goes_on(const struct local_cache *s, uint32_t cursor)
{
  return (int32_t)cursor > (int32_t)s->node_mask; /* cursors of results are negative */
}

static inline uint32_t cursor_node(const struct local_cache *s, uint32_t cursor)
{
  return cursor & s->node_mask;
}

static inline uint32_t cursor_view(const struct local_cache *s, uint32_t cursor)
{
  return (cursor >> s->node_bits) - 1;
}

/* Returns the slot where the search for an edge begins. */
static inline struct edge *edges_home(const struct edges *edges, uint32_t node, uint32_t value)
{
  return &edges->edge[hash_home((uint64_t)node << 32 | value, edges->room)];
}

/* Returns the edge, or the free slot where it belongs. */
static inline struct edge *edges_find(const struct edges *edges, uint32_t node, uint32_t value)
{
  struct edge *at = edges_home(edges, node, value);
  while ((at->node != node || at->value != value) && at->cursor)
    at = at + 1 < edges->edge + edges->room ? at + 1 : edges->edge;
  return at;
}

/* Prefetches the memory that a descent needs next. */
static inline void local_cache_expect(const struct local_cache *s, uint32_t cursor)
{
  if (cursor_goes_on(s, cursor))
    __builtin_prefetch(
        edges_home(&s->trie, cursor_node(s, cursor), s->views.numbers[cursor_view(s, cursor)]));
}

/* Holds a descent of the trie, and the views that the descent has read. */
struct walk {
  uint32_t cursor, origin;
  struct view_set looked;
};

/* Goes one step of a descent. */
static inline void local_cache_step(const struct local_cache *s, struct walk *walk)
{
  uint32_t view = cursor_view(s, walk->cursor);
  view_set_add(&walk->looked, &s->views, view);
  walk->cursor = edges_find(&s->trie, cursor_node(s, walk->cursor), s->views.numbers[view])->cursor;
}

/* Descends to the ends, in the worker's state. All descents go in step, so that memory for one
 * arrives while the others go on. After that, each cursor is at a result, or the effect of its move
 * is not known. */
static inline void local_cache_walk(const struct local_cache *s, struct walk *walks, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    local_cache_expect(s, walks[i].cursor);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < count; i++) {
      struct walk *walk = &walks[i];
      if (!cursor_goes_on(s, walk->cursor))
        continue;
      local_cache_step(s, walk);
      local_cache_expect(s, walk->cursor);
      again |= cursor_goes_on(s, walk->cursor);
    }
  }
}

/* Returns a result, and sets the number of rewrites. */
static inline const struct result *local_cache_result(const struct local_cache *s, uint32_t number,
                                                      uint32_t *count)
{
  const struct interned *item = &s->results.item[number];
  *count = item->size / (uint32_t)sizeof(struct rewrite);
  return item->bytes;
}

static inline struct delta *local_cache_delta(const struct local_cache *s, uint32_t number)
{
  return (struct delta *)(s->deltas + (size_t)number * s->delta_bytes);
}

/* Sets the delta of the result in the state of `numbers`, and adds the components that it rewrites
 * to `on`. Returns false if a rewrite is not known for this state, or if the new state does not fit
 * the packing.
 */
static inline bool local_cache_apply(const struct local_cache *s, const uint32_t *numbers,
                                     uint32_t number, struct delta *delta, struct view_set *on)
{
  uint32_t count;
  const struct result *result = local_cache_result(s, number, &count);
  bool known = true;
  *delta = (struct delta){.verdict = (uint16_t)result->verdict, .stays = count == 0};
  for (uint32_t i = 0; i < s->packing->words; i++)
    delta->words[i] = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t component = result->rewrite[i].component, value = numbers[component];
    const struct field *field = &s->packing->field[component];
    uint32_t to = edges_find(&s->rewritten, result->rewrite[i].node, value)->cursor - 1;
    known &= to <= field->mask && to != UINT32_MAX; /* otherwise the rewrite is not known */
    delta->words[field->word] += (to - value) << field->shift;
    delta->hash += ((uint64_t)to - value) * field->factor;
    view_set_add(on, &s->views, component);
  }
  return known;
}

#endif
