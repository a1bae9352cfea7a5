/* Makes runs that follow another run. They take the moves of that run in a smaller world, as far as
 * the smaller world has these moves. */
#include <string.h>

#include "verify/walk/trip.h"

/* Describes a search for the move that is most like another move. */
struct likeness {
  const struct trip *trip;
  /* the move to look for, or NULL to take the first move, whichever it is */
  const struct move *wanted;
  struct move move;
  int score; /* how much `move` is like `wanted`, or 0 if no move was found */
};

static int score_of(const struct move *wanted, const struct move *move)
{
  const struct rcl_event *one = &wanted->event, *two = &move->event;
  if (move->kind != wanted->kind || two->kind != one->kind || two->peer != one->peer)
    return 0;
  if (trip_is_fault(move) != trip_is_fault(wanted))
    return 0;
  return 1 + 8 * (two->outcome == one->outcome) + 4 * (two->checkpoint == one->checkpoint) +
         4 * (two->tag == one->tag) + 4 * (two->part == one->part) +
         4 * !memcmp(two->words, one->words, sizeof one->words) +
         2 * (move->fault == wanted->fault) + (move->index == wanted->index);
}

static void compare(void *data, const struct move *move)
{
  struct likeness *best = data;
  if (trip_is_idle(best->trip, move))
    return;
  int score = best->wanted ? score_of(best->wanted, move) : trip_is_fault(move) ? 0 : !best->score;
  if (score <= best->score)
    return;
  best->move = *move;
  best->score = score;
}

/* Returns the origin of a move, as world_moves_of() takes it. */
static uint32_t origin_of(const struct world *world, const struct move *move)
{
  uint32_t ranks = (uint32_t)world->ranks, rank = (uint32_t)move->rank;
  bool comes = move->kind == MOVE_EVENT &&
               (move->event.kind == RCL_EVENT_ARRIVED || move->event.kind == RCL_EVENT_CONTROL);
  int peer = move->event.peer;
  if (move->kind == MOVE_DETECT)
    return ranks * (ranks + 1) + ranks;
  if (move->kind == MOVE_CRASH || world_cut(move) >= 0)
    return ranks * (ranks + 1) + rank;
  if (comes || move->kind == MOVE_FAULT)
    return rank * (ranks + 1) + 1 + (uint32_t)peer;
  return rank * (ranks + 1);
}

/* Returns whether the event names a rank in `peer`. */
static bool names_peer(const struct move *move)
{
  switch (move->event.kind) {
  case RCL_EVENT_DOWN:
  case RCL_EVENT_SEND:
  case RCL_EVENT_RECEIVE:
  case RCL_EVENT_ARRIVED:
  case RCL_EVENT_CONTROL:
  case RCL_EVENT_COLLECTIVE:
  case RCL_EVENT_COLLECTED:
    return move->event.peer >= 0;
  default:
    return move->kind == MOVE_FAULT;
  }
}

/* Replaces the ranks in a move by their numbers in the smaller world. Returns false if that world
 * does not have one of these ranks. */
static bool rename_move(struct move *move, const int16_t *to)
{
  if (move->rank >= 0 && to[move->rank] < 0)
    return false;
  move->rank = move->rank < 0 ? move->rank : to[move->rank];
  if (!names_peer(move))
    return true;
  bool rooted = move->event.flow == RCL_FLOW_ALL || move->event.flow == RCL_FLOW_BARRIER;
  move->event.peer = rooted ? move->event.peer : to[move->event.peer];
  return move->event.peer >= 0;
}

/* Goes on in a fixed order, without faults, until the run is at rest. */
static void go_on(struct trip *trip)
{
  uint32_t origins = world_origins(&trip->world);
  bool moves = true;
  while (moves && trip->run->moves->len < trip->most) {
    moves = false;
    for (uint32_t origin = 0; origin < origins; origin++) {
      struct likeness first = {.trip = trip};
      world_moves_of(&trip->world, origin, compare, &first);
      if (!first.score)
        continue;
      moves = true;
      if (!trip_take(trip, &first.move))
        return;
    }
  }
  if (!moves)
    trip_judge_rest(trip);
}

void walker_follow(const struct course *course, const GArray *moves, const int16_t *to,
                   struct run *run)
{
  struct trip trip;
  bool goes_on = true;
  trip_begin(&trip, course, run);
  for (guint i = 0; i < moves->len && goes_on && run->moves->len < trip.most; i++) {
    struct move wanted = g_array_index(moves, struct move, i);
    if (to && !rename_move(&wanted, to))
      continue;
    if (trip_is_fault(&wanted) && !trip_may_crash(&trip))
      continue;
    struct likeness best = {.trip = &trip, .wanted = &wanted};
    world_moves_of(&trip.world, origin_of(&trip.world, &wanted), compare, &best);
    goes_on = !best.score || trip_take(&trip, &best.move);
  }
  if (goes_on)
    go_on(&trip);
  trip_end(&trip);
}
