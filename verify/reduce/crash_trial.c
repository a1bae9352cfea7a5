/* Tests the recovery in states that the search visits. */
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "base/platform.h"
#include "verify/reduce/crash_parts.h"

/* Identifies one of two things: that `rank` crashes when GLOBAL has that value, or that `rank` is
 * told of a crash that has led to that value of GLOBAL. */
struct fall {
  uint32_t global, rank;
};

/* Identifies a test of `rank`, by the numbers of the rank's state and of GLOBAL. */
struct trial {
  uint32_t rank, number, global;
};

/* Returns the number of a key, and sets a pointer to the note of that key. A new note is 0. */
static uint32_t *note_key(struct intern *keys, const void *key, uint32_t size, uint32_t **list,
                          uint32_t *room)
{
  uint32_t number = intern(keys, key, size);
  *list = memory_zeroed_room(*list, number, room, sizeof **list);
  return &(*list)[number];
}

/* Takes a move in the loaded state, and changes that state. */
static const struct effect *take_move(struct model *model, const struct move *move)
{
  struct transition_cache *m = &model->rules_cache;
  const struct effect *effect = transition_cache_step(m, intern(&m->moves, move, sizeof *move));
  transition_cache_apply(m, effect);
  return effect;
}

static uint32_t *values_of(struct model *model, enum part_kind kind, int rank)
{
  REQUIRE(rank < model->world->ranks, "trials are of ranks of the world");
  return model->rules_cache.values + world_part(model->world, kind, rank, 0);
}

/* Loads the parts of one rank and GLOBAL. All other parts are as they are at the beginning of a
 * run, and nothing is under way. */
static void load_one(struct model *model, const uint32_t *parts, int rank, uint32_t global)
{
  model_load_numbers(model, model->first);
  memcpy(values_of(model, WORLD_RANK, rank), parts, WORLD_RANK_PARTS * sizeof *parts);
  *values_of(model, WORLD_GLOBAL, 0) = global;
}

/* Returns GLOBAL as it is after the crash of `rank` was detected. `parts` are the parts of any rank
 * that runs. */
static uint32_t after_crash(struct crash_reduction *r, const uint32_t *parts, uint32_t rank,
                            uint32_t global)
{
  const struct fall fall = {global, rank};
  uint32_t *after = note_key(&r->falls, &fall, sizeof fall, &r->after, &r->after_room);
  if (*after)
    return *after;
  load_one(r->model, parts, (int)rank, global);
  take_move(r->model, &(struct move){.kind = MOVE_CRASH, .rank = (int16_t)rank});
  take_move(r->model, &(struct move){.kind = MOVE_DETECT, .rank = -1});
  return *after = *values_of(r->model, WORLD_GLOBAL, 0);
}

static bool is_down(struct model *model, int rank, struct move *move)
{
  *move = (struct move){.kind = MOVE_EVENT, .rank = (int16_t)rank};
  bool is = world_next_down(model->world, rank, &move->event);
  transition_cache_forget_reads(&model->rules_cache);
  return is;
}

/* Tells the rank, which has those parts, about the crash. The result must be the same for all
 * parts. */
static void tell_rank(struct crash_reduction *r, const uint32_t *parts, uint32_t rank,
                      uint32_t global)
{
  const struct fall down = {global, rank};
  struct model *model = r->model;
  struct move move;
  load_one(model, parts, (int)rank, global);
  if (!is_down(model, (int)rank, &move))
    return;
  const struct effect effect = *take_move(model, &move);
  for (uint32_t i = 0; i < effect.count; i++)
    if (model->rules_cache.changes[effect.first + i].part / WORLD_RANK_PARTS != rank)
      crash_fail(r, "a rank that goes back affects other ranks");
  uint32_t state[WORLD_RANK_PARTS];
  memcpy(state, values_of(model, WORLD_RANK, (int)rank), sizeof state);
  if (effect.verdict || state[WORLD_STORED] != parts[WORLD_STORED] ||
      state[WORLD_LEFT] != parts[WORLD_LEFT])
    crash_fail(r, "a rank that is told of a crash does more than go back");
  state[WORLD_STORED] = state[WORLD_LEFT] = 0;
  uint32_t became = intern(&r->states, state, sizeof state);
  uint32_t *known = note_key(&r->downs, &down, sizeof down, &r->became, &r->became_room);
  if (*known && *known != became)
    crash_fail(r, "a rank that goes back keeps some of what it knew");
  *known = became;
}

/* Returns whether that rank of the worker's state can be told of a crash. */
static bool lives(const struct model *model, uint32_t rank)
{
  enum rank_phase phase = read_rank_head(model->world, (int)rank).phase;
  return phase == RANK_RUNNING || phase == RANK_CAPTURING || phase == RANK_RESTORING;
}

/* Finds the START of the rank in the loaded state, if it is among its moves. */
static bool is_start(struct model *model, uint32_t rank, struct move *move)
{
  uint32_t origin = rank * ((uint32_t)model->world->ranks + 1);
  const struct enabled_list turn = *transition_cache_list(&model->rules_cache, origin);
  if (!turn.count)
    return false;
  uint32_t first = model->rules_cache.list_moves[turn.first];
  *move = *(const struct move *)model->rules_cache.moves.item[first].bytes;
  return move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_START;
}

/* Starts the rank, which has gone back and has those parts. What a crash leaves must be the same
 * before the START and after the START, because the search may take the START before a crash. */
static void start_rank(struct crash_reduction *r, const uint32_t *parts, uint32_t rank,
                       uint32_t global)
{
  struct model *model = r->model;
  struct move move;
  load_one(model, parts, (int)rank, global);
  uint32_t kept = crash_kept(r, rank, 0), kept_global = crash_kept_global(r);
  if (!is_start(model, rank, &move) || take_move(model, &move)->verdict)
    return; /* the search sees the verdict when it takes the move */
  if (kept != crash_kept(r, rank, 0) || kept_global != crash_kept_global(r))
    crash_fail(r, "a rank that starts again changes what a crash leaves");
}

static void try_rank(struct crash_worker *d, uint32_t rank)
{
  struct model *model = d->model;
  uint32_t parts[WORLD_RANK_PARTS];
  model_load(model, d->at);
  const struct world_standing standing = world_standing(model->world, (int)rank);
  bool alive = lives(model, rank);
  transition_cache_forget_reads(&model->rules_cache);
  uint32_t global = *values_of(model, WORLD_GLOBAL, 0);
  memcpy(parts, values_of(model, WORLD_RANK, (int)rank), sizeof parts);
  for (uint32_t other = 0; alive && other < d->ranks; other++)
    if (other != rank)
      tell_rank(d->reduction, parts, rank, after_crash(d->reduction, parts, other, global));
  if (standing.starts && !standing.fresh)
    start_rank(d->reduction, parts, rank, global);
  transition_cache_forget_reads(&model->rules_cache);
  model->loaded = NULL;
}

void crash_try(struct crash_worker *d)
{
  struct intern *mine = &d->tried, *all = &d->reduction->tried;
  for (uint32_t rank = 0; rank < d->ranks; rank++) {
    const struct trial trial = {rank, d->at->numbers[rank],
                                d->at->numbers[d->model->components - 1]};
    uint32_t count = mine->count;
    if (intern(mine, &trial, sizeof trial) <= count)
      continue;
    platform_lock(d->model->rules);
    count = all->count;
    if (intern(all, &trial, sizeof trial) > count)
      try_rank(d, rank);
    platform_unlock(d->model->rules);
  }
}

/* ---- audit ---- */

/* Takes all moves that follow a crash. Returns false if a verdict ends the run early. */
static bool take_restart(struct model *model)
{
  struct move move;
  if (take_move(model, &(struct move){.kind = MOVE_DETECT, .rank = -1})->verdict)
    return false;
  for (int rank = 0; rank < model->world->ranks; rank++)
    if (is_down(model, rank, &move) && take_move(model, &move)->verdict)
      return false;
  for (int rank = 0; rank < model->world->ranks; rank++) {
    if (is_start(model, (uint32_t)rank, &move) && take_move(model, &move)->verdict)
      return false;
  }
  return true;
}

void crash_audit(struct crash_worker *d, uint32_t rank, const uint32_t *key, uint32_t count)
{
  struct model *model = d->model;
  struct crash_reduction *r = d->reduction;
  uint32_t line[count + 1];
  memcpy(line, key, count * sizeof *key);
  line[count] = rank;
  platform_lock(model->rules);
  model_load(model, d->at);
  bool fine =
      !take_move(model, &(struct move){.kind = MOVE_CRASH, .rank = (int16_t)rank})->verdict &&
      take_restart(model);
  uint32_t led =
      fine ? intern(&r->states, model->rules_cache.values,
                    model->rules_cache.count * (uint32_t)sizeof *model->rules_cache.values)
           : UINT32_MAX;
  uint32_t *known = note_key(&r->lines, line, (uint32_t)sizeof line, &r->led, &r->led_room);
  if (*known && *known != led)
    breach("what a crash leaves does not tell where it leads");
  *known = led;
  model->loaded = NULL;
  platform_unlock(model->rules);
}
