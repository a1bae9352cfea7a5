/* Measures how much each estimated constant influences verdicts. */
#include <math.h>
#include <string.h>

#include "command/replicate/replicate.h"

enum { HALF, DOUBLE, FACTORS };
static const char *const factors[FACTORS] = {HALVED, DOUBLED};

/* Holds the effect of a constant on the values of one paper. */
struct effect {
  const struct plan_constant *constant;
  unsigned moved, better[FACTORS], worse[FACTORS];
};

static bool is_good(enum row_verdict verdict)
{
  return verdict == ROW_WITHIN || verdict == ROW_TRUE;
}

static void add_effect(struct outcomes *all, const struct replica *r, struct effect *effect)
{
  bool moved = false;
  for (int k = 0; k < FACTORS; k++) {
    double value;
    if (!varied_value(all, r->row, effect->constant, factors[k], outcomes_lookup, &value, NULL))
      continue;
    bool good = is_good(replica_judge(r->published, value));
    moved |= value < r->value || value > r->value;
    effect->better[k] += good && !is_good(r->verdict);
    effect->worse[k] += !good && is_good(r->verdict);
  }
  effect->moved += moved;
}

static unsigned weight(const struct effect *e)
{
  return e->better[HALF] + e->worse[HALF] + e->better[DOUBLE] + e->worse[DOUBLE];
}

static gint by_weight(gconstpointer a, gconstpointer b)
{
  const struct effect *x = a, *y = b;
  if (weight(x) != weight(y))
    return weight(x) < weight(y) ? 1 : -1;
  if (x->moved != y->moved)
    return x->moved < y->moved ? 1 : -1;
  return strcmp(x->constant->name, y->constant->name);
}

static GArray *effects_on(struct outcomes *all, const struct replicas *replicas, const char *source)
{
  GArray *effects = g_array_new(FALSE, FALSE, sizeof(struct effect));
  for (guint i = 0; i < all->plan->constants->len; i++) {
    struct effect effect = {.constant = all->plan->constants->pdata[i]};
    for (unsigned k = 0; !strcmp(effect.constant->kind, "estimate") && k < replicas->count; k++) {
      const struct replica *r = &replicas->item[k];
      if (!strcmp(r->published->source, source) && !isnan(r->value) && r->verdict != ROW_INPUT)
        add_effect(all, r, &effect);
    }
    if (effect.moved)
      g_array_append_val(effects, effect);
  }
  g_array_sort(effects, by_weight);
  return effects;
}

void sensitivity_write(FILE *out, struct outcomes *all, const struct replicas *replicas,
                       const char *source)
{
  g_autoptr(GArray) effects = effects_on(all, replicas, source);
  if (!effects->len)
    return;
  fprintf(out,
          "\n## Sensitivity\n\nWhat happens when an estimated constant is halved or doubled? + is "
          "the number of values that come within (or claims that become true), − is the number of "
          "those that no longer are.\n\n"
          "| constant | values that move | halved | doubled |\n|---|---|---|---|\n");
  for (guint i = 0; i < effects->len; i++) {
    const struct effect *e = &g_array_index(effects, struct effect, i);
    fprintf(out, "| `%s` | %u | +%u −%u | +%u −%u |\n", e->constant->name, e->moved,
            e->better[HALF], e->worse[HALF], e->better[DOUBLE], e->worse[DOUBLE]);
  }
}
