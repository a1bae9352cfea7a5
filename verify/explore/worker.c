/* Expanding states: one worker's part of the search. */
#include <stdlib.h>
#include <string.h>

#include "verify/base/breach.h"
#include "verify/base/hash.h"
#include "verify/base/memory.h"
#include "verify/base/platform.h"
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
  w->at.numbers = memory_table(2 * e->model.components, sizeof *w->at.numbers);
  w->heads = memory_table((uint32_t)e->model.world->ranks, sizeof *w->heads);
  enabled_init(&w->enabled, e->model.world);
  local_cache_init(&w->cache, e->model.world, e->model.components);
  w->stubborn = e->stubborn ? stubborn_worker_new(e->stubborn, &w->at) : NULL;
  w->symmetry = e->symmetry ? symmetry_worker_new(e->symmetry) : NULL;
  w->crash = e->crash ? crash_worker_new(e->crash, &w->at, &e->out->depth) : NULL;
}

void worker_clear(struct worker *w)
{
  local_cache_clear(&w->cache);
  for (int rank = 0; rank < w->e->model.world->ranks; rank++)
    free(w->heads[rank].of);
  free(w->heads);
  free(w->at.numbers);
  stubborn_worker_free(w->stubborn);
  symmetry_worker_free(w->symmetry);
  crash_worker_free(w->crash);
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
  __atomic_store_n(&w->e->visited.count, states, __ATOMIC_RELAXED); /* others look, without lock */
  w->e->out->transitions += w->transitions;
  w->e->out->rests += w->rests;
  reached_add(&w->e->out->reached, &w->reached);
  w->states = w->transitions = w->rests = 0;
}

/* Asks for the memory where the state of that hash is looked for. */
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

/* With symmetry: the state that stands for `state`. False: it does not fit the packing, and waits
 * until it does. */
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

/* Functions that take the number of words of a state are compiled for each of the usual ones. */
FOR_EACH_SIZE void make_successor(const struct worker *w, const struct delta *delta,
                                  uint32_t *state, uint32_t words)
{
  for (uint32_t i = 0; i < words; i++)
    state[i] = w->state[i] + delta->words[i];
}

/* The same as put_successor(), of the state that stands for the successor. */
static void put_representative(struct worker *w, const struct delta *delta)
{
  struct pending pending;
  uint64_t hash = w->hash + delta->hash;
  make_successor(w, delta, pending.state, w->e->model.packing->words);
  if (!represent(w, pending.state, &hash) || (w->e->exchange && worker_send_away(w, pending.state)))
    return;
  pending.state[0] |= w->tag;
  find_home(w, &pending, hash);
  place_pending(w, &pending);
}

/* Whether the same successor was put of late; it is from now on. */
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

/* Places what was put into this slot long ago, when its memory was asked for; then takes it. */
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

/* Whether the successor is one of those that are looked for. */
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

/* Asks the transition cache for the head of number `number` of a rank. */
static uint32_t learn_head(struct worker *w, uint32_t rank, uint32_t number)
{
  struct heads *heads = &w->heads[rank];
  const struct component *c = &w->e->model.component[rank];
  uint32_t part = world_part(w->e->model.world, WORLD_RANK, (int)rank, 0), place = 0;
  while (c->parts[place] != part)
    place++;
  heads->of = memory_zeroed_room(heads->of, number, &heads->room, sizeof *heads->of);
  platform_lock(w->e->model.rules);
  const uint32_t *values = c->values.item[number + 1].bytes;
  heads->of[number] = transition_cache_head(&w->e->model.rules_cache, values[place]);
  platform_unlock(w->e->model.rules);
  return heads->of[number];
}

/* Heads of ranks that have changed. Returns which heads have. */
static uint64_t find_heads(struct worker *w, uint64_t changed)
{
  uint64_t others = 0;
  for (uint32_t rank = 0; rank < (uint32_t)w->e->model.world->ranks; rank++) {
    const struct heads *heads = &w->heads[rank];
    uint32_t number = w->at.numbers[rank], at = w->e->model.components + rank;
    if (!(changed & component_bit(rank)))
      continue;
    uint32_t head =
        number < heads->room && heads->of[number] ? heads->of[number] : learn_head(w, rank, number);
    if (head != w->at.numbers[at])
      others |= component_bit(at);
    w->at.numbers[at] = head;
  }
  return others;
}

/* Makes `state` the one that is expanded. Returns the components that differ from the one before.
 */
static uint64_t enter_state(struct worker *w, const struct packing *packing, const uint32_t *state)
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
  changed |= find_heads(w, changed);
  w->wrong = w->found = false;
  w->at.serial++;
  if (local_cache_begin(w))
    enabled_forget(&w->enabled);
  if (w->packing != now)
    forget_recent(w);
  w->packing = now;
  return changed;
}

/* Whether successors just go to the visited set. */
static bool is_plain(const struct worker *w)
{
  return !w->outgoing && !w->among && !w->e->full &&
         !(w->symmetry && w->e->model.options->symmetry);
}

/* Where the successor goes that does not. */
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

/* `words` of a state; 0: it is not plain. */
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

/* Takes a move of which nothing is known yet. Returns whether it changes anything. */
static bool take_anew(struct worker *w, uint32_t origin, uint32_t option)
{
  uint32_t numbers[w->e->model.components];
  uint16_t verdict;
  const struct delta *delta = local_cache_learn_delta(w, origin, option, numbers, &verdict);
  uint32_t move = w->cache.options[option].move;
  if (delta) {
    follow_delta(w, delta, move, is_plain(w) ? w->e->model.packing->words : 0);
    return !delta->stays;
  }
  if (verdict)
    worker_judge_move(w, verdict, move);
  if (w->symmetry && w->e->model.options->symmetry)
    symmetry_represent(w->symmetry, numbers);
  if (!w->e->full && !w->among)
    states_add(&w->unplaced, numbers, w->e->model.components);
  return true;
}

/* Takes a move to whose end the walk has come at `cursor`. Returns whether it is progress. */
FOR_EACH_SIZE bool take_move(struct worker *w, uint32_t origin, uint32_t number, uint32_t cursor,
                             uint32_t words)
{
  const struct local_cache *s = &w->cache;
  const struct option *option = &s->options[number];
  bool moves;
  w->transitions++;
  if (cursor & CURSOR_RESULT) {
    const struct delta *delta = local_cache_delta(s, cursor & ~CURSOR_RESULT);
    moves = !delta->stays;
    follow_delta(w, delta, option->move, words);
  } else {
    moves = take_anew(w, origin, number);
    w->enabled.looked[origin] |= ENABLED_UNKNOWN; /* next time it is */
  }
  return moves && !s->options[number].is_fault;
}

/* Takes the moves of all open origins. Returns whether none of them is progress. */
FOR_EACH_SIZE bool take_all(struct worker *w, uint32_t open, uint32_t words)
{
  bool still = true;
  for (uint32_t origin = 0; origin < open; origin++) {
    const struct origin_moves *moves_of = &w->enabled.of[origin];
    for (uint32_t i = 0; i < moves_of->count; i++)
      still &= !take_move(w, origin, moves_of->first + i, moves_of->cursors[i], words);
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
      w->moves[w->moves_count++] = (struct enabled_move){.origin = origin,
                                                         .option = moves_of->first + i,
                                                         .cursor = moves_of->cursors[i],
                                                         .action = option->action,
                                                         .kind = option->kind};
    }
  }
}

static bool is_crash(const struct enabled_move *move)
{
  return move->kind == CRASH_MOVE_CRASH || move->kind == CRASH_MOVE_DETECT;
}

/* Leaves a stubborn set of the moves; crashes and their detection only where it needs them. */
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

/* Before the first crash a stubborn set, where there are any; then what the crash reduction leaves.
 */
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

/* Takes as many of the moves as are enough. Returns whether none of them is progress. */
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
    still &= !take_move(w, w->moves[i].origin, w->moves[i].option, w->moves[i].cursor, words);
  return still;
}

/* What lies far away in memory is asked for some steps before it is needed: the lists of moves,
 * then what they do, then where they lead. */
void worker_expand(struct worker *w, const struct packing *packing, const uint32_t *state)
{
  struct world_standing all;
  uint64_t changed = enter_state(w, packing, state);
  uint32_t open = enabled_find(w, changed, &all);
  if (w->symmetry && w->e->model.options->symmetry && w->e->model.options->audit)
    symmetry_audit(w->symmetry, w->at.numbers);
  bool reduced = w->stubborn || (w->crash && !w->among);
  bool still = reduced ? take_enough(w, open) : take_plain(w, open);
  still &= !w->crash || !all.dead; /* detection may have been put off */
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
  uint64_t changed = enter_state(w, w->e->model.packing, state);
  list_moves(w, enabled_find(w, changed, &all));
  uint32_t words = is_plain(w) ? w->e->model.packing->words : 0;
  for (uint32_t i = 0; i < w->moves_count; i++)
    if (is_crash(&w->moves[i]))
      take_move(w, w->moves[i].origin, w->moves[i].option, w->moves[i].cursor, words);
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
