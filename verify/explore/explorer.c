#include "verify/explore/explorer.h"

#include <stdio.h>
#include <stdlib.h>

#include "verify/explore/resume.h"
#include "verify/explore/search.h"
#include "verify/reduce/abstraction.h"

const char *const explorer_properties[] = {
    "no-loss",   "no-duplicate",  "restorable", "legal",   "quiet-channels", "c3-1.1",
    "c3-1.2",    "c3-1.3",        "deadlock",   "commits", "outcome",        "recovers",
    "agreement", "invariant",     "no-orphan",  "c3-2.2",  "c3-2.3",         "local-rollback",
    "no-domino", "own-iteration", "tokens",     "bounds",  "progress",       NULL};

const char *const explorer_defaults[] = {
    "no-loss", "no-duplicate", "restorable", "legal",     "deadlock", "commits", "recovers",
    "outcome", "agreement",    "invariant",  "no-orphan", "bounds",   NULL};

/* States for which the visited set has room at first. */
enum { STATES_FIRST = 1 << 15 };

/* ---- components ---- */

static void make_components(struct explorer *e)
{
  const struct world *world = e->world;
  e->components = world_components(world);
  e->component = calloc(e->components, sizeof *e->component);
  e->first = intern_grow(NULL, e->components * sizeof *e->first);
  e->component_of = intern_grow(NULL, 2 * e->memo.count * sizeof *e->component_of);
  if (!e->component)
    intern_breach("out of memory");
  for (uint32_t part = 0; part < e->memo.count; part++) {
    struct component *c = &e->component[world_component(world, part)];
    e->component_of[part] = (uint32_t)(c - e->component);
    e->component_of[e->memo.count + part] = e->components + e->component_of[part];
    c->parts = intern_grow(c->parts, (c->count + 1) * sizeof *c->parts);
    c->parts[c->count++] = part;
  }
}

void explorer_load(struct explorer *e, const struct worker *w)
{
  if (e->loaded == w && e->loaded_serial == w->serial)
    return;
  e->loaded = w;
  e->loaded_serial = w->serial;
  for (uint32_t i = 0; i < e->components; i++) {
    const struct component *c = &e->component[i];
    const uint32_t *values = c->values.item[w->numbers[i] + 1].bytes;
    for (uint32_t j = 0; j < c->count; j++)
      e->memo.values[c->parts[j]] = values[j];
  }
}

/* ---- layout ---- */

static uint8_t bits_for(uint32_t values)
{
  uint8_t bits = 0;
  while (bits < 32 && (values - 1) >> bits)
    bits++;
  return bits;
}

/* A layout that holds all values that there are; with one bit to spare where that is new, as more
 * are likely to come. */
void explorer_make_layout(struct explorer *e)
{
  uint8_t bits[e->components];
  for (uint32_t i = 0; i < e->components; i++) {
    struct component *c = &e->component[i];
    uint8_t need = bits_for(c->values.count);
    if (need > c->bits)
      c->bits = (uint8_t)(need + (need < 32));
    bits[i] = c->bits;
  }
  e->layout = layout_new(bits, e->components);
  if (!e->layout)
    intern_breach("a state does not fit into the largest layout");
  e->layouts = intern_grow(e->layouts, (e->layouts_count + 1) * sizeof *e->layouts);
  e->layouts[e->layouts_count++] = e->layout;
}

bool explorer_outgrown(const struct explorer *e)
{
  for (uint32_t i = 0; i < e->components; i++)
    if (bits_for(e->component[i].values.count) > e->component[i].bits)
      return true;
  return false;
}

/* ---- beginning and end ---- */

/* The state that world_begin() has made is the first. */
static void make_first(struct explorer *e)
{
  uint32_t *numbers = e->first;
  for (uint32_t i = 0; i < e->components; i++) {
    struct component *c = &e->component[i];
    uint32_t values[c->count];
    for (uint32_t j = 0; j < c->count; j++)
      values[j] = e->memo.values[c->parts[j]];
    numbers[i] = intern(&c->values, values, c->count * (uint32_t)sizeof *values) - 1;
  }
}

static void add_first(struct explorer *e)
{
  struct worker *w = &e->worker[0];
  uint32_t *numbers = e->first, state[LAYOUT_WORDS];
  explorer_make_layout(e);
  visited_init(&e->visited, e->fingerprint ? e->fingerprint : e->layout, STATES_FIRST,
               explorer_memory(e), 0);
  layout_pack(e->layout, numbers, state);
  w->tag = tag_of(0);
  worker_add(w, state, layout_hash(e->layout, numbers));
  worker_account(w);
  frontier_move(&e->now, &w->later);
  e->out->states = e->visited.count;
}

/* Each applies or not. */
static void begin_reductions(struct explorer *e, unsigned crashes)
{
  static const char *const names[] = {"none", "por", "sym", "all"};
  const struct explorer_options *options = e->options;
  const char **refused = &e->out->unreduced, *ignored;
  if (options->stubborn || options->symmetry || options->orbits)
    e->closure = closure_new(e, refused);
  if (e->closure && (options->symmetry || options->orbits))
    e->symmetry = symmetry_new(e, e->closure, refused);
  if (e->closure && options->stubborn)
    e->reduction = reduction_new(e, e->closure, refused);
  if (options->stubborn && !e->reduction)
    e->recovery = recovery_new(e, crashes, crashes ? refused : &ignored);
  if (e->recovery)
    e->out->reduction = "recovery";
  else
    e->out->reduction = names[(e->reduction ? 1 : 0) + (e->symmetry && options->symmetry ? 2 : 0)];
}

/* From the first state, or from a save. */
static bool begin(struct explorer *e, unsigned crashes)
{
  bool exists = false;
  make_first(e);
  begin_reductions(e, crashes);
  for (unsigned i = 0; i < e->workers; i++)
    worker_init(&e->worker[i], e);
  add_first(e);
  if (e->options->save)
    e->out->refused = save_read(e, e->options->save, &exists);
  for (unsigned i = 0; i < e->workers; i++)
    e->worker[i].tag = tag_of(e->out->depth + 1);
  e->level = e->now.states;
  e->saved = explorer_now();
  return !e->out->refused;
}

/* Ways round and saves are made of states. */
static bool compacts(const struct explorer *e)
{
  return e->options->fingerprint && !e->options->save && !explorer_checks(e, "progress");
}

static void init(struct explorer *e, unsigned crashes, unsigned timers)
{
  e->fingerprint = compacts(e) ? fingerprint_layout(e->options->fingerprint) : NULL;
  e->judges_end = world_judges_end(e->world);
  memo_init(&e->memo, e->world, crashes, timers);
  e->memo.audit = e->options->audit;
  make_components(e);
  e->workers = e->options->workers ? e->options->workers : 1;
  e->worker = intern_table(e->workers, sizeof *e->worker);
  pthread_mutex_init(&e->rules, NULL);
  pthread_mutex_init(&e->lock, NULL);
  pthread_cond_init(&e->changed, NULL);
}

static void clear(struct explorer *e)
{
  for (unsigned i = 0; i < e->workers; i++)
    worker_clear(&e->worker[i]);
  for (uint32_t i = 0; i < e->components; i++) {
    free(e->component[i].parts);
    intern_clear(&e->component[i].values);
  }
  for (uint32_t i = 0; i < e->layouts_count; i++)
    free(e->layouts[i]);
  free(e->worker);
  symmetry_free(e->symmetry);
  reduction_free(e->reduction);
  recovery_free(e->recovery);
  closure_free(e->closure);
  free(e->component);
  free(e->component_of);
  free(e->fingerprint);
  free(e->first);
  free(e->layouts);
  frontier_clear(&e->now);
  spill_clear(&e->spill[0]);
  spill_clear(&e->spill[1]);
  visited_clear(&e->visited);
  memo_clear(&e->memo);
  pthread_mutex_destroy(&e->rules);
  pthread_mutex_destroy(&e->lock);
  pthread_cond_destroy(&e->changed);
}

static void conclude(struct explorer *e)
{
  e->out->bytes = explorer_bytes(e);
  e->out->steps = e->memo.steps;
  if (e->fingerprint) {
    e->out->omission = fingerprint_omission(e->options->fingerprint, e->out->states);
    e->out->miss = fingerprint_miss(e->options->fingerprint, e->out->states, e->out->depth);
  } else if (e->out->verdict == EXPLORER_VIOLATED && !e->out->moves) {
    write_run(e);
  }
  if (e->options->save && e->out->verdict != EXPLORER_INCONCLUSIVE)
    remove(e->options->save);
}

/* Once more, without the reduction that turned out not to apply. */
static void explore_in_full(struct world *world, unsigned crashes, unsigned timers,
                            const struct explorer_options *options, const char *unreduced,
                            struct exploration *out)
{
  struct explorer_options plain = *options;
  plain.stubborn = false;
  explore(world, crashes, timers, &plain, out);
  out->unreduced = unreduced;
}

/* Once more, as the run to a violation is made of states. */
static void explore_exactly(struct world *world, unsigned crashes, unsigned timers,
                            const struct explorer_options *options, struct exploration *out)
{
  struct explorer_options exact = *options;
  exact.fingerprint = 0;
  explore(world, crashes, timers, &exact, out);
  if (out->verdict == EXPLORER_INCONCLUSIVE)
    out->bound = "the run to a violation seen";
}

void explore(struct world *world, unsigned crashes, unsigned timers,
             const struct explorer_options *options, struct exploration *out)
{
  double from = explorer_now();
  *out = (struct exploration){.verdict = EXPLORER_HOLDS, .reduction = "none"};
  /* a property that is not asked for must not hide, in the same step, one that is */
  world->properties = options->properties ? options->properties : explorer_defaults;
  struct explorer e = {.world = world, .options = options, .out = out};
  init(&e, crashes, timers);
  if (begin(&e, crashes)) {
    explorer_search(&e);
    if (out->verdict == EXPLORER_HOLDS && explorer_checks(&e, "progress"))
      explorer_judge_cycles(&e);
    conclude(&e);
  }
  const char *failed = out->verdict == EXPLORER_INCONCLUSIVE ? recovery_failed(e.recovery) : NULL;
  bool again = e.fingerprint && out->verdict == EXPLORER_VIOLATED;
  clear(&e);
  if (failed)
    explore_in_full(world, crashes, timers, options, failed, out);
  else if (again)
    explore_exactly(world, crashes, timers, options, out);
  out->seconds = explorer_now() - from;
}

void exploration_clear(struct exploration *out)
{
  free(out->moves);
  *out = (struct exploration){0};
}
