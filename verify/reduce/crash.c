#include "verify/reduce/crash.h"

#include <stdlib.h>
#include <string.h>

#include "verify/base/memory.h"
#include "verify/base/platform.h"
#include "verify/reduce/crash_parts.h"

/* ---- beginning and end ---- */

static const char *excluded(const struct model *model)
{
  const struct world *world = model->world;
  if (world->protocol->independent)
    return "there are crashes, and ranks go back one by one";
  if (world->faults)
    return "the host lies";
  if (world->hazards)
    return "there are hazards beside crashes of ranks between steps";
  if (world->per_node > 1)
    return "several ranks crash at once";
  if (world->levels)
    return "crashes take what is stored on nodes";
  if (world->script && world->script->synchronous)
    return "a crash of its receiver ends a synchronous send";
  if (world->protocol->clocks)
    return "there are clocks";
  if (model_checks(model, "progress"))
    return "property progress looks at all runs";
  if (model_checks(model, "tokens"))
    return "property tokens looks beyond crashes";
  return NULL;
}

struct crash_reduction *crash_new(struct model *model, unsigned crashes, const char **refused)
{
  *refused = crashes ? excluded(model) : "there are no crashes";
  if (*refused)
    return NULL;
  struct crash_reduction *r = memory_table(1, sizeof *r);
  r->model = model;
  return r;
}

void crash_free(struct crash_reduction *r)
{
  if (!r)
    return;
  struct intern *tables[] = {&r->remains, &r->globals, &r->crashed, &r->tried,
                             &r->falls,   &r->downs,   &r->states,  &r->lines};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    intern_clear(tables[i]);
  free(r->since);
  free(r->after);
  free(r->became);
  free(r->led);
  free(r);
}

const char *crash_failed(const struct crash_reduction *r)
{
  return r ? r->failed : NULL;
}

struct crash_worker *crash_worker_new(struct crash_reduction *r, const struct position *at,
                                      const unsigned *level)
{
  struct crash_worker *d = memory_table(1, sizeof *d);
  d->reduction = r;
  d->model = r->model;
  d->at = at;
  d->level = level;
  d->ranks = (uint32_t)r->model->world->ranks;
  return d;
}

void crash_worker_free(struct crash_worker *d)
{
  if (!d)
    return;
  for (uint32_t i = 0; i < d->lists_count; i++) {
    for (uint32_t rank = 0; rank < d->ranks; rank++)
      free(d->ranks_classes[i][rank].of);
    free(d->ranks_classes[i]);
  }
  free(d->ranks_classes);
  free(d->globals.of);
  free(d->since);
  intern_clear(&d->crashed);
  intern_clear(&d->tried);
  free(d);
}

/* ---- what a crash leaves ---- */

/* Of a rank: what is durable of the checkpoint that is committed, as those of others are removed
 * when it starts; and whether it has anything to go back from. */
static uint32_t remains_of_rank(struct crash_reduction *r, uint32_t rank)
{
  const struct world *w = r->model->world;
  uint32_t count, kept = 0;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, (int)rank, 0, &count);
  struct world_record left[count + 1];
  enum rank_phase phase = read_rank_head(w, (int)rank)->phase;
  uint32_t committed = read_global(w)->committed;
  bool out = phase == RANK_NEW || phase == RANK_DEAD || phase == RANK_RESTARTING;
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].durable && stored[i].checkpoint == committed)
      left[kept++] = stored[i];
  left[kept] = (struct world_record){.checkpoint = out ? (uint32_t)phase + 1 : 0};
  return intern(&r->remains, left, (kept + 1) * (uint32_t)sizeof *left);
}

/* Of GLOBAL: all but what the coordinator was about to commit. */
static uint32_t remains_of_global(struct crash_reduction *r)
{
  struct world_global left = *read_global(r->model->world);
  left.committing = 0;
  left.requested = 0;
  return intern(&r->globals, &left, sizeof left);
}

/* The place of a number of a component in a list of classes. */
static uint32_t *class_of(struct classes *classes, uint32_t number)
{
  classes->of = memory_zeroed_room(classes->of, number, &classes->room, sizeof *classes->of);
  return &classes->of[number];
}

/* Of rank `which`, or, when there is no such rank, of GLOBAL. */
static uint32_t learn_class(struct crash_worker *d, uint32_t which)
{
  struct crash_reduction *r = d->reduction;
  platform_lock(d->model->rules);
  model_load(d->model, d->at);
  uint32_t class = which < d->ranks ? remains_of_rank(r, which) : remains_of_global(r);
  transition_cache_forget_reads(&d->model->rules_cache);
  platform_unlock(d->model->rules);
  return class;
}

/* Classes of ranks when that remains of GLOBAL, a list for each rank. */
static struct classes *classes_with(struct crash_worker *d, uint32_t global)
{
  while (d->lists_count <= global) {
    d->ranks_classes =
        memory_room(d->ranks_classes, d->lists_count, &d->lists_room, sizeof *d->ranks_classes);
    d->ranks_classes[d->lists_count++] = memory_table(d->ranks, sizeof **d->ranks_classes);
  }
  return d->ranks_classes[global];
}

/* Remains of the worker's state after a crash: a number per rank, and one more. */
static void find_remains(struct crash_worker *d, uint32_t *key)
{
  uint32_t *global = class_of(&d->globals, d->at->numbers[d->model->components - 1]);
  if (!*global)
    *global = learn_class(d, d->ranks);
  key[d->ranks] = *global;
  struct classes *classes = classes_with(d, *global);
  for (uint32_t rank = 0; rank < d->ranks; rank++) {
    uint32_t *class = class_of(&classes[rank], d->at->numbers[rank]);
    if (!*class)
      *class = learn_class(d, rank);
    key[rank] = *class;
  }
}

/* In which level, + 1, the first crash was taken in a state with these remains: in this one, if in
 * none before. */
static uint32_t first_level(struct crash_worker *d, const uint32_t *key)
{
  struct crash_reduction *r = d->reduction;
  uint32_t size = (d->ranks + 1) * (uint32_t)sizeof *key;
  uint32_t number = intern(&r->crashed, key, size);
  r->since = memory_zeroed_room(r->since, number, &r->since_room, sizeof *r->since);
  if (!r->since[number])
    r->since[number] = *d->level + 1;
  return r->since[number];
}

/* Whether this state is of the first level with these remains: of which state of a level comes
 * first the workers' race would decide. */
static bool is_first(struct crash_worker *d, const uint32_t *key)
{
  uint32_t number = intern(&d->crashed, key, (d->ranks + 1) * (uint32_t)sizeof *key);
  d->since = memory_zeroed_room(d->since, number, &d->since_room, sizeof *d->since);
  if (!d->since[number]) {
    platform_lock(d->model->rules);
    d->since[number] = first_level(d, key);
    platform_unlock(d->model->rules);
  }
  return d->since[number] == *d->level + 1;
}

/* ---- which moves are enough ---- */

/* Leaves moves of that kind, and of those of one rank that is not RCL_ANY; or, when `not`, the
 * others.
 */
static void keep(struct crash_worker *d, enum crash_move kind, int rank, bool not )
{
  uint32_t each = d->ranks + 1, count = 0;
  for (uint32_t i = 0; i < d->moves_count; i++) {
    bool is = d->moves[i].kind == kind &&
              (rank == RCL_ANY || d->moves[i].origin / each == (uint32_t)rank);
    if (is == not )
      continue;
    d->moves[count++] = d->moves[i];
  }
  d->moves_count = count;
}

static bool has_crashes(const struct crash_worker *d)
{
  for (uint32_t i = 0; i < d->moves_count; i++)
    if (d->moves[i].kind == CRASH_MOVE_CRASH)
      return true;
  return false;
}

static void audit(struct crash_worker *d, const uint32_t *key)
{
  uint32_t first = d->ranks * (d->ranks + 1);
  for (uint32_t i = 0; i < d->moves_count; i++)
    if (d->moves[i].kind == CRASH_MOVE_CRASH)
      crash_audit(d, d->moves[i].origin - first, key, d->ranks + 1);
}

void crash_worker_learn(struct crash_worker *d, struct enabled_move *moves, uint32_t count)
{
  uint32_t key[d->ranks + 1];
  d->moves = moves;
  d->moves_count = count;
  if (!has_crashes(d))
    return;
  crash_try(d);
  if (!d->model->options->audit)
    return;
  find_remains(d, key);
  audit(d, key);
}

/* The last crash. */
static void choose_crashes(struct crash_worker *d)
{
  uint32_t key[d->ranks + 1];
  if (!has_crashes(d))
    return;
  crash_worker_learn(d, d->moves, d->moves_count);
  find_remains(d, key);
  if (!d->model->options->save && !is_first(d, key)) /* saves do not hold what was first */
    keep(d, CRASH_MOVE_CRASH, RCL_ANY, true);
}

enum crash_move crash_move_of(const struct move *move)
{
  if (move->kind == MOVE_CRASH)
    return CRASH_MOVE_CRASH;
  if (move->kind == MOVE_DETECT)
    return CRASH_MOVE_DETECT;
  if (move->kind != MOVE_EVENT)
    return CRASH_MOVE_OTHER;
  return move->event.kind == RCL_EVENT_DOWN    ? CRASH_MOVE_DOWN
         : move->event.kind == RCL_EVENT_START ? CRASH_MOVE_START
                                               : CRASH_MOVE_OTHER;
}

uint32_t crash_worker_choose(struct crash_worker *d, const struct world_standing *standing,
                             struct enabled_move *moves, uint32_t count)
{
  d->moves = moves;
  d->moves_count = count;
  int ranks = (int)d->ranks, dead = 0, open = 0, behind = RCL_ANY, starts = RCL_ANY;
  for (int rank = ranks - 1; rank >= 0; rank--) {
    dead += standing[rank].dead;
    open += !standing[rank].ended || standing[rank].held;
    behind = standing[rank].behind ? rank : behind;
    starts = standing[rank].starts ? rank : starts;
  }
  /* Once all programs have ended and none is held, no rank crashes any more: a move that brings
   * this about cannot be taken before a crash instead of after it. */
  bool nearly_over = open <= 1;
  if (standing->last && !nearly_over)
    choose_crashes(d);
  else if (standing->safe && dead && !nearly_over)
    keep(d, CRASH_MOVE_DETECT, RCL_ANY, false);
  else if (standing->safe && !dead && behind != RCL_ANY)
    keep(d, CRASH_MOVE_DOWN, behind, false);
  else if (standing->safe && !dead && starts != RCL_ANY)
    keep(d, CRASH_MOVE_START, starts, false);
  return d->moves_count;
}
