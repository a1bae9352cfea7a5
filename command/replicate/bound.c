/* Computes how many published values a model can meet if the model computes values that have the
 * same causes, such as the same number of processes in the same places, from the same unknowns.
 *
 * Such values are linear forms of a few positive unknowns, or quotients of two forms. A box has a
 * range for each unknown. Boxes are halved until each value is met everywhere in a box or nowhere
 * in it. The count for a box is never less than the number of values that any point of the box
 * meets. So the result is an upper bound. */
#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "command/replicate/replicate.h"

enum { UNKNOWNS = 12, VISITS = 20 * 1000 * 1000 };

static const double SMALLEST = 1e-6, LARGEST = 1e12, NARROW = 1e-4;

struct linear {
  double constant, factor[UNKNOWNS];
};

/* A value is met where `above` >= 0 and `below` <= 0. */
struct demand {
  struct linear above, below;
};

struct box {
  double low[UNKNOWNS], high[UNKNOWNS];
};

struct search {
  char **names; /* names of the unknowns */
  unsigned unknowns, demands, best, visits;
  struct demand *demand;
};

/* ---- reading ---- */

static unsigned unknown_named(struct search *s, const char *name)
{
  for (unsigned i = 0; i < s->unknowns; i++)
    if (!strcmp(s->names[i], name))
      return i;
  if (s->unknowns < UNKNOWNS)
    s->names[s->unknowns] = g_strdup(name);
  return s->unknowns < UNKNOWNS ? s->unknowns++ : UNKNOWNS;
}

/* Reads a linear form: "2 * a + b + 1". */
static bool read_linear(struct search *s, const char *text, struct linear *linear)
{
  g_auto(GStrv) terms = g_strsplit(text, "+", -1);
  *linear = (struct linear){0};
  for (char **term = terms; *term; term++) {
    g_auto(GStrv) parts = g_strsplit(*term, "*", 2);
    char *rest, *name = parts[0] && parts[1] ? g_strstrip(parts[1]) : NULL;
    double number = parts[0] ? g_ascii_strtod(g_strstrip(parts[0]), &rest) : 0.0;
    bool is_number = parts[0] && *parts[0] && !*rest;
    if (!name && is_number) {
      linear->constant += number;
      continue;
    }
    if (!parts[0] || !*parts[0] || (name && (!*name || !is_number)))
      return false;
    unsigned index = unknown_named(s, name ? name : parts[0]);
    if (index == UNKNOWNS)
      return false;
    linear->factor[index] += name ? number : 1.0;
  }
  return true;
}

static struct linear less(const struct linear *a, double times, const struct linear *b)
{
  struct linear all = {.constant = a->constant - times * b->constant};
  for (unsigned i = 0; i < UNKNOWNS; i++)
    all.factor[i] = a->factor[i] - times * b->factor[i];
  return all;
}

/* Reads "FORM" or "FORM / FORM", which should equal the published value. */
static bool read_demand(struct search *s, const char *form, const struct published *p)
{
  g_auto(GStrv) parts = g_strsplit(form, "/", 2);
  struct linear above, below;
  double off = published_tolerance(p);
  if (!parts[0] || !read_linear(s, parts[0], &above) ||
      !read_linear(s, parts[1] ? parts[1] : "1", &below))
    return false;
  s->demand[s->demands++] = (struct demand){.above = less(&above, p->value - off, &below),
                                            .below = less(&above, p->value + off, &below)};
  return true;
}

/* ---- searching ---- */

/* Returns the least or the greatest value of the form in the box. */
static double extreme(const struct search *s, const struct linear *form, const struct box *box,
                      bool most)
{
  double sum = form->constant;
  for (unsigned i = 0; i < s->unknowns; i++)
    sum += form->factor[i] * ((form->factor[i] > 0) == most ? box->high[i] : box->low[i]);
  return sum;
}

/* Returns how many demands may be met in the box. Sets `*certain` to the number of demands that are
 * met everywhere in the box. */
static unsigned possible(const struct search *s, const struct box *box, unsigned *certain)
{
  unsigned count = 0;
  *certain = 0;
  for (unsigned i = 0; i < s->demands; i++) {
    const struct demand *d = &s->demand[i];
    count += extreme(s, &d->above, box, true) >= 0 && extreme(s, &d->below, box, false) <= 0;
    *certain += extreme(s, &d->above, box, false) >= 0 && extreme(s, &d->below, box, true) <= 0;
  }
  return count;
}

static double ratio(const struct box *box, unsigned i)
{
  return box->high[i] / box->low[i];
}

static void visit(struct search *s, const struct box *box)
{
  unsigned certain, count = possible(s, box, &certain), widest = 0, mine[2];
  s->best = MAX(s->best, certain);
  if (count <= s->best)
    return;
  for (unsigned i = 1; i < s->unknowns; i++)
    if (ratio(box, i) > ratio(box, widest))
      widest = i;
  if (ratio(box, widest) < 1 + NARROW || ++s->visits > VISITS) {
    s->best = count;
    return;
  }
  double middle = sqrt(box->low[widest] * box->high[widest]);
  struct box half[2] = {*box, *box};
  half[0].high[widest] = half[1].low[widest] = middle;
  mine[0] = possible(s, &half[0], &certain);
  mine[1] = possible(s, &half[1], &certain);
  bool second = mine[1] > mine[0];
  visit(s, &half[second]);
  visit(s, &half[!second]);
}

/* Finds how many results can be within their bounds at the same time. With `inputs`, counts inputs
 * as well as results. */
static bool most(const struct plan_bound *bound, const struct replicas *all, bool inputs,
                 unsigned *count, GError **error)
{
  char *names[UNKNOWNS] = {0};
  struct search s = {.names = names};
  struct box box = {.high = {0}};
  bool good = true;
  s.demand = g_new0(struct demand, g_strv_length(bound->row));
  for (unsigned i = 0; good && bound->row[i]; i++) {
    const struct replica *r = replica_named(all, bound->row[i]);
    bool counts = r && (replica_is_result(r) || (inputs && r->verdict == ROW_INPUT));
    good = !counts || read_demand(&s, bound->form[i], r->published);
    if (!good)
      g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                  "[bound %s]: row %s = %s, expected FORM or FORM / FORM, where a FORM is like "
                  "2 * a + b of at most %d unknowns",
                  bound->name, bound->row[i], bound->form[i], UNKNOWNS);
  }
  for (unsigned i = 0; i < s.unknowns; i++)
    box.low[i] = SMALLEST, box.high[i] = LARGEST;
  if (good && s.demands)
    visit(&s, &box);
  *count = s.best;
  for (unsigned i = 0; i < s.unknowns; i++)
    g_free(names[i]);
  g_free(s.demand);
  return good;
}

/* ---- the text ---- */

struct reachable bound_reach(const struct plan_bound *bound, const struct replicas *all,
                             GError **error)
{
  struct reachable reach = {0};
  for (char **row = bound->row; *row; row++) {
    const struct replica *r = replica_named(all, *row);
    reach.results += r && replica_is_result(r);
    reach.numbers += r && (replica_is_result(r) || r->verdict == ROW_INPUT);
  }
  reach.good = most(bound, all, false, &reach.results_met, error) &&
               most(bound, all, true, &reach.numbers_met, error);
  return reach;
}

bool bounds_total(const struct outcomes *outcomes, const struct replicas *all,
                  struct reachable *total, GError **error)
{
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  *total = (struct reachable){.good = true};
  for (unsigned i = 0; i < all->count; i++) {
    total->results += replica_is_result(&all->item[i]);
    total->numbers += all->item[i].published->number &&
                      (replica_is_result(&all->item[i]) || all->item[i].verdict == ROW_INPUT);
  }
  total->results_met = total->results;
  total->numbers_met = total->numbers;
  for (guint i = 0; i < outcomes->plan->bounds->len; i++) {
    const struct plan_bound *bound = outcomes->plan->bounds->pdata[i];
    for (char **row = bound->row; *row; row++)
      if (!g_hash_table_add(seen, *row)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "[bound %s]: row %s is in another bound, too, expected each row in one bound",
                    bound->name, *row);
        return false;
      }
    struct reachable reach = bound_reach(bound, all, error);
    if (!reach.good)
      return false;
    total->results_met -= reach.results - reach.results_met;
    total->numbers_met -= reach.numbers - reach.numbers_met;
  }
  return true;
}

static const char HEAD[] =
    "\n## What any model can reach\n\n"
    "Some papers print different values for identical inputs. No model can match all of them. The "
    "table says how many values a model can meet if it computes them from the causes that the "
    "papers name. Each published value is a linear formula of a few positive unknowns, or a "
    "quotient of two, and each cause is one unknown in all of them. The unknowns may have any "
    "values, as if "
    "they were fitted to all results of a row at once. The search halves ranges of the unknowns "
    "until each value is met in all of a range or in none of it, so each count is an upper "
    "bound.\n\n"
    "| causes | results | can be met | with inputs | can be met |\n|---|---|---|---|---|\n";

void bounds_write(FILE *out, const struct outcomes *outcomes, const struct replicas *all)
{
  struct reachable total;
  const GPtrArray *bounds = outcomes->plan->bounds;
  if (!bounds->len || !bounds_total(outcomes, all, &total, NULL))
    return;
  fputs(HEAD, out);
  for (guint i = 0; i < bounds->len; i++) {
    const struct plan_bound *bound = bounds->pdata[i];
    struct reachable reach = bound_reach(bound, all, NULL);
    fprintf(out, "| %s | %u | %u | %u | %u |\n", bound->text ? bound->text : bound->name,
            reach.results, reach.results_met, reach.numbers, reach.numbers_met);
  }
  fprintf(
      out,
      "\nResults in no row are counted as met. So at most %u of the %u results (%.0f %%) can be "
      "within their bounds; with the inputs, at most %u of the %u numbers can.\n",
      total.results_met, total.results, 100.0 * total.results_met / MAX(total.results, 1),
      total.numbers_met, total.numbers);
}
