#include "verify/temporal/product.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/components.h"
#include "base/memory.h"

enum { TIME_STEPS = 65536 }; /* number of edges between two looks at the clock */

/* This number in place of a component's marks a node that is a component by itself, and in which a
 * run can stay. */
enum { NUMBER_STAYS = 1 };

/* Holds facts about a move in the component under examination. */
struct chance {
  uint32_t possible; /* number of the component's states in which the move is possible */
  bool taken;        /* the move leads from a state of the component to a state of the component */
  bool owed;         /* the round must take the move, or reach a state where it is not possible */
};

/* Holds the product. Node s * width + q is state s of the graph with state q of the automaton. */
struct product {
  const struct graph *g;
  const struct automaton *a;
  const struct product_bounds *bounds;
  struct components search;
  uint32_t width;
  uint64_t nodes;
  uint32_t last;    /* the last number of a component */
  uint32_t *number; /* by node: the number of the component of the node */
  size_t left;      /* number of bytes that may still be taken */
  struct chance *chance;
  uint32_t *touched; /* moves that are possible in the component */
  uint32_t touched_count;
  uint32_t *bad; /* numbers of components in which a run can stay, in falling order at the end */
  uint32_t bad_count, bad_room;
  uint64_t steps;

  /* These fields belong to searches for shortest ways. */
  uint32_t *from; /* by node: 1 + the node before it, or 0 if it was not reached */
  uint32_t *queue;
  uint32_t queued;
};

/* ---- edges ---- */

/* Returns the number of choices at a node. A choice is a next state of the automaton, together with
 * an edge of the graph or with staying in the present state. Choices of staying come after all
 * edges. */
static uint32_t choices(const struct product *p, uint64_t node)
{
  uint64_t s = node / p->width;
  uint32_t ways = (uint32_t)(p->g->edges[s + 1] - p->g->edges[s]) + 1;
  return ways * p->a->state[node % p->width].next_count;
}

/* Returns whether choice `n` leads to a node. Sets that node and the edge that the choice takes.
 * The edge is UINT64_MAX if the choice takes none. */
static bool next_node(const struct product *p, uint64_t node, uint32_t n, uint64_t *to,
                      uint64_t *edge)
{
  uint64_t s = node / p->width, first = p->g->edges[s];
  const struct automaton_state *q = &p->a->state[node % p->width];
  uint64_t way = first + n / q->next_count;
  bool stays = way == p->g->edges[s + 1];
  uint64_t state = stays ? s : p->g->edge[way].to;
  uint16_t next = q->next[n % q->next_count];
  *edge = stays ? UINT64_MAX : way;
  *to = state * p->width + next;
  return automaton_allows(&p->a->state[next], p->g->facts[state]);
}

static bool find_edge(void *ctx, uint64_t node, uint32_t *n, uint64_t *to)
{
  struct product *p = ctx;
  uint64_t edge;
  if (++p->steps % TIME_STEPS == 0 && p->bounds->is_late && p->bounds->is_late(p->bounds->ctx))
    p->search.stopped = true;
  for (uint32_t count = choices(p, node); *n < count; ++*n)
    if (next_node(p, node, *n, to, &edge)) {
      ++*n;
      return true;
    }
  return false;
}

/* ---- components ---- */

static bool is_fair_edge(const struct product *p, uint64_t edge)
{
  return edge != UINT64_MAX && !p->g->is_fault[p->g->edge[edge].move];
}

static void survey_node(struct product *p, uint64_t node, uint32_t component)
{
  uint64_t s = node / p->width, to, edge;
  for (uint64_t e = p->g->edges[s]; e < p->g->edges[s + 1]; e++)
    if (is_fair_edge(p, e) && !p->chance[p->g->edge[e].move].possible++)
      p->touched[p->touched_count++] = p->g->edge[e].move;
  for (uint32_t n = 0, count = choices(p, node); n < count; n++)
    if (next_node(p, node, n, &to, &edge) && is_fair_edge(p, edge) && p->number[to] == component)
      p->chance[p->g->edge[edge].move].taken = true;
}

static void forget_chances(struct product *p)
{
  for (uint32_t i = 0; i < p->touched_count; i++)
    p->chance[p->touched[i]] = (struct chance){0};
  p->touched_count = 0;
}

/* Notes a component of several nodes if a fair run that stays there is accepted. */
static void judge_component(void *ctx, const uint64_t *nodes, size_t count)
{
  struct product *p = ctx;
  uint64_t sets = 0;
  bool fair = true;
  for (size_t i = 0; i < count; i++) {
    sets |= p->a->state[nodes[i] % p->width].sets;
    survey_node(p, nodes[i], p->number[nodes[0]]);
  }
  for (uint32_t i = 0; i < p->touched_count; i++) {
    const struct chance *chance = &p->chance[p->touched[i]];
    fair &= chance->taken || chance->possible < count;
  }
  forget_chances(p);
  if (!fair || sets != p->a->sets)
    return;
  p->bad = memory_room(p->bad, p->bad_count, &p->bad_room, sizeof *p->bad);
  p->bad[p->bad_count++] = p->number[nodes[0]];
}

/* Returns whether a fair run can stay in this node, a component by itself, and is accepted. */
static bool can_stay(const struct product *p, uint64_t node)
{
  uint64_t s = node / p->width;
  const struct automaton_state *q = &p->a->state[node % p->width];
  bool stays = false;
  for (uint32_t i = 0; i < q->next_count; i++)
    stays |= q->next[i] == node % p->width;
  for (uint64_t e = p->g->edges[s]; e < p->g->edges[s + 1]; e++)
    stays &= !is_fair_edge(p, e);
  return stays && q->sets == p->a->sets;
}

static int downwards(const void *a, const void *b)
{
  uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
  return (one < two) - (one > two);
}

/* Finds all components that can be reached. Returns false if the search had to stop early. */
static bool find_components(struct product *p)
{
  p->search = (struct components){.number = p->number,
                                  .last = &p->last,
                                  .left = &p->left,
                                  .ctx = p,
                                  .edge = find_edge,
                                  .found = judge_component};
  for (uint32_t i = 0; i < p->a->before.next_count; i++)
    if (automaton_allows(&p->a->state[p->a->before.next[i]], p->g->facts[0]))
      components_from(&p->search, p->a->before.next[i]);
  bool complete = !p->search.stopped;
  components_clear(&p->search);
  for (uint64_t node = 0; node < p->nodes && complete; node++)
    if (p->number[node] == COMPONENT_ALONE && can_stay(p, node))
      p->number[node] = NUMBER_STAYS;
  if (p->bad_count)
    qsort(p->bad, p->bad_count, sizeof *p->bad, downwards);
  return complete;
}

static bool is_bad(const struct product *p, uint64_t node)
{
  uint32_t number = p->number[node];
  return number == NUMBER_STAYS ||
         (p->bad_count && bsearch(&number, p->bad, p->bad_count, sizeof number, downwards));
}

/* ---- ways ---- */

static void forget_way(struct product *p)
{
  for (uint32_t i = 0; i < p->queued; i++)
    p->from[p->queue[i]] = 0;
  p->queued = 0;
}

static void reach(struct product *p, uint64_t node, uint32_t from)
{
  if (p->from[node])
    return;
  p->from[node] = from;
  p->queue[p->queued++] = (uint32_t)node;
}

/* Adds an edge to the run, or none if it is UINT64_MAX because the state stays the same. */
static void add_edge(struct lasso *lasso, uint64_t edge)
{
  if (edge == UINT64_MAX)
    return;
  lasso->edge = memory_room(lasso->edge, lasso->count, &lasso->room, sizeof *lasso->edge);
  lasso->edge[lasso->count++] = edge;
}

/* Adds the first edge that leads from one node to the next. */
static void add_step(const struct product *p, struct lasso *lasso, uint64_t from, uint64_t to)
{
  uint64_t next, edge = UINT64_MAX;
  for (uint32_t n = 0, count = choices(p, from); n < count; n++)
    if (next_node(p, from, n, &next, &edge) && next == to)
      break;
  add_edge(lasso, edge);
}

/* Adds the way that the search has found to `node`. `root` is the node that it began at. */
static void add_way(const struct product *p, struct lasso *lasso, uint64_t root, uint64_t node)
{
  uint32_t count = 0, *way = NULL, room = 0;
  for (uint64_t at = node; at != root; at = p->from[at] - 1) {
    way = memory_room(way, count, &room, sizeof *way);
    way[count++] = (uint32_t)at;
  }
  for (uint64_t at = root; count--; at = way[count])
    add_step(p, lasso, at, way[count]);
  free(way);
}

/* Adds a shortest way from the beginning to a bad component. Returns the node at which the way
 * reaches the component. */
static uint64_t add_stem(struct product *p, struct lasso *lasso)
{
  uint64_t to, edge;
  for (uint32_t i = 0; i < p->a->before.next_count; i++)
    if (automaton_allows(&p->a->state[p->a->before.next[i]], p->g->facts[0]))
      reach(p, p->a->before.next[i], p->a->before.next[i] + 1u);
  for (uint32_t i = 0; i < p->queued; i++) {
    uint64_t node = p->queue[i], root = node;
    for (uint32_t n = 0, count = choices(p, node); n < count && !is_bad(p, node); n++)
      if (next_node(p, node, n, &to, &edge))
        reach(p, to, (uint32_t)node + 1);
    if (!is_bad(p, node))
      continue;
    while (p->from[root] != root + 1)
      root = p->from[root] - 1;
    add_way(p, lasso, root, node);
    forget_way(p);
    return node;
  }
  breach("the way to a component is lost");
}

/* ---- the round ---- */

struct round {
  struct product *p;
  struct lasso *lasso;
  uint64_t start;
  uint64_t sets; /* acceptance sets that the round has not visited yet */
};

/* Returns whether a node settles anything that the round owes: an acceptance set that contains the
 * node, or a move that is not possible at the node. With `pay`, removes the settled things from the
 * list of those owed. */
static bool settle(struct round *r, uint64_t node, bool pay)
{
  struct product *p = r->p;
  uint64_t s = node / p->width, sets = p->a->state[node % p->width].sets & r->sets;
  bool any = sets;
  for (uint32_t i = 0; i < p->touched_count; i++) {
    struct chance *chance = &p->chance[p->touched[i]];
    bool possible = !chance->owed;
    for (uint64_t e = p->g->edges[s]; e < p->g->edges[s + 1] && !possible; e++)
      possible = p->g->edge[e].move == p->touched[i];
    any |= !possible;
    chance->owed &= possible || !pay;
  }
  if (pay)
    r->sets &= ~sets;
  return any;
}

static bool owes(const struct round *r)
{
  bool any = r->sets;
  for (uint32_t i = 0; i < r->p->touched_count; i++)
    any |= r->p->chance[r->p->touched[i]].owed;
  return any;
}

/* Goes on by a shortest way within the component. With `back`, the way leads to the start of the
 * round; otherwise it leads to a node or an edge that settles something. Returns the node at which
 * the way ends. */
static uint64_t go_on(struct round *r, uint64_t begin, bool back)
{
  struct product *p = r->p;
  uint64_t to, edge;
  reach(p, begin, (uint32_t)begin + 1);
  for (uint32_t i = 0; i < p->queued; i++) {
    uint64_t node = p->queue[i];
    bool ends = !back && node != begin && settle(r, node, false);
    for (uint32_t n = 0, count = choices(p, node); n < count && !ends; n++) {
      if (!next_node(p, node, n, &to, &edge) || p->number[to] != p->number[r->start])
        continue;
      bool pays = is_fair_edge(p, edge) && p->chance[p->g->edge[edge].move].owed;
      if (back ? to == r->start : pays) {
        add_way(p, r->lasso, begin, node);
        add_edge(r->lasso, edge);
        if (pays)
          p->chance[p->g->edge[edge].move].owed = false;
        forget_way(p);
        settle(r, to, true);
        return to;
      }
      reach(p, to, (uint32_t)node + 1);
    }
    if (!ends)
      continue;
    add_way(p, r->lasso, begin, node);
    forget_way(p);
    settle(r, node, true);
    return node;
  }
  breach("the way round a component is lost");
}

static void add_round(struct product *p, struct lasso *lasso, uint64_t start)
{
  struct round r = {p, lasso, start, p->a->sets};
  uint32_t stem = lasso->count;
  if (p->number[start] == NUMBER_STAYS)
    return;
  for (uint64_t node = 0; node < p->nodes; node++)
    if (p->number[node] == p->number[start])
      survey_node(p, node, p->number[start]);
  for (uint32_t i = 0; i < p->touched_count; i++)
    p->chance[p->touched[i]].owed = true;
  settle(&r, start, true);
  uint64_t at = start;
  bool moves = owes(&r);
  while (owes(&r))
    at = go_on(&r, at, false);
  if (at != start || !moves)
    go_on(&r, at, true);
  lasso->again = lasso->count - stem;
}

/* ---- all of it ---- */

/* Returns memory for `count` items of `size` bytes, filled with zeroes, or NULL if the bounds do
 * not allow it. */
static void *take(struct product *p, uint64_t count, size_t size)
{
  if (count > p->left / size)
    return NULL;
  p->left -= (size_t)count * size;
  return memory_table((size_t)count + 1, size);
}

enum product_answer product_search(const struct graph *g, const struct automaton *a,
                                   const struct product_bounds *bounds, struct lasso *lasso)
{
  struct product p = {.g = g, .a = a, .bounds = bounds, .last = COMPONENT_ALONE};
  enum product_answer answer = PRODUCT_NONE;
  *lasso = (struct lasso){0};
  p.width = a->states;
  p.nodes = (uint64_t)g->states * p.width;
  p.left = bounds->bytes;
  if (p.nodes >= UINT32_MAX - 1)
    return PRODUCT_STOPPED;
  p.number = take(&p, p.nodes, sizeof *p.number);
  p.from = take(&p, p.nodes, sizeof *p.from);
  p.queue = take(&p, p.nodes, sizeof *p.queue);
  p.chance = take(&p, g->moves, sizeof *p.chance);
  p.touched = take(&p, g->moves, sizeof *p.touched);
  if (!p.number || !p.from || !p.queue || !p.chance || !p.touched || !find_components(&p))
    answer = PRODUCT_STOPPED;
  for (uint64_t node = 0; node < p.nodes && answer == PRODUCT_NONE; node++)
    if (is_bad(&p, node))
      answer = PRODUCT_FOUND;
  if (answer == PRODUCT_FOUND)
    add_round(&p, lasso, add_stem(&p, lasso));
  void *all[] = {p.number, p.from, p.queue, p.chance, p.touched, p.bad};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  return answer;
}
