#include "verify/reduce/stubborn.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "verify/reduce/at_end.h"
#include "verify/reduce/stubborn_parts.h"

/* ---- the explorer's side ---- */

static void sort_actions(struct stubborn *r)
{
  uint32_t ranks = r->abstraction->ranks;
  r->turns = memory_table(ranks, sizeof *r->turns);
  for (uint32_t rank = 0; rank < ranks; rank++)
    for (uint32_t i = 0; i < abstraction_actions(r->abstraction, rank); i++) {
      const struct abstraction_action *action = abstraction_action(r->abstraction, rank, i);
      const struct world_message *message =
          action->peer < 0 ? NULL : r->model->rules_cache.parts.item[action->what].bytes;
      unsigned turn = action->peer < 0 ? 0 : is_control(message) ? 1 : 2;
      r->turns[rank][turn] |= UINT64_C(1) << i;
    }
}

struct stubborn *stubborn_new(struct model *model, const struct abstraction *abstraction,
                              const char **refused)
{
  struct stubborn *r = memory_table(1, sizeof *r);
  const char *why = terminal_unsound(abstraction);
  r->model = model;
  r->abstraction = abstraction;
  if (!why)
    r->dependence = dependence_new(abstraction, model->options->blind, &why);
  if (why)
    *refused = why;
  if (!r->dependence) {
    stubborn_free(r);
    return NULL;
  }
  sort_actions(r);
  return r;
}

void stubborn_free(struct stubborn *r)
{
  if (!r)
    return;
  dependence_free(r->dependence);
  free(r->turns);
  free(r);
}

/* Returns the action by which `rank` gathers contributions in the loaded state, or UINT32_MAX if
 * there is none. The function that lists the moves has already looked at these contributions. */
static uint32_t gathering_action(const struct stubborn *r, const struct model *model, uint32_t rank)
{
  const uint32_t *values = model->rules_cache.values;
  const struct interned *parts = model->rules_cache.parts.item;
  const struct world_program *program =
      parts[values[world_part(model->world, WORLD_PROGRAM, (int)rank, 0)]].bytes;
  struct abstraction_send takes[r->abstraction->ranks];
  uint32_t count = 0;
  for (int peer = 0; peer < model->world->ranks; peer++) {
    uint32_t part = world_part(model->world, WORLD_SHARE, peer, (int)rank);
    const struct world_message *share = parts[values[part]].bytes;
    uint32_t left = parts[values[part]].size / (uint32_t)sizeof *share;
    if (!world_flows(model->world, &program->call, peer, (int)rank))
      continue;
    while (left > 0 && (share->comm != program->call.comm || share->tag != program->call.number))
      left--, share++;
    if (left > 0)
      takes[count++] = (struct abstraction_send){
          part, intern_find(&model->rules_cache.parts, share, sizeof *share)};
  }
  struct abstraction_action action = {
      .peer = GATHER,
      .kind = WORLD_SHARE,
      .what = intern_find(&r->abstraction->gathers, takes, count * (uint32_t)sizeof *takes)};
  return abstraction_find(r->abstraction, rank, &action);
}

uint32_t stubborn_action(const struct stubborn *r, struct model *model, uint32_t number)
{
  const struct move *move = model->rules_cache.moves.item[number].bytes;
  uint32_t rank = (uint32_t)move->rank;
  if (move->kind != MOVE_EVENT)
    return UINT32_MAX;
  if (move->event.kind == RCL_EVENT_ARRIVED || move->event.kind == RCL_EVENT_CONTROL) {
    enum part_kind kind =
        move->event.kind == RCL_EVENT_CONTROL ? control_part(model->world) : WORLD_CHANNEL;
    uint32_t part = world_part(model->world, kind, move->event.peer, move->rank);
    return stubborn_action_of_message(
        r, (uint32_t)move->event.peer, rank, kind,
        &model->rules_cache.parts.item[model->rules_cache.values[part]], move->index);
  }
  uint32_t gathering =
      move->event.kind == RCL_EVENT_COLLECTED ? gathering_action(r, model, rank) : UINT32_MAX;
  if (gathering != UINT32_MAX)
    return gathering;
  struct abstraction_action own = {.peer = OWN, .what = number};
  return abstraction_find(r->abstraction, rank, &own);
}

/* ---- stubborn sets ---- */

/* Holds a stubborn set that is being made. */
struct choice {
  const struct stubborn_worker *d;
  const uint64_t *moves; /* actions that are possible */
  const struct row *rows;
  const uint64_t *visible; /* actions of each rank that a crash can see */
  uint64_t *set, *todo;    /* for each rank */
  unsigned enabled;        /* moves in the set */
};

static void add_actions(struct choice *c, uint32_t rank, uint64_t actions)
{
  uint64_t more = actions & ~c->set[rank];
  c->set[rank] |= more;
  c->todo[rank] |= more;
  for (uint64_t left = more & c->moves[rank]; left; left &= left - 1)
    c->enabled++;
}

/* Returns the first rank whose message the action takes in and that has none under way, or -1 if
 * all messages are under way. */
static int missing_peer(const struct stubborn_worker *d, uint32_t rank, uint32_t number)
{
  const struct abstraction *c = d->stubborn->abstraction;
  const struct abstraction_action *action = abstraction_action(c, rank, number);
  struct abstraction_send takes[c->ranks];
  uint32_t count = abstraction_takes(c, rank, action, takes);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t peer = abstraction_sender(c, takes[i].part);
    const struct queue *queue = stubborn_queue(d, peer, rank);
    if (!(queue->holds[action->kind - WORLD_CHANNEL] & UINT64_C(1) << number))
      return (int)peer;
  }
  return -1;
}

/* Adds to the set the actions that can enable an action of `rank`. */
static void add_enabling(struct choice *c, uint32_t rank, uint32_t number)
{
  const struct stubborn *r = c->d->stubborn;
  const struct abstraction_action *action = abstraction_action(r->abstraction, rank, number);
  uint64_t local = c->rows[rank].enables[number];
  if (action->peer == OWN) {
    add_actions(c, rank, local);
    return;
  }
  if (action->peer == GATHER) {
    int missing = missing_peer(c->d, rank, number);
    if (missing < 0)
      add_actions(c, rank, local);
    else
      add_actions(c, (uint32_t)missing, c->rows[missing].sends[r->dependence->base[rank] + number]);
    return;
  }
  uint32_t peer = (uint32_t)action->peer;
  unsigned kind = action->kind == WORLD_CONTROL;
  const struct queue *queue = stubborn_queue(c->d, peer, rank);
  uint64_t senders = c->rows[peer].sends[r->dependence->base[rank] + number];
  bool ordered = abstraction_is_queue(r->abstraction, action->kind);
  if (!(queue->holds[kind] & UINT64_C(1) << number)) {
    uint64_t first = queue->head[kind] && ordered ? UINT64_C(1) << (queue->head[kind] - 1) : 0;
    if (!(first & c->set[rank]))
      add_actions(c, peer, senders);
  } else if (!ordered) {
    add_actions(c, rank, UINT64_MAX >> (64 - abstraction_actions(r->abstraction, rank)));
  } else if (queue->head[kind] == number + 1) {
    add_actions(c, rank, local);
  } else {
    add_actions(c, rank, UINT64_C(1) << (queue->head[kind] - 1));
  }
}

static void add_disturbing(struct choice *c, uint32_t rank, uint32_t number)
{
  const struct dependence *r = c->d->stubborn->dependence;
  const uint64_t *others = r->others + (size_t)(r->base[rank] + number) * r->ranks;
  add_actions(c, rank, c->rows[rank].with[number]);
  for (uint32_t other = 0; other < r->ranks; other++)
    add_actions(c, other, others[other]);
}

static void begin_set(struct choice *c)
{
  memset(c->set, 0, c->d->ranks * sizeof *c->set);
  memset(c->todo, 0, c->d->ranks * sizeof *c->todo);
  c->enabled = 0;
}

/* Extends the set that was begun to a stubborn set. Stops early if the set comes to have `most`
 * moves. Returns the number of its moves. */
static unsigned close_set(struct choice *c, unsigned most)
{
  for (uint32_t at = 0; at < c->d->ranks;) {
    if (!c->todo[at]) {
      at++;
      continue;
    }
    uint32_t action = (uint32_t)__builtin_ctzll(c->todo[at]);
    c->todo[at] &= c->todo[at] - 1;
    if (c->moves[at] & UINT64_C(1) << action)
      add_disturbing(c, at, action);
    else
      add_enabling(c, at, action);
    if (c->enabled >= most)
      return most;
    at = 0;
  }
  return c->enabled;
}

/* Orders ranks by the number of their possible actions and of the messages to and from them. The
 * rank with the largest number comes first. Where several stubborn sets have the same size, this
 * order leads to fewer states. */
static void sort_ranks(const struct choice *c, uint32_t *order)
{
  uint32_t ranks = c->d->ranks, busy[ranks];
  for (uint32_t rank = 0; rank < ranks; rank++)
    busy[rank] = (uint32_t)__builtin_popcountll(c->moves[rank]);
  for (uint32_t from = 0; from < ranks; from++)
    for (uint32_t to = 0; to < ranks; to++) {
      const struct queue *queue = stubborn_queue(c->d, from, to);
      uint32_t under_way = 0;
      for (unsigned kind = 0; kind < STUBBORN_KINDS; kind++)
        under_way += (uint32_t)__builtin_popcountll(queue->holds[kind]);
      busy[from] += under_way;
      busy[to] += under_way;
    }
  for (uint32_t rank = 0; rank < ranks; rank++) {
    uint32_t at = rank;
    for (; at > 0 && busy[order[at - 1]] < busy[rank]; at--)
      order[at] = order[at - 1];
    order[at] = rank;
  }
}

/* ---- what a crash can see ---- */

/* Finds the actions of each rank that must come before the next commit. Begins with actions of the
 * coordinator. For each message that such an action takes in, adds the actions that must come
 * before the message is sent, and goes on with these actions in the same way. */
static void find_preceding(const struct stubborn_worker *d, const struct row *rows,
                           uint64_t *before)
{
  const struct abstraction *c = d->stubborn->abstraction;
  uint64_t todo[d->ranks];
  memset(before, 0, d->ranks * sizeof *before);
  memset(todo, 0, sizeof todo);
  todo[RCL_COORDINATOR_RANK] = ~rows[RCL_COORDINATOR_RANK].uncommitting;
  for (uint32_t rank = 0; rank < d->ranks;) {
    uint64_t fresh = todo[rank] & ~before[rank];
    fresh &= UINT64_MAX >> (64 - abstraction_actions(c, rank));
    if (!fresh) {
      rank++;
      continue;
    }
    uint32_t number = (uint32_t)__builtin_ctzll(fresh);
    before[rank] |= fresh & -fresh;
    int peer = missing_peer(d, rank, number);
    if (peer >= 0) {
      todo[peer] |= ~rows[peer].unsending[d->stubborn->dependence->base[rank] + number];
      rank = 0;
    }
  }
}

static void find_visible(const struct stubborn_worker *d, const struct row *rows, uint64_t *visible)
{
  const struct stubborn *r = d->stubborn;
  memset(visible, 0, d->ranks * sizeof *visible);
  if (!r->abstraction->before_crash)
    return;
  uint64_t before[d->ranks], committed = stubborn_committed(d);
  find_preceding(d, rows, before);
  for (uint32_t rank = 0; rank < d->ranks; rank++) {
    visible[rank] = rows[rank].visible;
    for (uint32_t i = 0; i < abstraction_actions(r->abstraction, rank); i++) {
      uint64_t stores = rows[rank].stores[i], bit = UINT64_C(1) << i;
      if (stores & committed || (stores && !(before[rank] & bit)))
        visible[rank] |= bit;
    }
  }
}

/* Returns whether a crash can see any move of that set. */
static bool sees(const struct choice *c, const uint64_t *set)
{
  for (uint32_t rank = 0; rank < c->d->ranks; rank++)
    if (set[rank] & c->moves[rank] & c->visible[rank])
      return true;
  return false;
}

/* Finds the smallest stubborn set around one move that no crash can see. Puts it into `best` if it
 * has fewer than `fewest` moves. */
static void seek_smallest(struct choice *c, uint64_t *best, unsigned fewest)
{
  uint32_t ranks = c->d->ranks, order[ranks];
  sort_ranks(c, order);
  for (unsigned turn = 0; turn < STUBBORN_TURNS; turn++)
    for (uint32_t at = 0; at < ranks; at++) {
      uint32_t rank = order[at];
      uint64_t left = c->moves[rank] & c->d->stubborn->turns[rank][turn];
      for (; left && fewest > 1; left &= left - 1) {
        begin_set(c);
        add_actions(c, rank, left & -left);
        unsigned count = close_set(c, fewest);
        if (count >= fewest || sees(c, c->set))
          continue;
        for (uint32_t i = 0; i < ranks; i++)
          best[i] = c->set[i] & c->moves[i];
        fewest = count;
      }
    }
}

/* Makes the stubborn set around all moves that crashes can see. It is a stubborn set around
 * crashes, too. */
static void take_visible(struct choice *c, uint64_t *best)
{
  begin_set(c);
  for (uint32_t rank = 0; rank < c->d->ranks; rank++)
    add_actions(c, rank, c->visible[rank]);
  close_set(c, UINT_MAX);
  for (uint32_t rank = 0; rank < c->d->ranks; rank++)
    best[rank] = c->set[rank] & c->moves[rank];
}

/* Reduces `moves` to a stubborn set. Returns whether no crash can see it. */
static bool choose(const struct stubborn_worker *d, uint64_t *moves)
{
  uint32_t ranks = d->ranks;
  struct row rows[ranks];
  uint64_t set[ranks], todo[ranks], best[ranks], visible[ranks];
  struct choice c = {d, moves, rows, visible, set, todo, 0};
  unsigned count = 0;
  for (uint32_t rank = 0; rank < ranks; rank++) {
    rows[rank] = stubborn_row(d, rank);
    count += (unsigned)__builtin_popcountll(moves[rank] &= rows[rank].moves);
  }
  find_visible(d, rows, visible);
  memcpy(best, moves, sizeof best);
  if (count > 1)
    seek_smallest(&c, best, count);
  bool unseen = count && !sees(&c, best);
  if (count > 1 && !unseen)
    take_visible(&c, best);
  memcpy(moves, best, sizeof best);
  return unseen;
}

bool stubborn_worker_choose(struct stubborn_worker *d, uint64_t *moves)
{
  stubborn_classify(d);
  struct known_choice *choice = stubborn_known_choice(d, moves);
  uint64_t *chosen = choice->moves + d->ranks;
  size_t size = d->ranks * sizeof *moves;
  if (!choice->known || RECLINE_CHECKS || d->model->options->audit) {
    bool unseen = choose(d, moves);
    REQUIRE(!choice->known || (choice->unseen == unseen && !memcmp(chosen, moves, size)),
            "a stubborn set depends on nothing but moves and classes");
    choice->known = true;
    choice->unseen = unseen;
    memcpy(chosen, moves, size);
  }
  memcpy(moves, chosen, size);
  return choice->unseen;
}
