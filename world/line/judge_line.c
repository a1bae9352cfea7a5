/* Judges property `line-invariant`, that is, the clauses that a protocol states about all ranks,
 * channels and stored states. */
#include <stdio.h>
#include <stdlib.h>

#include "base/confine.h"
#include "base/memory.h"
#include "world/line/line_view.h"
#include "world/rules/properties.h"
#include "world/rules/world_step.h"

/* Holds a judgement of one state. */
struct judgement {
  const struct line_view *view;
  const bool *pairs;                 /* line_view_judge() */
  const struct rcl_clause *asked;    /* the clause that is being asked, or NULL if there is none */
  int i, j;                          /* the ranks for which the clause is asked */
  const struct rcl_clause *violated; /* the first clause in the list that does not hold */
  struct verdict *verdict;
};

/* ---- asking ---- */

static void violate(struct judgement *g, const char *why)
{
  const struct rcl_clause *clause = g->asked;
  char who[48] = "";
  bool pair = clause->scope == RCL_OF_PAIR || clause->scope == RCL_OF_PAIR_AMONG_ALL;
  if (pair)
    snprintf(who, sizeof who, ", from rank %d to rank %d", g->i, g->j);
  *g->verdict =
      (struct verdict){.kind = VERDICT_VIOLATION, .property = "line-invariant", .rank = g->i};
  snprintf(g->verdict->text, sizeof g->verdict->text, "clause %d (%s)%s %s: %s",
           (int)(clause - g->view->w->protocol->line) + 1, clause->name, who, why, clause->text);
  g->violated = clause;
}

/* Returns whether a clause is asked for a rank. Of a dead rank only stored states are left. */
static bool is_asked(const struct judgement *g, const struct rcl_clause *clause, int rank)
{
  return clause->stored || g->view->rank[rank].standing != RCL_STANDS_DEAD;
}

static void ask(struct judgement *g, const struct rcl_clause *clause, const struct rcl_whole *whole,
                int i, int j)
{
  g->asked = clause;
  g->i = i;
  g->j = j;
  if (!clause->holds(whole, i, j))
    violate(g, "does not hold");
}

/* Returns whether to ask a clause, given those that are already known not to hold. */
static bool comes_first(const struct judgement *g, const struct rcl_clause *clause)
{
  return clause->name && (!g->violated || clause < g->violated);
}

/* Asks the clauses that see one rank (i = j) or a pair. */
static void ask_pair(struct judgement *g, int i, int j)
{
  for (const struct rcl_clause *c = g->view->w->protocol->line; comes_first(g, c); c++)
    if (((c->scope == RCL_OF_RANK && i == j) || c->scope == RCL_OF_PAIR) && is_asked(g, c, i) &&
        is_asked(g, c, j))
      ask(g, c, &g->view->narrow, i, j);
}

/* Asks a clause that sees all ranks, for the ranks or pairs that the clause is about. */
static void ask_among_all(struct judgement *g, const struct rcl_clause *clause)
{
  int ranks = g->view->w->ranks, pairs = clause->scope == RCL_OF_PAIR_AMONG_ALL ? ranks : 1;
  for (int i = 0; i < ranks && comes_first(g, clause); i++)
    for (int j = 0; j < pairs && comes_first(g, clause); j++)
      if (is_asked(g, clause, i) && (pairs == 1 || is_asked(g, clause, j)))
        ask(g, clause, &g->view->whole, i, j);
}

static void ask_all(void *data)
{
  struct judgement *g = data;
  int n = g->view->w->ranks;
  bool dead = false;
  for (int i = 0; i < n; i++) {
    dead |= g->view->rank[i].standing == RCL_STANDS_DEAD;
    for (int j = 0; j < n; j++) {
      if (g->pairs && !g->pairs[i * n + j])
        continue;
      line_view_narrow(g->view, i, j, true);
      ask_pair(g, i, j);
      line_view_narrow(g->view, i, j, false);
    }
  }
  for (const struct rcl_clause *c = g->view->w->protocol->line; comes_first(g, c); c++)
    if (c->scope == RCL_OF_ALL && !dead)
      ask(g, c, &g->view->whole, 0, 0);
    else if (c->scope == RCL_OF_RANK_AMONG_ALL || c->scope == RCL_OF_PAIR_AMONG_ALL)
      ask_among_all(g, c);
}

void line_view_judge(const struct line_view *v, const bool *asked, struct verdict *verdict)
{
  struct confine_end end;
  struct judgement g = {.view = v, .pairs = asked, .verdict = verdict};
  *verdict = (struct verdict){.kind = VERDICT_FINE};
  if (!confine_run(ask_all, &g, &end)) {
    violate(&g, end.late ? "does not end" : "touches what is not shown to it");
    line_view_narrow(v, g.i, g.j, false);
  }
  reached_judge(&verdict->reached, PROPERTY_LINE_INVARIANT);
}

/* ---- the state of a world ---- */

/* Shows all ranks and channels, in one piece of memory, which the caller frees. */
static void *show_all(struct line_view *v)
{
  int n = v->w->ranks;
  size_t rank = line_view_rank_bytes(v), channel = line_view_channel_bytes(v);
  unsigned char *memory = memory_grow(NULL, (size_t)n * rank + (size_t)(n * n) * channel),
                *at = memory;
  for (int i = 0; i < n; i++, at += rank) {
    line_view_show_rank(v, i, at);
    line_view_set_rank(v, i, at);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++, at += channel) {
      line_view_show_channel(v, i, j, at);
      line_view_set_channel(v, i, j, at);
    }
  line_view_count(v);
  return memory;
}

void world_judge_line(const struct world *w, struct verdict *verdict)
{
  struct line_view view;
  *verdict = (struct verdict){.kind = VERDICT_FINE};
  if (!w->protocol->line)
    return;
  line_view_init(&view, w);
  const struct world_global *global = read_global(w);
  line_view_begin(&view, global->committed, global->committing, global->incarnation);
  void *memory = show_all(&view);
  line_view_judge(&view, NULL, verdict);
  free(memory);
  line_view_clear(&view);
}
