#include "prove/execute/execute.h"

void executor_assume(struct executor *x, Z3_ast term)
{
  if (x->asserted->len) /* drops the conditions of paths, because the term must lie below them on
                           the stack */
    Z3_solver_pop(x->z3, x->solver, x->asserted->len);
  g_ptr_array_set_size(x->asserted, 0);
  Z3_solver_assert(x->z3, x->solver, term);
}

/* Returns a tactic that solves equations before it searches. Z3's own tactic for bit-vectors takes
 * longer to prepare the questions of the prover than to answer them. */
static Z3_tactic tactic_of(Z3_context z)
{
  static const char *const steps[] = {"propagate-values", "solve-eqs", "elim-uncnstr", "simplify",
                                      "smt"};
  Z3_tactic all = Z3_mk_tactic(z, "simplify");
  Z3_tactic_inc_ref(z, all);
  for (unsigned i = 0; i < G_N_ELEMENTS(steps); i++) {
    Z3_tactic step = Z3_mk_tactic(z, steps[i]), before = all;
    Z3_tactic_inc_ref(z, step);
    all = Z3_tactic_and_then(z, before, step);
    Z3_tactic_inc_ref(z, all);
    Z3_tactic_dec_ref(z, step);
    Z3_tactic_dec_ref(z, before);
  }
  return all;
}

Z3_solver executor_solver_anew(struct executor *x)
{
  Z3_tactic tactic = tactic_of(x->z3);
  Z3_solver solver = Z3_mk_solver_from_tactic(x->z3, tactic);
  Z3_solver_inc_ref(x->z3, solver);
  Z3_tactic_dec_ref(x->z3, tactic);
  return solver;
}

void executor_set_bounds(const struct executor *x, Z3_solver solver)
{
  const unsigned never = G_MAXUINT;
  gint64 left = (x->until - g_get_monotonic_time()) / 1000;
  Z3_params params = Z3_mk_params(x->z3);
  Z3_params_inc_ref(x->z3, params);
  Z3_params_set_uint(x->z3, params, Z3_mk_string_symbol(x->z3, "timeout"),
                     x->until ? (unsigned)CLAMP(left, 1, G_MAXINT) : never);
  Z3_params_set_uint(x->z3, params, Z3_mk_string_symbol(x->z3, "rlimit"), x->effort);
  Z3_solver_set_params(x->z3, solver, params);
  Z3_params_dec_ref(x->z3, params);
}

/* Makes the solver's stack hold the conditions of the path. Conditions that the stack
 * already holds stay there. */
static void go_to(struct executor *x, const struct path *p)
{
  unsigned same = 0, have = x->asserted->len;
  while (same < have && same < p->conditions->len &&
         x->asserted->pdata[same] == p->conditions->pdata[same])
    same++;
  if (have > same)
    Z3_solver_pop(x->z3, x->solver, have - same);
  g_ptr_array_set_size(x->asserted, (gint)same);
  for (unsigned i = same; i < p->conditions->len; i++) {
    Z3_solver_push(x->z3, x->solver);
    Z3_solver_assert(x->z3, x->solver, p->conditions->pdata[i]);
    g_ptr_array_add(x->asserted, p->conditions->pdata[i]);
  }
}

bool path_possible(struct executor *x, struct path *p, Z3_ast more, Z3_model *model)
{
  go_to(x, p);
  Z3_solver_push(x->z3, x->solver);
  if (more)
    Z3_solver_assert(x->z3, x->solver, more);
  x->queries++;
  Z3_lbool answer = Z3_solver_check(x->z3, x->solver);
  if (answer == Z3_L_UNDEF)
    x->unknown++;
  if (answer == Z3_L_TRUE && model) {
    *model = Z3_solver_get_model(x->z3, x->solver);
    Z3_model_inc_ref(x->z3, *model);
  }
  Z3_solver_pop(x->z3, x->solver, 1);
  return answer == Z3_L_TRUE;
}

void path_add(struct executor *x, struct path *p, Z3_ast condition, Z3_model model)
{
  const struct value holds = {.kind = VALUE_TERM, .width = 1, .term = condition};
  g_ptr_array_add(p->conditions, condition);
  if (!model && (!p->model || path_model(x, p, &holds)))
    return;
  if (p->model)
    Z3_model_dec_ref(x->z3, p->model);
  p->model = model;
}

uint64_t path_model(struct executor *x, const struct path *p, const struct value *v)
{
  Z3_ast found;
  if (v->kind != VALUE_TERM)
    return v->bits;
  if (!p->model || !Z3_model_eval(x->z3, p->model, v->term, true, &found))
    return 0;
  struct value value = value_term(x->z3, v->width, found);
  return value.kind == VALUE_BITS ? value.bits : 0;
}

unsigned path_values(struct executor *x, struct path *p, const struct value *v, uint64_t *values,
                     unsigned room)
{
  unsigned count = 0;
  Z3_ast others = Z3_mk_true(x->z3);
  struct path probe = *p;
  probe.model = NULL;
  while (count < room && path_possible(x, p, others, &probe.model)) {
    values[count] = path_model(x, &probe, v);
    const struct value is = value_bits(v->width, values[count]);
    Z3_ast both[] = {others, Z3_mk_not(x->z3, Z3_mk_eq(x->z3, v->term, value_ast(x->z3, &is)))};
    others = Z3_mk_and(x->z3, 2, both);
    Z3_model_dec_ref(x->z3, probe.model);
    probe.model = NULL;
    count++;
  }
  return count;
}
