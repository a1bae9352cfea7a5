#include "verify/explore/local_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "base/platform.h"
#include "verify/explore/search.h"

enum {
  EDGES_FIRST = 1 << 12,
  EDGES_MOST = 1 << 20, /* more edges than this are dropped, unless there are many states */
  /* number of states for each edge above EDGES_MOST, because memory is for states */
  STATES_PER_EDGE = 16,
  /* Views are whole components up to this number of edges. They become fine if more than one step
   * was learnt for each STATES_PER_STEP states until then. */
  EDGES_FEW = RECLINE_CHECKS ? 64 : 1 << 18,
  STATES_PER_STEP = 2
};

/* ---- the trie ---- */

static void edges_init(struct edges *edges)
{
  free(edges->edge);
  *edges = (struct edges){memory_table(EDGES_FIRST, sizeof *edges->edge), 0, EDGES_FIRST};
}

/* Makes room for more edges, so that cursors stay valid while edges are added. */
static void edges_reserve(struct edges *edges, uint32_t count)
{
  while (edges->count + count >= edges->room / 2) {
    struct edges old = *edges;
    edges->room = old.room + old.room / 2;
    edges->edge = memory_table(edges->room, sizeof *edges->edge);
    for (uint32_t i = 0; i < old.room; i++)
      if (old.edge[i].cursor)
        *edges_find(edges, old.edge[i].node, old.edge[i].value) = old.edge[i];
    free(old.edge);
  }
}

/* Returns the edge from `node` for `value`. If the edge is new, the caller sets where it leads. */
static struct edge *edges_add(struct edges *edges, uint32_t node, uint32_t value)
{
  struct edge *edge = edges_find(edges, node, value);
  edges->count += !edge->cursor;
  edge->node = node;
  edge->value = value;
  return edge;
}

static uint32_t new_node(struct local_cache *s)
{
  return s->nodes++;
}

static void forget_seen(struct worker *w)
{
  memset(w->cache.seen, 0, w->e->model.components * sizeof *w->cache.seen);
}

static void note_seen(struct local_cache *s, uint32_t view)
{
  s->seen[s->views.component[view]] |= views_parts(&s->views, view);
}

/* Notes the views that the descent to the list of `origin` reads. */
static void see_list(struct worker *w, uint32_t origin)
{
  struct local_cache *s = &w->cache;
  struct walk walk = {.cursor = s->start[origin]};
  for (; cursor_goes_on(s, walk.cursor); local_cache_step(s, &walk))
    note_seen(s, cursor_view(s, walk.cursor));
}

/* Returns the component, and sets the bit of the part, that the transition cache has read. */
static uint32_t seen_as(const struct model *model, uint32_t looked, uint64_t *part)
{
  uint32_t count = model->rules_cache.count;
  *part = looked < count ? UINT64_C(1) << model->place_of[looked] : VIEW_HEAD;
  return model->component_of[looked < count ? looked : looked - count];
}

/* Finds the view to read next. It has all parts of a component that the transition cache has just
 * read and that the descent has not read. The first such component counts. Returns false if there
 * is no such component. */
static bool find_unseen(struct worker *w, uint32_t *view)
{
  const struct transition_cache *m = &w->e->model.rules_cache;
  struct local_cache *s = &w->cache;
  uint32_t component = UINT32_MAX;
  uint64_t part, parts = 0;
  for (uint32_t i = 0; i < m->looked_count; i++) {
    uint32_t of = seen_as(&w->e->model, m->looked[i], &part);
    if (s->seen[of] & part || (component != UINT32_MAX && of != component))
      continue;
    component = of;
    parts |= part;
  }
  if (parts)
    *view = views_of(&s->views, component, parts, w->at.numbers[component]);
  return parts != 0;
}

/* Adds edges from `cursor`, for the parts that the transition cache has just read and the descent
 * has not read, with `result` at their end. */
static void write_down(struct worker *w, uint32_t *cursor, uint32_t result)
{
  struct local_cache *s = &w->cache;
  uint32_t view;
  edges_reserve(&s->trie, w->e->model.rules_cache.looked_count + 1);
  while (find_unseen(w, &view)) {
    if (*cursor & CURSOR_RESULT)
      breach("the rules look elsewhere than before");
    if (!cursor_goes_on(s, *cursor))
      *cursor |= (view + 1) << s->node_bits;
    view = cursor_view(s, *cursor);
    note_seen(s, view);
    cursor = &edges_add(&s->trie, cursor_node(s, *cursor), s->views.numbers[view])->cursor;
    *cursor = *cursor ? *cursor : new_node(s);
  }
  if (cursor_goes_on(s, *cursor))
    breach("the rules look elsewhere than before");
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
  forget_seen(w);
  write_down(w, &s->start[origin], s->lists_count);
  platform_unlock(w->e->model.rules);
  return s->lists_count++;
}

/* ---- results ---- */

/* Returns the rewrite of a component by the changes that concern its parts. */
static struct rewrite find_rewrite(struct worker *w, const struct effect *effect,
                                   uint32_t component)
{
  const struct model *model = &w->e->model;
  const struct change *changes = &model->rules_cache.changes[effect->first];
  uint32_t bytes[1 + 2 * effect->count], size = 0;
  bytes[size++] = component;
  for (uint32_t i = 0; i < effect->count; i++)
    if (model->component_of[changes[i].part] == component) {
      bytes[size++] = model->place_of[changes[i].part];
      bytes[size++] = changes[i].value;
    }
  return (struct rewrite){component,
                          intern(&w->cache.rewrites, bytes, size * (uint32_t)sizeof *bytes)};
}

static bool is_rewritten(const struct rewrite *rewrites, uint32_t count, uint32_t component)
{
  for (uint32_t i = 0; i < count; i++)
    if (rewrites[i].component == component)
      return true;
  return false;
}

static uint32_t find_result(struct worker *w, const struct effect *effect)
{
  const struct model *model = &w->e->model;
  uint32_t bytes[1 + 2 * effect->count], count = 0;
  struct result *result = (struct result *)bytes;
  result->verdict = effect->verdict;
  for (uint32_t i = 0; i < effect->count; i++) {
    uint32_t component = model->component_of[model->rules_cache.changes[effect->first + i].part];
    if (!is_rewritten(result->rewrite, count, component))
      result->rewrite[count++] = find_rewrite(w, effect, component);
  }
  return intern(&w->cache.results, bytes,
                (uint32_t)(sizeof *result + count * sizeof *result->rewrite));
}

/* Returns the new value of a component. */
static uint32_t rewrite_value(struct worker *w, const struct rewrite *rewrite, uint32_t value)
{
  struct local_cache *s = &w->cache;
  struct component *c = &w->e->model.component[rewrite->component];
  uint32_t known = edges_find(&s->rewritten, rewrite->node, value)->cursor;
  if (known)
    return known - 1;
  const struct interned *item = &s->rewrites.item[rewrite->node];
  const uint32_t *set = item->bytes;
  uint32_t values[c->count];
  memcpy(values, c->values.item[value + 1].bytes, sizeof values);
  for (uint32_t i = 1; i < item->size / sizeof *set; i += 2)
    values[set[i]] = set[i + 1];
  uint32_t to = intern(&c->values, values, (uint32_t)sizeof values);
  edges_reserve(&s->rewritten, 1);
  edges_add(&s->rewritten, rewrite->node, value)->cursor = to;
  return to - 1;
}

static void grow_deltas(struct local_cache *s)
{
  char *old = s->deltas;
  s->deltas_room = s->deltas_room ? s->deltas_room + s->deltas_room / 2 : 256;
  s->deltas = memory_table(s->deltas_room, s->delta_bytes);
  if (old)
    memcpy(s->deltas, old, (size_t)s->deltas_count * s->delta_bytes);
  free(old);
}

static uint32_t keep_delta(struct local_cache *s, const struct delta *delta)
{
  if (s->deltas_count == s->deltas_room)
    grow_deltas(s);
  memcpy(local_cache_delta(s, s->deltas_count), delta, s->delta_bytes);
  return s->deltas_count++;
}

/* Returns the step of an option in the worker's state, from the transition cache. */
static const struct effect *learn_step(struct worker *w, const struct option *option)
{
  model_load(&w->e->model, &w->at);
  const struct effect *effect = transition_cache_step(&w->e->model.rules_cache, option->move);
  reached_add(&w->reached, &effect->reached);
  w->cache.learnt++;
  return effect;
}

/* Adds `result` at the end of the descent to the effect of an option of `origin`. */
static void note_result(struct worker *w, uint32_t origin, struct option *option, uint32_t result)
{
  forget_seen(w);
  see_list(w, origin);
  write_down(w, &option->cursor, result);
}

/* Does the work of local_cache_learn_delta(), with fine views. */
static bool learn_by_views(struct worker *w, uint32_t origin, struct option *option,
                           uint32_t *numbers, struct delta *delta)
{
  struct local_cache *s = &w->cache;
  struct walk walk = {.cursor = option->cursor};
  while (cursor_goes_on(s, walk.cursor))
    local_cache_step(s, &walk);
  uint32_t count, number = walk.cursor & ~CURSOR_RESULT;
  if (!(walk.cursor & CURSOR_RESULT)) {
    number = find_result(w, learn_step(w, option));
    note_result(w, origin, option, number);
  }
  const struct result *result = local_cache_result(s, number, &count);
  for (uint32_t i = 0; i < count; i++) {
    const struct rewrite *rewrite = &result->rewrite[i];
    numbers[rewrite->component] = rewrite_value(w, rewrite, numbers[rewrite->component]);
  }
  return local_cache_apply(s, w->at.numbers, number, delta, &walk.looked);
}

/* Sets the numbers of the components after `effect`, in the state that is loaded. */
static void take_effect(struct worker *w, const struct effect *effect, uint32_t *numbers)
{
  struct model *model = &w->e->model;
  for (uint32_t i = 0; i < effect->count; i++) {
    const struct change *changes = &model->rules_cache.changes[effect->first];
    uint32_t component = model->component_of[changes[i].part];
    struct component *c = &model->component[component];
    uint32_t values[c->count];
    memcpy(values, c->values.item[w->at.numbers[component] + 1].bytes, sizeof values);
    for (uint32_t k = 0; k < effect->count; k++)
      if (model->component_of[changes[k].part] == component)
        values[model->place_of[changes[k].part]] = changes[k].value;
    numbers[component] = intern(&c->values, values, (uint32_t)sizeof values) - 1;
  }
}

/* Does the work of local_cache_learn_delta(), with whole components. */
static bool learn_whole(struct worker *w, uint32_t origin, struct option *option, uint32_t *numbers,
                        struct delta *delta)
{
  const struct packing *packing = w->cache.packing;
  const struct effect *effect = learn_step(w, option);
  uint32_t state[PACKING_WORDS];
  *delta = (struct delta){.verdict = effect->verdict, .stays = effect->count == 0};
  take_effect(w, effect, numbers);
  if (!packing_fits(packing, numbers))
    return false;
  packing_pack(packing, numbers, state);
  delta->hash = packing_hash(packing, numbers) - w->hash;
  for (uint32_t i = 0; i < packing->words; i++)
    delta->words[i] = state[i] - w->state[i];
  note_result(w, origin, option, keep_delta(&w->cache, delta));
  return true;
}

bool local_cache_learn_delta(struct worker *w, uint32_t origin, struct option *option,
                             uint32_t *numbers, struct delta *delta)
{
  memcpy(numbers, w->at.numbers, w->e->model.components * sizeof *numbers);
  platform_lock(w->e->model.rules);
  bool fits = w->cache.views.are_fine ? learn_by_views(w, origin, option, numbers, delta)
                                      : learn_whole(w, origin, option, numbers, delta);
  platform_unlock(w->e->model.rules);
  return fits;
}

/* ---- beginning and end ---- */

static void drop_trie(struct local_cache *s, uint32_t origins)
{
  edges_init(&s->trie);
  free(s->deltas);
  s->deltas = NULL;
  s->lists_count = s->options_count = s->deltas_count = s->deltas_room = 0;
  s->nodes = 1; /* node 0 is not used, because cursor 0 marks a free slot */
  for (uint32_t origin = 0; origin < origins; origin++)
    s->start[origin] = new_node(s);
}

void local_cache_init(struct local_cache *s, struct model *model, uint32_t *numbers)
{
  uint32_t origins = world_origins(model->world), most = views_most(model) + 1;
  *s = (struct local_cache){.node_bits = 31,
                            .start = memory_table(origins, sizeof *s->start),
                            .seen = memory_table(model->components, sizeof *s->seen)};
  edges_init(&s->rewritten);
  for (; most; most /= 2)
    s->node_bits--;
  s->node_mask = (UINT32_C(1) << s->node_bits) - 1;
  views_init(&s->views, model, numbers);
  drop_trie(s, origins);
}

/* Returns whether the edges take too much memory. */
static bool is_crowded(const struct worker *w)
{
  const struct local_cache *s = &w->cache;
  uint64_t states = __atomic_load_n(&w->e->visited.count, __ATOMIC_RELAXED);
  uint64_t most = states / STATES_PER_EDGE / w->e->workers;
  return s->trie.count >= (most > EDGES_MOST ? most : EDGES_MOST) ||
         s->nodes >= s->node_mask / 8 * 7;
}

/* Returns whether whole components have so many values that fine views are better. */
static bool is_too_coarse(const struct worker *w)
{
  const struct local_cache *s = &w->cache;
  return !s->views.are_fine && s->trie.count >= EDGES_FEW &&
         (w->at.serial - s->began) / STATES_PER_STEP < s->learnt;
}

bool local_cache_begin(struct worker *w)
{
  struct local_cache *s = &w->cache;
  const struct packing *packing = w->e->model.packing;
  bool drop = w->e->model.options->audit || is_crowded(w) || is_too_coarse(w) ||
              (s->packing != packing && !s->views.are_fine),
       begin = drop || s->packing != packing;
  s->views.are_fine |= is_too_coarse(w);
  s->packing = packing;
  s->delta_bytes = delta_bytes(packing->words);
  if (drop) {
    drop_trie(s, world_origins(w->e->model.world));
    s->learnt = 0;
    s->began = w->at.serial;
  }
  return begin;
}

void local_cache_clear(struct local_cache *s)
{
  void *all[] = {s->trie.edge, s->rewritten.edge, s->deltas, s->start,
                 s->lists,     s->options,        s->seen};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  intern_clear(&s->results);
  intern_clear(&s->rewrites);
  views_clear(&s->views);
  *s = (struct local_cache){0};
}

size_t local_cache_bytes(const struct local_cache *s)
{
  return (s->trie.room + s->rewritten.room) * sizeof *s->trie.edge +
         s->lists_room * sizeof *s->lists + s->options_room * sizeof *s->options +
         (size_t)s->deltas_room * s->delta_bytes + intern_bytes(&s->results) +
         intern_bytes(&s->rewrites) + views_bytes(&s->views);
}
