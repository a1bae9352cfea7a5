/* Takes a run of drawn moves. First an origin is drawn, then a move of that origin, because a list
 * of all moves is long in large worlds. The frequencies of kinds of moves, the slow ranks and the
 * times of crashes are drawn anew for each run. If all moves were equally likely in all runs, walks
 * would reach only few orders of events. */
#define _GNU_SOURCE /* memfd_create */
#include "verify/walk/walker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verify/check/claim.h"
#include "verify/walk/judged.h"
#include "verify/walk/trip.h"
#include "world/rules/properties.h"

/* ---- courses ---- */

bool course_open(struct course *course, const char *file, GError **error)
{
  *course = (struct course){.claim = scenario_load(file, NULL, error)};
  course->script = course->claim ? claim_script(course->claim, error) : NULL;
  if (!course->script)
    return false;
  g_autoptr(GPtrArray) names = claim_properties(course->claim);
  course->judged = judged_among((const char *const *)names->pdata);
  return true;
}

bool course_read(struct course *course, const char *text, GError **error)
{
  int memory = memfd_create("claim", MFD_CLOEXEC);
  g_autofree char *file = g_strdup_printf("/proc/self/fd/%d", memory);
  size_t size = strlen(text);
  bool fine = memory >= 0 && write(memory, text, size) == (ssize_t)size;
  *course = (struct course){0};
  if (!fine)
    g_set_error(error, SCENARIO_ERROR, 0, "a claim of %zu bytes: %s, expected memory for it", size,
                g_strerror(errno));
  fine = fine && course_open(course, file, error);
  if (memory >= 0)
    close(memory);
  return fine;
}

void course_close(struct course *course)
{
  scenario_free(course->claim);
  script_free(course->script);
  if (course->judged)
    g_ptr_array_unref(course->judged);
  *course = (struct course){0};
}

/* ---- how moves are drawn in a run ---- */

enum kind {
  KIND_PROGRAM,
  KIND_ARRIVAL,
  KIND_CONTROL,
  KIND_WRITE,
  KIND_SAFE_POINT,
  KIND_TIMER,
  KIND_LIFE,
  KIND_DETECTION,
  KINDS
};

/* Says when the next crash comes. */
enum strikes { STRIKES_LATER, STRIKES_AT_EVENT, STRIKES_AT_REST };

struct temper {
  struct dice *dice;
  unsigned weight[KINDS]; /* frequency of each kind of move, from 1 to 64 */
  bool lazy;              /* checkpoints commit while programs have a long way to go */
  unsigned slowness;      /* how slow the slow ranks are, or 1 if no rank is slow */
  uint64_t slow;          /* slow ranks: bit r % 64 belongs to rank r */
  enum strikes strikes;
  unsigned countdown; /* number of steps or of events that come before the crash */
  uint8_t event;      /* with STRIKES_AT_EVENT: an enum rcl_event_kind */
  unsigned delay;     /* number of steps between that event and the crash */
  bool independent;   /* the protocol commits no checkpoints; images only become durable */
  int where;          /* rank of the event, or -1 if it may be any rank */
  bool falls;         /* the crash is due */
  unsigned horizon;   /* approximate number of steps of the run */
};

static enum kind kind_of(const struct move *move)
{
  if (move->kind == MOVE_DETECT)
    return KIND_DETECTION;
  if (move->kind != MOVE_EVENT)
    return KIND_PROGRAM;
  switch (move->event.kind) {
  case RCL_EVENT_START:
  case RCL_EVENT_DOWN:
  case RCL_EVENT_CAPTURED:
    return KIND_LIFE;
  case RCL_EVENT_TIMER:
    return KIND_TIMER;
  case RCL_EVENT_SAFE_POINT:
    return KIND_SAFE_POINT;
  case RCL_EVENT_ARRIVED:
    return KIND_ARRIVAL;
  case RCL_EVENT_CONTROL:
    return KIND_CONTROL;
  case RCL_EVENT_DURABLE:
  case RCL_EVENT_COMMITTED:
    return KIND_WRITE;
  default:
    return KIND_PROGRAM;
  }
}

static void plan_crash(struct temper *temper)
{
  /* An event is listed twice if much is half done when it occurs. */
  static const uint8_t events[] = {RCL_EVENT_DURABLE, RCL_EVENT_DURABLE, RCL_EVENT_CAPTURED,
                                   RCL_EVENT_START,   RCL_EVENT_START,   RCL_EVENT_DOWN,
                                   RCL_EVENT_CONTROL, RCL_EVENT_CONTROL, RCL_EVENT_ARRIVED,
                                   RCL_EVENT_SEND,    RCL_EVENT_RECEIVE, RCL_EVENT_COLLECTED,
                                   RCL_EVENT_OUTPUT};
  struct dice *dice = temper->dice;
  temper->falls = false;
  temper->where = -1;
  unsigned when = dice_below(dice, 8);
  if (when < 5) {
    temper->strikes = STRIKES_AT_EVENT;
    temper->event = when < 3 ? RCL_EVENT_COMMITTED : events[dice_below(dice, G_N_ELEMENTS(events))];
    temper->countdown = (unsigned)dice_small(dice, 1, when < 3 ? 3 : 64);
    temper->delay = (unsigned)dice_small(dice, 0, 32);
    if (temper->event == RCL_EVENT_COMMITTED && temper->independent)
      temper->event = RCL_EVENT_DURABLE;
  } else if (when == 5) {
    temper->strikes = STRIKES_AT_REST;
  } else {
    temper->strikes = STRIKES_LATER;
    temper->countdown = 1 + dice_below(dice, when == 6 ? 4 : temper->horizon);
  }
}

static void draw_temper(struct temper *temper, const struct trip *trip, struct dice *dice)
{
  *temper = (struct temper){.dice = dice,
                            .slowness = 1,
                            .horizon = trip->horizon,
                            .independent = trip->world.protocol->independent};
  unsigned how = dice_below(dice, 5);
  for (int kind = 0; kind < KINDS; kind++)
    temper->weight[kind] = how != 2 && how != 4 ? 64 : 64U >> 2 * dice_below(dice, 4);
  temper->lazy = how > 2;
  if (dice_once_in(dice, 3)) {
    temper->slowness = 1U << (2 + dice_below(dice, 4));
    temper->slow = dice_roll(dice);
  }
  plan_crash(temper);
}

static bool is_slow(const struct temper *temper, int rank)
{
  return rank >= 0 && temper->slow >> rank % 64 & 1U;
}

/* Describes a choice among the moves that were seen, by their weights. */
struct choice {
  const struct trip *trip;
  struct temper *temper;
  struct move move;
  unsigned seen;
  bool faults;     /* only crashes and faults are drawn */
  bool no_program; /* moves of programs are not drawn */
};

static void consider(void *data, const struct move *move)
{
  struct choice *choice = data;
  if (trip_is_fault(move) != choice->faults || trip_is_idle(choice->trip, move))
    return;
  if (choice->no_program && kind_of(move) == KIND_PROGRAM)
    return;
  unsigned weight = choice->faults ? 1 : choice->temper->weight[kind_of(move)];
  choice->seen += weight;
  if (dice_below(choice->temper->dice, choice->seen) < weight)
    choice->move = *move;
}

/* Draws a move that is no fault. Takes it from drawn origins or, if these have no such move, from
 * all origins. Returns false if no origin has one. */
static bool draw_one(struct choice *choice, bool from_all)
{
  enum { TRIES = 48 };
  struct temper *temper = choice->temper;
  const struct world *world = &choice->trip->world;
  uint32_t origins = world_origins(world);
  for (unsigned i = 0; i < TRIES; i++) {
    choice->seen = 0;
    world_moves_of(world, dice_below(temper->dice, origins), consider, choice);
    if (!choice->seen)
      continue;
    unsigned weight = temper->weight[kind_of(&choice->move)];
    if (is_slow(temper, choice->move.rank) && !dice_once_in(temper->dice, temper->slowness))
      continue;
    if (dice_below(temper->dice, 64) < weight)
      return true;
  }
  choice->seen = 0;
  if (from_all)
    world_moves(world, consider, choice);
  return choice->seen;
}

/* Draws a move that is no fault. With lazy programs, draws a move of a program only now and then,
 * or if nothing else can happen. Returns false if there is no move. */
static bool draw_move(const struct trip *trip, struct temper *temper, struct move *move)
{
  enum { FEW_RANKS = 12 };
  struct choice choice = {.trip = trip, .temper = temper};
  choice.no_program = temper->lazy && !dice_once_in(temper->dice, 16);
  bool drawn = draw_one(&choice, !choice.no_program || trip->world.ranks <= FEW_RANKS);
  if (!drawn && choice.no_program) {
    choice.no_program = false;
    drawn = draw_one(&choice, true);
  }
  *move = choice.move;
  return drawn;
}

/* Draws a crash, or another fault. Returns false if none can happen here. */
static bool draw_fault(const struct trip *trip, struct temper *temper, struct move *move)
{
  struct choice choice = {.trip = trip, .temper = temper, .faults = true};
  uint32_t ranks = (uint32_t)trip->world.ranks, first = world_origins(&trip->world) - ranks - 1;
  bool here = temper->where >= 0 && dice_below(temper->dice, 3);
  uint32_t rank = here ? (uint32_t)temper->where : dice_below(temper->dice, ranks);
  bool falsely = trip->world.hazards & HAZARD_FALSE_DETECTION && dice_once_in(temper->dice, 2);
  world_moves_of(&trip->world, falsely ? first + ranks : first + rank, consider, &choice);
  *move = choice.move;
  return choice.seen;
}

/* ---- a run ---- */

static void note_event(struct temper *temper, const struct move *move)
{
  if (temper->strikes == STRIKES_AT_EVENT && temper->countdown && move->kind == MOVE_EVENT &&
      move->event.kind == temper->event) {
    temper->where = move->rank;
    if (--temper->countdown == 0) {
      temper->strikes = STRIKES_LATER;
      temper->countdown = 1 + temper->delay;
    }
  }
  if (temper->strikes == STRIKES_LATER && temper->countdown)
    temper->falls = --temper->countdown == 0;
}

/* Takes one step; returns false if the run is over. */
static bool walk_on(struct trip *trip, struct temper *temper)
{
  struct move move;
  bool fault = temper->falls && trip_may_crash(trip) && draw_fault(trip, temper, &move);
  if (!fault && !draw_move(trip, temper, &move)) {
    if (!trip_judge_rest(trip) || !trip_may_crash(trip))
      return false;
    fault = draw_fault(trip, temper, &move);
    if (!fault)
      return false;
  }
  if (!trip_take(trip, &move))
    return false;
  if (fault)
    plan_crash(temper);
  else
    note_event(temper, &move);
  return true;
}

void walker_run(const struct course *course, struct dice *dice, struct run *run)
{
  struct trip trip;
  struct temper temper;
  trip_begin(&trip, course, run);
  draw_temper(&temper, &trip, dice);
  while (run->moves->len < trip.most && walk_on(&trip, &temper))
    continue;
  trip_end(&trip);
}
