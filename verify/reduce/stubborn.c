#include "verify/reduce/stubborn.h"

#include <stdlib.h>
#include <string.h>

#include "verify/base/breach.h"
#include "verify/base/memory.h"
#include "verify/base/platform.h"
#include "verify/reduce/dependence.h"
#include "verify/reduce/terminal.h"
#include "verify/world/world_parts.h"

enum {
  KINDS = 2, /* of queues between two ranks: messages, control messages */
  TURNS = 3  /* own moves are tried first, then control messages, then messages */
};

static const enum part_kind kinds[KINDS] = {WORLD_CHANNEL, WORLD_CONTROL};

struct reduction {
  struct model *model;
  const struct closure *closure;
  struct relation *relation;
  uint64_t (*turns)[TURNS]; /* of each rank: its actions, by turn */
};

/* What is under way between two ranks, as actions of the receiver. */
struct queue {
  uint64_t holds[KINDS];
  uint8_t head[KINDS]; /* its number, + 1; 0: nothing is under way */
  bool known;
};

struct known_rank {
  struct row row;
  bool known;
};

/* By the number of the component. */
struct reducer {
  const struct reduction *reduction;
  struct model *model;
  const struct position *at; /* the state being expanded */
  uint32_t ranks;
  struct known_rank **rank;
  struct queue **queue; /* [from * ranks + to] */
  uint32_t *ranks_room, *queues_room;
  uint32_t *globals, globals_room; /* entries of GLOBAL; 0: not known */
};

/* ---- the explorer's side ---- */

static void sort_actions(struct reduction *r)
{
  uint32_t ranks = r->closure->ranks;
  r->turns = memory_table(ranks, sizeof *r->turns);
  for (uint32_t rank = 0; rank < ranks; rank++)
    for (uint32_t i = 0; i < closure_actions(r->closure, rank); i++) {
      const struct closure_action *action = closure_action(r->closure, rank, i);
      const struct world_message *message = r->model->memo.parts.item[action->what].bytes;
      unsigned turn = action->peer == OWN ? 0 : is_control(message) ? 1 : 2;
      r->turns[rank][turn] |= UINT64_C(1) << i;
    }
}

struct reduction *reduction_new(struct model *model, const struct closure *closure,
                                const char **refused)
{
  struct reduction *r = memory_table(1, sizeof *r);
  const char *why = ending_lost(closure);
  r->model = model;
  r->closure = closure;
  if (!why)
    r->relation = relation_new(closure, model->options->blind, &why);
  if (why)
    *refused = why;
  if (!r->relation) {
    reduction_free(r);
    return NULL;
  }
  sort_actions(r);
  return r;
}

void reduction_free(struct reduction *r)
{
  if (!r)
    return;
  relation_free(r->relation);
  free(r->turns);
  free(r);
}

/* Takes in message `index` of a list. */
static uint32_t taking(const struct reduction *r, uint32_t peer, uint32_t rank, enum part_kind kind,
                       const struct interned *list, uint32_t index)
{
  uint32_t size = (uint32_t)sizeof(struct world_message);
  const char *message = (const char *)list->bytes + (size_t)index * size;
  struct closure_action action = {.peer = (int16_t)peer,
                                  .kind = (uint16_t)kind,
                                  .what = intern_find(&r->model->memo.parts, message, size)};
  uint32_t found = closure_find(r->closure, rank, &action);
  if (found == UINT32_MAX)
    breach("a message is under way that the closure does not know");
  return found;
}

uint32_t reduction_action(const struct reduction *r, struct model *model, uint32_t number)
{
  const struct move *move = model->memo.moves.item[number].bytes;
  uint32_t rank = (uint32_t)move->rank;
  if (move->event.kind == RCL_EVENT_ARRIVED || move->event.kind == RCL_EVENT_CONTROL) {
    enum part_kind kind =
        move->event.kind == RCL_EVENT_CONTROL ? control_part(model->world) : WORLD_CHANNEL;
    uint32_t part = world_part(model->world, kind, move->event.peer, move->rank);
    return taking(r, (uint32_t)move->event.peer, rank, kind,
                  &model->memo.parts.item[model->memo.values[part]], move->index);
  }
  struct closure_action own = {.peer = OWN, .what = number};
  uint32_t found = closure_find(r->closure, rank, &own);
  if (found == UINT32_MAX)
    breach("a move is possible that the closure does not know");
  return found;
}

/* ---- what a worker knows ---- */

struct reducer *reducer_new(const struct reduction *r, const struct position *at)
{
  uint32_t ranks = r->closure->ranks;
  struct reducer *d = memory_table(1, sizeof *d);
  d->reduction = r;
  d->model = r->model;
  d->at = at;
  d->ranks = ranks;
  d->rank = memory_table(ranks, sizeof *d->rank);
  d->queue = memory_table((size_t)ranks * ranks, sizeof *d->queue);
  d->ranks_room = memory_table(ranks, sizeof *d->ranks_room);
  d->queues_room = memory_table((size_t)ranks * ranks, sizeof *d->queues_room);
  return d;
}

void reducer_free(struct reducer *d)
{
  if (!d)
    return;
  for (uint32_t rank = 0; rank < d->ranks; rank++)
    free(d->rank[rank]);
  for (uint32_t pair = 0; pair < d->ranks * d->ranks; pair++)
    free(d->queue[pair]);
  free(d->rank);
  free(d->queue);
  free(d->ranks_room);
  free(d->queues_room);
  free(d->globals);
  free(d);
}

/* `list` with room for item `number`. */
static void *with_room(void *list, uint32_t number, uint32_t *room, size_t item)
{
  if (number < *room)
    return list;
  uint32_t more = 2 * number + 64;
  list = memory_grow(list, more * item);
  memset((char *)list + *room * item, 0, (more - *room) * item);
  *room = more;
  return list;
}

/* The entry of GLOBAL in the closure. */
static uint32_t global_of(struct reducer *d)
{
  struct model *model = d->model;
  uint32_t component = model->components - 1, number = d->at->numbers[component];
  d->globals = with_room(d->globals, number, &d->globals_room, sizeof *d->globals);
  if (d->globals[number])
    return d->globals[number];
  platform_lock(model->rules);
  const uint32_t *tuple = model->component[component].values.item[number + 1].bytes;
  d->globals[number] = closure_global(d->reduction->closure, tuple[0]);
  platform_unlock(model->rules);
  if (!d->globals[number])
    breach("GLOBAL has a value that the closure does not know");
  return d->globals[number];
}

static const struct row *row_of(struct reducer *d, uint32_t rank)
{
  const struct reduction *r = d->reduction;
  uint32_t number = d->at->numbers[rank], global = rank == RCL_COORDINATOR_RANK ? global_of(d) : 0;
  if (rank == RCL_COORDINATOR_RANK)
    number = number * (r->closure->shared[SHARED_GLOBAL].count + 1) + global;
  d->rank[rank] = with_room(d->rank[rank], number, &d->ranks_room[rank], sizeof **d->rank);
  struct known_rank *known = &d->rank[rank][number];
  if (known->known)
    return &known->row;
  platform_lock(d->model->rules);
  const struct interned *tuple = &d->model->component[rank].values.item[d->at->numbers[rank] + 1];
  uint32_t value = intern_find(&r->closure->rank[rank].values, tuple->bytes, tuple->size);
  platform_unlock(d->model->rules);
  if (!value)
    breach("a rank comes to a value that the closure does not know");
  known->row = relation_row(r->relation, rank, value, global);
  known->known = true;
  return &known->row;
}

static void learn_queue(struct reducer *d, uint32_t from, uint32_t to, uint32_t component,
                        struct queue *queue)
{
  const struct model *model = d->model;
  const uint32_t *values =
      model->component[component].values.item[d->at->numbers[component] + 1].bytes;
  for (unsigned kind = 0; kind < KINDS; kind++) {
    uint32_t part = world_part(model->world, kinds[kind], (int)from, (int)to), place = 0;
    while (model->component[component].parts[place] != part)
      place++;
    const struct interned *list = &model->memo.parts.item[values[place]];
    for (uint32_t i = list->size / (uint32_t)sizeof(struct world_message); i-- > 0;) {
      uint32_t action = taking(d->reduction, from, to, kinds[kind], list, i);
      queue->holds[kind] |= UINT64_C(1) << action;
      queue->head[kind] = (uint8_t)(action + 1);
    }
  }
  queue->known = true;
}

static const struct queue *queue_of(struct reducer *d, uint32_t from, uint32_t to)
{
  uint32_t pair = from * d->ranks + to, component = d->ranks + pair,
           number = d->at->numbers[component];
  d->queue[pair] = with_room(d->queue[pair], number, &d->queues_room[pair], sizeof **d->queue);
  struct queue *queue = &d->queue[pair][number];
  if (!queue->known) {
    platform_lock(d->model->rules);
    learn_queue(d, from, to, component, queue);
    platform_unlock(d->model->rules);
  }
  return queue;
}

/* ---- stubborn sets ---- */

/* A set that is being made. */
struct choice {
  struct reducer *d;
  const uint64_t *moves;   /* that are possible */
  const struct row **rows; /* of each rank */
  uint64_t *set, *todo;    /* for each rank */
};

static void add(struct choice *c, uint32_t rank, uint64_t actions)
{
  uint64_t more = actions & ~c->set[rank];
  c->set[rank] |= more;
  c->todo[rank] |= more;
}

/* Those that can make an action of `rank` possible. */
static void add_enabling(struct choice *c, uint32_t rank, uint32_t number)
{
  const struct reduction *r = c->d->reduction;
  const struct closure_action *action = closure_action(r->closure, rank, number);
  uint64_t local = c->rows[rank]->enables[number];
  if (action->peer == OWN) {
    add(c, rank, local);
    return;
  }
  uint32_t peer = (uint32_t)action->peer;
  unsigned kind = action->kind == WORLD_CONTROL;
  const struct queue *queue = queue_of(c->d, peer, rank);
  uint64_t senders = c->rows[peer]->sends[r->relation->base[rank] + number];
  bool ordered = closure_is_queue(r->closure, action->kind);
  if (!(queue->holds[kind] & UINT64_C(1) << number)) {
    uint64_t first = queue->head[kind] && ordered ? UINT64_C(1) << (queue->head[kind] - 1) : 0;
    if (!(first & c->set[rank]))
      add(c, peer, senders);
  } else if (!ordered) {
    add(c, rank, UINT64_MAX >> (64 - closure_actions(r->closure, rank)));
  } else if (queue->head[kind] == number + 1) {
    add(c, rank, local);
  } else {
    add(c, rank, UINT64_C(1) << (queue->head[kind] - 1));
  }
}

static void add_disturbing(struct choice *c, uint32_t rank, uint32_t number)
{
  const struct relation *r = c->d->reduction->relation;
  const uint64_t *others = r->others + (size_t)(r->base[rank] + number) * r->ranks;
  add(c, rank, c->rows[rank]->with[number]);
  for (uint32_t other = 0; other < r->ranks; other++)
    add(c, other, others[other]);
}

static unsigned possible(const struct choice *c)
{
  unsigned count = 0;
  for (uint32_t rank = 0; rank < c->d->ranks; rank++)
    count += (unsigned)__builtin_popcountll(c->set[rank] & c->moves[rank]);
  return count;
}

/* The smallest stubborn set with that action, as far as it has fewer than `most` moves. Returns how
 * many. */
static unsigned close(struct choice *c, uint32_t rank, uint32_t number, unsigned most)
{
  uint32_t ranks = c->d->ranks;
  memset(c->set, 0, ranks * sizeof *c->set);
  memset(c->todo, 0, ranks * sizeof *c->todo);
  add(c, rank, UINT64_C(1) << number);
  for (uint32_t at = 0; at < ranks;) {
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
    if (possible(c) >= most)
      return most;
    at = 0;
  }
  return possible(c);
}

/* Ranks by how much there is to do at them, to come to them and to come from them, most first.
 * Where several sets are as small, that keeps states few. */
static void sort_ranks(const struct choice *c, uint32_t *order)
{
  uint32_t ranks = c->d->ranks, busy[ranks];
  for (uint32_t rank = 0; rank < ranks; rank++)
    busy[rank] = (uint32_t)__builtin_popcountll(c->moves[rank]);
  for (uint32_t from = 0; from < ranks; from++)
    for (uint32_t to = 0; to < ranks; to++) {
      const struct queue *queue = queue_of(c->d, from, to);
      uint32_t under_way = 0;
      for (unsigned kind = 0; kind < KINDS; kind++)
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

void reducer_choose(struct reducer *d, uint64_t *moves)
{
  uint32_t ranks = d->ranks, order[ranks];
  const struct row *rows[ranks];
  uint64_t set[ranks], todo[ranks], best[ranks];
  struct choice c = {d, moves, rows, set, todo};
  unsigned fewest = 0;
  for (uint32_t rank = 0; rank < ranks; rank++) {
    rows[rank] = row_of(d, rank);
    fewest += (unsigned)__builtin_popcountll(moves[rank] &= rows[rank]->moves);
  }
  if (fewest < 2)
    return;
  memcpy(best, moves, sizeof best);
  sort_ranks(&c, order);
  for (unsigned turn = 0; turn < TURNS; turn++)
    for (uint32_t at = 0; at < ranks; at++) {
      uint64_t left = moves[order[at]] & d->reduction->turns[order[at]][turn];
      for (; left && fewest > 1; left &= left - 1) {
        unsigned count = close(&c, order[at], (uint32_t)__builtin_ctzll(left), fewest);
        for (uint32_t i = 0; count < fewest && i < ranks; i++)
          best[i] = set[i] & moves[i];
        fewest = count < fewest ? count : fewest;
      }
    }
  memcpy(moves, best, sizeof best);
}
