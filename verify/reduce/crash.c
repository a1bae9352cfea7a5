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
  free(r->places);
  free(r->chosen);
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
  for (uint32_t i = 0; d->digests && i < d->model->components; i++)
    free(d->digests[i].of);
  for (uint32_t i = 0; i < d->lists_count; i++) {
    for (uint32_t rank = 0; rank < d->ranks; rank++)
      free(d->ranks_classes[i][rank].of);
    free(d->ranks_classes[i]);
  }
  free(d->ranks_classes);
  free(d->globals.of);
  free(d->places);
  free(d->digests);
  intern_clear(&d->crashed);
  intern_clear(&d->tried);
  free(d);
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

static bool has(const struct crash_worker *d, enum crash_move kind)
{
  for (uint32_t i = 0; i < d->moves_count; i++)
    if (d->moves[i].kind == kind)
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
  if (!has(d, CRASH_MOVE_CRASH))
    return;
  crash_try(d);
  if (!d->model->options->audit)
    return;
  crash_remains(d, key);
  audit(d, key);
}

/* The last crash, or its detection, puts off until it is known in which state it is to be taken.
 * Saves do not hold in which it was. */
static void put_off(struct crash_worker *d, enum crash_move kind)
{
  if (d->model->options->save || !has(d, kind))
    return;
  crash_propose(d);
  keep(d, kind, RCL_ANY, true);
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

/* Once all programs have ended and none is held, no rank crashes any more: a move that brings this
 * about cannot be taken before a crash instead of after it. */
static bool is_nearly_over(const struct crash_worker *d, const struct world_standing *standing)
{
  uint32_t open = 0;
  for (uint32_t rank = 0; rank < d->ranks; rank++)
    open += !standing[rank].ended || standing[rank].held;
  return open <= 1;
}

static bool any_dead(const struct crash_worker *d, const struct world_standing *standing)
{
  for (uint32_t rank = 0; rank < d->ranks; rank++)
    if (standing[rank].dead)
      return true;
  return false;
}

bool crash_sees(const struct crash_worker *d, const struct world_standing *standing)
{
  return standing->last || (standing->safe && any_dead(d, standing) && is_nearly_over(d, standing));
}

uint32_t crash_worker_choose(struct crash_worker *d, const struct world_standing *standing,
                             struct enabled_move *moves, uint32_t count)
{
  d->moves = moves;
  d->moves_count = count;
  bool dead = any_dead(d, standing), nearly_over = is_nearly_over(d, standing);
  int behind = RCL_ANY, starts = RCL_ANY;
  for (int rank = (int)d->ranks - 1; rank >= 0; rank--) {
    behind = standing[rank].behind ? rank : behind;
    starts = standing[rank].starts ? rank : starts;
  }
  if (standing->last && !nearly_over)
    put_off(d, CRASH_MOVE_CRASH);
  else if (standing->safe && dead && !nearly_over)
    keep(d, CRASH_MOVE_DETECT, RCL_ANY, false);
  else if (standing->safe && dead)
    put_off(d, CRASH_MOVE_DETECT);
  else if (standing->safe && behind != RCL_ANY)
    keep(d, CRASH_MOVE_DOWN, behind, false);
  else if (standing->safe && starts != RCL_ANY)
    keep(d, CRASH_MOVE_START, starts, false);
  return d->moves_count;
}
