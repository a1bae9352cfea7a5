#include "verify/reduce/crash.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/platform.h"
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
  if (model_needs_cycles(model))
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
  struct intern *tables[] = {&r->remains, &r->globals, &r->crashed, &r->tried,   &r->falls,
                             &r->downs,   &r->states,  &r->lines,   &r->outsides};
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

static bool is(const struct enabled_move *move, enum crash_move kind, int rank, uint32_t each)
{
  return move->kind == kind && (rank == RCL_ANY || move->origin / each == (uint32_t)rank);
}

/* Keeps crashes and the moves of that kind, and drops all other moves. Unless `rank` is RCL_ANY,
 * only moves of `rank` are kept. */
static void keep(struct crash_worker *d, enum crash_move kind, int rank)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < d->moves_count; i++)
    if (d->moves[i].kind == CRASH_MOVE_CRASH || is(&d->moves[i], kind, rank, d->ranks + 1))
      d->moves[count++] = d->moves[i];
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

/* Puts off crashes and the detection of crashes until it is known in which state they must be
 * taken. Unless `rank` is RCL_ANY, only crashes of `rank` are put off. Does nothing in a search
 * that saves, because saves do not contain these states. */
static void put_off(struct crash_worker *d, int rank)
{
  uint32_t count = 0, crash = d->ranks * (d->ranks + 1);
  if (d->model->options->save)
    return;
  for (uint32_t i = 0; i < d->moves_count; i++) {
    const struct enabled_move *move = &d->moves[i];
    if (move->kind != CRASH_MOVE_DETECT &&
        (move->kind != CRASH_MOVE_CRASH ||
         (rank != RCL_ANY && move->origin - crash != (uint32_t)rank)))
      d->moves[count++] = *move;
  }
  if (count < d->moves_count)
    crash_propose(d);
  d->moves_count = count;
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

/* Describes the state of all ranks. A field that names a rank is RCL_ANY if there is no such
 * rank. */
struct stage {
  uint32_t open, dead;
  int last;     /* the rank that is open, if only one rank is */
  bool leaving; /* a rank has crashed after the end of its program */
  int behind, back;
};

static struct stage stage_of(const struct crash_worker *d, const struct world_standing *standing)
{
  struct stage s = {.last = (int)d->ranks, .behind = RCL_ANY, .back = RCL_ANY};
  for (int rank = (int)d->ranks - 1; rank >= 0; rank--) {
    const struct world_standing *of = &standing[rank];
    bool open = !of->ended || of->held;
    s.open += open;
    s.dead += of->dead;
    s.leaving |= of->dead && of->ended;
    s.last = open ? rank : s.last;
    s.behind = of->behind ? rank : s.behind;
    s.back = of->starts && (of->safe || !of->fresh) ? rank : s.back;
  }
  return s;
}

/* Returns whether a move may bring about that all programs have ended and none is held. No rank
 * crashes after such a move, so the move cannot be exchanged with a crash that comes before it. */
static bool is_nearly_over(const struct stage *s)
{
  return s->open <= 1 && (!s->dead || (s->dead == 1 && s->leaving));
}

bool crash_sees(const struct crash_worker *d, const struct world_standing *standing)
{
  const struct stage s = stage_of(d, standing);
  return standing->first && (!s.dead || is_nearly_over(&s));
}

uint32_t crash_worker_choose(struct crash_worker *d, const struct world_standing *standing,
                             struct enabled_move *moves, uint32_t count)
{
  const struct stage s = stage_of(d, standing);
  bool nearly_over = is_nearly_over(&s);
  d->moves = moves;
  d->moves_count = count;
  if (s.dead && !nearly_over)
    keep(d, CRASH_MOVE_DETECT, RCL_ANY);
  if (s.dead && standing->safe && !nearly_over)
    return d->moves_count;
  if (!s.dead && s.behind != RCL_ANY)
    keep(d, CRASH_MOVE_DOWN, s.behind);
  else if (!s.dead && s.back != RCL_ANY)
    keep(d, CRASH_MOVE_START, s.back);
  bool running = !s.dead && s.behind == RCL_ANY && s.back == RCL_ANY;
  put_off(d, running && nearly_over ? s.last : RCL_ANY);
  return d->moves_count;
}
