#include "prove/step_proof.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <string.h>

#include "protocols/grammar.h"
#include "prove/events.h"
#include "prove/fields.h"

struct proving {
  struct rank_world *w;
  struct memory_proof *proof;
};

/* ---- a counterexample ---- */

static char *place_of(const struct path *p)
{
  unsigned length = 0;
  const char *file = p->at ? LLVMGetDebugLocFilename(p->at, &length) : NULL;
  if (!file || !length)
    return g_strdup("");
  g_autofree char *path = g_strndup(file, length);
  const char *name = strstr(path, "protocols/");
  return g_strdup_printf(" (%s:%u)", name ? name : path, LLVMGetDebugLocLine(p->at));
}

static void tell_state(struct proving *g, const struct path *p, struct counterexample *found)
{
  struct rank_world *w = g->w;
  g_autofree uint32_t *words = g_malloc0(w->state_bytes + 4);
  rank_read_first(w, p, w->state, words, w->state_bytes);
  found->state = g_string_new(NULL);
  struct fields names;
  fields_init(&names, w);
  for (uint32_t i = 0; i < w->state_bytes / 4; i++)
    fields_print(&names, 4 * i, words[i], NULL, found->state);
  fields_clear(&names);
}

/* Returns the actions of the step as a host gets them. The caller frees the field `items`, which
 * holds the actions. */
static struct rcl_actions actions_of(struct proving *g, const struct path *p)
{
  struct rank_world *w = g->w;
  struct rcl_actions list;
  rank_read(w, p, w->list, &list, sizeof list);
  list.item = g_new0(struct rcl_action, w->room);
  list.count = MIN(list.count, w->room);
  rank_read(w, p, w->items, list.item, w->room * (uint32_t)sizeof *list.item);
  return list;
}

static void tell_actions(struct proving *g, const struct rcl_actions *list,
                         struct counterexample *found)
{
  enum { SHOWN = 12 };
  char text[TEXT_MAX];
  found->actions = g_string_new(NULL);
  for (uint32_t i = 0; i < list->count && i < SHOWN; i++)
    g_string_append_printf(found->actions, "%s\n",
                           action_print(&g->w->traits, &list->item[i], text));
  if (list->count > SHOWN)
    g_string_append_printf(found->actions, "... %u in all\n", list->count);
}

/* Returns why the grammar refuses the list, in the grammar's own words. */
static char *refusal_of(struct proving *g, const struct rcl_event *event,
                        const struct rcl_actions *list)
{
  struct rank_world *w = g->w;
  struct grammar_refusal refusal;
  char text[TEXT_MAX];
  const struct rcl_config config = {
      .self = (int16_t)w->self, .ranks = (int16_t)w->ranks, .capacity = w->capacity};
  return grammar_refuses(&w->traits, &config, event, list, &refusal)
             ? g_strdup(grammar_print(event, &refusal, text))
             : NULL;
}

static void tell(struct proving *g, struct path *p, enum aspect aspect)
{
  struct rank_world *w = g->w;
  struct counterexample *found = &g->proof->found[aspect];
  struct rcl_event event;
  char text[TEXT_MAX];
  if (found->what || (!p->model && !path_possible(&w->x, p, NULL, &p->model)))
    return; /* there is a counterexample already, or the violation only looked possible */
  g_autofree char *place = place_of(p);
  rank_read_first(w, p, w->event, &event, sizeof event);
  struct rcl_actions list = actions_of(g, p);
  found->what = aspect == ASPECT_ACTIONS ? refusal_of(g, &event, &list) : NULL;
  if (!found->what)
    found->what = g_strdup_printf("%s%s", p->fault, place);
  found->event = g_strdup(event_print(&w->traits, &event, text));
  found->self = w->self;
  found->ranks = w->ranks;
  found->capacity = w->capacity;
  tell_state(g, p, found);
  tell_actions(g, &list, found);
  g_free(list.item);
}

/* ---- steps ---- */

static void judge_list(void *ctx, struct path *p)
{
  struct proving *g = ctx;
  if (*p->fault)
    tell(g, p, ASPECT_ACTIONS);
}

static bool has_action(struct rank_world *w, const struct path *p, enum rcl_action_kind kind)
{
  struct value count =
      path_peek(&w->x, p, w->list, offsetof(struct rcl_actions, count), sizeof(uint32_t));
  for (uint64_t i = 0; !*p->fault && i < count.bits && i < w->room; i++) {
    struct value is = path_peek(&w->x, p, w->items, (uint32_t)(i * sizeof(struct rcl_action)), 1);
    if (is.bits == kind)
      return true;
  }
  return false;
}

static bool has_failed(const struct memory_proof *proof)
{
  return proof->found[ASPECT_MEMORY].what && proof->found[ASPECT_ACTIONS].what;
}

/* Judges by the grammar the actions of a step that has ended. */
static void judge_step(void *ctx, struct path *p)
{
  struct proving *g = ctx;
  struct rank_world *w = g->w;
  w->drains |= has_action(w, p, RCL_ACTION_DRAIN);
  if (!*p->fault && !(p->result.kind == VALUE_BITS && !p->result.bits))
    path_fault(p, NULL, "wants more actions than there is room for");
  if (*p->fault) {
    tell(g, p, ASPECT_MEMORY);
    return;
  }
  const struct value args[] = {w->protocol, value_pointer(w->config, 0), value_pointer(w->event, 0),
                               value_pointer(w->list, 0)};
  struct path *next = path_fork(&w->x, p);
  path_enter(&w->x, next, LLVMGetNamedFunction(w->x.module, "prove_refuses"), args, 4, NULL);
  executor_run(&w->x, next, judge_list, g);
}

static bool prove_event(void *ctx, struct rank_world *w, const GPtrArray *conditions,
                        enum rcl_event_kind kind, bool fresh)
{
  struct proving *g = ctx;
  const struct value args[] = {w->protocol, value_pointer(w->config, 0), value_pointer(w->state, 0),
                               value_pointer(w->event, 0), value_pointer(w->list, 0)};
  struct path *p = rank_path(w, "prove_step", args, 5);
  for (guint i = 0; i < conditions->len; i++)
    path_add(&w->x, p, conditions->pdata[i], NULL);
  for (uint32_t at = 0; fresh && at < w->state_bytes; at += 4) {
    const struct value none = value_bits(32, 0);
    struct path start = {0};
    struct value word = path_peek(&w->x, &start, w->state, at, 4),
                 zero = value_compare(w->x.z3, LLVMIntEQ, &word, &none);
    path_add(&w->x, p, value_ast(w->x.z3, &zero), NULL);
  }
  gint64 began = g_get_monotonic_time();
  uint64_t paths = w->x.paths;
  executor_run(&w->x, p, judge_step, g);
  if (w->x.paths == paths && !w->x.late && !g->proof->undecided)
    g->proof->undecided = g_strdup_printf("no state takes the event '%s'", event_name(kind));
  if (g_getenv("RECLINE_PROVE_VERBOSE"))
    g_printerr("  %s: %" G_GUINT64_FORMAT " paths, %.2f s\n", event_name(kind), w->x.paths - paths,
               (double)(g_get_monotonic_time() - began) / 1e6);
  return !has_failed(g->proof) && !w->x.late;
}

static void conclude(struct rank_world *w, struct memory_proof *proof)
{
  proof->paths += w->x.paths;
  proof->queries += w->x.queries;
  proof->worlds++;
  char *why = executor_undecided(&w->x);
  if (why) {
    g_free(proof->undecided);
    proof->undecided = why;
  }
}

void memory_prove(LLVMModuleRef module, const char *protocol, int self,
                  const struct prove_worlds *worlds, gint64 until, struct memory_proof *proof)
{
  struct rank_world w;
  struct proving g = {&w, proof};
  if (has_failed(proof) || proof->undecided)
    return;
  if (!rank_world_init(&w, module, protocol, self, worlds))
    proof->undecided = g_strdup_printf("no protocol '%s' in it", protocol);
  w.x.until = until;
  w.x.refuses = true;
  executor_merge(&w.x);
  if (!proof->undecided && rank_assume_state(&w))
    events_each(&w, prove_event, &g);
  else if (!proof->undecided && !w.x.late)
    proof->undecided = g_strdup("no state keeps its invariants");
  conclude(&w, proof);
  rank_world_clear(&w);
}

void memory_proof_clear(struct memory_proof *proof)
{
  g_free(proof->undecided);
  for (unsigned i = 0; i < ASPECTS; i++) {
    struct counterexample *found = &proof->found[i];
    if (!found->what)
      continue;
    g_free(found->what);
    g_free(found->event);
    g_string_free(found->state, TRUE);
    g_string_free(found->actions, TRUE);
  }
}
