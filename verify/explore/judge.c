/* Properties of moves and states, as they are expanded. */
#include <stdio.h>

#include "verify/explore/search.h"

/* The state being expanded violates a property, for all that is known: by this move. */
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

void worker_wrong_outcome(const struct content *histories, uint32_t ranks, struct verdict *verdict)
{
  *verdict = (struct verdict){.kind = VERDICT_VIOLATION, .property = "outcome"};
  int used = snprintf(verdict->text, sizeof verdict->text,
                      "the programs end with histories that no run without failures has:");
  for (uint32_t rank = 0; rank < ranks && (size_t)used < sizeof verdict->text; rank++)
    used += snprintf(verdict->text + used, sizeof verdict->text - (size_t)used, " %08x%08x",
                     histories[rank].word[0], histories[rank].word[1]);
}

/* Property outcome, in the state that is loaded. */
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
  worker_wrong_outcome(histories, ranks, verdict);
  return model_checks(&e->model, "outcome");
}

static bool wrong_state(struct explorer *e, bool finished, bool still, struct verdict *verdict)
{
  if (finished) {
    if (wrong_outcome(e, verdict))
      return true;
    if (e->model.judges_end)
      world_at_end(e->model.world, verdict);
    if (e->model.judges_end && model_violates(&e->model, verdict))
      return true;
  }
  if (!still)
    return false;
  world_at_rest(e->model.world, verdict);
  return model_violates(&e->model, verdict);
}

void worker_judge_state(struct worker *w, const struct world_standing *all, bool still)
{
  struct verdict verdict;
  bool ends = all->finished && (w->e->model.judges_end || w->e->model.options->outcomes);
  if (all->gave_up || (!ends && !still) || w->outgoing)
    return;
  platform_lock(w->e->model.rules);
  model_load(&w->e->model, &w->at);
  transition_cache_forget_reads(&w->e->model.rules_cache);
  bool wrong = wrong_state(w->e, all->finished, still, &verdict);
  platform_unlock(w->e->model.rules);
  if (wrong)
    note_violation(w, &verdict, 0);
}

void worker_note_rest(struct worker *w)
{
  struct explorer *e = w->e;
  uint64_t digest = w->symmetry ? symmetry_digest(w->symmetry, w->at.numbers) : 0;
  platform_lock(e->model.rules);
  if (!w->symmetry) {
    model_load(&e->model, &w->at);
    transition_cache_forget_reads(&e->model.rules_cache);
    digest = world_digest(e->model.world);
  }
  intern(e->model.options->rests, &digest, (uint32_t)sizeof digest);
  platform_unlock(e->model.rules);
}
