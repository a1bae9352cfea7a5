#include "prove/line_goals.h"

#include <stdarg.h>
#include <string.h>

#include "prove/fields.h"

/* EFFORT_MODERATE bounds Z3's own count of its work (rlimit), which is the same on each machine. It
 * allows a few seconds. */
enum { EFFORT_MODERATE = 20000000 };

/* Holds the end of a path. */
struct line_end {
  struct path *path;
  Z3_ast *now;
  GArray *goals; /* struct goal */
};

/* Holds a thing that must hold at the end of a path, as a term over the words before the move. */
struct goal {
  Z3_ast holds;
  const char *name, *text;
  int i, j;
};

/* ---- what fails ---- */

static unsigned value_in(const struct proving *g, Z3_model model, Z3_ast word)
{
  unsigned bits = 0;
  Z3_ast value;
  if (Z3_model_eval(g->h->w.x.z3, model, word, true, &value))
    Z3_get_numeral_uint(g->h->w.x.z3, value, &bits);
  return bits;
}

/* Tells which words to print: their values before the move and, unless `after` is NULL, after the
 * move. */
struct printing {
  const struct whole *h;
  const uint32_t *before, *after;
  const struct fields *names;
  GString *out;
};

/* Begins a line. end_line() removes the line if nothing was added to it. */
static gsize begin_line(struct printing *t, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gsize begin_line(struct printing *t, const char *format, ...)
{
  va_list args;
  gsize from = t->out->len;
  va_start(args, format);
  g_string_append_vprintf(t->out, format, args);
  va_end(args);
  return from;
}

static void end_line(struct printing *t, gsize from, gsize title)
{
  if (t->out->len == title)
    g_string_truncate(t->out, from);
  else
    g_string_append_c(t->out, '\n');
}

static void print_plain(struct printing *t, uint32_t first, uint32_t count)
{
  for (uint32_t k = first; k < first + count; k++) {
    uint32_t value = t->after ? t->after[k] : t->before[k], old = t->after ? t->before[k] : 0;
    const char *name = strrchr(t->h->names[k], ' ');
    if (value != old)
      g_string_append_printf(t->out, " %s=%u", name ? name + 1 : t->h->names[k], value);
  }
}

static void print_memory(struct printing *t, int rank, enum memory_of memory)
{
  static const char *const titles[] = {"state", "image of the committed checkpoint",
                                       "image of the next checkpoint",
                                       "log of the next checkpoint"};
  uint32_t first = word_of_memory(t->h, rank, memory, 0);
  gsize from = begin_line(t, "%s of %d:", titles[memory], rank), title = t->out->len;
  for (uint32_t k = 0; k < t->h->words; k++)
    fields_print(t->names, 4 * k, t->after ? t->after[first + k] : t->before[first + k],
                 t->after ? &t->before[first + k] : NULL, t->out);
  end_line(t, from, title);
}

static void print_all(struct printing *t)
{
  const struct whole *h = t->h;
  gsize from = begin_line(t, "checkpoints:"), title = t->out->len;
  print_plain(t, 0, GLOBAL_WORDS);
  end_line(t, from, title);
  for (int i = 0; i < h->ranks; i++) {
    from = begin_line(t, "rank %d:", i);
    title = t->out->len;
    print_plain(t, word_of_rank(h, i, 0), RANK_WORDS);
    end_line(t, from, title);
    for (unsigned memory = 0; memory < MEMORIES; memory++)
      print_memory(t, i, memory);
  }
  for (int i = 0; i < h->ranks; i++)
    for (int j = 0; j < h->ranks; j++) {
      from = begin_line(t, "from %d to %d:", i, j);
      title = t->out->len;
      print_plain(t, word_of_channel(h, i, j, 0), words_of_pair(h));
      end_line(t, from, title);
    }
}

/* Prints the words before the move that are not zero. Unless `now` is NULL, also prints the words
 * that the move changes. */
static void print_words(const struct proving *g, Z3_model model, const Z3_ast *now,
                        struct line_failure *f)
{
  const struct whole *h = g->h;
  struct fields names;
  g_autofree uint32_t *before = g_new0(uint32_t, h->count), *after = g_new0(uint32_t, h->count);
  for (uint32_t k = 0; k < h->count; k++) {
    before[k] = value_in(g, model, h->before[k]);
    after[k] = now ? value_in(g, model, now[k]) : 0;
  }
  fields_init(&names, &g->h->w);
  struct printing t = {h, before, NULL, &names, f->before};
  print_all(&t);
  t.after = after;
  t.out = f->after;
  if (now)
    print_all(&t);
  fields_clear(&names);
}

static char *print_event(const struct proving *g, struct path *p)
{
  struct rank_world *w = &g->h->w;
  struct rcl_event event;
  char text[TEXT_MAX];
  if (g->move->rank < 0)
    return g_strdup("");
  rank_read_first(w, p, w->event, &event, sizeof event);
  return g_strdup(event_print(&w->traits, &event, text));
}

static void print_actions(const struct proving *g, struct path *p, GString *out)
{
  struct rank_world *w = &g->h->w;
  struct rcl_actions list;
  char text[TEXT_MAX];
  if (g->move->rank < 0)
    return;
  rank_read(w, p, w->list, &list, sizeof list);
  list.item = g_new0(struct rcl_action, w->room);
  rank_read(w, p, w->items, list.item, w->room * (uint32_t)sizeof *list.item);
  for (uint32_t i = 0; i < list.count && i < w->room; i++)
    g_string_append_printf(out, "%s\n", action_print(&w->traits, &list.item[i], text));
  g_free(list.item);
}

static char *print_who(int i, int j)
{
  return i < 0   ? g_strdup("")
         : j < 0 ? g_strdup_printf("of rank %d", i)
                 : g_strdup_printf("of ranks %d and %d", i, j);
}

/* Notes what fails on a path that has a model of the failure. Only the first failure is printed in
 * full. */
static void tell_failure(struct proving *g, struct path *p, const Z3_ast *now,
                         const struct goal *goal)
{
  struct line_failure *f = g_new0(struct line_failure, 1);
  *f = (struct line_failure){.clause = g_strdup(goal->name),
                             .text = g_strdup(goal->text),
                             .who = print_who(goal->i, goal->j),
                             .move = g_strdup(g->move->name),
                             .event = print_event(g, p),
                             .before = g_string_new(NULL),
                             .after = g_string_new(NULL),
                             .actions = g_string_new(NULL)};
  if (!g->proof->failed->len) {
    print_words(g, p->model, now, f);
    print_actions(g, p, f->actions);
  }
  g_ptr_array_add(g->proof->failed, f);
}

void line_tell_fault(struct proving *g, struct path *p, const char *aspect)
{
  const struct goal goal = {NULL, aspect, p->fault, g->move->rank, -1};
  tell_failure(g, p, NULL, &goal);
}

/* ---- goals ---- */

static void add_goal(struct line_end *end, const struct proving *g, Z3_ast holds, const char *name,
                     const char *text, int i, int j)
{
  Z3_context z = g->h->w.x.z3;
  const struct goal goal = {Z3_simplify(z, holds), name, text, i, j};
  if (Z3_get_bool_value(z, goal.holds) != Z3_L_TRUE)
    g_array_append_val(end->goals, goal);
}

/* Adds the clauses that speak of words which the move changes. */
static void add_clauses(struct line_end *end, const struct proving *g, bool own, bool at_first)
{
  const struct whole *h = g->h;
  for (guint k = 0; k < h->clauses->len; k++) {
    const struct told *told = h->clauses->pdata[k];
    if (told->own != own || line_is_left_out(g, told))
      continue;
    Z3_ast holds = whole_in(h, told->holds, end->now);
    if (holds != told->holds || at_first)
      add_goal(end, g, holds, told->name, told->text, told->i, told->j);
  }
}

/* Adds the protocol's clauses before the others, so that a failure names a clause of the protocol
 * if there is one. */
void line_goals_add(struct proving *g, const struct path *p, const Z3_ast *now,
                    const GArray *duties, bool at_first)
{
  struct line_end *end = g_new0(struct line_end, 1);
  end->path = path_fork(&g->h->w.x, p);
  end->now = g_memdup2(now, g->h->count * sizeof *now);
  end->goals = g_array_new(FALSE, FALSE, sizeof(struct goal));
  add_clauses(end, g, true, at_first);
  for (guint k = 0; k < duties->len; k++) {
    const struct duty *duty = &g_array_index(duties, struct duty, k);
    add_goal(end, g, duty->holds, duty->name, duty->text, g->move->rank, -1);
  }
  add_clauses(end, g, false, at_first);
  g_ptr_array_add(g->ends, end);
}

static void free_end(struct proving *g, struct line_end *end)
{
  path_free(&g->h->w.x, end->path);
  g_array_free(end->goals, TRUE);
  g_free(end->now);
  g_free(end);
}

/* ---- questions ---- */

static Z3_ast conditions_of(const struct proving *g, const struct path *p)
{
  return Z3_mk_and(g->h->w.x.z3, p->conditions->len, (Z3_ast *)p->conditions->pdata);
}

static void take_model(struct proving *g, struct path *p, Z3_model model)
{
  if (p->model)
    Z3_model_dec_ref(g->h->w.x.z3, p->model);
  p->model = model;
}

bool line_path_is_possible(struct proving *g, struct path *p)
{
  Z3_model model = NULL;
  if (!line_was_possible(g, conditions_of(g, p), &model))
    return false;
  take_model(g, p, model);
  return true;
}

static bool is_so(struct proving *g, const struct path *p, Z3_ast term)
{
  const struct value v = {.kind = VALUE_TERM, .width = 1, .term = term};
  return path_model(&g->h->w.x, p, &v);
}

/* Tells what fails in a model, on the path that is taken in the model. */
static void tell_failures(struct proving *g, Z3_model model)
{
  for (guint i = 0; i < g->ends->len; i++) {
    struct line_end *end = g->ends->pdata[i];
    Z3_model_inc_ref(g->h->w.x.z3, model);
    take_model(g, end->path, model);
    if (!is_so(g, end->path, conditions_of(g, end->path)))
      continue;
    for (guint k = 0; k < end->goals->len; k++) {
      const struct goal *goal = &g_array_index(end->goals, struct goal, k);
      if (!is_so(g, end->path, goal->holds))
        tell_failure(g, end->path, end->now, goal);
    }
  }
}

/* Looks for a model with small numbers, because it is easier to read. There may be no such
 * model. */
static void prefer_small(struct proving *g, Z3_ast term, Z3_model *model)
{
  enum { SMALL = 8 };
  const struct whole *h = g->h;
  struct executor *x = &g->h->w.x;
  unsigned unknown = x->unknown;
  Z3_model small = NULL;
  g_autofree Z3_ast *all = g_new(Z3_ast, h->count + 1);
  for (uint32_t k = 0; k < h->count; k++)
    all[k] = Z3_mk_bvule(x->z3, h->before[k], number(h, SMALL));
  all[h->count] = term;
  if (line_is_possible(g, Z3_mk_and(x->z3, h->count + 1, all), places_everywhere(), &small)) {
    Z3_model_dec_ref(x->z3, *model);
    *model = small;
  }
  x->unknown = unknown;
}

/* ---- what is asked together ---- */

/* Holds the goals that must hold after a move. A goal that several paths share is checked once. */
struct question {
  GPtrArray *goals;  /* Z3_ast, in the order of the ends that have these goals */
  GHashTable *where; /* for each goal: a term that says which paths have the goal */
  struct places about;
};

static void add_end(struct proving *g, struct question *q, const struct line_end *end)
{
  Z3_ast path = conditions_of(g, end->path);
  q->about = places_joined(q->about, places_of(g->h, path));
  for (guint k = 0; k < end->goals->len; k++) {
    Z3_ast holds = g_array_index(end->goals, struct goal, k).holds,
           where = g_hash_table_lookup(q->where, holds);
    if (!where)
      g_ptr_array_add(q->goals, holds);
    g_hash_table_insert(q->where, holds, where ? either(g->h, where, path) : path);
    q->about = places_joined(q->about, places_of(g->h, holds));
  }
}

/* Returns the term which says that a goal fails. The conditions of the move, which all paths share,
 * are repeated in front. Before it searches, Z3 uses only equations that are not below an `or`.
 */
static Z3_ast fails(const struct proving *g, const struct question *q)
{
  Z3_context z = g->h->w.x.z3;
  const GPtrArray *when = g->move->when;
  guint common = when ? when->len : 0;
  g_autofree Z3_ast *any = g_new(Z3_ast, q->goals->len + 1), *all = g_new(Z3_ast, common + 1);
  for (guint k = 0; k < q->goals->len; k++)
    any[k] = both(g->h, negated(g->h, q->goals->pdata[k]),
                  g_hash_table_lookup(q->where, q->goals->pdata[k]));
  for (guint k = 0; k < common; k++)
    all[k] = when->pdata[k];
  all[common] = Z3_mk_or(z, q->goals->len, any);
  return Z3_mk_and(z, common + 1, all);
}

static void ask(struct proving *g, const struct question *q)
{
  Z3_model model = NULL;
  Z3_ast term = fails(g, q);
  if (!q->goals->len || !line_is_possible(g, term, q->about, &model))
    return;
  prefer_small(g, term, &model);
  tell_failures(g, model);
  Z3_model_dec_ref(g->h->w.x.z3, model);
}

/* Asks about each goal alone, until one fails or is not decided. */
static void ask_each(struct proving *g, const struct question *q)
{
  struct question one = {g_ptr_array_new(), q->where, {{0}}};
  for (guint k = 0; k < q->goals->len && !g->proof->failed->len && !g->h->w.x.unknown; k++) {
    Z3_ast goal = q->goals->pdata[k];
    g_ptr_array_set_size(one.goals, 0);
    g_ptr_array_add(one.goals, goal);
    one.about =
        places_joined(places_of(g->h, goal), places_of(g->h, g_hash_table_lookup(q->where, goal)));
    ask(g, &one);
  }
  g_ptr_array_free(one.goals, TRUE);
}

/* Asks about all goals together, which takes Z3 less time than a question about each. If Z3 does
 * not decide that with moderate effort, asks about each goal alone. Z3 never decides some questions
 * about a hundred goals, although it decides each of the hundred in less than a second. */
static void ask_together(struct proving *g, const struct question *q)
{
  struct executor *x = &g->h->w.x;
  unsigned unknown = x->unknown;
  x->effort = EFFORT_MODERATE;
  ask(g, q);
  x->effort = 0;
  if (x->unknown == unknown)
    return;
  x->unknown = unknown;
  ask_each(g, q);
}

/* Asks whether all goals hold. Paths that have merged have long goals; a question about all of them
 * together is not worth trying. */
void line_goals_prove(struct proving *g)
{
  struct question q = {g_ptr_array_new(), g_hash_table_new(NULL, NULL), {{0}}};
  for (guint i = 0; i < g->ends->len; i++)
    add_end(g, &q, g->ends->pdata[i]);
  (g->h->merges ? ask_each : ask_together)(g, &q);
  for (guint i = 0; i < g->ends->len; i++)
    free_end(g, g->ends->pdata[i]);
  g_ptr_array_set_size(g->ends, 0);
  g_hash_table_destroy(q.where);
  g_ptr_array_free(q.goals, TRUE);
}
