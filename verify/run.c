/* The run to a violation.
 *
 * The visited set keeps no parents, only how deep each state lies (modulo TAG_MASK). Backwards,
 * level by level, the states from which the violating ones can be reached in time are found by
 * expanding all of that depth once more; then, forwards from the beginning, the first move that
 * leads to one of them is taken. The run is the same whatever the numbers and the order in which
 * workers found states: of all shortest ones the first, by the world's order of moves.
 *
 * A state of another depth with the same tag may be found on the way back. It does no harm: it lies
 * at least TAG_MASK levels deeper, or, if not as deep, the violation would be less deep, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

static void add(const struct explorer *e, struct visited *set, const uint32_t *numbers)
{
  uint32_t state[LAYOUT_WORDS];
  layout_pack(e->layout, numbers, state);
  state[0] |= 1;
  uint64_t hash = layout_hash(e->layout, numbers);
  enum visited_answer answer;
  while ((answer = visited_add(set, state, hash)) == VISITED_FULL)
    visited_rebuild(set, 2 * set->places, e->layout);
  set->count += answer == VISITED_NEW;
  if (visited_crowded(set))
    visited_rebuild(set, 2 * set->places, e->layout);
}

static void make_set(const struct explorer *e, struct visited *set, uint32_t number)
{
  visited_init(set, e->layout, 64, 2 * visited_bytes(&e->visited), number);
}

/* Adds to `to` the states with the tag of `level` from which one move leads into `among`. */
static void step_back(struct explorer *e, unsigned level, const struct visited *among,
                      struct visited *to)
{
  struct worker *w = &e->worker[0];
  w->among = among;
  for (uint64_t i = 0; i < visited_end(&e->visited); i++) {
    const uint32_t *state = visited_at(&e->visited, i);
    if ((*state & TAG_MASK) != tag_of(level))
      continue;
    worker_expand(w, e->layout, state);
    if (w->found)
      add(e, to, w->numbers);
  }
}

/* Goes forwards from the first state, which the worker is about to expand. */
static void go(struct explorer *e, uint32_t *state, const struct visited *sets, struct move *moves)
{
  struct worker *w = &e->worker[0];
  for (unsigned level = 0; level < e->out->depth; level++) {
    w->among = &sets[level + 1];
    worker_expand(w, e->layout, state);
    if (!w->found) {
      fputs("breach: explorer: the way to a violation is lost\n", stderr);
      abort();
    }
    moves[level] = *(const struct move *)e->memo.moves.item[w->found_move].bytes;
    memcpy(state, w->found_state, sizeof w->found_state);
  }
  w->among = &sets[0]; /* places nothing */
  worker_expand(w, e->layout, state);
}

void write_run(struct explorer *e)
{
  struct exploration *out = e->out;
  unsigned depth = out->depth;
  struct visited *sets = intern_grow(NULL, (depth + 1) * sizeof *sets);
  uint32_t first[LAYOUT_WORDS];
  for (unsigned level = 0; level <= depth; level++)
    make_set(e, &sets[level], level + 1); /* the visited set is number 0 */
  for (unsigned i = 0; i < e->workers; i++)
    for (uint32_t n = 0; n < e->worker[i].violating.count; n++)
      add(e, &sets[depth], e->worker[i].violating.numbers + (size_t)n * e->components);
  for (unsigned level = depth; level-- > 0;)
    step_back(e, level, &sets[level + 1], &sets[level]);
  layout_pack(e->layout, e->first, first);
  out->moves = intern_grow(NULL, (depth + 1) * sizeof *out->moves);
  go(e, first, sets, out->moves);
  const struct worker *w = &e->worker[0];
  out->why = w->why;
  out->moves_count = depth;
  if (w->why_move)
    out->moves[out->moves_count++] = *(const struct move *)e->memo.moves.item[w->why_move].bytes;
  for (unsigned level = 0; level <= depth; level++)
    visited_clear(&sets[level]);
  free(sets);
}
