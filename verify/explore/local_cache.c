#include "verify/explore/local_cache.h"

#include <stdlib.h>
#include <string.h>

#include "verify/base/breach.h"
#include "verify/base/memory.h"
#include "verify/base/platform.h"
#include "verify/explore/search.h"

enum {
  EDGES_FIRST = 1 << 12,
  EDGES_MOST = 1 << 20, /* then they are dropped, unless there are */
  STATES_PER_EDGE = 16  /* so many states for each: memory is for states */
};

/* ---- the trie ---- */

static void grow_edges(struct local_cache *s)
{
  uint32_t room = s->edges_room;
  struct edge *old = s->edges;
  s->edges_room = room + room / 2;
  s->edges = memory_table(s->edges_room, sizeof *s->edges);
  for (uint32_t i = 0; i < room; i++)
    if (old[i].cursor)
      *local_cache_edge(s, old[i].node, old[i].value) = old[i];
  free(old);
}

static uint32_t new_node(struct local_cache *s)
{
  return s->nodes++;
}

static void note_seen(struct local_cache *s, uint32_t component)
{
  for (uint32_t i = 0; i < s->seen_count; i++)
    if (s->seen[i] == component)
      return;
  s->seen[s->seen_count++] = component;
}

/* The components that the walk to the list of `origin` looks at. */
static void see_list(struct worker *w, uint32_t origin)
{
  struct local_cache *s = &w->cache;
  uint32_t cursor = s->start[origin];
  while (cursor_goes_on(s, cursor)) {
    uint32_t component = cursor_component(s, cursor);
    note_seen(s, component);
    cursor = local_cache_edge(s, cursor_node(s, cursor), w->at.numbers[component])->cursor;
  }
}

/* Makes `component` the one to look at where `cursor` stands. */
static void set_component(struct local_cache *s, uint32_t *cursor, uint32_t component)
{
  uint32_t before = *cursor >> s->node_bits;
  if (before && before != component + 1) {
    breach("the rules look elsewhere than before");
  }
  *cursor |= (component + 1) << s->node_bits;
}

/* Writes down `result` behind the components that the transition cache has just looked at and that
 * are not seen yet, from `cursor` on. */
static void write_down(struct worker *w, uint32_t *cursor, uint32_t result)
{
  struct local_cache *s = &w->cache;
  const struct transition_cache *m = &w->e->model.rules_cache;
  uint32_t known = s->seen_count;
  for (uint32_t i = 0; i < m->looked_count; i++)
    note_seen(s, w->e->model.component_of[m->looked[i]]);
  while (s->edges_count + s->seen_count >= s->edges_room / 2)
    grow_edges(s); /* first, so that cursors stay where they are */
  REQUIRE(s->edges_count < s->edges_room && s->nodes <= s->node_mask,
          "the trie has a free slot, and its nodes fit into cursors");
  for (uint32_t i = known; i < s->seen_count; i++) {
    uint32_t node = cursor_node(s, *cursor), value = w->at.numbers[s->seen[i]];
    set_component(s, cursor, s->seen[i]);
    struct edge *edge = local_cache_edge(s, node, value);
    if (!edge->cursor) {
      *edge = (struct edge){node, value, new_node(s)};
      s->edges_count++;
    }
    cursor = &edge->cursor;
  }
  *cursor = CURSOR_RESULT | result;
}

/* ---- lists of moves ---- */

uint32_t local_cache_learn_list(struct worker *w, uint32_t origin)
{
  struct local_cache *s = &w->cache;
  struct transition_cache *m = &w->e->model.rules_cache;
  platform_lock(w->e->model.rules);
  model_load(&w->e->model, &w->at);
  const struct enabled_list *turn = transition_cache_list(m, origin);
  struct move_list list = {s->options_count, turn->count, turn->standing};
  for (uint32_t i = 0; i < turn->count; i++) {
    uint32_t move = m->list_moves[turn->first + i];
    s->options = memory_room(s->options, s->options_count, &s->options_room, sizeof *s->options);
    s->options[s->options_count++] = (struct option){
        .move = move,
        .cursor = new_node(s),
        .action = w->e->stubborn ? (uint8_t)stubborn_action(w->e->stubborn, &w->e->model, move) : 0,
        .kind = (uint8_t)crash_move_of(m->moves.item[move].bytes),
        .is_fault = is_fault(m->moves.item[move].bytes)};
  }
  s->lists = memory_room(s->lists, s->lists_count, &s->lists_room, sizeof list);
  s->lists[s->lists_count] = list;
  s->seen_count = 0;
  write_down(w, &s->start[origin], s->lists_count);
  platform_unlock(w->e->model.rules);
  return s->lists_count++;
}

/* ---- deltas ---- */

/* The numbers of the components after `effect`, in the state that is loaded. */
static void take_effect(struct worker *w, const struct effect *effect, uint32_t *numbers)
{
  struct explorer *e = w->e;
  memcpy(numbers, w->at.numbers, e->model.components * sizeof *numbers);
  if (!effect->count) /* nor need there be changes yet, in a search that goes on from a save */
    return;
  const struct change *changes = &e->model.rules_cache.changes[effect->first];
  for (uint32_t i = 0; i < effect->count; i++) {
    struct component *c = &e->model.component[e->model.component_of[changes[i].part]];
    uint32_t values[c->count];
    for (uint32_t j = 0; j < c->count; j++)
      values[j] = e->model.rules_cache.values[c->parts[j]];
    for (uint32_t k = 0; k < effect->count; k++)
      for (uint32_t j = 0; j < c->count; j++)
        if (c->parts[j] == changes[k].part)
          values[j] = changes[k].value;
    numbers[c - e->model.component] =
        intern(&c->values, values, c->count * (uint32_t)sizeof *values) - 1;
  }
}

static void grow_deltas(struct local_cache *s)
{
  char *old = s->deltas;
  s->deltas_room = s->deltas_room ? s->deltas_room + s->deltas_room / 2 : 256;
  s->deltas = memory_table(s->deltas_room, s->delta_bytes);
  if (old)
    memcpy(s->deltas, old, s->deltas_count * s->delta_bytes);
  free(old);
}

static const struct delta *keep_delta(struct worker *w, uint16_t verdict, const uint32_t *numbers)
{
  struct local_cache *s = &w->cache;
  uint32_t state[PACKING_WORDS];
  if (s->deltas_count == s->deltas_room)
    grow_deltas(s);
  struct delta *delta = local_cache_delta(s, s->deltas_count++);
  packing_pack(s->packing, numbers, state);
  delta->hash = packing_hash(s->packing, numbers) - w->hash;
  delta->verdict = verdict;
  delta->stays = true;
  for (uint32_t i = 0; i < s->packing->words; i++) {
    delta->words[i] = state[i] - w->state[i];
    delta->stays &= !delta->words[i];
  }
  CHECK(delta->stays == !memcmp(numbers, w->at.numbers, w->e->model.components * sizeof *numbers),
        "a delta of zeros is one that changes no component");
  return delta;
}

const struct delta *local_cache_learn_delta(struct worker *w, uint32_t origin, uint32_t option,
                                            uint32_t *numbers, uint16_t *verdict)
{
  struct local_cache *s = &w->cache;
  struct option *o = &s->options[option];
  const struct delta *delta = NULL;
  platform_lock(w->e->model.rules);
  model_load(&w->e->model, &w->at);
  const struct effect *effect = transition_cache_step(&w->e->model.rules_cache, o->move);
  *verdict = effect->verdict;
  reached_add(&w->reached, &effect->reached);
  take_effect(w, effect, numbers);
  if (packing_fits(s->packing, numbers)) {
    delta = keep_delta(w, effect->verdict, numbers);
    s->seen_count = 0;
    see_list(w, origin);
    write_down(w, &o->cursor, s->deltas_count - 1);
  }
  platform_unlock(w->e->model.rules);
  return delta;
}

/* ---- beginning and end ---- */

static void drop_all(struct local_cache *s, uint32_t origins)
{
  free(s->edges);
  free(s->deltas);
  s->edges_room = EDGES_FIRST;
  s->edges = memory_table(EDGES_FIRST, sizeof *s->edges);
  s->edges_count = s->lists_count = s->options_count = s->deltas_count = s->deltas_room = 0;
  s->deltas = NULL;
  s->nodes = 1; /* a cursor is never 0, which marks a free slot */
  for (uint32_t origin = 0; origin < origins; origin++)
    s->start[origin] = new_node(s);
}

void local_cache_init(struct local_cache *s, const struct world *world, uint32_t components)
{
  uint32_t origins = world_origins(world), seen = components + (uint32_t)world->ranks;
  *s = (struct local_cache){.start = memory_table(origins, sizeof *s->start),
                            .seen = memory_table(seen, sizeof *s->seen),
                            .node_bits = 31};
  for (; seen; seen /= 2)
    s->node_bits--;
  s->node_mask = (UINT32_C(1) << s->node_bits) - 1;
  drop_all(s, origins);
}

/* Whether there are too many: for the memory that they take, or for cursors to name their nodes. */
static bool is_crowded(const struct worker *w)
{
  const struct local_cache *s = &w->cache;
  uint64_t states = __atomic_load_n(&w->e->visited.count, __ATOMIC_RELAXED);
  uint64_t most = states / STATES_PER_EDGE / w->e->workers;
  return s->edges_count >= (most > EDGES_MOST ? most : EDGES_MOST) ||
         s->nodes >= (UINT32_C(1) << s->node_bits) / 8 * 7;
}

bool local_cache_begin(struct worker *w)
{
  struct local_cache *s = &w->cache;
  if (s->packing == w->e->model.packing && !is_crowded(w) && !w->e->model.options->audit)
    return false;
  drop_all(s, world_origins(w->e->model.world));
  s->packing = w->e->model.packing;
  s->delta_bytes =
      (offsetof(struct delta, words) + s->packing->words * sizeof(uint32_t) + 7) / 8 * 8;
  return true;
}

void local_cache_clear(struct local_cache *s)
{
  void *all[] = {s->edges, s->start, s->lists, s->options, s->deltas, s->seen};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  *s = (struct local_cache){0};
}

size_t local_cache_bytes(const struct local_cache *s)
{
  return s->edges_room * sizeof *s->edges + s->lists_room * sizeof *s->lists +
         s->options_room * sizeof *s->options + s->deltas_room * s->delta_bytes;
}
