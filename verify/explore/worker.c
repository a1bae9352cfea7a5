/* Expands states: one worker's part of the search. */
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/platform.h"
#include "verify/explore/search.h"
#include "verify/reduce/abstraction.h"

void states_add(struct states *states, const uint32_t *numbers, uint32_t components)
{
  states->numbers =
      memory_room(states->numbers, states->count, &states->room, components * sizeof *numbers);
  memcpy(states->numbers + (size_t)states->count++ * components, numbers,
         components * sizeof *numbers);
}

void worker_init(struct worker *w, struct explorer *e)
{
  *w = (struct worker){.e = e};
  w->at.numbers = memory_table(views_most(&e->model), sizeof *w->at.numbers);
  enabled_init(&w->enabled, e->model.world);
  local_cache_init(&w->cache, &e->model, w->at.numbers);
  w->stubborn = e->stubborn ? stubborn_worker_new(e->stubborn, &w->at) : NULL;
  w->symmetry = e->symmetry ? symmetry_worker_new(e->symmetry) : NULL;
  w->crash = e->crash ? crash_worker_new(e->crash, &w->at, &e->out->depth) : NULL;
  w->line = line_cache_new(&e->model);
}

void worker_clear(struct worker *w)
{
  local_cache_clear(&w->cache);
  free(w->at.numbers);
  stubborn_worker_free(w->stubborn);
  symmetry_worker_free(w->symmetry);
  crash_worker_free(w->crash);
  line_cache_free(w->line);
  free(w->recent);
  enabled_clear(&w->enabled);
  free(w->moves);
  free(w->unplaced.numbers);
  free(w->violating.numbers);
  frontier_clear(&w->share);
  frontier_clear(&w->later);
}

/* ---- successors ---- */

static void append_state(struct worker *w, const uint32_t *state)
{
  if (!w->e->archiving)
    frontier_append(&w->later, w->e->model.packing, state);
  w->states++;
}

void worker_account(struct worker *w)
{
  uint64_t states = w->e->visited.count + w->states;
  __atomic_store_n(&w->e->visited.count, states,
                   __ATOMIC_RELAXED); /* other threads read it without a lock */
  w->e->out->transitions += w->transitions;
  w->e->out->rests += w->rests;
  reached_add(&w->e->out->reached, &w->reached);
  w->states = w->transitions = w->rests = 0;
}

/* Prefetches the memory in which the set looks first for a state with that hash. */
static inline void find_home(struct worker *w, struct pending *pending, uint64_t hash)
{
  const struct explorer *e = w->e;
  if (e->fingerprint) {
    hash = fingerprint_pack(e->fingerprint, hash, pending->fingerprint);
    pending->fingerprint[0] |= w->tag;
  }
  pending->home = visited_home(&e->visited, hash);
}

static enum visited_answer add_pending(struct worker *w, const struct pending *pending)
{
  const uint32_t *entry = w->e->fingerprint ? pending->fingerprint : pending->state;
  enum visited_answer answer = visited_add_at(&w->e->visited, entry, pending->home);
  if (answer == VISITED_NEW)
    append_state(w, pending->state);
  return answer;
}

enum visited_answer worker_add(struct worker *w, const uint32_t *state, uint64_t hash)
{
  struct pending pending;
  memcpy(pending.state, state, w->e->model.packing->words * sizeof *state);
  pending.state[0] |= w->tag;
  find_home(w, &pending, hash);
  return add_pending(w, &pending);
}

static void place_pending(struct worker *w, const struct pending *pending)
{
  const struct packing *packing = w->e->model.packing;
  if (add_pending(w, pending) != VISITED_FULL)
    return;
  uint32_t numbers[packing->count];
  packing_unpack(packing, pending->state, numbers);
  states_add(&w->unplaced, numbers, packing->count);
}

bool worker_send_away(struct worker *w, const uint32_t *state)
{
  struct exchange *x = w->e->exchange;
  const struct field *field = &w->e->model.packing->field[0];
  unsigned owner = exchange_owner(x, state[field->word] >> field->shift & field->mask);
  bool away = owner != exchange_transport(x)->rank;
  if (away)
    exchange_put(x, owner, state);
  return away;
}

/* With symmetry, replaces `state` by the state that stands for it. Returns false if the latter does
 * not fit the packing, so that it has to wait. */
static bool represent(struct worker *w, uint32_t *state, uint64_t *hash)
{
  const struct packing *packing = w->e->model.packing;
  uint32_t numbers[packing->count];
  packing_unpack(packing, state, numbers);
  symmetry_represent(w->symmetry, numbers);
  if (!packing_fits(packing, numbers)) {
    if (!w->among)
      states_add(&w->unplaced, numbers, packing->count);
    return false;
  }
  packing_pack(packing, numbers, state);
  *hash = packing_hash(packing, numbers);
  return true;
}

/* Makes a successor. Functions that take the number of words of a state are compiled for each usual
 * number. */
FOR_EACH_SIZE void make_successor(const struct worker *w, const struct delta *delta,
                                  uint32_t *state, uint32_t words)
{
  for (uint32_t i = 0; i < words; i++)
    state[i] = w->state[i] + delta->words[i];
}

/* Does for the state that stands for the successor what put_successor() does for a successor. */
static void put_representative(struct worker *w, const struct delta *delta)
{
  struct pending pending;
  uint64_t hash;
  make_successor(w, delta, pending.state, w->e->model.packing->words);
  if (!represent(w, pending.state, &hash) || (w->e->exchange && worker_send_away(w, pending.state)))
    return;
  pending.state[0] |= w->tag;
  find_home(w, &pending, hash);
  place_pending(w, &pending);
}

/* Returns whether the same successor was put recently, and notes the successor. */
FOR_EACH_SIZE bool is_recent(struct worker *w, const uint32_t *state, uint64_t hash, uint32_t words)
{
  uint32_t *known = w->recent + hash_home(hash, RECENT) * words, differ = 0;
  for (uint32_t i = 0; i < words; i++)
    differ |= known[i] ^ state[i];
  for (uint32_t i = 0; i < words; i++)
    known[i] = state[i];
  return !differ;
}

static void forget_recent(struct worker *w)
{
  free(w->recent);
  w->recent = memory_table(RECENT, w->e->model.packing->words * sizeof *w->recent);
}

/* Places the state that was put into this slot earlier: its memory has been prefetched by now. Then
 * puts `state` into the slot. */
FOR_EACH_SIZE void put_state(struct worker *w, const uint32_t *state, uint64_t hash, uint32_t words)
{
  struct pending *pending = &w->pending[w->pending_count % PENDING];
  if (w->pending_count >= PENDING)
    place_pending(w, pending);
  w->pending_count++;
  find_home(w, pending, hash);
  for (uint32_t i = 0; i < words; i++)
    pending->state[i] = state[i];
}

FOR_EACH_SIZE void put_successor(struct worker *w, const struct delta *delta, uint32_t words)
{
  uint32_t state[PACKING_WORDS];
  uint64_t hash = w->hash + delta->hash;
  make_successor(w, delta, state, words);
  state[0] |= w->tag;
  if (is_recent(w, state, hash, words))
    return;
  if (__builtin_expect(!w->e->exchange, 1) || !worker_send_away(w, state))
    put_state(w, state, hash, words);
}

void worker_place(struct worker *w, const uint32_t *numbers)
{
  const struct packing *packing = w->e->model.packing;
  uint32_t state[PACKING_WORDS];
  if (w->e->full)
    return;
  if (!packing_fits(packing, numbers)) {
    states_add(&w->unplaced, numbers, packing->count);
    return;
  }
  packing_pack(packing, numbers, state);
  state[0] |= w->tag;
  put_state(w, state, packing_hash(packing, numbers), packing->words);
}

void worker_place_pending(struct worker *w)
{
  unsigned first = w->pending_count > PENDING ? w->pending_count - PENDING : 0;
  for (unsigned i = first; i < w->pending_count; i++)
    place_pending(w, &w->pending[i % PENDING]);
  w->pending_count = 0;
}

/* Checks whether the successor is a state that the search for a path needs. */
static void seek_successor(struct worker *w, const struct delta *delta, uint32_t move)
{
  uint32_t words = w->e->model.packing->words, state[PACKING_WORDS];
  uint64_t hash = w->hash + delta->hash;
  if (w->found)
    return;
  make_successor(w, delta, state, words);
  if (w->e->model.options->symmetry && w->symmetry && !represent(w, state, &hash))
    return;
  w->found = visited_find(w->among, state, hash);
  w->found_move = move;
  if (w->found)
    make_successor(w, delta, w->found_state, words);
}

static void list_transition(struct worker *w, const struct delta *delta, uint32_t move)
{
  struct transitions *transitions = w->outgoing;
  uint32_t state[PACKING_WORDS];
  uint64_t to = TRANSITION_STAYS;
  transitions->item = memory_room(transitions->item, transitions->count, &transitions->room,
                                  sizeof *transitions->item);
  make_successor(w, delta, state, w->e->model.packing->words);
  if (!delta->stays)
    to = visited_place(&w->e->visited, state, w->hash + delta->hash);
  transitions->item[transitions->count++] = (struct transition){.to = to, .move = move};
}

/* ---- expanding ---- */

/* Makes `state` the state that is expanded. Returns the components in which `state` differs from
 * the state that was expanded before. */
static struct view_set enter_state(struct worker *w, const struct packing *packing,
                                   const uint32_t *state)
{
  const struct packing *now = w->e->model.packing;
  uint64_t changed = UINT64_MAX;
  if (packing == now && w->packing == now) {
    changed = packing_go(now, state, w->state, w->at.numbers, &w->hash);
  } else {
    packing_unpack(packing, state, w->at.numbers);
    packing_pack(now, w->at.numbers, w->state);
    w->hash = packing_hash(now, w->at.numbers);
  }
  CHECK(w->hash == packing_hash(now, w->at.numbers) &&
            w->hash == packing_hash_packed(now, w->state) && !(w->state[0] & TAG_MASK),
        "hash, numbers and packed words are those of one state");
  w->wrong = w->found = false;
  w->at.serial++;
  if (local_cache_begin(w))
    enabled_forget(&w->enabled);
  if (w->packing != now)
    forget_recent(w);
  w->packing = now;
  struct view_set views = {.first = changed};
  views_enter(&w->cache.views, &views);
  return views;
}

/* Returns whether successors go to the visited set, and nothing else is done with them. */
static bool is_plain(const struct worker *w)
{
  return !w->outgoing && !w->among && !w->e->full &&
         !(w->symmetry && w->e->model.options->symmetry);
}

/* Handles a successor that does not enter the visited set. */
static void follow_otherwise(struct worker *w, const struct delta *delta, uint32_t move)
{
  if (w->outgoing)
    list_transition(w, delta, move);
  else if (delta->stays)
    return;
  else if (w->among)
    seek_successor(w, delta, move);
  else if (!w->e->full)
    put_representative(w, delta);
}

/* Follows a delta to a successor. `words` is the number of words of a state, or 0 if the case is
 * not plain. */
FOR_EACH_SIZE void follow_delta(struct worker *w, const struct delta *delta, uint32_t move,
                                uint32_t words)
{
  if (delta->verdict)
    worker_judge_move(w, delta->verdict, move);
  if (!words)
    follow_otherwise(w, delta, move);
  else if (!delta->stays)
    put_successor(w, delta, words);
}

/* Takes a move that is not in the cache yet, or that leads to a state that does not fit the
 * packing. Returns whether it changes anything. */
static bool take_anew(struct worker *w, uint32_t origin, struct option *option)
{
  const struct model *model = &w->e->model;
  uint32_t numbers[model->components];
  uint64_t bytes[w->cache.delta_bytes / sizeof(uint64_t)];
  struct delta *delta = (struct delta *)bytes;
  bool fits = local_cache_learn_delta(w, origin, option, numbers, delta);
  CHECK(fits == packing_fits(w->packing, numbers) &&
            delta->stays == !memcmp(numbers, w->at.numbers, sizeof numbers),
        "a delta leads to the components that its result leads to");
  if (fits) {
    follow_delta(w, delta, option->move, is_plain(w) ? w->packing->words : 0);
    return !delta->stays;
  }
  if (delta->verdict)
    worker_judge_move(w, delta->verdict, option->move);
  if (w->symmetry && model->options->symmetry)
    symmetry_represent(w->symmetry, numbers);
  if (!w->e->full && !w->among)
    states_add(&w->unplaced, numbers, model->components);
  return true;
}

/* Takes move number `number` of an origin. Returns whether it is progress. */
FOR_EACH_SIZE bool take_move(struct worker *w, uint32_t origin, uint32_t number, uint32_t words)
{
  const struct origin_moves *moves_of = &w->enabled.of[origin];
  struct option *option = &w->cache.options[moves_of->first + number];
  bool moves;
  w->transitions++;
  if (moves_of->cursors[number]) {
    const struct delta *delta = enabled_delta(&w->cache, moves_of, number);
    moves = !delta->stays;
    follow_delta(w, delta, option->move, words);
  } else
    moves = take_anew(w, origin, option);
  return moves && !option->is_fault;
}

/* Takes the moves of all open origins. Returns whether none of them is progress. */
FOR_EACH_SIZE bool take_all(struct worker *w, uint32_t open, uint32_t words)
{
  bool still = true;
  for (uint32_t origin = 0; origin < open; origin++) {
    uint32_t count = w->enabled.of[origin].count;
    for (uint32_t i = 0; i < count; i++)
      still &= !take_move(w, origin, i, words);
  }
  return still;
}

static bool take_plain(struct worker *w, uint32_t open)
{
  switch (is_plain(w) ? w->e->model.packing->words : 0) {
  case 1:
    return take_all(w, open, 1);
  case 2:
    return take_all(w, open, 2);
  case 3:
    return take_all(w, open, 3);
  case 4:
    return take_all(w, open, 4);
  default:
    return take_all(w, open, is_plain(w) ? w->e->model.packing->words : 0);
  }
}

/* ---- with a reduction ---- */

static void list_moves(struct worker *w, uint32_t open)
{
  w->moves_count = 0;
  for (uint32_t origin = 0; origin < open; origin++) {
    const struct origin_moves *moves_of = &w->enabled.of[origin];
    if (w->moves_count + moves_of->count > w->moves_room) {
      w->moves_room = 2 * (w->moves_count + moves_of->count);
      w->moves = memory_grow(w->moves, w->moves_room * sizeof *w->moves);
    }
    for (uint32_t i = 0; i < moves_of->count; i++) {
      const struct option *option = &w->cache.options[moves_of->first + i];
      w->moves[w->moves_count++] = (struct enabled_move){
          .origin = origin, .option = i, .action = option->action, .kind = option->kind};
    }
  }
}

static bool is_crash(const struct enabled_move *move)
{
  return move->kind == CRASH_MOVE_CRASH || move->kind == CRASH_MOVE_DETECT;
}

/* Reduces the moves to a stubborn set. Keeps crashes, and the detection of crashes, only where the
 * set needs them. */
static void leave_stubborn(struct worker *w)
{
  uint32_t ranks = (uint32_t)w->e->model.world->ranks, each = ranks + 1, count = 0;
  uint64_t enough[ranks];
  memset(enough, 0, sizeof enough);
  for (uint32_t i = 0; i < w->moves_count; i++)
    if (!is_crash(&w->moves[i])) {
      REQUIRE(w->moves[i].action < ABSTRACTION_ACTIONS,
              "the abstraction has the moves that are enabled before a crash");
      enough[w->moves[i].origin / each] |= UINT64_C(1) << w->moves[i].action;
    }
  bool unseen = stubborn_worker_choose(w->stubborn, enough);
  for (uint32_t i = 0; i < w->moves_count; i++)
    if (is_crash(&w->moves[i]) ? !unseen
                               : enough[w->moves[i].origin / each] >> w->moves[i].action & 1)
      w->moves[count++] = w->moves[i];
  w->moves_count = count;
}

/* Applies stubborn sets before the first crash, if the search has stubborn sets. Then applies the
 * crash reduction. */
static void reduce_with_crashes(struct worker *w)
{
  const struct world_standing *standing = w->enabled.standing;
  if (!standing->safe && !w->among)
    crash_worker_learn(w->crash, w->moves, w->moves_count);
  if (w->stubborn && crash_sees(w->crash, standing))
    leave_stubborn(w);
  if (!w->among)
    w->moves_count = crash_worker_choose(w->crash, standing, w->moves, w->moves_count);
}

/* Takes as many moves as the reductions require. Returns whether none of them is progress. */
static bool take_enough(struct worker *w, uint32_t open)
{
  bool still = true;
  list_moves(w, open);
  if (w->crash)
    reduce_with_crashes(w);
  else if (w->stubborn)
    leave_stubborn(w);
  uint32_t words = is_plain(w) ? w->e->model.packing->words : 0;
  for (uint32_t i = 0; i < w->moves_count; i++)
    still &= !take_move(w, w->moves[i].origin, w->moves[i].option, words);
  return still;
}

/* Prefetches distant memory some steps before it is needed: the lists of moves, then their effects,
 * then the memory of their successors. */
void worker_expand(struct worker *w, const struct packing *packing, const uint32_t *state)
{
  struct world_standing all;
  struct view_set changed = enter_state(w, packing, state);
  uint32_t open = enabled_find(w, changed, &all);
  if (w->symmetry && w->e->model.options->symmetry && w->e->model.options->audit)
    symmetry_audit(w->symmetry, w->at.numbers);
  bool reduced = w->stubborn || (w->crash && !w->among);
  bool still = reduced ? take_enough(w, open) : take_plain(w, open);
  still &= !w->crash || !all.dead; /* the detection of the crash may have been put off */
  w->rests += still;
  reached_note(&w->reached, REACH_ENDS, all.finished && !all.gave_up);
  if (still && !all.gave_up && w->e->model.options->rests)
    worker_note_rest(w);
  worker_judge_state(w, &all, still);
  if (w->wrong)
    states_add(&w->violating, w->at.numbers, w->e->model.components);
}

void worker_take_crashes(struct worker *w, const uint32_t *numbers)
{
  struct world_standing all;
  uint32_t state[PACKING_WORDS];
  packing_pack(w->e->model.packing, numbers, state);
  struct view_set changed = enter_state(w, w->e->model.packing, state);
  list_moves(w, enabled_find(w, changed, &all));
  uint32_t words = is_plain(w) ? w->e->model.packing->words : 0;
  for (uint32_t i = 0; i < w->moves_count; i++)
    if (is_crash(&w->moves[i]))
      take_move(w, w->moves[i].origin, w->moves[i].option, words);
  worker_place_pending(w);
  if (w->wrong)
    states_add(&w->violating, w->at.numbers, w->e->model.components);
}

void worker_expand_chunk(struct worker *w, struct chunk *chunk)
{
  for (uint32_t i = 0; i < chunk->count; i++)
    worker_expand(w, chunk->packing, chunk->states + i * chunk->packing->words);
  worker_place_pending(w);
  free(chunk);
  if (w->e->spilling)
    frontier_spill(&w->later, &w->e->spill[(w->e->out->depth + 1) % 2]);
}
