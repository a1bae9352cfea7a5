#include "verify/explore/explorer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/breach.h"
#include "base/memory.h"
#include "base/platform.h"
#include "verify/explore/resume.h"
#include "verify/explore/search.h"
#include "verify/reduce/abstraction.h"

/* The visited set has room for this number of states at first. */
enum { STATES_FIRST = 1 << 15 };

/* ---- beginning and end ---- */

static void add_first(struct explorer *e)
{
  struct worker *w = &e->worker[0];
  uint32_t *numbers = e->model.first, state[PACKING_WORDS];
  model_make_packing(&e->model);
  visited_init(&e->visited, e->fingerprint ? e->fingerprint : e->model.packing, STATES_FIRST,
               explorer_memory(e), 0);
  packing_pack(e->model.packing, numbers, state);
  w->tag = tag_of(0);
  if (!e->exchange ||
      exchange_owner(e->exchange, numbers[0]) == exchange_transport(e->exchange)->rank)
    worker_add(w, state, packing_hash(e->model.packing, numbers));
  worker_account(w);
  frontier_move(&e->now, &w->later);
  e->out->states = 1;
}

/* Returns whether programs have outputs. An output may leave by an action of another rank, and the
 * outside has then seen it for good, so it belongs to no single rank. */
static bool tells_outside(const struct explorer *e)
{
  const struct script *script = e->model.world->script;
  return script && script->outputs;
}

/* Begins crash reduction, with stubborn sets before the first crash if they apply. */
static void begin_with_crashes(struct explorer *e, unsigned crashes)
{
  const char *why = NULL;
  if (e->exchange) {
    e->out->unreduced = "what crashes leave is not compared between processes";
    return;
  }
  e->crash = crash_new(&e->model, crashes, &e->out->unreduced);
  if (tells_outside(e))
    why = "an output leaves by an action of another rank";
  else if (e->crash)
    e->abstraction =
        abstraction_new(&e->model, true, e->patient ? ABSTRACTION_MANY : ABSTRACTION_FEW, &why);
  if (e->abstraction)
    e->stubborn = stubborn_new(&e->model, e->abstraction, &why);
  e->abstraction_wait = why == abstraction_unfinished && !e->patient && !e->model.options->save;
  e->out->no_stubborn_sets = e->crash ? why : NULL;
  e->out->reduction = e->stubborn ? "por, recovery" : e->crash ? "recovery" : "none";
}

/* Sets up each reduction that applies. */
static void begin_reductions(struct explorer *e, unsigned crashes)
{
  static const char *const names[] = {"none", "por", "sym", "all"};
  const struct explorer_options *options = e->model.options;
  const char **refused = &e->out->unreduced;
  if (options->temporal) {
    if (options->stubborn || options->symmetry)
      *refused = "reductions are not known to keep temporal properties";
    return;
  }
  if (crashes && options->stubborn) {
    begin_with_crashes(e, crashes);
    return;
  }
  if (tells_outside(e) && (options->stubborn || options->symmetry)) {
    *refused = "outputs that have left belong to no rank alone";
    return;
  }
  if (crashes && options->symmetry)
    *refused = "there are crashes";
  if (!crashes && (options->stubborn || options->symmetry || options->orbits))
    e->abstraction = abstraction_new(&e->model, false, ABSTRACTION_SOME, refused);
  if (e->abstraction && (options->symmetry || options->orbits))
    e->symmetry = symmetry_new(&e->model, e->abstraction, refused);
  if (e->abstraction && options->stubborn)
    e->stubborn = stubborn_new(&e->model, e->abstraction, refused);
  e->out->reduction = names[(e->stubborn ? 1 : 0) + (e->symmetry && options->symmetry ? 2 : 0)];
}

/* Begins from the first state, or from a save. Returns false if the save cannot be used. */
static bool begin(struct explorer *e, unsigned crashes)
{
  bool exists = false;
  begin_reductions(e, crashes);
  for (unsigned i = 0; i < e->workers; i++)
    worker_init(&e->worker[i], e);
  add_first(e);
  if (e->model.options->disk && !e->exchange)
    e->archive = archive_new(e->model.options->disk, e->model.packing, explorer_memory(e) / 5 * 2);
  if (e->model.options->protocol)
    checkpoint_begin(e);
  else if (e->model.options->save)
    e->out->refused =
        e->exchange ? distributed_resume(e) : resume_read(e, e->model.options->save, &exists);
  for (unsigned i = 0; i < e->workers; i++)
    e->worker[i].tag = tag_of(e->out->depth + 1);
  if (e->archive)
    archive_sweep(e->archive);
  e->level = e->level ? e->level : e->now.states;
  e->saved = platform_now();
  return !e->out->refused;
}

/* Returns whether the visited set may keep fingerprints. It may not if liveness or saves need whole
 * states. */
static bool compacts(const struct explorer *e)
{
  return e->model.options->fingerprint && !e->model.options->save && !e->model.options->disk &&
         !e->model.options->temporal && !model_needs_cycles(&e->model);
}

static void init(struct explorer *e, struct world *world, const struct explorer_options *options,
                 unsigned crashes, unsigned timers)
{
  model_init(&e->model, world, options, crashes, timers);
  e->fingerprint = compacts(e) ? fingerprint_packing(options->fingerprint) : NULL;
  e->workers = options->workers ? options->workers : 1;
  e->worker = memory_table(e->workers, sizeof *e->worker);
  e->lock = platform_lock_new();
  e->exchange = options->transport ? exchange_new(&e->model, options->transport) : NULL;
}

static void clear(struct explorer *e)
{
  for (unsigned i = 0; i < e->workers; i++)
    worker_clear(&e->worker[i]);
  free(e->worker);
  symmetry_free(e->symmetry);
  stubborn_free(e->stubborn);
  crash_free(e->crash);
  exchange_free(e->exchange);
  abstraction_free(e->abstraction);
  free(e->fingerprint);
  archive_free(e->archive);
  recurrence_free(e->steps);
  frontier_clear(&e->fresh);
  frontier_clear(&e->now);
  spill_clear(&e->spill[0]);
  spill_clear(&e->spill[1]);
  visited_clear(&e->visited);
  model_clear(&e->model);
  platform_lock_free(e->lock);
}

static void conclude(struct explorer *e)
{
  e->out->archived = e->archive ? e->archive->states : 0;
  e->out->bytes = explorer_bytes(e);
  e->out->steps = e->model.rules_cache.steps;
  if (e->exchange)
    distributed_conclude(e);
  if (e->fingerprint) {
    e->out->omission = fingerprint_omission(e->model.options->fingerprint, e->out->states);
    e->out->miss = fingerprint_miss(e->model.options->fingerprint, e->out->states, e->out->depth);
  } else if (e->out->verdict == EXPLORER_VIOLATED && !e->out->moves) {
    path_write(e);
  }
  if (!e->model.options->save || e->model.options->protocol ||
      e->out->verdict == EXPLORER_INCONCLUSIVE)
    return;
  if (e->archive)
    archive_forget_saves(e->archive);
  if (e->exchange)
    distributed_remove_saves(e);
  else
    remove(e->model.options->save);
}

/* Returns the options for another exploration, with the time that is left. */
static struct explorer_options rest_of(const struct explorer_options *options, double began)
{
  struct explorer_options rest = *options;
  double left = options->max_seconds - (platform_now() - began), least = 1e-9;
  if (options->max_seconds > 0) /* because 0 would mean no bound */
    rest.max_seconds = left > least ? left : least;
  return rest;
}

/* Explores again, without the reduction that turned out not to apply. */
static void explore_in_full(struct world *world, unsigned crashes, unsigned timers,
                            const struct explorer_options *options, const char *unreduced,
                            struct exploration *out)
{
  struct explorer_options plain = *options;
  plain.stubborn = false;
  explore(world, crashes, timers, &plain, out);
  out->unreduced = unreduced;
}

/* Explores again with whole states, which the run to a violation needs. */
static void explore_exactly(struct world *world, unsigned crashes, unsigned timers,
                            const struct explorer_options *options, struct exploration *out)
{
  struct explorer_options exact = *options;
  exact.fingerprint = 0;
  explore(world, crashes, timers, &exact, out);
  if (out->verdict == EXPLORER_INCONCLUSIVE)
    out->bound = "the run to a violation seen";
}

/* Explores the world. If it turns out to have many states, explores it again with a larger
 * abstraction. */
static void explore_with(struct world *world, unsigned crashes, unsigned timers,
                         const struct explorer_options *options, bool patient,
                         struct exploration *out)
{
  *out = (struct exploration){.verdict = EXPLORER_HOLDS, .reduction = "none"};
  struct explorer e = {.out = out, .patient = patient, .began = platform_now()};
  init(&e, world, options, crashes, timers);
  if (begin(&e, crashes)) {
    explorer_search(&e);
    if (e.exchange)
      exchange_transport(e.exchange)->last(out->verdict == EXPLORER_INCONCLUSIVE);
    out->cycles =
        out->verdict == EXPLORER_HOLDS && model_checks(&e.model, "progress") && liveness_judge(&e);
    if (out->verdict == EXPLORER_HOLDS && options->temporal)
      temporal_judge(&e);
    conclude(&e);
  } else if (e.exchange) {
    exchange_transport(e.exchange)->last(true);
  }
  const char *failed = out->verdict == EXPLORER_INCONCLUSIVE ? crash_failed(e.crash) : NULL;
  bool again = e.fingerprint && out->verdict == EXPLORER_VIOLATED;
  bool abstraction_wait = e.full == BOUND_ABSTRACTION_WAIT && out->verdict == EXPLORER_INCONCLUSIVE;
  clear(&e);
  const struct explorer_options rest = rest_of(options, e.began);
  if (abstraction_wait)
    explore_with(world, crashes, timers, &rest, true, out);
  else if (failed)
    explore_in_full(world, crashes, timers, &rest, failed, out);
  else if (again)
    explore_exactly(world, crashes, timers, &rest, out);
}

void explore(struct world *world, unsigned crashes, unsigned timers,
             const struct explorer_options *options, struct exploration *out)
{
  double from = platform_now();
  explore_with(world, crashes, timers, options, false, out);
  out->seconds = platform_now() - from;
}

void exploration_clear(struct exploration *out)
{
  free(out->moves);
  *out = (struct exploration){0};
}
