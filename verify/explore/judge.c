/* Judges properties of moves and states as they are expanded. */
#include <stdio.h>
#include <string.h>

#include "verify/explore/search.h"
#include "world/rules/properties.h"

/* Notes that the state being expanded violates a property by this move. */
static void note_violation(struct worker *w, const struct verdict *verdict, uint32_t move)
{
  if (w->wrong)
    return;
  w->wrong = true;
  w->why = *verdict;
  w->why_move = move;
}

void worker_judge_move(struct worker *w, uint16_t number, uint32_t move)
{
  platform_lock(w->e->model.rules);
  struct verdict verdict = w->e->model.rules_cache.verdicts[number];
  platform_unlock(w->e->model.rules);
  if (model_violates(&w->e->model, &verdict))
    note_violation(w, &verdict, move);
}

/* Returns whether the rank ends with this history in some failure-free run. */
static bool ends_so(const struct intern *outcomes, uint32_t rank, const struct content *history)
{
  for (uint32_t i = 1; i <= outcomes->count; i++) {
    const struct content *all = outcomes->item[i].bytes;
    if (!memcmp(&all[rank], history, sizeof *history))
      return true;
  }
  return false;
}

void worker_wrong_outcome(const struct intern *outcomes, const struct content *histories,
                          uint32_t ranks, struct verdict *verdict)
{
  enum { NAMED = 8 };
  char named[8 * NAMED] = "";
  uint32_t count = 0;
  int used = 0;
  for (uint32_t rank = 0; rank < ranks; rank++)
    if (!ends_so(outcomes, rank, &histories[rank]) && count++ < NAMED)
      used += snprintf(named + used, sizeof named - (size_t)used, "%s %u", used ? "," : "", rank);
  *verdict = (struct verdict){.kind = VERDICT_VIOLATION, .property = "outcome"};
  if (count > 0)
    used = snprintf(verdict->text, sizeof verdict->text,
                    "rank%s%s end%s as in no run without failures (histories", count > 1 ? "s" : "",
                    named, count > 1 ? "" : "s");
  else
    used = snprintf(
        verdict->text, sizeof verdict->text,
        "each rank ends as in some run without failures, but no such run ends as all together "
        "(histories");
  for (uint32_t rank = 0; rank < ranks && (size_t)used < sizeof verdict->text; rank++)
    used += snprintf(verdict->text + used, sizeof verdict->text - (size_t)used, " %08x%08x",
                     histories[rank].word[0], histories[rank].word[1]);
  if ((size_t)used < sizeof verdict->text)
    snprintf(verdict->text + used, sizeof verdict->text - (size_t)used, ")");
}

/* Judges property `outcome` in the state that is loaded. */
static bool wrong_outcome(struct explorer *e, struct verdict *verdict)
{
  struct intern *outcomes = e->model.options->outcomes;
  uint32_t ranks = (uint32_t)e->model.world->ranks;
  struct content histories[ranks];
  uint32_t size = ranks * (uint32_t)sizeof *histories;
  if (!outcomes)
    return false;
  for (uint32_t rank = 0; rank < ranks; rank++) {
    uint32_t part = world_part(e->model.world, WORLD_PROGRAM, (int)rank, 0);
    const struct world_program *program =
        e->model.rules_cache.parts.item[e->model.rules_cache.values[part]].bytes;
    histories[rank] = program->history;
  }
  if (e->model.options->collect)
    intern(outcomes, histories, size);
  if (intern_find(outcomes, histories, size))
    return false;
  worker_wrong_outcome(outcomes, histories, ranks, verdict);
  return model_checks(&e->model, "outcome");
}

/* ---- what a timer leads to ---- */

/* Holds a state from which a run is tried. */
struct trial {
  struct transition_cache *cache;
  int rank; /* the rank whose timer goes off, or RCL_ANY for any rank */
  /* `moves`: a move was taken in this turn; `commits`: a checkpoint was committed; `stops`: a
   * verdict has ended the run. */
  bool moves, commits, stops;
};

static bool may_take(const struct trial *t, const struct move *move)
{
  bool timer = move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_TIMER;
  return !is_fault(move) && (!timer || t->rank == RCL_ANY || move->rank == t->rank);
}

/* Takes the first move of an origin that changes anything. */
static void take_one(struct trial *t, uint32_t origin)
{
  struct transition_cache *m = t->cache;
  const struct enabled_list list = *transition_cache_list(m, origin);
  for (uint32_t i = 0; i < list.count; i++) {
    uint32_t move = m->list_moves[list.first + i];
    if (!may_take(t, m->moves.item[move].bytes))
      continue;
    const struct effect effect = *transition_cache_step(m, move);
    if (!effect.count)
      continue;
    transition_cache_apply(m, &effect);
    t->moves = true;
    t->commits |= effect.reached.most[REACH_COMMITS] > 0;
    t->stops |= effect.verdict != 0;
    return;
  }
}

/* Lets one more timer go off in the state that is loaded. */
static void allow_timer(struct trial *t)
{
  struct transition_cache *m = t->cache;
  uint32_t part = world_part(m->world, WORLD_GLOBAL, 0, 0);
  struct world_global global = *(const struct world_global *)m->parts.item[m->values[part]].bytes;
  global.timers = 1;
  m->values[part] = intern(&m->parts, &global, sizeof global);
}

/* Returns whether the timer of a rank leads to a checkpoint that commits (property `requests`). The
 * timer goes off each time it is set, but only a few times. Follows one run from the loaded state,
 * in which origins take turns. Ignores violations of other properties, because the search itself
 * finds these. */
static bool renews(void *explorer, int rank)
{
  enum { TIMERS = 4, TURNS = 1000 };
  struct explorer *e = explorer;
  struct transition_cache *m = &e->model.rules_cache;
  bool clocks = m->world->protocol->clocks;
  struct trial t = {.cache = m, .rank = clocks ? RCL_ANY : rank};
  uint32_t loaded[m->count], origins = (uint32_t)(m->world->ranks * (m->world->ranks + 1));
  memcpy(loaded, m->values, sizeof loaded);
  for (unsigned timer = 0; timer < TIMERS && !t.commits && !t.stops; timer++) {
    allow_timer(&t);
    t.moves = true;
    for (unsigned turn = 0; turn < TURNS && t.moves && !t.commits && !t.stops; turn++) {
      t.moves = false;
      for (uint32_t origin = 0; origin < origins && !t.stops; origin++)
        take_one(&t, origin);
    }
  }
  memcpy(m->values, loaded, sizeof loaded);
  transition_cache_forget_reads(m);
  return t.commits || t.stops;
}

/* ---- states ---- */

static bool wrong_state(struct worker *w, bool finished, bool still, struct verdict *verdict)
{
  struct explorer *e = w->e;
  if (finished) {
    if (e->model.options->outcomes)
      reached_judge(&w->reached, PROPERTY_OUTCOME);
    if (wrong_outcome(e, verdict))
      return true;
    if (e->model.judges_end)
      world_at_end(e->model.world, verdict);
    if (e->model.judges_end)
      reached_add(&w->reached, &verdict->reached);
    if (e->model.judges_end && model_violates(&e->model, verdict))
      return true;
  }
  if (!still)
    return false;
  world_at_rest_renewing(e->model.world, renews, e, verdict);
  reached_add(&w->reached, &verdict->reached);
  return model_violates(&e->model, verdict);
}

static bool wrong_line(struct worker *w, struct verdict *verdict)
{
  line_cache_judge(w->line, &w->at, verdict);
  reached_add(&w->reached, &verdict->reached);
  return model_violates(&w->e->model, verdict);
}

void worker_judge_state(struct worker *w, const struct world_standing *all, bool still)
{
  struct verdict verdict;
  bool ends = all->finished && (w->e->model.judges_end || w->e->model.options->outcomes);
  if (all->gave_up || w->outgoing)
    return;
  bool wrong = w->line && wrong_line(w, &verdict);
  if (!wrong && (ends || still)) {
    platform_lock(w->e->model.rules);
    model_show(&w->e->model, &w->at);
    wrong = wrong_state(w, all->finished, still, &verdict);
    platform_unlock(w->e->model.rules);
  }
  if (wrong)
    note_violation(w, &verdict, 0);
}

void worker_note_rest(struct worker *w)
{
  struct explorer *e = w->e;
  uint64_t digest = w->symmetry ? symmetry_digest(w->symmetry, w->at.numbers) : 0;
  platform_lock(e->model.rules);
  if (!w->symmetry) {
    model_show(&e->model, &w->at);
    digest = world_digest(e->model.world);
  }
  intern(e->model.options->rests, &digest, (uint32_t)sizeof digest);
  platform_unlock(e->model.rules);
}
