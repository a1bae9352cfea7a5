#include "verify/explore/local_cache.h"

#include <stdlib.h>
#include <string.h>

#include "verify/base/breach.h"
#include "verify/base/memory.h"
#include "verify/base/platform.h"
#include "verify/explore/search.h"

enum {
  HOPS_FIRST = 1 << 12,
  HOPS_MOST = 1 << 20,  /* then they are dropped, unless there are */
  STATES_FOR_A_HOP = 16 /* so many states for each: memory is for states */
};

/* ---- the trie ---- */

static void grow_hops(struct shortcuts *s)
{
  uint32_t room = s->hops_room;
  struct hop *old = s->hops;
  s->hops_room = room + room / 2;
  s->hops = memory_table(s->hops_room, sizeof *s->hops);
  for (uint32_t i = 0; i < room; i++)
    if (old[i].goal)
      *shortcuts_hop(s, old[i].node, old[i].value) = old[i];
  free(old);
}

static uint32_t new_node(struct shortcuts *s)
{
  return s->nodes++;
}

static void see(struct shortcuts *s, uint32_t component)
{
  for (uint32_t i = 0; i < s->seen_count; i++)
    if (s->seen[i] == component)
      return;
  s->seen[s->seen_count++] = component;
}

/* The components that the walk to the list of `origin` looks at. */
static void see_listing(struct worker *w, uint32_t origin)
{
  struct shortcuts *s = &w->shortcuts;
  uint32_t goal = s->start[origin];
  while (goal_goes_on(s, goal)) {
    uint32_t component = goal_component(s, goal);
    see(s, component);
    goal = shortcuts_hop(s, goal_node(s, goal), w->at.numbers[component])->goal;
  }
}

/* Makes `component` the one to look at where `goal` stands. */
static void look_at(struct shortcuts *s, uint32_t *goal, uint32_t component)
{
  uint32_t before = *goal >> s->node_bits;
  if (before && before != component + 1) {
    breach("the rules look elsewhere than before");
  }
  *goal |= (component + 1) << s->node_bits;
}

/* Writes down `result` behind the components that the memo has just looked at and that are not seen
 * yet, from `goal` on. */
static void write_down(struct worker *w, uint32_t *goal, uint32_t result)
{
  struct shortcuts *s = &w->shortcuts;
  const struct memo *m = &w->e->model.memo;
  uint32_t known = s->seen_count;
  for (uint32_t i = 0; i < m->looked_count; i++)
    see(s, w->e->model.component_of[m->looked[i]]);
  while (s->hops_count + s->seen_count >= s->hops_room / 2)
    grow_hops(s); /* first, so that goals stay where they are */
  for (uint32_t i = known; i < s->seen_count; i++) {
    uint32_t node = goal_node(s, *goal), value = w->at.numbers[s->seen[i]];
    look_at(s, goal, s->seen[i]);
    struct hop *hop = shortcuts_hop(s, node, value);
    if (!hop->goal) {
      *hop = (struct hop){node, value, new_node(s)};
      s->hops_count++;
    }
    goal = &hop->goal;
  }
  *goal = GOAL_RESULT | result;
}

/* ---- lists of moves ---- */

uint32_t shortcuts_learn_listing(struct worker *w, uint32_t origin)
{
  struct shortcuts *s = &w->shortcuts;
  struct memo *m = &w->e->model.memo;
  platform_lock(w->e->model.rules);
  model_load(&w->e->model, &w->at);
  const struct turn *turn = memo_turn(m, origin);
  struct listing listing = {s->options_count, turn->count, turn->standing};
  for (uint32_t i = 0; i < turn->count; i++) {
    uint32_t move = m->turn_moves[turn->first + i];
    s->options = memory_room(s->options, s->options_count, &s->options_room, sizeof *s->options);
    s->options[s->options_count++] = (struct option){
        .move = move,
        .goal = new_node(s),
        .action =
            w->e->reduction ? (uint8_t)reduction_action(w->e->reduction, &w->e->model, move) : 0,
        .kind = (uint8_t)crash_move_of(m->moves.item[move].bytes),
        .uncalled_for = is_uncalled_for(m->moves.item[move].bytes)};
  }
  s->listings = memory_room(s->listings, s->listings_count, &s->listings_room, sizeof listing);
  s->listings[s->listings_count] = listing;
  s->seen_count = 0;
  write_down(w, &s->start[origin], s->listings_count);
  platform_unlock(w->e->model.rules);
  return s->listings_count++;
}

/* ---- jumps ---- */

/* The numbers of the components after `effect`, in the state that is loaded. */
static void take_effect(struct worker *w, const struct effect *effect, uint32_t *numbers)
{
  struct explorer *e = w->e;
  memcpy(numbers, w->at.numbers, e->model.components * sizeof *numbers);
  if (!effect->count) /* nor need there be changes yet, in a search that goes on from a save */
    return;
  const struct change *changes = &e->model.memo.changes[effect->first];
  for (uint32_t i = 0; i < effect->count; i++) {
    struct component *c = &e->model.component[e->model.component_of[changes[i].part]];
    uint32_t values[c->count];
    for (uint32_t j = 0; j < c->count; j++)
      values[j] = e->model.memo.values[c->parts[j]];
    for (uint32_t k = 0; k < effect->count; k++)
      for (uint32_t j = 0; j < c->count; j++)
        if (c->parts[j] == changes[k].part)
          values[j] = changes[k].value;
    numbers[c - e->model.component] =
        intern(&c->values, values, c->count * (uint32_t)sizeof *values) - 1;
  }
}

static void grow_jumps(struct shortcuts *s)
{
  char *old = s->jumps;
  s->jumps_room = s->jumps_room ? s->jumps_room + s->jumps_room / 2 : 256;
  s->jumps = memory_table(s->jumps_room, s->jump_bytes);
  if (old)
    memcpy(s->jumps, old, s->jumps_count * s->jump_bytes);
  free(old);
}

static const struct jump *keep_jump(struct worker *w, uint16_t verdict, const uint32_t *numbers)
{
  struct shortcuts *s = &w->shortcuts;
  uint32_t state[LAYOUT_WORDS];
  if (s->jumps_count == s->jumps_room)
    grow_jumps(s);
  struct jump *jump = shortcuts_jump(s, s->jumps_count++);
  layout_pack(s->layout, numbers, state);
  jump->hash = layout_hash(s->layout, numbers) - w->hash;
  jump->verdict = verdict;
  jump->stays = true;
  for (uint32_t i = 0; i < s->layout->words; i++) {
    jump->words[i] = state[i] - w->state[i];
    jump->stays &= !jump->words[i];
  }
  return jump;
}

const struct jump *shortcuts_learn_jump(struct worker *w, uint32_t origin, uint32_t option,
                                        uint32_t *numbers, uint16_t *verdict)
{
  struct shortcuts *s = &w->shortcuts;
  struct option *o = &s->options[option];
  const struct jump *jump = NULL;
  platform_lock(w->e->model.rules);
  model_load(&w->e->model, &w->at);
  const struct effect *effect = memo_step(&w->e->model.memo, o->move);
  *verdict = effect->verdict;
  take_effect(w, effect, numbers);
  if (layout_fits(s->layout, numbers)) {
    jump = keep_jump(w, effect->verdict, numbers);
    s->seen_count = 0;
    see_listing(w, origin);
    write_down(w, &o->goal, s->jumps_count - 1);
  }
  platform_unlock(w->e->model.rules);
  return jump;
}

/* ---- beginning and end ---- */

static void drop_all(struct shortcuts *s, uint32_t origins)
{
  free(s->hops);
  free(s->jumps);
  s->hops_room = HOPS_FIRST;
  s->hops = memory_table(HOPS_FIRST, sizeof *s->hops);
  s->hops_count = s->listings_count = s->options_count = s->jumps_count = s->jumps_room = 0;
  s->jumps = NULL;
  s->nodes = 1; /* a goal is never 0, which marks a free slot */
  for (uint32_t origin = 0; origin < origins; origin++)
    s->start[origin] = new_node(s);
}

void shortcuts_init(struct shortcuts *s, const struct world *world, uint32_t components)
{
  uint32_t origins = world_origins(world), seen = components + (uint32_t)world->ranks;
  *s = (struct shortcuts){.start = memory_table(origins, sizeof *s->start),
                          .seen = memory_table(seen, sizeof *s->seen),
                          .node_bits = 31};
  for (; seen; seen /= 2)
    s->node_bits--;
  s->node_mask = (UINT32_C(1) << s->node_bits) - 1;
  drop_all(s, origins);
}

/* Whether there are too many: for the memory that they take, or for goals to name their nodes. */
static bool crowded(const struct worker *w)
{
  const struct shortcuts *s = &w->shortcuts;
  uint64_t states = __atomic_load_n(&w->e->visited.count, __ATOMIC_RELAXED);
  uint64_t most = states / STATES_FOR_A_HOP / w->e->workers;
  return s->hops_count >= (most > HOPS_MOST ? most : HOPS_MOST) ||
         s->nodes >= (UINT32_C(1) << s->node_bits) / 8 * 7;
}

bool shortcuts_begin(struct worker *w)
{
  struct shortcuts *s = &w->shortcuts;
  if (s->layout == w->e->model.layout && !crowded(w) && !w->e->model.options->audit)
    return false;
  drop_all(s, world_origins(w->e->model.world));
  s->layout = w->e->model.layout;
  s->jump_bytes = (offsetof(struct jump, words) + s->layout->words * sizeof(uint32_t) + 7) / 8 * 8;
  return true;
}

void shortcuts_clear(struct shortcuts *s)
{
  void *all[] = {s->hops, s->start, s->listings, s->options, s->jumps, s->seen};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  *s = (struct shortcuts){0};
}

size_t shortcuts_bytes(const struct shortcuts *s)
{
  return s->hops_room * sizeof *s->hops + s->listings_room * sizeof *s->listings +
         s->options_room * sizeof *s->options + s->jumps_room * s->jump_bytes;
}
