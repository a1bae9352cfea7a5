#include "verify/explore/cycles.h"

#include "base/memory.h"

void places_add(struct places *list, uint64_t place)
{
  if (list->count == list->room) {
    list->room = list->room ? list->room + list->room / 2 : 1024;
    list->place = memory_grow(list->place, list->room * sizeof *list->place);
  }
  list->place[list->count++] = place;
}

void cycles_expand(struct cycles *c, uint64_t place)
{
  c->transitions.count = 0;
  c->expansions++;
  c->expanded = place;
  worker_expand(c->w, c->e->model.packing, visited_at(&c->e->visited, place));
}

struct chance *cycles_chance(struct cycles *c, uint32_t move)
{
  c->chances = memory_zeroed_room(c->chances, move, &c->chances_room, sizeof *c->chances);
  return &c->chances[move];
}

bool cycles_is_bad(struct cycles *c, struct verdict *verdict)
{
  struct model *m = &c->e->model;
  platform_lock(m->rules);
  model_show(m, &c->w->at);
  world_for_ever(m->world, verdict);
  platform_unlock(m->rules);
  return verdict->kind == VERDICT_VIOLATION;
}

static bool is_fair_move(const struct cycles *c, const struct transition *transition)
{
  return !is_fault(c->e->model.rules_cache.moves.item[transition->move].bytes);
}

bool cycles_are_alike(struct cycles *c, uint64_t place)
{
  uint32_t numbers[c->e->model.components];
  if (!c->recurrence)
    return true;
  packing_unpack(c->e->model.packing, visited_at(&c->e->visited, place), numbers);
  return recurrence_are_alike(c->recurrence, c->w->at.numbers, numbers);
}

/* Returns whether a transition of the state that was expanded last stays within its component. */
static bool stays_in(struct cycles *c, const struct transition *transition, uint32_t component)
{
  return transition->to == TRANSITION_STAYS ||
         (cycles_are_alike(c, transition->to) && c->number[transition->to] == component);
}

bool cycles_survey(struct cycles *c, const uint64_t *state, size_t count, uint32_t component)
{
  struct verdict verdict;
  bool bad = false;
  for (size_t i = 0; i < count; i++) {
    cycles_expand(c, state[i]);
    for (uint32_t n = 0; n < c->transitions.count; n++) {
      const struct transition *transition = &c->transitions.item[n];
      struct chance *chance = cycles_chance(c, transition->move);
      if (!is_fair_move(c, transition))
        continue;
      if (!chance->possible++)
        places_add(&c->touched, transition->move);
      chance->taken = chance->taken || stays_in(c, transition, component);
    }
    bad = bad || cycles_is_bad(c, &verdict);
  }
  return bad;
}
