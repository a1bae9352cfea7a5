/* Writes the counterexample to `progress`, a lasso: a shortest run to a state of a component in
 * which a fair run can stay, then a cycle through the component. The cycle goes by shortest paths
 * to the states and moves that weak fairness requires. Moves that change nothing are left out. The
 * lasso does not depend on the order in which workers have found states. */
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "verify/explore/cycles.h"

/* ---- the lasso: to the component ---- */

static bool is_bad_component(const struct cycles *c, uint32_t component)
{
  size_t low = 0, high = c->bad.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (c->bad.place[middle] > component)
      low = middle + 1;
    else
      high = middle;
  }
  return low < c->bad.count && c->bad.place[low] == component;
}

/* Adds the states that one move from `level` reaches for the first time. */
static void next_level(struct cycles *c, const struct places *level, struct places *next,
                       uint8_t *seen)
{
  next->count = 0;
  for (size_t i = 0; i < level->count; i++) {
    cycles_expand(c, level->place[i]);
    for (uint32_t n = 0; n < c->transitions.count; n++) {
      uint64_t to = c->transitions.item[n].to;
      if (to == TRANSITION_STAYS || seen[to])
        continue;
      seen[to] = true;
      places_add(next, to);
    }
  }
}

/* Finds the violating states, which are the states of bad components that are nearest to the first
 * state. */
static void note_nearest(struct cycles *c, const struct places *level)
{
  uint32_t numbers[c->e->model.components];
  for (size_t i = 0; i < level->count; i++) {
    if (!is_bad_component(c, c->number[level->place[i]]))
      continue;
    packing_unpack(c->e->model.packing, visited_at(&c->e->visited, level->place[i]), numbers);
    states_add(&c->w->violating, numbers, c->e->model.components);
  }
}

static void write_stem(struct cycles *c, uint64_t first)
{
  struct places level = {0}, next = {0};
  uint8_t *seen = memory_grow(NULL, visited_end(&c->e->visited));
  memset(seen, 0, visited_end(&c->e->visited));
  seen[first] = true;
  places_add(&level, first);
  c->e->out->depth = 0;
  for (note_nearest(c, &level); !c->w->violating.count; note_nearest(c, &level)) {
    REQUIRE(level.count, "a run leads to each component in which a fair run can stay");
    next_level(c, &level, &next, seen);
    struct places done = level;
    level = next;
    next = done;
    c->e->out->depth++;
  }
  free(level.place);
  free(next.place);
  free(seen);
  c->w->outgoing = NULL;
  path_write(c->e);
  c->w->outgoing = &c->transitions;
}

/* ---- the lasso: round the component ---- */

/* Tells by which way a state of the component was reached. */
struct arrival {
  uint32_t from; /* index of the member from which it was reached */
  uint32_t move;
  uint32_t search; /* number of the search that reached it, or 0 if none did */
};

struct round {
  struct cycles *c;
  const struct places *members; /* by place */
  uint32_t component;
  size_t start;
  struct arrival *arrival; /* by member: how it was reached */
  uint32_t *queue, searches;
  /* the members after the start, in the order of the cycle; the next field has the moves to them */
  struct places route;
  struct places moves;
  bool owes_bad; /* true if the cycle has not reached a bad state yet */
};

static size_t member(const struct round *r, uint64_t place)
{
  size_t low = 0, high = r->members->count;
  while (low + 1 < high) {
    size_t middle = (low + high) / 2;
    if (r->members->place[middle] > place)
      high = middle;
    else
      low = middle;
  }
  return low;
}

/* Returns whether the state that was just expanded settles something owed: an owed move is
 * impossible or changes nothing in this state, or a bad state is owed and this is one. If `pay`,
 * removes what is settled from the list. */
static bool settle(struct round *r, bool pay)
{
  struct cycles *c = r->c;
  struct verdict verdict;
  bool any = false;
  for (uint32_t n = 0; n < c->transitions.count; n++)
    if (c->transitions.item[n].to != TRANSITION_STAYS)
      cycles_chance(c, c->transitions.item[n].move)->seen = c->expansions;
  for (size_t i = 0; i < c->touched.count; i++) {
    struct chance *chance = &c->chances[c->touched.place[i]];
    bool settled = chance->owed && chance->seen != c->expansions;
    any |= settled;
    chance->owed &= !(settled && pay);
  }
  if (!r->owes_bad || !cycles_is_bad(c, &verdict))
    return any;
  if (pay) {
    r->owes_bad = false;
    c->e->out->why = verdict;
  }
  return true;
}

static bool owes(const struct round *r)
{
  bool any = r->owes_bad;
  for (size_t i = 0; i < r->c->touched.count; i++)
    any |= r->c->chances[r->c->touched.place[i]].owed;
  return any;
}

static void go_step(struct round *r, size_t to, uint32_t move)
{
  places_add(&r->route, to);
  places_add(&r->moves, move);
  cycles_chance(r->c, move)->owed = false;
  cycles_expand(r->c, r->members->place[to]);
  settle(r, true);
}

/* Follows the way to `to` that the search has found, from the state where the search began. */
static void go_there(struct round *r, size_t from, size_t to)
{
  size_t count = 0;
  for (size_t at = to; at != from; at = r->arrival[at].from)
    r->queue[count++] = (uint32_t)at;
  while (count--)
    go_step(r, r->queue[count], r->arrival[r->queue[count]].move);
}

/* Follows a shortest way from `from` that settles something owed or, if `back`, leads to the start.
 * Returns the state where the path ends. */
static size_t go_on(struct round *r, size_t from, bool back)
{
  struct cycles *c = r->c;
  size_t next = 0, last = 0;
  r->arrival[from].search = ++r->searches;
  r->queue[last++] = (uint32_t)from;
  while (next < last) {
    size_t at = r->queue[next++];
    cycles_expand(c, r->members->place[at]);
    if (!back && settle(r, false)) {
      go_there(r, from, at);
      return at;
    }
    for (uint32_t n = 0; n < c->transitions.count; n++) {
      const struct transition transition = c->transitions.item[n];
      if (transition.to == TRANSITION_STAYS || c->number[transition.to] != r->component)
        continue;
      size_t to = member(r, transition.to);
      if (back ? to == r->start : cycles_chance(c, transition.move)->owed) {
        go_there(r, from, at);
        go_step(r, to, transition.move);
        return to;
      }
      if (r->arrival[to].search == r->searches)
        continue;
      r->arrival[to] = (struct arrival){(uint32_t)at, transition.move, r->searches};
      r->queue[last++] = (uint32_t)to;
    }
  }
  breach("the way round a component is lost");
}

static void go_round(struct round *r)
{
  struct cycles *c = r->c;
  size_t at = r->start;
  for (size_t i = 0; i < c->touched.count; i++)
    c->chances[c->touched.place[i]].owed = true;
  r->owes_bad = true;
  cycles_expand(c, r->members->place[at]);
  settle(r, true);
  while (owes(r)) {
    size_t moves = r->moves.count;
    at = go_on(r, at, false);
    if (r->moves.count == moves)
      breach("a way round that owes something does not move");
  }
  if (at != r->start || !r->moves.count)
    go_on(r, at, true);
}

static void add_moves(struct exploration *out, const struct transition_cache *cache,
                      const struct places *moves)
{
  out->again = (unsigned)moves->count;
  out->moves = memory_grow(out->moves, (out->moves_count + moves->count) * sizeof *out->moves);
  for (size_t i = 0; i < moves->count; i++)
    out->moves[out->moves_count++] = *(const struct move *)cache->moves.item[moves->place[i]].bytes;
}

/* Writes the cycle. The worker is at the end of the stem. */
static void write_round(struct cycles *c)
{
  const struct visited *visited = &c->e->visited;
  uint64_t start = visited_place(visited, c->w->state, c->w->hash);
  struct places members = {0};
  struct round r = {.c = c, .members = &members, .component = c->number[start]};
  for (uint64_t n = 0; n < visited_end(visited); n++)
    if (c->number[n] == r.component)
      places_add(&members, n);
  r.start = member(&r, start);
  r.arrival = memory_table(members.count, sizeof *r.arrival);
  r.queue = memory_grow(NULL, members.count * sizeof *r.queue);
  cycles_survey(c, members.place, members.count, r.component);
  go_round(&r);
  add_moves(c->e->out, &c->e->model.rules_cache, &r.moves);
  free(members.place);
  free(r.arrival);
  free(r.queue);
  free(r.route.place);
  free(r.moves.place);
}

void lasso_write(struct cycles *c, uint64_t first)
{
  write_stem(c, first);
  write_round(c);
}
