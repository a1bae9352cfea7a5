#include "verify/explore/enabled.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "verify/explore/search.h"

void enabled_init(struct enabled *enabled, const struct world *world)
{
  uint32_t count = world_origins(world), ranks = (uint32_t)world->ranks;
  *enabled = (struct enabled){.count = count};
  enabled->of = memory_table(count, sizeof *enabled->of);
  enabled->on = memory_table(count, sizeof *enabled->on);
  enabled->own = memory_table(ranks, sizeof *enabled->own);
  enabled->other = memory_table(count, sizeof *enabled->other);
  enabled->standing = memory_table(ranks, sizeof *enabled->standing);
  for (uint32_t origin = 0; origin < count; origin++)
    if (origin % (ranks + 1) == 0 && origin / (ranks + 1) < ranks)
      enabled->own[origin / (ranks + 1)] = origin;
    else
      enabled->other[enabled->others++] = origin;
  enabled_forget(enabled);
}

void enabled_clear(struct enabled *enabled)
{
  for (uint32_t origin = 0; origin < enabled->count; origin++) {
    free(enabled->of[origin].cursors);
    free(enabled->of[origin].deltas);
  }
  void *all[] = {enabled->of,    enabled->on,       enabled->own,
                 enabled->other, enabled->standing, enabled->walks};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  *enabled = (struct enabled){0};
}

void enabled_forget(struct enabled *enabled)
{
  for (uint32_t origin = 0; origin < enabled->count; origin++) {
    enabled->on[origin].first = ENABLED_UNKNOWN;
    enabled->of[origin].room = 0; /* so that memory of the new size is allocated */
  }
}

/* ---- lists of moves ---- */

static void reserve_walks(struct enabled *enabled, uint32_t count)
{
  if (count <= enabled->walks_room)
    return;
  enabled->walks_room = 2 * count;
  enabled->walks = memory_grow(enabled->walks, enabled->walks_room * sizeof *enabled->walks);
}

/* Begins a descent for each origin whose moves must be looked up again. There are `n` descents
 * already. Origins from `open` on have no moves. Returns the number of descents. The code has no
 * branch that the processor would predict badly. */
static uint32_t begin_lists(struct worker *w, const uint32_t *origins, uint32_t count,
                            uint32_t open, struct view_set changed, uint32_t n)
{
  const struct view_set *on = w->enabled.on;
  struct walk *walks = w->enabled.walks;
  uint32_t first = n;
  for (uint32_t i = 0; i < count && origins[i] < open; i++) {
    const struct view_set *of = &on[origins[i]];
    walks[n].origin = origins[i];
    n += ((of->first & changed.first) | (of->rest & changed.rest)) != 0;
  }
  for (uint32_t i = first; i < n; i++) {
    walks[i].cursor = w->cache.start[walks[i].origin];
    walks[i].looked = (struct view_set){0};
  }
  return n;
}

/* Returns the list of moves to which the descent has led. If it has not led to a list, learns the
 * list. */
static const struct move_list *take_list(struct worker *w, const struct walk *walk)
{
  struct enabled *enabled = &w->enabled;
  struct origin_moves *moves_of = &enabled->of[walk->origin];
  bool known = walk->cursor & CURSOR_RESULT;
  uint32_t number = known ? walk->cursor & ~CURSOR_RESULT : local_cache_learn_list(w, walk->origin);
  const struct move_list *list = &w->cache.lists[number];
  enabled->on[walk->origin] = walk->looked;
  enabled->on[walk->origin].first |= known ? 0 : ENABLED_UNKNOWN;
  moves_of->first = list->first;
  moves_of->count = list->count;
  if (moves_of->count > moves_of->room) {
    moves_of->room = 2 * moves_of->count;
    moves_of->cursors = memory_grow(moves_of->cursors, moves_of->room * sizeof *moves_of->cursors);
    if (w->cache.views.are_fine)
      moves_of->deltas =
          memory_grow(moves_of->deltas, (size_t)moves_of->room * w->cache.delta_bytes);
  }
  return list;
}

/* Looks up first each rank's own moves, which tell whether its program has ended, and then the
 * moves of all other open origins. Returns the number of descents. */
static uint32_t find_lists(struct worker *w, struct view_set changed, struct world_standing *all,
                           uint32_t *open)
{
  const struct world *world = w->e->model.world;
  struct enabled *enabled = &w->enabled;
  uint32_t ranks = (uint32_t)world->ranks;
  reserve_walks(enabled, enabled->count + 1);
  uint32_t own = begin_lists(w, enabled->own, ranks, UINT32_MAX, changed, 0);
  local_cache_walk(&w->cache, enabled->walks, own);
  for (uint32_t i = 0; i < own; i++) {
    const struct walk *walk = &enabled->walks[i];
    enabled->standing[walk->origin / (ranks + 1)] = take_list(w, walk)->standing;
  }
  *all = world_standing_of_all(enabled->standing, world->ranks);
  *open = world_open_origins(world, all);
  uint32_t stale = begin_lists(w, enabled->other, enabled->others, *open, changed, own);
  for (uint32_t i = enabled->others; i > 0 && enabled->other[i - 1] >= *open; i--)
    enabled->on[enabled->other[i - 1]].first = ENABLED_UNKNOWN; /* changes are not noted for these
                                                                   origins */
  local_cache_walk(&w->cache, enabled->walks + own, stale - own);
  for (uint32_t i = own; i < stale; i++)
    take_list(w, &enabled->walks[i]);
  return stale;
}

/* ---- what moves do ---- */

/* Notes the effect of an option, from the end of its descent. Returns false if the effect is not
 * known, because the descent has found no result or a rewrite of the result is not known. */
static bool take_result(struct worker *w, const struct origin_moves *moves_of, uint32_t number,
                        uint32_t cursor, struct view_set *on)
{
  const struct local_cache *s = &w->cache;
  if (!(cursor & CURSOR_RESULT))
    return false;
  if (s->views.are_fine) {
    struct delta *delta = (struct delta *)(moves_of->deltas + (size_t)number * s->delta_bytes);
    return local_cache_apply(s, w->at.numbers, cursor & ~CURSOR_RESULT, delta, on);
  }
  __builtin_prefetch(local_cache_delta(s, cursor & ~CURSOR_RESULT));
  return true;
}

/* Notes the effects of an origin's options. */
static void take_results(struct worker *w, uint32_t origin, const struct walk *walks)
{
  const struct origin_moves *moves_of = &w->enabled.of[origin];
  struct view_set on = w->enabled.on[origin];
  for (uint32_t i = 0; i < moves_of->count; i++) {
    bool known = take_result(w, moves_of, i, walks[i].cursor, &on);
    moves_of->cursors[i] = known ? walks[i].cursor : 0;
    on.first |= walks[i].looked.first | (known ? 0 : ENABLED_UNKNOWN);
    on.rest |= walks[i].looked.rest;
  }
  w->enabled.on[origin] = on;
}

/* Looks up the effects of the moves that have the origins of the first `stale` descents. */
static void find_deltas(struct worker *w, uint32_t stale)
{
  struct enabled *enabled = &w->enabled;
  const struct local_cache *s = &w->cache;
  uint32_t n = stale;
  for (uint32_t i = 0; i < stale; i++) {
    const struct origin_moves *moves_of = &enabled->of[enabled->walks[i].origin];
    reserve_walks(enabled, n + moves_of->count);
    for (uint32_t j = 0; j < moves_of->count; j++)
      enabled->walks[n++] = (struct walk){.cursor = s->options[moves_of->first + j].cursor};
  }
  local_cache_walk(s, enabled->walks + stale, n - stale);
  n = stale;
  for (uint32_t i = 0; i < stale; i++) {
    uint32_t origin = enabled->walks[i].origin;
    take_results(w, origin, enabled->walks + n);
    n += enabled->of[origin].count;
  }
}

/* Returns whether an option, when it is looked up again, has the effect that is noted. */
static bool is_result_current(const struct worker *w, const struct origin_moves *moves_of,
                              uint32_t number)
{
  const struct local_cache *s = &w->cache;
  const struct delta *noted = enabled_delta(s, moves_of, number);
  char bytes[s->delta_bytes] __attribute__((aligned(8)));
  struct delta *delta = (struct delta *)bytes;
  struct walk walk = {.cursor = s->options[moves_of->first + number].cursor};
  local_cache_walk(s, &walk, 1);
  if (walk.cursor != moves_of->cursors[number] || !s->views.are_fine)
    return walk.cursor == moves_of->cursors[number];
  return local_cache_apply(s, w->at.numbers, walk.cursor & ~CURSOR_RESULT, delta, &walk.looked) &&
         delta->hash == noted->hash && delta->verdict == noted->verdict &&
         delta->stays == noted->stays &&
         !memcmp(delta->words, noted->words, w->packing->words * sizeof *delta->words);
}

/* Returns whether the moves of each open origin are as listed, when they are looked up again. */
static bool are_current(const struct worker *w, uint32_t open)
{
  const struct local_cache *s = &w->cache;
  for (uint32_t origin = 0; origin < open; origin++) {
    const struct origin_moves *moves = &w->enabled.of[origin];
    struct walk walk = {.cursor = s->start[origin]};
    if (w->enabled.on[origin].first & ENABLED_UNKNOWN)
      continue;
    local_cache_walk(s, &walk, 1);
    const struct move_list *list = &s->lists[walk.cursor & ~CURSOR_RESULT];
    if (!(walk.cursor & CURSOR_RESULT) || list->first != moves->first ||
        list->count != moves->count)
      return false;
    for (uint32_t i = 0; i < moves->count; i++)
      if (!is_result_current(w, moves, i))
        return false;
  }
  return true;
}

uint32_t enabled_find(struct worker *w, struct view_set changed, struct world_standing *all)
{
  changed.first |= ENABLED_UNKNOWN;
  uint32_t open, stale = find_lists(w, changed, all, &open);
  find_deltas(w, stale);
  CHECK(are_current(w, open), "what an origin has enabled changes only with what it depends on");
  return open;
}
