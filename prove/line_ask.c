#include "prove/line_goals.h"

enum { SEEN_MOST = 24 };

bool line_is_left_out(const struct proving *g, const struct told *told)
{
  return g->without && g_str_equal(told->name, g->without);
}

/* Asserts the clauses that speak only of the places `about`, or all clauses if `about` is NULL.
 * Returns whether it left out any clause. */
static bool assert_clauses(struct proving *g, Z3_solver solver, const struct places *about)
{
  bool fewer = false;
  for (guint k = 0; k < g->h->clauses->len && g->assumes; k++) {
    const struct told *told = g->h->clauses->pdata[k];
    if (line_is_left_out(g, told))
      continue;
    if (about && !places_are_within(places_of(g->h, told->holds), *about))
      fewer = true;
    else
      Z3_solver_assert(g->h->w.x.z3, solver, told->holds);
  }
  return fewer;
}

static bool answer(struct proving *g, Z3_solver solver, Z3_ast term, Z3_model *model)
{
  struct executor *x = &g->h->w.x;
  Z3_solver_assert(x->z3, solver, term);
  executor_set_bounds(x, solver);
  x->queries++;
  Z3_lbool said = Z3_solver_check(x->z3, solver);
  x->unknown += said == Z3_L_UNDEF;
  if (said == Z3_L_TRUE && model) {
    *model = Z3_solver_get_model(x->z3, solver);
    Z3_model_inc_ref(x->z3, *model);
  }
  Z3_solver_dec_ref(x->z3, solver);
  return said == Z3_L_TRUE;
}

bool line_is_possible(struct proving *g, Z3_ast term, struct places about, Z3_model *model)
{
  struct executor *x = &g->h->w.x;
  unsigned unknown = x->unknown;
  Z3_solver solver = executor_solver_anew(x);
  about = places_joined(about, places_of(g->h, g->h->before[GLOBAL_COMMITTED]));
  bool fewer = assert_clauses(g, solver, &about);
  if (!answer(g, solver, term, fewer ? NULL : model) && x->unknown == unknown)
    return false;
  if (!fewer)
    return x->unknown == unknown;
  x->unknown = unknown;
  solver = executor_solver_anew(x);
  assert_clauses(g, solver, NULL);
  return answer(g, solver, term, model);
}

/* ---- states that were seen ---- */

static void note_state(struct proving *g, Z3_model model)
{
  const struct whole *h = g->h;
  Z3_ast *state = g_new(Z3_ast, h->count);
  for (uint32_t k = 0; k < h->count; k++)
    if (!Z3_model_eval(h->w.x.z3, model, h->before[k], true, &state[k]))
      state[k] = number(h, 0);
  if (g->seen->len == SEEN_MOST)
    g_ptr_array_remove_index(g->seen, 0);
  g_ptr_array_add(g->seen, state);
}

/* Returns whether the term is possible in that state. In the state, only terms that are not words,
 * such as the fields of events, are unknown. */
static bool is_possible_in(struct proving *g, Z3_ast term, const Z3_ast *state, Z3_model *model)
{
  const struct whole *h = g->h;
  struct executor *x = &g->h->w.x;
  Z3_ast here = Z3_simplify(x->z3, whole_in(h, term, state));
  if (Z3_get_bool_value(x->z3, here) == Z3_L_FALSE)
    return false;
  Z3_solver solver = executor_solver_anew(x);
  for (uint32_t k = 0; k < h->count; k++)
    Z3_solver_assert(x->z3, solver, same(h, h->before[k], state[k]));
  return answer(g, solver, here, model);
}

bool line_was_possible(struct proving *g, Z3_ast term, Z3_model *model)
{
  for (guint k = g->seen->len; k > 0; k--)
    if (is_possible_in(g, term, g->seen->pdata[k - 1], model))
      return true;
  if (!line_is_possible(g, term, places_everywhere(), model))
    return false;
  note_state(g, *model);
  return true;
}
