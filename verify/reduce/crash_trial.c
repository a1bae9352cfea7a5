/* The recovery: what is tried out in states at hand. */
#include <stdlib.h>
#include <string.h>

#include "verify/reduce/crash_parts.h"

/* `rank` crashes when GLOBAL has that value. */
struct fall {
  uint32_t global, rank;
};

/* `rank` is told of a crash that has led to that GLOBAL. */
struct down {
  uint32_t global, rank;
};

/* What `rank` becomes was tried when it and GLOBAL had those numbers. */
struct trial {
  uint32_t rank, number, global;
};

/* The number of a key, and the place of what is noted of it; new ones are 0. */
static uint32_t *note(struct intern *keys, const void *key, uint32_t size, uint32_t **list,
                      uint32_t *room)
{
  uint32_t before = keys->count, number = intern(keys, key, size);
  *list = intern_room(*list, number, room, sizeof **list);
  if (number > before)
    (*list)[number] = 0;
  return &(*list)[number];
}

/* Takes a move in the state that is loaded, in place. */
static const struct effect *take(struct explorer *e, const struct move *move)
{
  struct memo *m = &e->memo;
  const struct effect *effect = memo_step(m, intern(&m->moves, move, sizeof *move));
  for (uint32_t i = 0; i < effect->count; i++)
    m->values[m->changes[effect->first + i].part] = m->changes[effect->first + i].value;
  return effect;
}

static uint32_t *values_of(struct explorer *e, enum part_kind kind, int rank)
{
  return e->memo.values + world_part(e->world, kind, rank, 0);
}

/* Loads the parts of one rank and GLOBAL; all else is as at the beginning, nothing under way. */
static void load_one(struct explorer *e, const uint32_t *parts, int rank, uint32_t global)
{
  for (uint32_t i = 0; i < e->components; i++) {
    const struct component *c = &e->component[i];
    const uint32_t *tuple = c->values.item[e->first[i] + 1].bytes;
    for (uint32_t j = 0; j < c->count; j++)
      e->memo.values[c->parts[j]] = tuple[j];
  }
  memcpy(values_of(e, WORLD_RANK, rank), parts, WORLD_RANK_PARTS * sizeof *parts);
  *values_of(e, WORLD_GLOBAL, 0) = global;
}

/* GLOBAL when the crash of `rank` has been noticed; `parts` are those of any rank that runs. */
static uint32_t after_crash(struct recovery *r, const uint32_t *parts, uint32_t rank,
                            uint32_t global)
{
  const struct fall fall = {global, rank};
  uint32_t *after = note(&r->falls, &fall, sizeof fall, &r->after, &r->after_room);
  if (*after)
    return *after;
  load_one(r->e, parts, (int)rank, global);
  take(r->e, &(struct move){.kind = MOVE_CRASH, .rank = (int16_t)rank});
  take(r->e, &(struct move){.kind = MOVE_DETECT, .rank = -1});
  return *after = *values_of(r->e, WORLD_GLOBAL, 0);
}

static bool is_down(struct explorer *e, int rank, struct move *move)
{
  *move = (struct move){.kind = MOVE_EVENT, .rank = (int16_t)rank};
  bool is = world_next_down(e->world, rank, &move->event);
  memo_forget_reads(&e->memo);
  return is;
}

/* The rank with those parts is told: it must become what it becomes from any others. */
static void tell(struct recovery *r, const uint32_t *parts, uint32_t rank, uint32_t global)
{
  const struct down down = {global, rank};
  struct explorer *e = r->e;
  struct move move;
  load_one(e, parts, (int)rank, global);
  if (!is_down(e, (int)rank, &move))
    return;
  const struct effect effect = *take(e, &move);
  for (uint32_t i = 0; i < effect.count; i++)
    if (e->memo.changes[effect.first + i].part / WORLD_RANK_PARTS != rank)
      recovery_fail(r, "who goes back does something to others");
  uint32_t state[WORLD_RANK_PARTS];
  memcpy(state, values_of(e, WORLD_RANK, (int)rank), sizeof state);
  if (effect.verdict || state[WORLD_STORED] != parts[WORLD_STORED])
    recovery_fail(r, "who goes back does more than that");
  state[WORLD_STORED] = 0;
  uint32_t became = intern(&r->states, state, sizeof state);
  uint32_t *known = note(&r->downs, &down, sizeof down, &r->became, &r->became_room);
  if (*known && *known != became)
    recovery_fail(r, "who goes back has not forgotten all");
  *known = became;
}

/* Whether that rank of the worker's state can be told of a crash. */
static bool lives(const struct explorer *e, uint32_t rank)
{
  enum rank_phase phase = read_rank_head(e->world, (int)rank)->phase;
  return phase == RANK_RUNNING || phase == RANK_CAPTURING || phase == RANK_RESTORING;
}

static void try(struct worker *w, uint32_t rank)
{
  struct explorer *e = w->e;
  uint32_t parts[WORLD_RANK_PARTS];
  explorer_load(e, w);
  bool alive = lives(e, rank);
  memo_forget_reads(&e->memo);
  uint32_t global = *values_of(e, WORLD_GLOBAL, 0);
  memcpy(parts, values_of(e, WORLD_RANK, (int)rank), sizeof parts);
  for (uint32_t other = 0; alive && other < w->recoverer->ranks; other++)
    if (other != rank)
      tell(e->recovery, parts, rank, after_crash(e->recovery, parts, other, global));
  e->loaded = NULL;
}

void recovery_try(struct worker *w)
{
  struct intern *mine = &w->recoverer->tried, *all = &w->e->recovery->tried;
  for (uint32_t rank = 0; rank < w->recoverer->ranks; rank++) {
    const struct trial trial = {rank, w->numbers[rank], w->numbers[w->e->components - 1]};
    uint32_t count = mine->count;
    if (intern(mine, &trial, sizeof trial) <= count)
      continue;
    pthread_mutex_lock(&w->e->rules);
    count = all->count;
    if (intern(all, &trial, sizeof trial) > count)
      try(w, rank);
    pthread_mutex_unlock(&w->e->rules);
  }
}

/* ---- audit ---- */

/* Takes all that follows a crash. False: there it ends early, by a verdict. */
static bool take_recovery(struct explorer *e)
{
  struct move move;
  if (take(e, &(struct move){.kind = MOVE_DETECT, .rank = -1})->verdict)
    return false;
  for (int rank = 0; rank < e->world->ranks; rank++)
    if (is_down(e, rank, &move) && take(e, &move)->verdict)
      return false;
  for (int rank = 0; rank < e->world->ranks; rank++) {
    uint32_t at = (uint32_t)rank * ((uint32_t)e->world->ranks + 1);
    const struct turn turn = *memo_turn(&e->memo, at);
    if (!turn.count)
      continue;
    move = *(const struct move *)e->memo.moves.item[e->memo.turn_moves[turn.first]].bytes;
    if (move.event.kind == RCL_EVENT_START && take(e, &move)->verdict)
      return false;
  }
  return true;
}

void recovery_audit(struct worker *w, uint32_t rank, const uint32_t *key, uint32_t count)
{
  struct explorer *e = w->e;
  struct recovery *r = e->recovery;
  uint32_t line[count + 1];
  memcpy(line, key, count * sizeof *key);
  line[count] = rank;
  pthread_mutex_lock(&e->rules);
  explorer_load(e, w);
  bool fine = !take(e, &(struct move){.kind = MOVE_CRASH, .rank = (int16_t)rank})->verdict &&
              take_recovery(e);
  uint32_t led =
      fine ? intern(&r->states, e->memo.values, e->memo.count * (uint32_t)sizeof *e->memo.values)
           : UINT32_MAX;
  uint32_t *known = note(&r->lines, line, (uint32_t)sizeof line, &r->led, &r->led_room);
  if (*known && *known != led)
    intern_breach("what a crash leaves does not tell where it leads");
  *known = led;
  e->loaded = NULL;
  pthread_mutex_unlock(&e->rules);
}
