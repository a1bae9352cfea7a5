/* Judges property `ltl`: whether every weakly fair run makes a temporal formula true.
 *
 * When all states were seen and no state violates another property, their graph is written down:
 * the moves that lead from each state to another state, and the facts of each state. The order is
 * that of a search by one worker, so the counterexample does not depend on the number of workers.
 * An automaton accepts the runs of which the formula is false, and product.h looks for a fair run
 * among these.
 *
 * The search uses no reduction, because no reduction is known to preserve all formulas.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/breach.h"
#include "base/memory.h"
#include "verify/explore/cycles.h"
#include "verify/temporal/product.h"
#include "world/rules/properties.h"

enum { LOOK_EXPANSIONS = 4096 }; /* number of states between two looks at the clock and at memory */

struct runs {
  struct explorer *e;
  struct cycles cycles;
  struct graph g;
  struct places order;  /* by state of the graph: its place in the visited set */
  uint32_t *state_of;   /* by place: 1 + its state of the graph, or 0 if there is none yet */
  uint64_t edges, room; /* number of edges so far, and room for edges */
  uint64_t began;       /* number of bytes of the explorer's tables at the beginning */
  const char *bound;    /* the bound that was hit, or NULL if there is none */
};

static bool is_late(void *ctx)
{
  return search_is_late(((const struct runs *)ctx)->e);
}

static size_t bytes_left(const struct runs *r)
{
  uint64_t most = r->e->model.options->max_bytes, taken = r->began;
  taken += visited_end(&r->e->visited) * sizeof *r->state_of + r->room * sizeof *r->g.edge;
  taken += r->order.room * (sizeof *r->order.place + sizeof *r->g.edges + sizeof *r->g.facts);
  return !most ? SIZE_MAX : taken < most ? (size_t)(most - taken) : 0;
}

static uint32_t state_at(struct runs *r, uint64_t place)
{
  if (!r->state_of[place]) {
    places_add(&r->order, place);
    r->state_of[place] = (uint32_t)r->order.count;
  }
  return r->state_of[place] - 1;
}

static uint32_t facts_here(struct runs *r)
{
  struct model *m = &r->e->model;
  platform_lock(m->rules);
  model_show(m, &r->cycles.w->at);
  uint32_t facts = temporal_facts(m->options->temporal, m->world);
  platform_unlock(m->rules);
  return facts;
}

/* Writes down the moves out of a state, and its facts. */
static void add_state(struct runs *r, uint32_t state)
{
  struct cycles *c = &r->cycles;
  cycles_expand(c, r->order.place[state]);
  r->g.facts[state] = facts_here(r);
  r->g.edges[state] = r->edges;
  if (r->edges + c->transitions.count > r->room) {
    r->room = 2 * r->room + c->transitions.count;
    r->g.edge = memory_grow(r->g.edge, r->room * sizeof *r->g.edge);
  }
  for (uint32_t n = 0; n < c->transitions.count; n++) {
    const struct transition *transition = &c->transitions.item[n];
    uint32_t to = transition->to == TRANSITION_STAYS ? state : state_at(r, transition->to);
    if (to != state)
      r->g.edge[r->edges++] = (struct graph_edge){to, transition->move};
  }
}

/* Writes down the graph, unless a bound is hit. */
static void make_graph(struct runs *r)
{
  const struct explorer *e = r->e;
  uint32_t first[PACKING_WORDS];
  size_t states = (size_t)e->out->states + 1;
  r->state_of = memory_table((size_t)visited_end(&e->visited), sizeof *r->state_of);
  r->g.facts = memory_table(states, sizeof *r->g.facts);
  r->g.edges = memory_table(states, sizeof *r->g.edges);
  packing_pack(e->model.packing, e->model.first, first);
  state_at(r, visited_place(&e->visited, first, packing_hash(e->model.packing, e->model.first)));
  for (uint32_t state = 0; state < r->order.count && !r->bound; state++) {
    REQUIRE(r->order.count < states, "no state is new after the search");
    add_state(r, state);
    if (state % LOOK_EXPANSIONS == 0 && is_late(r))
      r->bound = "timeout";
    if (state % LOOK_EXPANSIONS == 0 && !bytes_left(r))
      r->bound = "memory";
  }
  r->g.states = (uint32_t)r->order.count;
  r->g.edges[r->g.states] = r->edges;
  const struct intern *moves = &e->model.rules_cache.moves;
  r->g.moves = moves->count + 1;
  r->g.is_fault = memory_table(r->g.moves, sizeof *r->g.is_fault);
  for (uint32_t move = 1; move <= moves->count; move++)
    r->g.is_fault[move] = is_fault(moves->item[move].bytes);
}

/* Looks for a fair run of which `formula` is false. */
static enum product_answer search(struct runs *r, const struct temporal *formula,
                                  struct lasso *lasso)
{
  struct automaton automaton;
  enum product_answer answer = PRODUCT_STOPPED;
  const struct product_bounds bounds = {bytes_left(r), is_late, r};
  *lasso = (struct lasso){0};
  if (!automaton_make(&automaton, formula, true))
    r->bound = "size of the formula";
  else
    answer = product_search(&r->g, &automaton, &bounds, lasso);
  automaton_clear(&automaton);
  if (answer == PRODUCT_STOPPED && !r->bound)
    r->bound = is_late(r) ? "timeout" : "memory";
  return answer;
}

/* Fills in the counterexample. Asks once more, without an automaton, whether the formula is
 * false. */
static void write_run(struct runs *r, const struct lasso *lasso)
{
  const struct temporal *formula = r->e->model.options->temporal;
  struct exploration *out = r->e->out;
  uint32_t *facts = memory_table((size_t)lasso->count + 1, sizeof *facts);
  out->moves = memory_table((size_t)lasso->count + 1, sizeof *out->moves);
  facts[0] = r->g.facts[0];
  for (uint32_t i = 0; i < lasso->count; i++) {
    const struct graph_edge *edge = &r->g.edge[lasso->edge[i]];
    out->moves[i] = *(const struct move *)r->e->model.rules_cache.moves.item[edge->move].bytes;
    facts[i + 1] = r->g.facts[edge->to];
  }
  uint32_t states = lasso->count + !lasso->again, again = lasso->count - lasso->again;
  REQUIRE(!temporal_holds(formula, facts, states, again), "a run that is found is one that counts");
  free(facts);
  out->moves_count = lasso->count;
  out->again = lasso->again;
  out->verdict = EXPLORER_VIOLATED;
  temporal_violate(formula->text, lasso->again, &out->why);
}

/* ---- whether the formula says anything ---- */

/* Tries the formula with a constant in place of a subformula. If the formula still holds, notes
 * this. */
static void try_without(struct runs *r, unsigned node, bool value, const char *what)
{
  struct temporal weaker = *r->e->model.options->temporal;
  struct lasso lasso;
  if (*r->e->out->trivial || r->bound)
    return;
  weaker.node[node].kind = value ? TEMPORAL_TRUE : TEMPORAL_FALSE;
  if (search(r, &weaker, &lasso) == PRODUCT_NONE)
    snprintf(r->e->out->trivial, sizeof r->e->out->trivial,
             "'%s' also holds with '%s' in place of %s", weaker.text, value ? "true" : "false",
             what);
  free(lasso.edge);
}

/* Tries the formula without each of its facts, and without the consequence of each `->`. A constant
 * replaces this subformula, such that the formula is harder to fulfil. Facts in a condition are
 * kept, because a formula that holds whether or not its condition is met still says something. */
static void try_parts(struct runs *r, unsigned number, bool positive)
{
  const struct temporal *formula = r->e->model.options->temporal;
  const struct temporal_node *node = &formula->node[number];
  char what[48];
  switch ((enum temporal_kind)node->kind) {
  case TEMPORAL_TRUE:
  case TEMPORAL_FALSE:
  case TEMPORAL_EQUALS: /* each of its operands is a condition of the other one */
    break;
  case TEMPORAL_FACT:
    temporal_fact_text(formula, node->fact, what, sizeof what);
    try_without(r, number, !positive, what);
    break;
  case TEMPORAL_IMPLIES:
    if (positive)
      try_without(r, node->right, false, "what follows '->'");
    else
      try_parts(r, node->left, true);
    try_parts(r, node->right, positive);
    break;
  case TEMPORAL_NOT:
    try_parts(r, node->left, !positive);
    break;
  case TEMPORAL_ALWAYS:
  case TEMPORAL_EVENTUALLY:
    try_parts(r, node->left, positive);
    break;
  case TEMPORAL_AND:
  case TEMPORAL_OR:
  case TEMPORAL_UNTIL:
  case TEMPORAL_WEAK:
  case TEMPORAL_RELEASE:
    try_parts(r, node->left, positive);
    try_parts(r, node->right, positive);
    break;
  }
}

/* ---- the whole ---- */

static void judge_graph(struct runs *r)
{
  const struct temporal *formula = r->e->model.options->temporal;
  struct lasso lasso;
  enum product_answer answer = search(r, formula, &lasso);
  if (answer == PRODUCT_FOUND)
    write_run(r, &lasso);
  else if (answer == PRODUCT_NONE)
    try_parts(r, formula->root, true);
  free(lasso.edge);
}

void temporal_judge(struct explorer *e)
{
  struct runs r = {.e = e, .began = explorer_bytes(e)};
  if (e->exchange || e->archiving) {
    explorer_stop(e, e->exchange ? "memory of one process" : "memory");
    return;
  }
  r.cycles = (struct cycles){.e = e, .w = &e->worker[0]};
  r.cycles.w->outgoing = &r.cycles.transitions;
  make_graph(&r);
  r.cycles.w->outgoing = NULL;
  if (!r.bound)
    judge_graph(&r);
  if (r.bound && e->out->verdict != EXPLORER_VIOLATED)
    explorer_stop(e, r.bound);
  else
    reached_judge(&e->out->reached, PROPERTY_LTL);
  void *all[] = {r.cycles.transitions.item,
                 r.order.place,
                 r.state_of,
                 r.g.edges,
                 r.g.edge,
                 r.g.facts,
                 r.g.is_fault};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
}
