/* Expanding states: one worker's part of the search. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

void states_add(struct states *states, const uint32_t *numbers, uint32_t components)
{
  states->numbers =
      intern_room(states->numbers, states->count, &states->room, components * sizeof *numbers);
  memcpy(states->numbers + (size_t)states->count++ * components, numbers,
         components * sizeof *numbers);
}

void worker_init(struct worker *w, struct explorer *e)
{
  *w = (struct worker){.e = e};
  w->numbers = intern_grow(NULL, 2 * e->components * sizeof *w->numbers);
  w->heads = intern_grow(NULL, (size_t)e->world->ranks * sizeof *w->heads);
  memset(w->heads, 0, (size_t)e->world->ranks * sizeof *w->heads);
  w->lists = intern_grow(NULL, world_origins(e->world) * sizeof *w->lists);
  shortcuts_init(&w->shortcuts, e->world, e->components);
  w->reducer = e->reduction ? reducer_new(e->reduction) : NULL;
  w->renamer = e->symmetry ? renamer_new(e->symmetry) : NULL;
  w->recoverer = e->recovery ? recoverer_new(e->recovery) : NULL;
  w->standing = intern_table((size_t)e->world->ranks, sizeof *w->standing);
}

void worker_clear(struct worker *w)
{
  shortcuts_clear(&w->shortcuts);
  for (int rank = 0; rank < w->e->world->ranks; rank++)
    free(w->heads[rank].of);
  free(w->heads);
  free(w->numbers);
  reducer_free(w->reducer);
  renamer_free(w->renamer);
  recoverer_free(w->recoverer);
  free(w->standing);
  free(w->lists);
  free(w->moves);
  free(w->jumps);
  free(w->unplaced.numbers);
  free(w->violating.numbers);
  frontier_clear(&w->later);
}

/* ---- successors ---- */

void worker_append(struct worker *w, const uint32_t *state)
{
  frontier_append(&w->later, w->e->layout, state);
  w->states++;
}

void worker_account(struct worker *w)
{
  w->e->visited.count += w->states;
  w->e->out->transitions += w->transitions;
  w->e->out->rests += w->rests;
  w->states = w->transitions = w->rests = 0;
}

static void place(struct worker *w, const struct pending *pending)
{
  const struct layout *layout = w->e->layout;
  switch (visited_add(&w->e->visited, pending->state, pending->hash)) {
  case VISITED_NEW:
    worker_append(w, pending->state);
    break;
  case VISITED_FULL: {
    uint32_t numbers[layout->count];
    layout_unpack(layout, pending->state, numbers);
    states_add(&w->unplaced, numbers, layout->count);
    break;
  }
  case VISITED_OLD:
    break;
  }
}

/* With symmetry: the state that stands for `state`. False: it does not fit the layout, and waits
 * until it does. */
static bool represent(struct worker *w, uint32_t *state, uint64_t *hash)
{
  const struct layout *layout = w->e->layout;
  uint32_t numbers[layout->count];
  layout_unpack(layout, state, numbers);
  symmetry_represent(w, numbers);
  if (!layout_fits(layout, numbers)) {
    if (!w->among)
      states_add(&w->unplaced, numbers, layout->count);
    return false;
  }
  layout_pack(layout, numbers, state);
  *hash = layout_hash(layout, numbers);
  return true;
}

static void successor(const struct worker *w, const struct jump *jump, uint32_t *state)
{
  for (uint32_t i = 0; i < w->e->layout->words; i++)
    state[i] = w->state[i] + jump->words[i];
}

/* The same as put(), of the state that stands for the successor. */
static void put_representative(struct worker *w, const struct jump *jump)
{
  struct pending pending = {.hash = w->hash + jump->hash};
  successor(w, jump, pending.state);
  if (!represent(w, pending.state, &pending.hash))
    return;
  pending.state[0] |= w->tag;
  place(w, &pending);
}

/* Places what was put into this slot long ago, when its memory was asked for; then takes it. */
static void put(struct worker *w, const struct jump *jump)
{
  struct pending *pending = &w->pending[w->pending_count % PENDING];
  uint32_t words = w->e->layout->words;
  if (w->pending_count >= PENDING)
    place(w, pending);
  w->pending_count++;
  pending->hash = w->hash + jump->hash;
  for (uint32_t i = 0; i < words; i++)
    pending->state[i] = w->state[i] + jump->words[i];
  pending->state[0] |= w->tag;
  visited_prefetch(&w->e->visited, pending->hash);
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
  uint32_t state[LAYOUT_WORDS] = {0};
  uint64_t hash = w->hash + jump->hash;
  if (w->found)
    return;
  successor(w, jump, state);
  memcpy(w->found_state, state, sizeof state);
  if (w->e->options->symmetry && w->renamer && !represent(w, state, &hash))
    return;
  w->found = visited_find(w->among, state, hash);
  w->found_move = move;
}

static void list_way(struct worker *w, const struct jump *jump, uint32_t move)
{
  struct ways *ways = w->ways;
  uint32_t state[LAYOUT_WORDS];
  uint64_t to = WAY_STAYS;
  ways->way = intern_room(ways->way, ways->count, &ways->room, sizeof *ways->way);
  for (uint32_t i = 0; i < w->e->layout->words; i++)
    state[i] = w->state[i] + jump->words[i];
  if (!jump->stays)
    to = visited_place(&w->e->visited, state, w->hash + jump->hash);
  ways->way[ways->count++] = (struct way){.to = to, .move = move};
}

/* ---- properties ---- */

bool explorer_checks(const struct explorer *e, const char *property)
{
  const char *const *names = e->options->properties ? e->options->properties : explorer_defaults;
  for (; *names; names++)
    if (!strcmp(*names, property))
      return true;
  return false;
}

bool explorer_violates(const struct explorer *e, struct verdict *verdict)
{
  static const char *const reasons[REASONS] = {[REASON_NONE] = "no reason",
                                               [REASON_NO_CHECKPOINT] = "it takes no checkpoints",
                                               [REASON_FULL] = "one of its lists is full",
                                               [REASON_PROTOCOL] =
                                                   "an event that its claims exclude"};
  if (verdict->kind == VERDICT_GAVE_UP) {
    verdict->kind = VERDICT_VIOLATION;
    verdict->property = "recovers";
    snprintf(verdict->text, sizeof verdict->text, "the protocol gives up: %s",
             verdict->reason < REASONS ? reasons[verdict->reason] : "unknown reason");
  }
  return verdict->kind == VERDICT_VIOLATION && explorer_checks(e, verdict->property);
}

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
  pthread_mutex_lock(&w->e->rules);
  struct verdict verdict = w->e->memo.verdicts[number];
  pthread_mutex_unlock(&w->e->rules);
  if (explorer_violates(w->e, &verdict))
    note_violation(w, &verdict, move);
}

/* Property outcome, in the state that is loaded. */
static bool wrong_outcome(struct explorer *e, struct verdict *verdict)
{
  struct intern *outcomes = e->options->outcomes;
  uint32_t ranks = (uint32_t)e->world->ranks, histories[ranks];
  uint32_t size = ranks * (uint32_t)sizeof *histories;
  if (!outcomes)
    return false;
  for (uint32_t rank = 0; rank < ranks; rank++) {
    uint32_t part = world_part(e->world, WORLD_PROGRAM, (int)rank, 0);
    const struct world_program *program = e->memo.parts.item[e->memo.values[part]].bytes;
    histories[rank] = program->history;
  }
  if (e->options->collect)
    intern(outcomes, histories, size);
  if (intern_find(outcomes, histories, size))
    return false;
  *verdict = (struct verdict){.kind = VERDICT_VIOLATION, .property = "outcome"};
  int used = snprintf(verdict->text, sizeof verdict->text,
                      "the programs end with histories that no run without failures has:");
  for (uint32_t rank = 0; rank < ranks && (size_t)used < sizeof verdict->text; rank++)
    used += snprintf(verdict->text + used, sizeof verdict->text - (size_t)used, " %08x",
                     histories[rank]);
  return explorer_checks(e, "outcome");
}

static bool wrong_state(struct explorer *e, bool finished, bool still, struct verdict *verdict)
{
  if (finished) {
    if (wrong_outcome(e, verdict))
      return true;
    if (e->judges_end)
      world_at_end(e->world, verdict);
    if (e->judges_end && explorer_violates(e, verdict))
      return true;
  }
  if (!still)
    return false;
  world_at_rest(e->world, verdict);
  return explorer_violates(e, verdict);
}

/* Properties of the state itself, `still` when only uncalled-for moves leave it. */
static void judge_state(struct worker *w, const struct world_standing *all, bool still)
{
  struct verdict verdict;
  bool ends = all->finished && (w->e->judges_end || w->e->options->outcomes);
  if (all->gave_up || (!ends && !still) || w->ways)
    return;
  pthread_mutex_lock(&w->e->rules);
  explorer_load(w->e, w);
  memo_forget_reads(&w->e->memo);
  bool wrong = wrong_state(w->e, all->finished, still, &verdict);
  pthread_mutex_unlock(&w->e->rules);
  if (wrong)
    note_violation(w, &verdict, 0);
}

static void note_rest(struct worker *w)
{
  struct explorer *e = w->e;
  uint64_t digest = w->renamer ? symmetry_digest(w, w->numbers) : 0;
  pthread_mutex_lock(&e->rules);
  if (!w->renamer) {
    explorer_load(e, w);
    memo_forget_reads(&e->memo);
    digest = world_digest(e->world);
  }
  intern(e->options->rests, &digest, (uint32_t)sizeof digest);
  pthread_mutex_unlock(&e->rules);
}

/* ---- expanding ---- */

/* Asks the memo for the head of number `number` of a rank. */
static uint32_t learn_head(struct worker *w, uint32_t rank, uint32_t number)
{
  struct heads *heads = &w->heads[rank];
  const struct component *c = &w->e->component[rank];
  uint32_t part = world_part(w->e->world, WORLD_RANK, (int)rank, 0), place = 0;
  while (c->parts[place] != part)
    place++;
  if (number >= heads->room) {
    uint32_t room = 2 * number + 64;
    heads->of = intern_grow(heads->of, room * sizeof *heads->of);
    memset(heads->of + heads->room, 0, (room - heads->room) * sizeof *heads->of);
    heads->room = room;
  }
  pthread_mutex_lock(&w->e->rules);
  const uint32_t *values = c->values.item[number + 1].bytes;
  heads->of[number] = memo_head(&w->e->memo, values[place]);
  pthread_mutex_unlock(&w->e->rules);
  return heads->of[number];
}

static void find_heads(struct worker *w)
{
  for (uint32_t rank = 0; rank < (uint32_t)w->e->world->ranks; rank++) {
    const struct heads *heads = &w->heads[rank];
    uint32_t number = w->numbers[rank];
    w->numbers[w->e->components + rank] =
        number < heads->room && heads->of[number] ? heads->of[number] : learn_head(w, rank, number);
  }
}

static void enter(struct worker *w, const struct layout *layout, const uint32_t *state)
{
  layout_unpack(layout, state, w->numbers);
  find_heads(w);
  layout_pack(w->e->layout, w->numbers, w->state);
  w->hash = layout_hash(w->e->layout, w->numbers);
  w->wrong = w->found = false;
  w->serial++;
  shortcuts_begin(w);
}

/* The moves of `origin`, of which the walk has told. */
static const struct listing *list(struct worker *w, uint32_t origin)
{
  uint32_t *goal = &w->lists[origin];
  if (!(*goal & GOAL_RESULT))
    *goal = GOAL_RESULT | shortcuts_learn_listing(w, origin);
  return &w->shortcuts.listings[*goal & ~GOAL_RESULT];
}

static void follow(struct worker *w, const struct jump *jump, uint32_t move)
{
  if (jump->verdict)
    judge_move(w, jump->verdict, move);
  if (w->ways)
    list_way(w, jump, move);
  else if (jump->stays)
    return;
  else if (w->among)
    seek(w, jump, move);
  else if (!w->e->full && w->renamer && w->e->options->symmetry)
    put_representative(w, jump);
  else if (!w->e->full)
    put(w, jump);
}

/* Takes a move of which nothing is known yet. Returns whether it changes anything. */
static bool take_anew(struct worker *w, uint32_t origin, uint32_t option)
{
  uint32_t numbers[w->e->components];
  uint16_t verdict;
  const struct jump *jump = shortcuts_learn_jump(w, origin, option, numbers, &verdict);
  uint32_t move = w->shortcuts.options[option].move;
  if (jump) {
    follow(w, jump, move);
    return !jump->stays;
  }
  if (verdict)
    judge_move(w, verdict, move);
  if (w->renamer && w->e->options->symmetry)
    symmetry_represent(w, numbers);
  if (!w->e->full && !w->among)
    states_add(&w->unplaced, numbers, w->e->components);
  return true;
}

/* Takes a move, of which the walk has told. Returns whether it is progress. */
static bool take(struct worker *w, uint32_t origin, uint32_t option, uint32_t goal)
{
  const struct shortcuts *s = &w->shortcuts;
  if (!(goal & GOAL_RESULT))
    return take_anew(w, origin, option) && !s->options[option].uncalled_for;
  const struct option *o = &s->options[option];
  const struct jump *jump = shortcuts_jump(s, goal & ~GOAL_RESULT);
  follow(w, jump, o->move);
  return !jump->stays && !o->uncalled_for;
}

/* Walks to the lists of moves of all origins. */
static void walk_to_lists(struct worker *w)
{
  const struct shortcuts *s = &w->shortcuts;
  uint32_t origins = world_origins(w->e->world);
  for (uint32_t origin = 0; origin < origins; origin++) {
    w->lists[origin] = s->start[origin];
    shortcuts_expect(s, w->numbers, w->lists[origin]);
  }
  shortcuts_walk(s, w->numbers, w->lists, origins);
}

/* The moves of `origin` are to be taken. */
static void propose(struct worker *w, uint32_t origin)
{
  struct listing listing = *list(w, origin);
  if (w->moves_count + listing.count > w->moves_room) {
    w->moves_room = 2 * (w->moves_count + listing.count);
    w->moves = intern_grow(w->moves, w->moves_room * sizeof *w->moves);
    w->jumps = intern_grow(w->jumps, w->moves_room * sizeof *w->jumps);
  }
  for (uint32_t i = 0; i < listing.count; i++) {
    uint32_t option = listing.first + i, n = w->moves_count++;
    w->moves[n] = (struct taken){origin, option};
    w->jumps[n] = w->shortcuts.options[option].goal;
    shortcuts_expect(&w->shortcuts, w->numbers, w->jumps[n]);
  }
}

/* Lists the moves of all origins that are open. Returns how the programs stand. */
static struct world_standing list_all(struct worker *w)
{
  const struct world *world = w->e->world;
  walk_to_lists(w);
  for (int rank = 0; rank < world->ranks; rank++)
    w->standing[rank] = list(w, (uint32_t)rank * ((uint32_t)world->ranks + 1))->standing;
  struct world_standing all = world_standing_of_all(w->standing, world->ranks);
  uint32_t open = world_open_origins(world, &all);
  w->moves_count = 0;
  for (uint32_t origin = 0; origin < open; origin++)
    propose(w, origin);
  return all;
}

/* Leaves of the moves as many as a reduction finds enough. */
static void reduce(struct worker *w)
{
  uint32_t each = (uint32_t)w->e->world->ranks + 1, count = 0;
  uint64_t enough[each];
  memset(enough, 0, sizeof enough);
  for (uint32_t i = 0; i < w->moves_count; i++)
    enough[w->moves[i].origin / each] |= UINT64_C(1)
                                         << w->shortcuts.options[w->moves[i].option].action;
  reducer_choose(w, enough);
  for (uint32_t i = 0; i < w->moves_count; i++)
    if (enough[w->moves[i].origin / each] >> w->shortcuts.options[w->moves[i].option].action & 1) {
      w->jumps[count] = w->jumps[i];
      w->moves[count++] = w->moves[i];
    }
  w->moves_count = count;
}

/* What lies far away in memory is asked for some steps before it is needed: the lists of moves,
 * then what they do, then where they lead. */
void worker_expand(struct worker *w, const struct layout *layout, const uint32_t *state)
{
  const struct shortcuts *s = &w->shortcuts;
  bool still = true;
  enter(w, layout, state);
  struct world_standing all = list_all(w);
  if (w->renamer && w->e->options->symmetry && w->e->options->audit)
    symmetry_audit(w);
  if (w->reducer)
    reduce(w);
  if (w->recoverer && !w->among)
    recoverer_choose(w, w->standing);
  shortcuts_walk(s, w->numbers, w->jumps, w->moves_count);
  for (uint32_t i = 0; i < w->moves_count; i++)
    if (w->jumps[i] & GOAL_RESULT)
      __builtin_prefetch(shortcuts_jump(s, w->jumps[i] & ~GOAL_RESULT));
  for (uint32_t i = 0; i < w->moves_count && !w->found; i++)
    still &= !take(w, w->moves[i].origin, w->moves[i].option, w->jumps[i]);
  w->transitions += w->moves_count;
  w->rests += still;
  if (still && !all.gave_up && w->e->options->rests)
    note_rest(w);
  judge_state(w, &all, still);
  if (w->wrong)
    states_add(&w->violating, w->numbers, w->e->components);
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
