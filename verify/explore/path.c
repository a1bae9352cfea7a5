/* Finds the run to a violation.
 *
 * The visited set keeps no parents, only the depth of each state (modulo TAG_MASK). The search for
 * the run first goes backwards, level by level: it expands all states of a depth once more, and
 * keeps those from which a violating state can be reached in time. Then it goes forwards from the
 * beginning, each time by the first move that leads to a kept state. The run does not depend on
 * numbers, or on the order in which workers found states: it is the first of all shortest runs, by
 * the world's order of moves.
 *
 * The way back may find a state of another depth with the same tag. That does no harm. Such a state
 * is at least TAG_MASK levels deeper, because a state that is less deep would make the violation
 * less deep, too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "verify/explore/search.h"

static void add_state(const struct explorer *e, struct visited *set, const uint32_t *numbers)
{
  uint32_t state[PACKING_WORDS];
  packing_pack(e->model.packing, numbers, state);
  state[0] |= 1;
  uint64_t hash = packing_hash(e->model.packing, numbers);
  enum visited_answer answer;
  while ((answer = visited_add(set, state, hash)) == VISITED_FULL)
    visited_rebuild(set, 2 * set->places, e->model.packing, 1);
  set->count += answer == VISITED_NEW;
  if (visited_crowded(set))
    visited_rebuild(set, 2 * set->places, e->model.packing, 1);
}

static void make_set(const struct explorer *e, struct visited *set, uint32_t number)
{
  size_t processes = e->exchange ? exchange_transport(e->exchange)->size : 1;
  size_t most = 2 * processes * visited_bytes(&e->visited);
  if (e->archiving) /* a level has at most this number of states, while the visited set may be empty
                     */
    most += 2 * explorer_states(e) * e->model.packing->words * sizeof(uint32_t);
  visited_init(set, e->model.packing, 64, most, number);
}

/* Adds to `set` the states that this process and the others have found. All `count` sets then have
 * the present packing. */
static void add_found(struct explorer *e, struct visited *set, struct states *found,
                      struct visited *sets, unsigned count)
{
  if (e->exchange)
    distributed_share(e, found);
  for (unsigned i = 0; i < count; i++)
    if (sets[i].packing != e->model.packing)
      visited_rebuild(&sets[i], sets[i].places, e->model.packing, 1);
  for (uint32_t n = 0; n < found->count; n++)
    add_state(e, set, found->numbers + (size_t)n * e->model.components);
}

/* Holds a worker's share of a level on the way back. */
struct share {
  struct worker *w;
  uint32_t tag;
  uint64_t from, to; /* range of places of the visited set */
};

enum { BATCH = 1 << 20 };

static int by_words(const void *a, const void *b)
{
  const uint32_t *one = *(const uint32_t *const *)a, *two = *(const uint32_t *const *)b;
  return one[0] != two[0] ? (one[0] < two[0] ? -1 : 1) : (one[1] > two[1]) - (one[1] < two[1]);
}

/* Adds to w->unplaced each of the states from which one move leads into w->among. The states are
 * expanded in an order in which neighbours have much in common. */
static void collect_from(struct worker *w, const uint32_t **states, uint32_t count)
{
  if (w->e->model.packing->words > 1)
    qsort(states, count, sizeof *states, by_words);
  for (uint32_t i = 0; i < count; i++) {
    worker_expand(w, w->e->model.packing, states[i]);
    if (w->found)
      states_add(&w->unplaced, w->at.numbers, w->e->model.components);
  }
}

/* Collects, in w->unplaced, states of the level from which one move leads into w->among. */
static void collect_share(void *data)
{
  const struct share *share = data;
  struct worker *w = share->w;
  const struct visited *visited = &w->e->visited;
  const uint32_t **states = memory_grow(NULL, BATCH * sizeof *states);
  uint32_t count = 0;
  w->unplaced.count = 0;
  for (uint64_t i = share->from; i < share->to; i++) {
    const uint32_t *state = visited_at(visited, i);
    if ((*state & TAG_MASK) != share->tag)
      continue;
    states[count++] = state;
    if (count == BATCH) {
      collect_from(w, states, count);
      count = 0;
    }
  }
  collect_from(w, states, count);
  free(states);
}

/* Holds a batch of states on disk. */
struct archived {
  struct worker *w;
  uint32_t count;
  uint32_t *states;
  const uint32_t **each;
};

enum { ARCHIVED = 1 << 12 };

static void collect_archived(struct archived *a)
{
  uint32_t words = a->w->e->model.packing->words;
  for (uint32_t i = 0; i < a->count; i++)
    a->each[i] = a->states + (size_t)i * words;
  collect_from(a->w, a->each, a->count);
  a->count = 0;
}

static void add_archived(void *data, const uint32_t *state)
{
  struct archived *a = data;
  uint32_t words = a->w->e->model.packing->words;
  memcpy(a->states + (size_t)a->count++ * words, state, words * sizeof *state);
  if (a->count == ARCHIVED)
    collect_archived(a);
}

/* Does what collect_share() does, and is called after it, for the states of the level that are on
 * disk. */
static void collect_disk(struct explorer *e, uint32_t tag)
{
  struct archived a = {.w = &e->worker[0]};
  a.states = memory_grow(NULL, ARCHIVED * PACKING_WORDS * sizeof *a.states);
  a.each = memory_grow(NULL, ARCHIVED * sizeof *a.each);
  archive_each(e->archive, tag, add_archived, &a);
  collect_archived(&a);
  free(a.states);
  free(a.each);
}

/* Adds to the set of `level` the states with the tag of this level from which one move leads into
 * the next set.
 */
static void step_back(struct explorer *e, unsigned level, struct visited *sets)
{
  struct share share[e->workers];
  uint64_t end = visited_end(&e->visited);
  for (unsigned i = 0; i < e->workers; i++) {
    e->worker[i].among = &sets[level + 1];
    share[i] = (struct share){.w = &e->worker[i],
                              .tag = tag_of(level),
                              .from = end * i / e->workers,
                              .to = end * (i + 1) / e->workers};
  }
  platform_parallel(collect_share, share, sizeof *share, e->workers);
  if (e->archive)
    collect_disk(e, tag_of(level));
  for (unsigned i = 0; i < e->workers; i++)
    add_found(e, &sets[level], &e->worker[i].unplaced, sets, e->out->depth + 1);
}

/* Follows the run forwards from the first state, which the worker is about to expand. */
static void go_forwards(struct explorer *e, uint32_t *state, const struct visited *sets,
                        struct move *moves)
{
  struct worker *w = &e->worker[0];
  struct stubborn_worker *stubborn = w->stubborn;
  /* all moves are taken, because with symmetry states stand for other states of their orbits */
  w->stubborn = NULL;
  for (unsigned level = 0; level < e->out->depth; level++) {
    w->among = &sets[level + 1];
    worker_expand(w, e->model.packing, state);
    if (!w->found) {
      breach("the way to a violation is lost");
    }
    moves[level] = *(const struct move *)e->model.rules_cache.moves.item[w->found_move].bytes;
    memcpy(state, w->found_state, sizeof w->found_state);
  }
  w->among = &sets[0]; /* the worker places nothing */
  worker_expand(w, e->model.packing, state);
  w->stubborn = stubborn;
}

void path_write(struct explorer *e)
{
  struct exploration *out = e->out;
  unsigned depth = out->depth;
  struct visited *sets = memory_grow(NULL, (depth + 1) * sizeof *sets);
  uint32_t first[PACKING_WORDS];
  for (unsigned level = 0; level <= depth; level++)
    make_set(e, &sets[level], level + 1); /* number 0 belongs to the visited set */
  for (unsigned i = 0; i < e->workers; i++)
    add_found(e, &sets[depth], &e->worker[i].violating, sets, depth + 1);
  for (unsigned level = depth; level-- > 0;)
    step_back(e, level, sets);
  packing_pack(e->model.packing, e->model.first, first);
  out->moves = memory_grow(NULL, (depth + 1) * sizeof *out->moves);
  go_forwards(e, first, sets, out->moves);
  struct worker *w = &e->worker[0];
  w->among = NULL;
  out->moves_count = depth;
  if (w->wrong)
    out->why = w->why;
  if (w->wrong && w->why_move)
    out->moves[out->moves_count++] =
        *(const struct move *)e->model.rules_cache.moves.item[w->why_move].bytes;
  for (unsigned level = 0; level <= depth; level++)
    visited_clear(&sets[level]);
  free(sets);
}
