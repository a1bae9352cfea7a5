/* Liveness: runs that go round for ever, under weak fairness.
 *
 * A run goes on for ever only in a strongly connected component of the graph of states. Weak
 * fairness says that a move which can happen at every moment from some time on does happen; crashes
 * and injected faults need not. A component in which some move is always possible and never leads
 * from it to itself must be left. In any other one a fair run can stay, through all of its states:
 * when one of these is not as it should be in the end (world_for_ever()), property `progress` is
 * violated. Larger components are fair where smaller ones within them are, so that looking at whole
 * components is exact. A component of one state without other states is a state at rest, or is
 * left: the search has judged it already.
 *
 * Components are found by depth-first search (Pearce, Information Processing Letters 116, 2016),
 * one number of 32 bits for each place of the visited set; moves are taken once more, from the
 * local cache. What stands on the stacks is as long as the longest way without a repetition, and
 * the largest component.
 *
 * The counterexample is a lasso: a shortest run to a state of such a component, then round through
 * it, each time by a shortest way to what weak fairness still asks for. Moves that change nothing
 * are left out. It does not depend on the order in which workers have found states.
 */
#include <stdlib.h>
#include <string.h>

#include "verify/base/breach.h"
#include "verify/base/memory.h"
#include "verify/explore/search.h"

/* A state on the way down from the first one. */
struct frame {
  uint64_t place;
  size_t first, next, end; /* its successors, in `targets`; `next` is the one to look at */
  bool root;               /* none of them leads further up, for all that is known */
};

struct places {
  uint64_t *place;
  size_t count, room;
};

/* Facts about a move in the component under examination. */
struct chance {
  uint64_t possible; /* in so many of its states */
  uint64_t seen;     /* number of the last expansion in which it was possible */
  bool taken;        /* leads from it to itself */
  bool owed;         /* the lasso must take it, or come where it is not possible */
};

struct cycles {
  struct explorer *e;
  struct worker *w;
  struct transitions transitions;
  /* Of each place, 0: new; then the order of finding; in the end, its component. */
  uint32_t *number;
  uint32_t found, component; /* the last ones given; components count downwards */
  struct frame *frames;
  size_t depth, frames_room;
  struct places targets;  /* of frames, one behind the other */
  struct places open;     /* states whose component is not complete */
  struct chance *chances; /* by move */
  uint32_t chances_room;
  struct places touched; /* moves of which something is known */
  uint64_t expansions;
  struct places bad; /* components in which a run can stay against `progress`, downwards */
};

static void push(struct places *list, uint64_t place)
{
  if (list->count == list->room) {
    list->room = list->room ? 2 * list->room : 1024;
    list->place = memory_grow(list->place, list->room * sizeof *list->place);
  }
  list->place[list->count++] = place;
}

/* The ways out of a state, in c->ways, in the world's order of moves. */
static void expand_place(struct cycles *c, uint64_t place)
{
  c->transitions.count = 0;
  c->expansions++;
  worker_expand(c->w, c->e->model.packing, visited_at(&c->e->visited, place));
}

static struct chance *chance_of(struct cycles *c, uint32_t move)
{
  c->chances = memory_zeroed_room(c->chances, move, &c->chances_room, sizeof *c->chances);
  return &c->chances[move];
}

static bool is_fair_move(const struct cycles *c, const struct transition *transition)
{
  return !is_fault(c->e->model.rules_cache.moves.item[transition->move].bytes);
}

/* Whether the way stays within the component of that number. */
static bool stays_in(const struct cycles *c, const struct transition *transition,
                     uint32_t component)
{
  return transition->to == TRANSITION_STAYS || c->number[transition->to] == component;
}

/* Verdict on a state that a run comes back to. */
static bool is_bad(struct cycles *c, struct verdict *verdict)
{
  model_load(&c->e->model, &c->w->at);
  transition_cache_forget_reads(&c->e->model.rules_cache);
  world_for_ever(c->e->model.world, verdict);
  return verdict->kind == VERDICT_VIOLATION;
}

/* ---- one component ---- */

/* Counts, for each move that is not a fault, where it is possible and whether it is taken.
 * Returns whether a run that stays here is against `progress`, if it is fair. */
static bool survey_component(struct cycles *c, const uint64_t *state, size_t count,
                             uint32_t component)
{
  struct verdict verdict;
  bool bad = false;
  for (size_t i = 0; i < count; i++) {
    expand_place(c, state[i]);
    for (uint32_t n = 0; n < c->transitions.count; n++) {
      const struct transition *transition = &c->transitions.item[n];
      struct chance *chance = chance_of(c, transition->move);
      if (!is_fair_move(c, transition))
        continue;
      if (!chance->possible++)
        push(&c->touched, transition->move);
      chance->taken |= stays_in(c, transition, component);
    }
    bad = bad || is_bad(c, &verdict);
  }
  return bad;
}

static bool is_fair(const struct cycles *c, size_t count)
{
  for (size_t i = 0; i < c->touched.count; i++) {
    const struct chance *chance = &c->chances[c->touched.place[i]];
    if (chance->possible == count && !chance->taken)
      return false;
  }
  return true;
}

static void forget_chances(struct cycles *c)
{
  for (size_t i = 0; i < c->touched.count; i++)
    c->chances[c->touched.place[i]] = (struct chance){0};
  c->touched.count = 0;
}

static void judge_component(struct cycles *c, const uint64_t *state, size_t count)
{
  bool bad = survey_component(c, state, count, c->component);
  if (bad && is_fair(c, count))
    push(&c->bad, c->component);
  forget_chances(c);
}

/* ---- all components ---- */

static void enter_state(struct cycles *c, uint64_t place)
{
  if (c->depth == c->frames_room) {
    c->frames_room = c->frames_room ? 2 * c->frames_room : 256;
    c->frames = memory_grow(c->frames, c->frames_room * sizeof *c->frames);
  }
  struct frame *frame = &c->frames[c->depth++];
  *frame = (struct frame){
      .place = place, .first = c->targets.count, .next = c->targets.count, .root = true};
  c->number[place] = ++c->found;
  expand_place(c, place);
  for (uint32_t i = 0; i < c->transitions.count; i++)
    if (c->transitions.item[i].to != TRANSITION_STAYS)
      push(&c->targets, c->transitions.item[i].to);
  frame->end = c->targets.count;
}

static void leave_state(struct cycles *c)
{
  const struct frame *frame = &c->frames[--c->depth];
  size_t first = c->open.count;
  c->targets.count = frame->first;
  push(&c->open, frame->place);
  if (!frame->root)
    return;
  while (first > 0 && c->number[c->open.place[first - 1]] >= c->number[frame->place])
    first--;
  c->component--;
  for (size_t i = first; i < c->open.count; i++)
    c->number[c->open.place[i]] = c->component;
  c->found -= (uint32_t)(c->open.count - first);
  if (c->open.count - first > 1)
    judge_component(c, c->open.place + first, c->open.count - first);
  c->open.count = first;
}

static void find_components(struct cycles *c, uint64_t first)
{
  enter_state(c, first);
  while (c->depth) {
    struct frame *frame = &c->frames[c->depth - 1];
    if (frame->next == frame->end) {
      leave_state(c);
      continue;
    }
    uint64_t to = c->targets.place[frame->next];
    if (!c->number[to]) {
      enter_state(c, to);
      continue;
    }
    if (c->number[to] < c->number[frame->place]) {
      c->number[frame->place] = c->number[to];
      frame->root = false;
    }
    frame->next++;
  }
}

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

/* Adds what can be reached from `level` in one move, and was not before. */
static void next_level(struct cycles *c, const struct places *level, struct places *next,
                       uint8_t *seen)
{
  next->count = 0;
  for (size_t i = 0; i < level->count; i++) {
    expand_place(c, level->place[i]);
    for (uint32_t n = 0; n < c->transitions.count; n++) {
      uint64_t to = c->transitions.item[n].to;
      if (to == TRANSITION_STAYS || seen[to])
        continue;
      seen[to] = true;
      push(next, to);
    }
  }
}

/* The states of bad components that lie nearest to the first state, as those that violate. */
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
  push(&level, first);
  c->e->out->depth = 0;
  for (note_nearest(c, &level); !c->w->violating.count; note_nearest(c, &level)) {
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

/* How a state of the component was reached. */
struct arrival {
  size_t from; /* its place among the members */
  uint32_t move;
  bool reached;
};

struct round {
  struct cycles *c;
  const struct places *members; /* by place */
  uint32_t component;
  size_t start;
  struct arrival *arrival; /* of each member */
  size_t *queue;
  struct places route; /* members behind the start, one after the other; with the moves to them: */
  struct places moves;
  bool owes_bad; /* it has not come to a state that is not as it should be in the end */
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

/* In the state that has just been expanded: whether a move that is owed is not possible, or changes
 * nothing, or the state is a bad one that is owed. When `pay`: these are owed no more. */
static bool settle(struct round *r, bool pay)
{
  struct cycles *c = r->c;
  struct verdict verdict;
  bool any = false;
  for (uint32_t n = 0; n < c->transitions.count; n++)
    if (c->transitions.item[n].to != TRANSITION_STAYS)
      chance_of(c, c->transitions.item[n].move)->seen = c->expansions;
  for (size_t i = 0; i < c->touched.count; i++) {
    struct chance *chance = &c->chances[c->touched.place[i]];
    bool settled = chance->owed && chance->seen != c->expansions;
    any |= settled;
    chance->owed &= !(settled && pay);
  }
  if (!r->owes_bad || !is_bad(c, &verdict))
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
  push(&r->route, to);
  push(&r->moves, move);
  chance_of(r->c, move)->owed = false;
  expand_place(r->c, r->members->place[to]);
  settle(r, true);
}

/* Goes to `to` as the search has found it, from the state where that began. */
static void go_there(struct round *r, size_t from, size_t to)
{
  size_t count = 0;
  for (size_t at = to; at != from; at = r->arrival[at].from)
    r->queue[count++] = at;
  while (count--)
    go_step(r, r->queue[count], r->arrival[r->queue[count]].move);
}

/* Goes from `from` a shortest way by which something owed is settled, or, `back`, to the start.
 * Returns where it ends. */
static size_t go_on(struct round *r, size_t from, bool back)
{
  struct cycles *c = r->c;
  size_t next = 0, last = 0;
  memset(r->arrival, 0, r->members->count * sizeof *r->arrival);
  r->arrival[from].reached = true;
  r->queue[last++] = from;
  while (next < last) {
    size_t at = r->queue[next++];
    expand_place(c, r->members->place[at]);
    if (!back && settle(r, false)) {
      go_there(r, from, at);
      return at;
    }
    for (uint32_t n = 0; n < c->transitions.count; n++) {
      const struct transition transition = c->transitions.item[n];
      if (transition.to == TRANSITION_STAYS || c->number[transition.to] != r->component)
        continue;
      size_t to = member(r, transition.to);
      if (back ? to == r->start : chance_of(c, transition.move)->owed) {
        go_there(r, from, at);
        go_step(r, to, transition.move);
        return to;
      }
      if (r->arrival[to].reached)
        continue;
      r->arrival[to] = (struct arrival){.from = at, .move = transition.move, .reached = true};
      r->queue[last++] = to;
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
  expand_place(c, r->members->place[at]);
  settle(r, true);
  while (owes(r))
    at = go_on(r, at, false);
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

/* The worker stands at the end of the stem. */
static void write_round(struct cycles *c)
{
  const struct visited *visited = &c->e->visited;
  uint64_t start = visited_place(visited, c->w->state, c->w->hash);
  struct round r = {.c = c, .members = &c->open, .component = c->number[start]};
  c->open.count = 0;
  for (uint64_t n = 0; n < visited_end(visited); n++)
    if (c->number[n] == r.component)
      push(&c->open, n);
  r.start = member(&r, start);
  r.arrival = memory_grow(NULL, c->open.count * sizeof *r.arrival);
  r.queue = memory_grow(NULL, c->open.count * sizeof *r.queue);
  survey_component(c, c->open.place, c->open.count, r.component);
  go_round(&r);
  add_moves(c->e->out, &c->e->model.rules_cache, &r.moves);
  free(r.arrival);
  free(r.queue);
  free(r.route.place);
  free(r.moves.place);
}

/* ---- beginning and end ---- */

static bool has_room(const struct explorer *e)
{
  uint64_t bytes = visited_end(&e->visited) * sizeof(uint32_t);
  return e->visited.count < UINT32_MAX / 2 &&
         (!e->model.options->max_bytes || explorer_bytes(e) + bytes <= e->model.options->max_bytes);
}

static void clear(struct cycles *c)
{
  void *all[] = {c->transitions.item, c->number,  c->frames,        c->targets.place,
                 c->open.place,       c->chances, c->touched.place, c->bad.place};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
}

void liveness_judge(struct explorer *e)
{
  if (!has_room(e)) {
    e->out->verdict = EXPLORER_INCONCLUSIVE;
    e->out->bound = "memory";
    return;
  }
  struct cycles c = {.e = e, .w = &e->worker[0], .component = UINT32_MAX};
  uint32_t first[PACKING_WORDS];
  packing_pack(e->model.packing, e->model.first, first);
  uint64_t place =
      visited_place(&e->visited, first, packing_hash(e->model.packing, e->model.first));
  c.number = calloc(visited_end(&e->visited), sizeof *c.number);
  if (!c.number) {
    breach("out of memory");
  }
  c.w->outgoing = &c.transitions;
  find_components(&c, place);
  if (c.bad.count) {
    write_stem(&c, place);
    write_round(&c);
    e->out->verdict = EXPLORER_VIOLATED;
  }
  c.w->outgoing = NULL;
  clear(&c);
}
