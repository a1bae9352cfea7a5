#include "verify/explore/enabled.h"

#include <stdlib.h>

#include "verify/base/memory.h"
#include "verify/explore/search.h"

void offers_init(struct offers *offers, const struct world *world)
{
  uint32_t count = world_origins(world), ranks = (uint32_t)world->ranks;
  *offers = (struct offers){.count = count};
  offers->of = memory_table(count, sizeof *offers->of);
  offers->looked = memory_table(count, sizeof *offers->looked);
  offers->own = memory_table(ranks, sizeof *offers->own);
  offers->other = memory_table(count, sizeof *offers->other);
  offers->standing = memory_table(ranks, sizeof *offers->standing);
  for (uint32_t origin = 0; origin < count; origin++)
    if (origin % (ranks + 1) == 0 && origin / (ranks + 1) < ranks)
      offers->own[origin / (ranks + 1)] = origin;
    else
      offers->other[offers->others++] = origin;
  offers_forget(offers);
}

void offers_clear(struct offers *offers)
{
  for (uint32_t origin = 0; origin < offers->count; origin++)
    free(offers->of[origin].goals);
  void *all[] = {offers->of,    offers->looked,   offers->own,
                 offers->other, offers->standing, offers->walks};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  *offers = (struct offers){0};
}

void offers_forget(struct offers *offers)
{
  for (uint32_t origin = 0; origin < offers->count; origin++)
    offers->looked[origin] = OFFER_UNKNOWN;
}

/* ---- lists of moves ---- */

static void reserve_walks(struct offers *offers, uint32_t count)
{
  if (count <= offers->walks_room)
    return;
  offers->walks_room = 2 * count;
  offers->walks = memory_grow(offers->walks, offers->walks_room * sizeof *offers->walks);
}

/* Begins, behind `n` others, a walk for each of the origins that is not what it was; none is from
 * `open` on. Returns how many there are then. Without a branch that would be guessed wrongly. */
static uint32_t begin_lists(struct worker *w, const uint32_t *origins, uint32_t count,
                            uint32_t open, uint64_t changed, uint32_t n)
{
  const uint64_t *looked = w->offers.looked;
  struct walk *walks = w->offers.walks;
  uint32_t first = n;
  for (uint32_t i = 0; i < count && origins[i] < open; i++) {
    walks[n].origin = origins[i];
    n += (looked[origins[i]] & changed) != 0;
  }
  for (uint32_t i = first; i < n; i++) {
    walks[i].goal = w->shortcuts.start[walks[i].origin];
    walks[i].looked = 0;
  }
  return n;
}

/* The list of moves to which the walk has come, or which is learnt now. */
static const struct listing *take_listing(struct worker *w, const struct walk *walk)
{
  struct offers *offers = &w->offers;
  struct offer *offer = &offers->of[walk->origin];
  bool known = walk->goal & GOAL_RESULT;
  uint32_t number = known ? walk->goal & ~GOAL_RESULT : shortcuts_learn_listing(w, walk->origin);
  const struct listing *listing = &w->shortcuts.listings[number];
  offers->looked[walk->origin] = known ? walk->looked : OFFER_UNKNOWN;
  offer->first = listing->first;
  offer->count = listing->count;
  if (offer->count > offer->room) {
    offer->room = 2 * offer->count;
    offer->goals = memory_grow(offer->goals, offer->room * sizeof *offer->goals);
  }
  return listing;
}

/* Looks up what ranks do by themselves, which tells how their programs stand; then what all other
 * origins offer that are open then. Returns how many walks there were. */
static uint32_t find_lists(struct worker *w, uint64_t changed, struct world_standing *all,
                           uint32_t *open)
{
  const struct world *world = w->e->model.world;
  struct offers *offers = &w->offers;
  uint32_t ranks = (uint32_t)world->ranks;
  reserve_walks(offers, offers->count + 1);
  uint32_t own = begin_lists(w, offers->own, ranks, UINT32_MAX, changed, 0);
  shortcuts_walk(&w->shortcuts, w->at.numbers, offers->walks, own);
  for (uint32_t i = 0; i < own; i++) {
    const struct walk *walk = &offers->walks[i];
    offers->standing[walk->origin / (ranks + 1)] = take_listing(w, walk)->standing;
  }
  *all = world_standing_of_all(offers->standing, world->ranks);
  *open = world_open_origins(world, all);
  uint32_t stale = begin_lists(w, offers->other, offers->others, *open, changed, own);
  for (uint32_t i = offers->others; i > 0 && offers->other[i - 1] >= *open; i--)
    offers->looked[offers->other[i - 1]] = OFFER_UNKNOWN; /* changes pass them by */
  shortcuts_walk(&w->shortcuts, w->at.numbers, offers->walks + own, stale - own);
  for (uint32_t i = own; i < stale; i++)
    take_listing(w, &offers->walks[i]);
  return stale;
}

/* ---- what moves do ---- */

/* Notes where the walks from the options of an offer have ended. */
static void take_goals(struct worker *w, uint32_t origin, const struct walk *walks)
{
  const struct shortcuts *s = &w->shortcuts;
  const struct offer *offer = &w->offers.of[origin];
  uint64_t looked = w->offers.looked[origin];
  for (uint32_t i = 0; i < offer->count; i++) {
    uint32_t goal = walks[i].goal;
    offer->goals[i] = goal;
    looked |= walks[i].looked;
    if (goal & GOAL_RESULT)
      __builtin_prefetch(shortcuts_jump(s, goal & ~GOAL_RESULT));
    else
      looked |= OFFER_UNKNOWN;
  }
  w->offers.looked[origin] = looked;
}

/* Looks up what the moves of the first `stale` walks' origins do. */
static void find_jumps(struct worker *w, uint32_t stale)
{
  struct offers *offers = &w->offers;
  const struct shortcuts *s = &w->shortcuts;
  uint32_t n = stale;
  for (uint32_t i = 0; i < stale; i++) {
    const struct offer *offer = &offers->of[offers->walks[i].origin];
    reserve_walks(offers, n + offer->count);
    for (uint32_t j = 0; j < offer->count; j++)
      offers->walks[n++] = (struct walk){.goal = s->options[offer->first + j].goal};
  }
  shortcuts_walk(s, w->at.numbers, offers->walks + stale, n - stale);
  n = stale;
  for (uint32_t i = 0; i < stale; i++) {
    uint32_t origin = offers->walks[i].origin;
    take_goals(w, origin, offers->walks + n);
    n += offers->of[origin].count;
  }
}

uint32_t offers_find(struct worker *w, uint64_t changed, struct world_standing *all)
{
  uint32_t open, stale = find_lists(w, changed | OFFER_UNKNOWN, all, &open);
  find_jumps(w, stale);
  return open;
}
