#include "prove/fan.h"

#include <string.h>

struct fan_end {
  Z3_ast holds;
  guint count;
  Z3_ast condition[];
};

void fan_init(struct fan *f)
{
  f->ends = g_ptr_array_new_with_free_func(g_free);
}

void fan_clear(struct fan *f)
{
  g_ptr_array_free(f->ends, TRUE);
}

void fan_add(struct fan *f, const struct path *p, Z3_ast holds)
{
  guint count = p->conditions->len;
  struct fan_end *end = g_malloc(sizeof *end + count * sizeof *end->condition);
  end->holds = holds;
  end->count = count;
  if (count)
    memcpy(end->condition, p->conditions->pdata, count * sizeof *end->condition);
  g_ptr_array_add(f->ends, end);
}

/* Moves all ends that have the same condition at `depth` as the first end to the front. Returns
 * their number. */
static guint gather(struct fan_end **end, guint count, guint depth)
{
  guint same = 0;
  for (guint i = 0; i < count; i++)
    if (depth < end[i]->count && end[i]->condition[depth] == end[0]->condition[depth]) {
      struct fan_end *other = end[same];
      end[same++] = end[i];
      end[i] = other;
    }
  return same;
}

static Z3_ast term_of(Z3_context z, struct fan_end **end, guint count, guint depth);

/* Returns the term for the ends that lie behind one condition. */
static Z3_ast behind(Z3_context z, struct fan_end **end, guint count, guint depth)
{
  Z3_ast all[] = {end[0]->condition[depth], term_of(z, end, count, depth + 1)};
  return Z3_mk_and(z, 2, all);
}

static Z3_ast term_of(Z3_context z, struct fan_end **end, guint count, guint depth)
{
  if (depth >= end[0]->count)
    return end[0]->holds;
  guint same = gather(end, count, depth);
  Z3_ast condition = end[0]->condition[depth];
  if (same == count)
    return behind(z, end, count, depth);
  guint next = gather(end + same, count - same, depth);
  Z3_ast other = end[same]->condition[depth];
  if (same + next == count &&
      (other == Z3_mk_not(z, condition) || condition == Z3_mk_not(z, other))) {
    Z3_ast yes = term_of(z, end, same, depth + 1), no = term_of(z, end + same, next, depth + 1);
    return yes == no ? yes : Z3_simplify(z, Z3_mk_ite(z, condition, yes, no));
  }
  Z3_ast any = behind(z, end, same, depth);
  for (guint from = same; from < count; from += next) {
    next = gather(end + from, count - from, depth);
    Z3_ast both[] = {any, behind(z, end + from, next, depth)};
    any = Z3_mk_or(z, 2, both);
  }
  return any;
}

Z3_ast fan_term(const struct fan *f, Z3_context z)
{
  if (!f->ends->len)
    return Z3_mk_false(z);
  return Z3_simplify(z, term_of(z, (struct fan_end **)f->ends->pdata, f->ends->len, 0));
}
