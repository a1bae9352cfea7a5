/* Compares automata, and the search for fair runs, with the meaning of formulas, on randomly drawn
 * formulas, words and graphs. The reference for formulas, temporal_holds(), has no automaton. The
 * reference for the search lists all short runs of a graph. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "protocols/t/tap.h"
#include "verify/temporal/product.h"

static uint64_t seed = 20261128;

static uint32_t draw(uint32_t count)
{
  seed += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t mixed = seed;
  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
  return (uint32_t)((mixed ^ mixed >> 31) % count);
}

/* ---- formulas ---- */

static void draw_formula(char *text, size_t room, unsigned depth)
{
  static const char *const facts[] = {"crashed 0", "held 0", "capturing 0", "true", "false"};
  static const char *const before[] = {"!", "[] ", "<> "};
  static const char *const between[] = {"U", "W", "R", "&&", "||", "->", "<->"};
  char left[400], right[400];
  if (!depth || draw(5) == 0) {
    snprintf(text, room, "%s", facts[draw(8) ? draw(3) : 3 + draw(2)]);
    return;
  }
  draw_formula(left, sizeof left, depth - 1);
  if (draw(5) < 2) {
    snprintf(text, room, "%s(%.380s)", before[draw(3)], left);
    return;
  }
  draw_formula(right, sizeof right, depth - 1);
  snprintf(text, room, "(%.180s %s %.180s)", left, between[draw(7)], right);
}

static void draw_parsed(struct temporal *t)
{
  char text[400], problem[TEMPORAL_PROBLEM];
  do
    draw_formula(text, sizeof text, 1 + draw(3));
  while (strlen(text) >= TEMPORAL_TEXT || !temporal_parse(t, text, 1, problem));
}

/* ---- graphs ---- */

enum { STATES = 6, MOVES = 4, EDGES = STATES * MOVES };

struct drawn {
  struct graph g;
  uint64_t edges[STATES + 1];
  struct graph_edge edge[EDGES];
  uint32_t facts[STATES];
  bool is_fault[EDGES];
};

static void begin_graph(struct drawn *d, uint32_t states, uint32_t facts)
{
  *d = (struct drawn){.g = {.states = states, .moves = EDGES}};
  d->g.edges = d->edges;
  d->g.edge = d->edge;
  d->g.facts = d->facts;
  d->g.is_fault = d->is_fault;
  for (uint32_t s = 0; s < states; s++)
    d->facts[s] = draw(1U << facts);
}

static void add_edge(struct drawn *d, uint32_t to, uint32_t move)
{
  d->edge[d->edges[STATES]++] = (struct graph_edge){to, move};
}

/* Draws a graph with one run, a lasso: after the last state the run goes on at state `again`. If
 * `again` is the last state, the run ends there. */
static uint32_t draw_word(struct drawn *d, uint32_t facts)
{
  uint32_t states = 1 + draw(STATES), again = draw(states), s;
  begin_graph(d, states, facts);
  for (s = 0; s < states; s++) {
    d->edges[s] = s;
    if (s + 1 < states || again != s)
      add_edge(d, s + 1 < states ? s + 1 : again, s);
  }
  d->edges[states] = d->edges[STATES];
  return again;
}

static void draw_graph(struct drawn *d, uint32_t facts)
{
  uint64_t count = 0;
  begin_graph(d, 1 + draw(STATES), facts);
  for (uint32_t move = 0; move < MOVES; move++)
    d->is_fault[move] = draw(4) == 0;
  for (uint32_t s = 0; s < d->g.states; s++) {
    d->edges[s] = count;
    for (uint32_t move = 0; move < MOVES; move++) {
      uint32_t to = draw(d->g.states);
      if (draw(2) && to != s)
        d->edge[count++] = (struct graph_edge){to, move};
    }
  }
  d->edges[d->g.states] = count;
}

/* ---- runs of a graph ---- */

enum { LONGEST = 7 };

struct run {
  const struct graph *g;
  const struct temporal *t;
  uint64_t edge[LONGEST + 1];
  uint32_t state[LONGEST + 2], count; /* edges */
  bool violates;
};

static bool can(const struct graph *g, uint32_t state, uint32_t move)
{
  for (uint64_t e = g->edges[state]; e < g->edges[state + 1]; e++)
    if (g->edge[e].move == move)
      return true;
  return false;
}

/* Returns whether the run is fair if its states from number `again` on repeat for ever. If `again`
 * is the last state, the run stays there for ever. */
static bool is_fair(const struct graph *g, const uint32_t *state, const uint64_t *edge,
                    uint32_t count, uint32_t again)
{
  bool fair = true;
  for (uint32_t move = 0; move < g->moves; move++) {
    bool rests = g->is_fault[move];
    for (uint32_t i = again; i < count; i++)
      rests |= g->edge[edge[i]].move == move || !can(g, state[i], move);
    if (again == count)
      rests |= !can(g, state[count], move);
    fair &= rests;
  }
  return fair;
}

static bool violates(const struct graph *g, const struct temporal *t, const uint32_t *state,
                     uint32_t count, uint32_t again)
{
  uint32_t *facts = memory_table(count + 1, sizeof *facts);
  for (uint32_t i = 0; i <= count; i++)
    facts[i] = g->facts[state[i]];
  /* The last state equals the state at `again`, so it is left out, unless the run stays in it. */
  bool holds = temporal_holds(t, facts, again == count ? count + 1 : count, again);
  free(facts);
  return !holds;
}

/* Tries all runs that begin with the present one. */
static void try_runs(struct run *r)
{
  uint32_t at = r->state[r->count];
  for (uint32_t again = 0; again <= r->count && !r->violates; again++)
    r->violates = r->state[again] == at && is_fair(r->g, r->state, r->edge, r->count, again) &&
                  violates(r->g, r->t, r->state, r->count, again);
  for (uint64_t e = r->g->edges[at]; e < r->g->edges[at + 1] && r->count < LONGEST && !r->violates;
       e++) {
    r->edge[r->count++] = e;
    r->state[r->count] = r->g->edge[e].to;
    try_runs(r);
    r->count--;
  }
}

/* Returns whether the run that the search found is one of the graph, fair, and violates. */
static bool is_right(const struct graph *g, const struct temporal *t, const struct lasso *lasso)
{
  uint32_t *state = memory_table(lasso->count + 1, sizeof *state);
  bool right = lasso->again <= lasso->count;
  for (uint32_t i = 0; i < lasso->count; i++) {
    right &= lasso->edge[i] >= g->edges[state[i]] && lasso->edge[i] < g->edges[state[i] + 1];
    state[i + 1] = g->edge[lasso->edge[i]].to;
  }
  uint32_t again = lasso->count - lasso->again;
  right = right && state[again] == state[lasso->count] &&
          is_fair(g, state, lasso->edge, lasso->count, again) &&
          violates(g, t, state, lasso->count, again);
  free(state);
  return right;
}

/* ---- tests ---- */

static enum product_answer search(const struct graph *g, const struct temporal *t,
                                  struct lasso *lasso)
{
  struct automaton a;
  const struct product_bounds bounds = {.bytes = 1 << 26};
  enum product_answer answer = PRODUCT_STOPPED;
  *lasso = (struct lasso){0};
  if (automaton_make(&a, t, true))
    answer = product_search(g, &a, &bounds, lasso);
  automaton_clear(&a);
  return answer;
}

/* The automaton accepts a word exactly if the formula does not hold of it. */
static void test_words(unsigned count)
{
  unsigned wrong = 0, held = 0, failed = 0;
  for (unsigned i = 0; i < count; i++) {
    struct temporal t;
    struct drawn d;
    struct lasso lasso;
    draw_parsed(&t);
    uint32_t again = draw_word(&d, t.facts);
    bool holds = temporal_holds(&t, d.facts, d.g.states, again);
    enum product_answer answer = search(&d.g, &t, &lasso);
    held += holds;
    failed += !holds;
    if (answer == (holds ? PRODUCT_NONE : PRODUCT_FOUND))
      continue;
    wrong++;
    note("%s: holds %d, search %d, %u states, again from %u", t.text, holds, answer, d.g.states,
         again);
    free(lasso.edge);
  }
  ok(!wrong && held > count / 10 && failed > count / 10,
     "%u words: an automaton accepts those of which its formula does not hold (%u, %u)", count,
     held, failed);
}

static void test_graphs(unsigned count)
{
  unsigned wrong = 0, found = 0, none = 0;
  for (unsigned i = 0; i < count; i++) {
    struct temporal t;
    struct drawn d;
    struct lasso lasso;
    draw_parsed(&t);
    draw_graph(&d, t.facts);
    struct run run = {.g = &d.g, .t = &t};
    enum product_answer answer = search(&d.g, &t, &lasso);
    try_runs(&run);
    bool right = answer == PRODUCT_FOUND ? is_right(&d.g, &t, &lasso)
                                         : answer == PRODUCT_NONE && !run.violates;
    found += answer == PRODUCT_FOUND;
    none += answer == PRODUCT_NONE;
    wrong += !right;
    if (!right)
      note("%s: search %d, all short runs %d", t.text, answer, run.violates);
    free(lasso.edge);
  }
  ok(!wrong && found > count / 10 && none > count / 10,
     "%u graphs: what the search finds is fair and violates; else no short run does (%u, %u)",
     count, found, none);
}

static void test_syntax(void)
{
  static const struct {
    const char *text, *problem;
  } wrong[] = {{"", "the formula ends"},
               {"[] (crashed", "expected an operator or )"},
               {"crashed finished", "expected an operator (U"},
               {"X crashed", "expected no X"},
               {"crashd", "found 'crashd', expected a fact (crashed"},
               {"crashed 2", "the number of a rank"},
               {"committed 0", "a number from 1"},
               {"message 0", "a sender and a receiver"},
               {"requested 1", "no number"},
               {"crashed -> ", "the formula ends"},
               {"!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!crashed", "more than 32"}};
  struct temporal t;
  char problem[TEMPORAL_PROBLEM];
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (!ok(!temporal_parse(&t, wrong[i].text, 2, problem) && strstr(problem, wrong[i].problem),
            "refused: '%s'", wrong[i].text))
      note("%s", problem);
  const uint32_t facts[] = {1, 0};
  ok(temporal_parse(&t, "crashed -> held || crashed && held U held", 1, problem) &&
         !temporal_holds(&t, facts, 2, 1),
     "U binds more than &&, && more than ||, || more than ->");
}

int main(void)
{
  const char *more = getenv("RECLINE_RANDOM");
  unsigned count = more ? (unsigned)strtoul(more, NULL, 10) : 20000;
  test_syntax();
  test_words(count);
  test_graphs(count);
  return done();
}
