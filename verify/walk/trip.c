#include "verify/walk/trip.h"

#include <stdio.h>
#include <string.h>

#include "verify/check/claim.h"
#include "world/line/line_view.h"
#include "world/rules/properties.h"

void run_init(struct run *run)
{
  *run = (struct run){.moves = g_array_new(FALSE, FALSE, sizeof(struct move))};
}

void run_clear(struct run *run)
{
  g_array_unref(run->moves);
}

bool trip_is_fault(const struct move *move)
{
  return move->kind == MOVE_CRASH || move->kind == MOVE_FAULT || world_cut(move) >= 0 ||
         (move->kind == MOVE_DETECT && move->fault == DETECT_FALSELY);
}

/* ---- safe points at which nothing happens ---- */

static bool is_safe_point(const struct move *move)
{
  return move->kind == MOVE_EVENT && world_cut(move) < 0 &&
         move->event.kind == RCL_EVENT_SAFE_POINT;
}

bool trip_is_idle(const struct trip *trip, const struct move *move)
{
  return is_safe_point(move) && trip->idle[move->rank];
}

/* Holds a copy of everything that a safe point without an action can change. */
struct before {
  struct world_rank rank;
  struct world_program program;
  uint64_t state;
};

static void look(const struct trip *trip, int rank, struct before *before)
{
  const struct world *w = &trip->world;
  uint32_t size;
  const struct world_rank *me =
      w->memory.read(w->memory.ctx, world_part(w, WORLD_RANK, rank, 0), &size);
  const void *program = w->memory.read(w->memory.ctx, world_part(w, WORLD_PROGRAM, rank, 0), &size);
  memset(before, 0, sizeof *before);
  before->rank = *me;
  memcpy(&before->program, program, MIN(size, sizeof before->program));
  before->state = rcl_protocol_digest_state(w->protocol, &w->config[rank], me + 1);
}

/* Takes the move, and notes whether the move is idle. */
static void step(struct trip *trip, struct move *move, struct verdict *verdict)
{
  struct before before, after;
  bool safe = is_safe_point(move);
  if (safe)
    look(trip, move->rank, &before);
  world_step(&trip->world, move, &trip->actions, verdict);
  if (move->rank < 0 || move->kind != MOVE_EVENT)
    memset(trip->idle, 0, sizeof trip->idle);
  else
    trip->idle[move->rank] = false;
  if (!safe || trip->actions.count || verdict->kind != VERDICT_FINE)
    return;
  look(trip, move->rank, &after);
  trip->idle[move->rank] = !memcmp(&before, &after, sizeof before);
}

/* ---- begin and end ---- */

/* Limits the number of moves, because some protocols send without an end while ranks crash. */
enum { MOVES_MAX = 40000 };

static unsigned operations_of(const struct script *script)
{
  unsigned count = 0;
  for (int rank = 0; rank < script->ranks; rank++)
    for (const struct operation *op = script->ops[rank]; op->kind != SCRIPT_END; op++)
      count++;
  return count;
}

void trip_begin(struct trip *trip, const struct course *course, struct run *run)
{
  const struct scenario *claim = course->claim;
  unsigned crashes = (unsigned)claim->check.crashes, timers = (unsigned)claim->check.checkpoints;
  unsigned ranks = (unsigned)claim->program.ranks, ops = operations_of(course->script);
  *trip = (struct trip){.course = course, .run = run};
  g_array_set_size(run->moves, 0);
  run->ending = ENDING_CUT;
  run->crashes = 0;
  run->reached = (struct reached){0};
  claim_world(claim, course->script, &trip->world);
  trip->world.line_stamps = true; /* they show which things runs reach, and they change no move */
  trip->world.properties = (const char *const *)course->judged->pdata;
  trip->judges_line =
      trip->world.protocol->line && properties_judge(trip->world.properties, "line-invariant");
  parts_init(&trip->parts, &trip->world);
  if (!course->unguarded)
    world_guard(&trip->world, false);
  world_begin(&trip->world, crashes, timers);
  trip->actions.capacity = RCL_ACTIONS_MAX(&trip->world.config[0]) + 2;
  trip->actions.item = g_new0(struct rcl_action, trip->actions.capacity);
  trip->horizon = 8 + 2 * ranks + 3 * ops + timers * ranks * 8;
  trip->most = MIN(1000 + 10 * (trip->horizon + timers * ranks * ranks) * (1 + crashes), MOVES_MAX);
}

void trip_end(struct trip *trip)
{
  g_free(trip->actions.item);
  parts_clear(&trip->parts);
  world_clear(&trip->world);
}

/* ---- judging ---- */

static bool is_judged(const struct trip *trip, const struct verdict *verdict)
{
  return verdict->refused || properties_judge(trip->world.properties, verdict->property);
}

/* Returns whether the verdict is a violation of a judged property, and notes it if so. */
static bool violates(struct trip *trip, const struct verdict *verdict)
{
  reached_add(&trip->run->reached, &verdict->reached);
  if (verdict->kind != VERDICT_VIOLATION || !is_judged(trip, verdict))
    return false;
  trip->run->why = *verdict;
  trip->run->ending = ENDING_VIOLATED;
  return true;
}

/* Handles a protocol that gives up. A protocol may give up if a list is full; otherwise it violates
 * `recovers`. */
static void give_up(struct trip *trip, const struct verdict *verdict)
{
  struct verdict why = *verdict;
  why.kind = VERDICT_VIOLATION;
  why.property = "recovers";
  snprintf(why.text, sizeof why.text, "the protocol gives up: %.160s", verdict->text);
  trip->run->ending = ENDING_FULL;
  if (verdict->reason != RCL_REASON_FULL)
    violates(trip, &why);
}

/* Judges the first state in which all programs have finished. */
static bool judge_end(struct trip *trip)
{
  struct verdict verdict;
  trip->ended = true;
  reached_note(&trip->run->reached, REACH_ENDS, 1);
  world_at_end(&trip->world, &verdict);
  return !violates(trip, &verdict);
}

bool trip_take(struct trip *trip, struct move *move)
{
  struct verdict verdict;
  trip->run->crashes += trip_is_fault(move);
  step(trip, move, &verdict);
  g_array_append_val(trip->run->moves, *move);
  if (verdict.kind == VERDICT_IMPOSSIBLE)
    g_error("%s: the world refuses a move that it has listed: %s", trip->course->claim->id,
            verdict.text);
  if (violates(trip, &verdict))
    return false;
  if (verdict.kind == VERDICT_GAVE_UP) {
    give_up(trip, &verdict);
    return false;
  }
  unsigned ranks = (unsigned)trip->world.ranks;
  if (trip->judges_line && trip->run->moves->len % (1 + ranks * ranks / 32) == 0) {
    world_judge_line(&trip->world, &verdict);
    if (violates(trip, &verdict))
      return false;
  }
  bool finished = world_finished(&trip->world);
  if (!finished)
    trip->ended = false;
  return !finished || trip->ended || judge_end(trip);
}

bool trip_may_crash(const struct trip *trip)
{
  uint32_t size;
  if (world_finished(&trip->world)) /* the job has ended */
    return false;
  const struct world_global *global = trip->world.memory.read(
      trip->world.memory.ctx, world_part(&trip->world, WORLD_GLOBAL, 0, 0), &size);
  return global->crashes > 0;
}

/* ---- whether a timer leads to a checkpoint ---- */

/* Describes a trial run on a copy of the world's parts. */
struct trial {
  struct trip *trip;
  struct move move;
  int rank; /* the rank whose timer may go off, or RCL_ANY if any timer may */
  bool found;
};

static void note_first(void *data, const struct move *move)
{
  struct trial *trial = data;
  bool timer = move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_TIMER;
  if (trial->found || trip_is_fault(move) || trip_is_idle(trial->trip, move) ||
      (timer && trial->rank != RCL_ANY && move->rank != trial->rank))
    return;
  trial->move = *move;
  trial->found = true;
}

/* Lets one more timer go off. Then takes the first move of each origin in turn. Returns true when a
 * checkpoint commits or a verdict ends the run, and false when the run comes to rest. */
static bool try_timer(struct trial *trial)
{
  enum { TURNS = 1000 };
  struct world *world = &trial->trip->world;
  struct verdict verdict;
  uint32_t size = sizeof(struct world_global), own = (uint32_t)(world->ranks * (world->ranks + 1));
  struct world_global *global =
      world->memory.edit(world->memory.ctx, world_part(world, WORLD_GLOBAL, 0, 0), size);
  global->timers = 1;
  bool moves = true;
  for (unsigned turn = 0; turn < TURNS && moves; turn++) {
    moves = false;
    for (uint32_t origin = 0; origin < own; origin++) {
      trial->found = false;
      world_moves_of(world, origin, note_first, trial);
      if (!trial->found)
        continue;
      moves = true;
      step(trial->trip, &trial->move, &verdict);
      if (verdict.reached.most[REACH_COMMITS] || verdict.kind != VERDICT_FINE)
        return true;
    }
  }
  return false;
}

/* Returns whether the timer of `rank` leads to a checkpoint that commits, in one of a few tries.
 * Leaves the state as it was, as world_at_rest_renewing() demands. */
static bool renews(void *ctx, int rank)
{
  enum { TIMERS = 4 };
  struct trip *trip = ctx;
  struct parts saved;
  struct trial trial = {.trip = trip, .rank = trip->world.protocol->clocks ? RCL_ANY : rank};
  bool leads = false;
  bool idle[TRIP_RANKS];
  memcpy(idle, trip->idle, sizeof idle);
  parts_copy(&saved, &trip->parts);
  for (unsigned i = 0; i < TIMERS && !leads; i++)
    leads = try_timer(&trial);
  parts_clear(&trip->parts);
  trip->parts = saved;
  memcpy(trip->idle, idle, sizeof idle);
  return leads;
}

bool trip_judge_rest(struct trip *trip)
{
  struct verdict verdict;
  world_at_rest_renewing(&trip->world, renews, trip, &verdict);
  if (violates(trip, &verdict))
    return false;
  trip->run->ending = world_finished(&trip->world) ? ENDING_FINISHED : ENDING_RESTED;
  return true;
}
