#include "prove/line_proof.h"

#include <stddef.h>
#include <string.h>

#include "prove/kept.h"
#include "prove/line_goals.h"

/* ---- steps ---- */

/* Tells a fault of a step if the path of the fault can be taken. */
static void judge_fault(struct proving *g, struct path *p, const char *aspect)
{
  if (line_path_is_possible(g, p))
    line_tell_fault(g, p, aspect);
}

static void judge_list(void *ctx, struct path *p)
{
  if (*p->fault)
    judge_fault(ctx, p, "actions");
}

static void judge_actions(struct proving *g, struct path *p)
{
  struct rank_world *w = &g->h->w;
  const struct value args[] = {w->protocol, value_pointer(w->config, 0), value_pointer(w->event, 0),
                               value_pointer(w->list, 0)};
  struct path *next = path_fork(&w->x, p);
  path_enter(&w->x, next, LLVMGetNamedFunction(w->x.module, "prove_refuses"), args, 4, NULL);
  executor_run(&w->x, next, judge_list, g);
}

/* Adds the goals for the state after the step. It is the state that the move has made, as the step
 * and the step's actions have changed it. */
static void add_goals(struct proving *g, struct path *p)
{
  struct whole *h = g->h;
  struct line_move behind = *g->move;
  guint duties = behind.duties->len;
  bool gives_up = false;
  behind.now = g_memdup2(g->move->now, h->count * sizeof *behind.now);
  for (uint32_t k = 0; k < h->words; k++) {
    struct value v = path_peek(&h->w.x, p, h->w.state, 4 * k, 4);
    behind.now[word_of_memory(h, behind.rank, OF_STATE, k)] = value_ast(h->w.x.z3, &v);
  }
  const char *unknown = line_actions_take(h, &behind, p, &gives_up);
  if (unknown && !g->proof->undecided)
    g->proof->undecided = g_strdup_printf("%s: %s", behind.name, unknown);
  g->proof->gave_up += gives_up;
  if (!unknown && !gives_up)
    line_goals_add(g, p, behind.now, behind.duties, false);
  g_array_set_size(behind.duties, duties);
  g_free(behind.now);
}

static void judge_step(void *ctx, struct path *p)
{
  struct proving *g = ctx;
  if (!*p->fault && !(p->result.kind == VALUE_BITS && !p->result.bits))
    path_fault(p, NULL, "wants more actions than there is room for");
  if (*p->fault) {
    judge_fault(g, p, "memory");
    return;
  }
  judge_actions(g, p);
  add_goals(g, p);
}

static struct path *begin_step(struct proving *g)
{
  struct rank_world *w = &g->h->w;
  const struct value args[] = {w->protocol, value_pointer(w->config, 0), value_pointer(w->state, 0),
                               value_pointer(w->event, 0), value_pointer(w->list, 0)};
  struct path *p = g->move->rank < 0 ? path_new(&w->x) : rank_path(w, "prove_step", args, 5);
  for (guint i = 0; i < g->move->when->len; i++)
    path_add(&w->x, p, g->move->when->pdata[i], NULL);
  return p;
}

static void note_time(const char *move, gint64 began)
{
  if (g_getenv("RECLINE_PROVE_VERBOSE"))
    g_printerr("  %-32s %.2f s\n", move, (double)(g_get_monotonic_time() - began) / 1e6);
}

/* Assumes all clauses. The solver that divides paths is told only the protocol's clauses, because
 * the other clauses are long and rule out few paths. */
static void assume_all(struct proving *g)
{
  for (guint k = 0; k < g->h->clauses->len; k++) {
    const struct told *told = g->h->clauses->pdata[k];
    if (told->own && !line_is_left_out(g, told))
      executor_assume(&g->h->w.x, told->holds);
  }
  g->assumes = true;
}

/* Returns whether an earlier run has proved the move. If so, counts the move. */
static bool is_kept(struct proving *g, const char *move)
{
  enum kept_as as = g->kept ? kept_find(g->keep, g->kept, move) : KEPT_NOT;
  g->proof->moves += as == KEPT_PROVED || as == KEPT_DRAINS;
  g->h->w.drains |= as == KEPT_DRAINS;
  g->proof->kept += as != KEPT_NOT;
  if (as == KEPT_NEVER)
    g_ptr_array_add(g->proof->never, g_strdup(move));
  return as != KEPT_NOT;
}

/* Returns whether the move can happen. If it can, proves all paths of the move, or tells what
 * fails. */
static bool prove_paths(struct proving *g)
{
  struct executor *x = &g->h->w.x;
  struct path *p = begin_step(g);
  bool possible = line_path_is_possible(g, p);
  if (possible && g->move->rank >= 0) {
    executor_run(x, p, judge_step, g);
  } else {
    if (possible)
      line_goals_add(g, p, g->move->now, g->move->duties, false);
    path_free(x, p);
  }
  line_goals_prove(g);
  return possible;
}

static bool prove_move(void *ctx, struct line_move *m)
{
  struct proving *g = ctx;
  const struct executor *x = &g->h->w.x;
  gint64 began = g_get_monotonic_time();
  g->move = m;
  if (is_kept(g, m->name))
    return true;
  bool drains = g->h->w.drains;
  g->h->w.drains = false;
  bool possible = prove_paths(g);
  enum kept_as as = !possible ? KEPT_NEVER : g->h->w.drains ? KEPT_DRAINS : KEPT_PROVED;
  g->h->w.drains |= drains;
  note_time(m->name, began);
  if (x->late || x->unknown)
    return false;
  if (possible)
    g->proof->moves++;
  else
    g_ptr_array_add(g->proof->never, g_strdup(m->name));
  if (g->proof->failed->len || g->proof->undecided)
    return false;
  if (g->kept)
    kept_note(g->keep, g->kept, m->name, as);
  return true;
}

/* ---- the whole ---- */

/* Proves the state before the first move, without any assumption. */
static bool prove_first(struct proving *g)
{
  struct line_move first = {.name = "before the first move",
                            .rank = -1,
                            .now = line_moves_begin(g->h),
                            .duties = g_array_new(FALSE, FALSE, sizeof(struct duty))};
  struct path *p = path_new(&g->h->w.x);
  g->move = &first;
  line_goals_add(g, p, first.now, first.duties, true);
  line_goals_prove(g);
  path_free(&g->h->w.x, p);
  g_array_free(first.duties, TRUE);
  g_free(first.now);
  return !g->proof->failed->len;
}

static void count_clauses(struct proving *g)
{
  const struct whole *h = g->h;
  g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint k = 0; k < h->clauses->len; k++)
    g_hash_table_add(names, ((struct told *)h->clauses->pdata[k])->name);
  g->proof->clauses = g_hash_table_size(names);
  g->proof->instances = h->clauses->len;
}

static void conclude(struct proving *g)
{
  const struct executor *x = &g->h->w.x;
  g->proof->paths = x->paths;
  g->proof->queries = x->queries;
  if (!g->proof->undecided)
    g->proof->undecided = executor_undecided(x);
}

void line_prove(LLVMModuleRef module, const char *protocol, const struct line_asked *asked,
                struct line_proof *proof)
{
  struct whole h;
  struct proving g = {.h = &h,
                      .proof = proof,
                      .without = asked->without,
                      .keep = asked->keep,
                      .kept = asked->keep ? kept_proof(module, protocol, asked) : NULL,
                      .ends = g_ptr_array_new(),
                      .seen = g_ptr_array_new_with_free_func(g_free)};
  *proof = (struct line_proof){.never = g_ptr_array_new_with_free_func(g_free),
                               .failed = g_ptr_array_new()};
  bool found = whole_init(&h, module, protocol, &asked->worlds, asked->until);
  const char *why = found ? whole_tell_shape(&h) : "there is no such protocol in it";
  why = why ? why : whole_tell_line(&h);
  if (why && !h.w.x.late)
    proof->undecided = g_strdup(why);
  count_clauses(&g);
  h.w.x.refuses = true;
  h.w.x.most = RCL_WHOLE_MOST - 1;
  if (!proof->undecided && !h.w.x.late && prove_first(&g)) {
    assume_all(&g);
    line_moves_each(&h, prove_move, &g);
  }
  conclude(&g);
  g_ptr_array_free(g.ends, TRUE);
  g_ptr_array_free(g.seen, TRUE);
  g_free(g.kept);
  whole_clear(&h);
}

void line_proof_clear(struct line_proof *proof)
{
  for (guint i = 0; i < proof->failed->len; i++) {
    struct line_failure *f = proof->failed->pdata[i];
    g_free(f->clause);
    g_free(f->text);
    g_free(f->who);
    g_free(f->move);
    g_free(f->event);
    g_string_free(f->before, TRUE);
    g_string_free(f->after, TRUE);
    g_string_free(f->actions, TRUE);
    g_free(f);
  }
  g_ptr_array_free(proof->failed, TRUE);
  g_ptr_array_free(proof->never, TRUE);
  g_free(proof->undecided);
}
