/* Expanding states: one worker's part of the search. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/base/hash.h"
#include "verify/base/memory.h"
#include "verify/base/platform.h"
#include "verify/explore/search.h"

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
  offers_init(&w->offers, e->model.world);
  shortcuts_init(&w->shortcuts, e->model.world, e->model.components);
  w->reducer = e->reduction ? reducer_new(e->reduction, &w->at) : NULL;
  w->renamer = e->symmetry ? renamer_new(e->symmetry) : NULL;
  w->recoverer = e->recovery ? recoverer_new(e->recovery, &w->at) : NULL;
}

void worker_clear(struct worker *w)
{
  shortcuts_clear(&w->shortcuts);
  for (int rank = 0; rank < w->e->model.world->ranks; rank++)
    free(w->heads[rank].of);
  free(w->heads);
  free(w->at.numbers);
  reducer_free(w->reducer);
  renamer_free(w->renamer);
  recoverer_free(w->recoverer);
  free(w->recent);
  offers_clear(&w->offers);
  free(w->moves);
  free(w->unplaced.numbers);
  free(w->violating.numbers);
  frontier_clear(&w->share);
  frontier_clear(&w->later);
}

/* ---- successors ---- */

static void append(struct worker *w, const uint32_t *state)
{
  frontier_append(&w->later, w->e->model.layout, state);
  w->states++;
}

void worker_account(struct worker *w)
{
  uint64_t states = w->e->visited.count + w->states;
  __atomic_store_n(&w->e->visited.count, states, __ATOMIC_RELAXED); /* others look, without lock */
  w->e->out->transitions += w->transitions;
  w->e->out->rests += w->rests;
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

static enum visited_answer add(struct worker *w, const struct pending *pending)
{
  const uint32_t *entry = w->e->fingerprint ? pending->fingerprint : pending->state;
  enum visited_answer answer = visited_add_at(&w->e->visited, entry, pending->home);
  if (answer == VISITED_NEW)
    append(w, pending->state);
  return answer;
}

enum visited_answer worker_add(struct worker *w, const uint32_t *state, uint64_t hash)
{
  struct pending pending;
  memcpy(pending.state, state, w->e->model.layout->words * sizeof *state);
  pending.state[0] |= w->tag;
  find_home(w, &pending, hash);
  return add(w, &pending);
}

static void place(struct worker *w, const struct pending *pending)
{
  const struct layout *layout = w->e->model.layout;
  if (add(w, pending) != VISITED_FULL)
    return;
  uint32_t numbers[layout->count];
  layout_unpack(layout, pending->state, numbers);
  states_add(&w->unplaced, numbers, layout->count);
}

/* With symmetry: the state that stands for `state`. False: it does not fit the layout, and waits
 * until it does. */
static bool represent(struct worker *w, uint32_t *state, uint64_t *hash)
{
  const struct layout *layout = w->e->model.layout;
  uint32_t numbers[layout->count];
  layout_unpack(layout, state, numbers);
  symmetry_represent(w->renamer, numbers);
  if (!layout_fits(layout, numbers)) {
    if (!w->among)
      states_add(&w->unplaced, numbers, layout->count);
    return false;
  }
  layout_pack(layout, numbers, state);
  *hash = layout_hash(layout, numbers);
  return true;
}

/* Functions that take the number of words of a state are compiled for each of the usual ones. */
FOR_EACH_SIZE void successor(const struct worker *w, const struct jump *jump, uint32_t *state,
                             uint32_t words)
{
  for (uint32_t i = 0; i < words; i++)
    state[i] = w->state[i] + jump->words[i];
}

/* The same as put(), of the state that stands for the successor. */
static void put_representative(struct worker *w, const struct jump *jump)
{
  struct pending pending;
  uint64_t hash = w->hash + jump->hash;
  successor(w, jump, pending.state, w->e->model.layout->words);
  if (!represent(w, pending.state, &hash))
    return;
  pending.state[0] |= w->tag;
  find_home(w, &pending, hash);
  place(w, &pending);
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
  w->recent = memory_table(RECENT, w->e->model.layout->words * sizeof *w->recent);
}

/* Places what was put into this slot long ago, when its memory was asked for; then takes it. */
FOR_EACH_SIZE void put(struct worker *w, const struct jump *jump, uint32_t words)
{
  struct pending *pending = &w->pending[w->pending_count % PENDING];
  uint32_t state[LAYOUT_WORDS];
  uint64_t hash = w->hash + jump->hash;
  successor(w, jump, state, words);
  state[0] |= w->tag;
  if (is_recent(w, state, hash, words))
    return;
  if (w->pending_count >= PENDING)
    place(w, pending);
  w->pending_count++;
  find_home(w, pending, hash);
  for (uint32_t i = 0; i < words; i++)
    pending->state[i] = state[i];
}

/* Places all that is still pending. */
static void flush(struct worker *w)
{
  unsigned first = w->pending_count > PENDING ? w->pending_count - PENDING : 0;
  for (unsigned i = first; i < w->pending_count; i++)
    place(w, &w->pending[i % PENDING]);
  w->pending_count = 0;
}

/* Whether the successor is one of those that are looked for. */
static void seek(struct worker *w, const struct jump *jump, uint32_t move)
{
  uint32_t words = w->e->model.layout->words, state[LAYOUT_WORDS];
  uint64_t hash = w->hash + jump->hash;
  if (w->found)
    return;
  successor(w, jump, state, words);
  if (w->e->model.options->symmetry && w->renamer && !represent(w, state, &hash))
    return;
  w->found = visited_find(w->among, state, hash);
  w->found_move = move;
  if (w->found)
    successor(w, jump, w->found_state, words);
}

static void list_way(struct worker *w, const struct jump *jump, uint32_t move)
{
  struct ways *ways = w->ways;
  uint32_t state[LAYOUT_WORDS];
  uint64_t to = WAY_STAYS;
  ways->way = memory_room(ways->way, ways->count, &ways->room, sizeof *ways->way);
  successor(w, jump, state, w->e->model.layout->words);
  if (!jump->stays)
    to = visited_place(&w->e->visited, state, w->hash + jump->hash);
  ways->way[ways->count++] = (struct way){.to = to, .move = move};
}

/* ---- properties ---- */

/* The state being expanded violates a property, for all that is known: by this move. */
static void note_violation(struct worker *w, const struct verdict *verdict, uint32_t move)
{
  if (w->wrong)
    return;
  w->wrong = true;
  w->why = *verdict;
  w->why_move = move;
}

static void judge_move(struct worker *w, uint16_t number, uint32_t move)
{
  platform_lock(w->e->model.rules);
  struct verdict verdict = w->e->model.memo.verdicts[number];
  platform_unlock(w->e->model.rules);
  if (model_violates(&w->e->model, &verdict))
    note_violation(w, &verdict, move);
}

/* Property outcome, in the state that is loaded. */
static bool wrong_outcome(struct explorer *e, struct verdict *verdict)
{
  struct intern *outcomes = e->model.options->outcomes;
  uint32_t ranks = (uint32_t)e->model.world->ranks, histories[ranks];
  uint32_t size = ranks * (uint32_t)sizeof *histories;
  if (!outcomes)
    return false;
  for (uint32_t rank = 0; rank < ranks; rank++) {
    uint32_t part = world_part(e->model.world, WORLD_PROGRAM, (int)rank, 0);
    const struct world_program *program =
        e->model.memo.parts.item[e->model.memo.values[part]].bytes;
    histories[rank] = program->history;
  }
  if (e->model.options->collect)
    intern(outcomes, histories, size);
  if (intern_find(outcomes, histories, size))
    return false;
  *verdict = (struct verdict){.kind = VERDICT_VIOLATION, .property = "outcome"};
  int used = snprintf(verdict->text, sizeof verdict->text,
                      "the programs end with histories that no run without failures has:");
  for (uint32_t rank = 0; rank < ranks && (size_t)used < sizeof verdict->text; rank++)
    used += snprintf(verdict->text + used, sizeof verdict->text - (size_t)used, " %08x",
                     histories[rank]);
  return model_checks(&e->model, "outcome");
}

static bool wrong_state(struct explorer *e, bool finished, bool still, struct verdict *verdict)
{
  if (finished) {
    if (wrong_outcome(e, verdict))
      return true;
    if (e->model.judges_end)
      world_at_end(e->model.world, verdict);
    if (e->model.judges_end && model_violates(&e->model, verdict))
      return true;
  }
  if (!still)
    return false;
  world_at_rest(e->model.world, verdict);
  return model_violates(&e->model, verdict);
}

/* Properties of the state itself, `still` when only uncalled-for moves leave it. */
static void judge_state(struct worker *w, const struct world_standing *all, bool still)
{
  struct verdict verdict;
  bool ends = all->finished && (w->e->model.judges_end || w->e->model.options->outcomes);
  if (all->gave_up || (!ends && !still) || w->ways)
    return;
  platform_lock(w->e->model.rules);
  model_load(&w->e->model, &w->at);
  memo_forget_reads(&w->e->model.memo);
  bool wrong = wrong_state(w->e, all->finished, still, &verdict);
  platform_unlock(w->e->model.rules);
  if (wrong)
    note_violation(w, &verdict, 0);
}

static void note_rest(struct worker *w)
{
  struct explorer *e = w->e;
  uint64_t digest = w->renamer ? symmetry_digest(w->renamer, w->at.numbers) : 0;
  platform_lock(e->model.rules);
  if (!w->renamer) {
    model_load(&e->model, &w->at);
    memo_forget_reads(&e->model.memo);
    digest = world_digest(e->model.world);
  }
  intern(e->model.options->rests, &digest, (uint32_t)sizeof digest);
  platform_unlock(e->model.rules);
}

/* ---- expanding ---- */

/* Asks the memo for the head of number `number` of a rank. */
static uint32_t learn_head(struct worker *w, uint32_t rank, uint32_t number)
{
  struct heads *heads = &w->heads[rank];
  const struct component *c = &w->e->model.component[rank];
  uint32_t part = world_part(w->e->model.world, WORLD_RANK, (int)rank, 0), place = 0;
  while (c->parts[place] != part)
    place++;
  if (number >= heads->room) {
    uint32_t room = 2 * number + 64;
    heads->of = memory_grow(heads->of, room * sizeof *heads->of);
    memset(heads->of + heads->room, 0, (room - heads->room) * sizeof *heads->of);
    heads->room = room;
  }
  platform_lock(w->e->model.rules);
  const uint32_t *values = c->values.item[number + 1].bytes;
  heads->of[number] = memo_head(&w->e->model.memo, values[place]);
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
static uint64_t enter(struct worker *w, const struct layout *layout, const uint32_t *state)
{
  const struct layout *now = w->e->model.layout;
  uint64_t changed = UINT64_MAX;
  if (layout == now && w->layout == now) {
    changed = layout_go(now, state, w->state, w->at.numbers, &w->hash);
  } else {
    layout_unpack(layout, state, w->at.numbers);
    layout_pack(now, w->at.numbers, w->state);
    w->hash = layout_hash(now, w->at.numbers);
  }
  changed |= find_heads(w, changed);
  w->wrong = w->found = false;
  w->at.serial++;
  if (shortcuts_begin(w))
    offers_forget(&w->offers);
  if (w->layout != now)
    forget_recent(w);
  w->layout = now;
  return changed;
}

/* Whether successors just go to the visited set. */
static bool is_plain(const struct worker *w)
{
  return !w->ways && !w->among && !w->e->full && !(w->renamer && w->e->model.options->symmetry);
}

/* Where the successor goes that does not. */
static void follow_otherwise(struct worker *w, const struct jump *jump, uint32_t move)
{
  if (w->ways)
    list_way(w, jump, move);
  else if (jump->stays)
    return;
  else if (w->among)
    seek(w, jump, move);
  else if (!w->e->full)
    put_representative(w, jump);
}

/* `words` of a state; 0: it is not plain. */
FOR_EACH_SIZE void follow(struct worker *w, const struct jump *jump, uint32_t move, uint32_t words)
{
  if (jump->verdict)
    judge_move(w, jump->verdict, move);
  if (!words)
    follow_otherwise(w, jump, move);
  else if (!jump->stays)
    put(w, jump, words);
}

/* Takes a move of which nothing is known yet. Returns whether it changes anything. */
static bool take_anew(struct worker *w, uint32_t origin, uint32_t option)
{
  uint32_t numbers[w->e->model.components];
  uint16_t verdict;
  const struct jump *jump = shortcuts_learn_jump(w, origin, option, numbers, &verdict);
  uint32_t move = w->shortcuts.options[option].move;
  if (jump) {
    follow(w, jump, move, is_plain(w) ? w->e->model.layout->words : 0);
    return !jump->stays;
  }
  if (verdict)
    judge_move(w, verdict, move);
  if (w->renamer && w->e->model.options->symmetry)
    symmetry_represent(w->renamer, numbers);
  if (!w->e->full && !w->among)
    states_add(&w->unplaced, numbers, w->e->model.components);
  return true;
}

/* Takes a move to whose end the walk has come at `goal`. Returns whether it is progress. */
FOR_EACH_SIZE bool take_move(struct worker *w, uint32_t origin, uint32_t number, uint32_t goal,
                             uint32_t words)
{
  const struct shortcuts *s = &w->shortcuts;
  const struct option *option = &s->options[number];
  bool moves;
  w->transitions++;
  if (goal & GOAL_RESULT) {
    const struct jump *jump = shortcuts_jump(s, goal & ~GOAL_RESULT);
    moves = !jump->stays;
    follow(w, jump, option->move, words);
  } else {
    moves = take_anew(w, origin, number);
    w->offers.looked[origin] |= OFFER_UNKNOWN; /* next time it is */
  }
  return moves && !s->options[number].uncalled_for;
}

/* Takes the moves of all open origins. Returns whether none of them is progress. */
FOR_EACH_SIZE bool take_all(struct worker *w, uint32_t open, uint32_t words)
{
  bool still = true;
  for (uint32_t origin = 0; origin < open; origin++) {
    const struct offer *offer = &w->offers.of[origin];
    for (uint32_t i = 0; i < offer->count; i++)
      still &= !take_move(w, origin, offer->first + i, offer->goals[i], words);
  }
  return still;
}

static bool take(struct worker *w, uint32_t open)
{
  switch (is_plain(w) ? w->e->model.layout->words : 0) {
  case 1:
    return take_all(w, open, 1);
  case 2:
    return take_all(w, open, 2);
  case 3:
    return take_all(w, open, 3);
  case 4:
    return take_all(w, open, 4);
  default:
    return take_all(w, open, is_plain(w) ? w->e->model.layout->words : 0);
  }
}

/* ---- with a reduction ---- */

static void list_moves(struct worker *w, uint32_t open)
{
  w->moves_count = 0;
  for (uint32_t origin = 0; origin < open; origin++) {
    const struct offer *offer = &w->offers.of[origin];
    if (w->moves_count + offer->count > w->moves_room) {
      w->moves_room = 2 * (w->moves_count + offer->count);
      w->moves = memory_grow(w->moves, w->moves_room * sizeof *w->moves);
    }
    for (uint32_t i = 0; i < offer->count; i++) {
      const struct option *option = &w->shortcuts.options[offer->first + i];
      w->moves[w->moves_count++] = (struct enabled_move){.origin = origin,
                                                         .option = offer->first + i,
                                                         .goal = offer->goals[i],
                                                         .action = option->action,
                                                         .kind = option->kind};
    }
  }
}

/* Leaves of the moves as many as a reduction finds enough. */
static void reduce(struct worker *w)
{
  uint32_t each = (uint32_t)w->e->model.world->ranks + 1, count = 0;
  uint64_t enough[each];
  memset(enough, 0, sizeof enough);
  for (uint32_t i = 0; i < w->moves_count; i++)
    enough[w->moves[i].origin / each] |= UINT64_C(1) << w->moves[i].action;
  reducer_choose(w->reducer, enough);
  for (uint32_t i = 0; i < w->moves_count; i++)
    if (enough[w->moves[i].origin / each] >> w->moves[i].action & 1)
      w->moves[count++] = w->moves[i];
  w->moves_count = count;
}

/* Takes as many of the moves as are enough. Returns whether none of them is progress. */
static bool take_enough(struct worker *w, uint32_t open)
{
  bool still = true;
  list_moves(w, open);
  if (w->reducer)
    reduce(w);
  if (w->recoverer && !w->among)
    w->moves_count = recoverer_choose(w->recoverer, w->offers.standing, w->moves, w->moves_count);
  uint32_t words = is_plain(w) ? w->e->model.layout->words : 0;
  for (uint32_t i = 0; i < w->moves_count; i++)
    still &= !take_move(w, w->moves[i].origin, w->moves[i].option, w->moves[i].goal, words);
  return still;
}

/* What lies far away in memory is asked for some steps before it is needed: the lists of moves,
 * then what they do, then where they lead. */
void worker_expand(struct worker *w, const struct layout *layout, const uint32_t *state)
{
  struct world_standing all;
  uint64_t changed = enter(w, layout, state);
  uint32_t open = offers_find(w, changed, &all);
  if (w->renamer && w->e->model.options->symmetry && w->e->model.options->audit)
    symmetry_audit(w->renamer, w->at.numbers);
  bool reduced = w->reducer || (w->recoverer && !w->among);
  bool still = reduced ? take_enough(w, open) : take(w, open);
  w->rests += still;
  if (still && !all.gave_up && w->e->model.options->rests)
    note_rest(w);
  judge_state(w, &all, still);
  if (w->wrong)
    states_add(&w->violating, w->at.numbers, w->e->model.components);
}

void worker_expand_chunk(struct worker *w, struct chunk *chunk)
{
  for (uint32_t i = 0; i < chunk->count; i++)
    worker_expand(w, chunk->layout, chunk->states + i * chunk->layout->words);
  flush(w);
  free(chunk);
  if (w->e->spilling)
    frontier_spill(&w->later, &w->e->spill[(w->e->out->depth + 1) % 2]);
}
