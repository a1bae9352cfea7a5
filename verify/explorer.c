#define _POSIX_C_SOURCE 200809L
#include "explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const explorer_properties[] = {
    "no-loss",   "no-duplicate", "restorable", "legal",   "quiet-channels", "c3-1.1",
    "c3-1.2",    "c3-1.3",       "deadlock",   "commits", "outcome",        "recovers",
    "agreement", "invariant",    "no-orphan",  "c3-2.2",  "c3-2.3",         "local-rollback",
    "no-domino", "tokens",       NULL};

const char *const explorer_defaults[] = {"no-loss",   "no-duplicate", "restorable", "legal",
                                         "deadlock",  "commits",      "recovers",   "outcome",
                                         "agreement", "invariant",    "no-orphan",  NULL};

/* ---- what is known of a step ---- */

/* What a step did: parts that it changed and their new numbers. */
struct change {
  uint32_t part, id;
};

struct effect {
  uint32_t first; /* in explorer.changes */
  uint16_t count;
  uint16_t verdict; /* in explorer.verdicts; 0: fine */
};

/* An edge of the trie of steps: seeing `value` at `node` leads to `next`, where `note` says which
 * part to look at next, or what the step does. Everything that a walk needs lies in one place. */
struct edge {
  uint32_t node, value;
  uint32_t next; /* 0: a free slot */
  uint32_t note;
};

static const uint32_t NOTE_UNKNOWN = 0, NOTE_EFFECT = UINT32_C(1) << 31; /* else: part + 1 */

struct scratch {
  void *bytes;
  uint32_t size, room;
};

struct explorer {
  struct world *world;
  const struct explorer_options *options;
  struct exploration *out;
  uint32_t count; /* parts of the world */

  /* Values. */
  struct intern parts; /* bytes of parts and of what the world keeps */
  struct intern moves;
  uint32_t nothing; /* the number of no bytes */

  /* States: a binary tree of pairs over the parts, as a heap: node i has the children 2i and
   * 2i + 1, part p is the leaf count + p. The root stands in `states`, all else in `nodes`. */
  struct pairs states, nodes;
  uint32_t *parent; /* of each state, by number; 0: the first */
  uint32_t parent_room;
  uint32_t *tree, *next; /* heaps of the state being expanded and of its successor */
  uint8_t *dirty;

  /* Memoised steps. */
  struct edge *edges; /* open addressing */
  uint32_t edges_count, edges_mask;
  struct effect *effects;
  uint32_t effects_count, effects_room;
  struct change *changes;
  uint32_t changes_count, changes_room;
  struct verdict *verdicts;
  uint32_t verdicts_count;

  /* The step that is being run. */
  struct scratch *scratch;
  uint32_t *touched; /* parts in the order of their first reading or editing */
  uint32_t touched_count;
  uint8_t *is_touched, *is_edited;
  struct actions actions;

  /* Moves of the state being expanded, and what a violating one showed. */
  struct move *list;
  uint32_t list_count, list_room;
};

static void breach(const char *what)
{
  fprintf(stderr, "breach: explorer: %s\n", what);
  abort();
}

static void *zeroes(size_t count, size_t size)
{
  void *memory = calloc(count, size);
  if (!memory)
    breach("out of memory");
  return memory;
}

/* ---- memory of the world ---- */

static void touch(struct explorer *e, uint32_t part)
{
  if (!e->is_touched[part]) {
    e->is_touched[part] = true;
    e->touched[e->touched_count++] = part;
  }
}

static const void *read_part(void *ctx, uint32_t part, uint32_t *size)
{
  struct explorer *e = ctx;
  touch(e, part);
  if (e->is_edited[part]) {
    *size = e->scratch[part].size;
    return e->scratch[part].bytes;
  }
  const struct interned *item = &e->parts.item[e->tree[e->count + part]];
  *size = item->size;
  return item->bytes;
}

static void *edit_part(void *ctx, uint32_t part, uint32_t size)
{
  struct explorer *e = ctx;
  struct scratch *scratch = &e->scratch[part];
  uint32_t need = size > scratch->size ? size : scratch->size;
  const struct interned *item = NULL;
  touch(e, part);
  if (!e->is_edited[part]) {
    item = &e->parts.item[e->tree[e->count + part]];
    need = size > item->size ? size : item->size;
  }
  if (need > scratch->room) {
    scratch->room = 2 * need;
    scratch->bytes = intern_grow(scratch->bytes, scratch->room);
  }
  if (item) {
    e->is_edited[part] = true;
    scratch->size = item->size;
    if (item->size)
      memcpy(scratch->bytes, item->bytes, item->size);
  }
  if (size > scratch->size)
    memset((char *)scratch->bytes + scratch->size, 0, size - scratch->size);
  scratch->size = size;
  return scratch->bytes;
}

static uint32_t keep(void *ctx, const void *bytes, uint32_t size)
{
  return intern(&((struct explorer *)ctx)->parts, bytes, size);
}

static const void *kept(void *ctx, uint32_t number, uint32_t *size)
{
  const struct explorer *e = ctx;
  if (!number || number > e->parts.count)
    breach("the world asks for kept bytes that it never kept");
  *size = e->parts.item[number].size;
  return e->parts.item[number].bytes;
}

/* Forgets what was read and edited. */
static void clear_step(struct explorer *e)
{
  for (uint32_t i = 0; i < e->touched_count; i++)
    e->is_touched[e->touched[i]] = e->is_edited[e->touched[i]] = false;
  e->touched_count = 0;
}

/* ---- steps ---- */

static uint32_t edge_slot(const struct explorer *e, uint32_t node, uint32_t value)
{
  uint64_t key = (uint64_t)node << 32 | value;
  uint32_t at = (uint32_t)intern_mix(key) & e->edges_mask;
  while (e->edges[at].next && (e->edges[at].node != node || e->edges[at].value != value))
    at = (at + 1) & e->edges_mask;
  return at;
}

static void grow_edges(struct explorer *e)
{
  uint32_t slots = e->edges_mask ? e->edges_mask + 1 : 0;
  struct edge *old = e->edges;
  e->edges_mask = slots ? 2 * slots - 1 : 4095;
  e->edges = zeroes((size_t)e->edges_mask + 1, sizeof *e->edges);
  for (uint32_t i = 0; i < slots; i++)
    if (old[i].next)
      e->edges[edge_slot(e, old[i].node, old[i].value)] = old[i];
  free(old);
}

/* The edge from `node` for `value`, old or new. Valid until the next call. */
static struct edge *follow(struct explorer *e, uint32_t node, uint32_t value)
{
  if (e->edges_count >= e->edges_mask / 2)
    grow_edges(e);
  struct edge *edge = &e->edges[edge_slot(e, node, value)];
  if (!edge->next)
    *edge = (struct edge){node, value, ++e->edges_count, NOTE_UNKNOWN};
  return edge;
}

static uint16_t note_verdict(struct explorer *e, const struct verdict *verdict)
{
  if (verdict->kind == VERDICT_FINE)
    return 0;
  if (verdict->kind == VERDICT_IMPOSSIBLE) {
    fprintf(stderr, "breach: the world refuses a move that it listed, at rank %d: %s\n",
            verdict->rank, verdict->text);
    abort();
  }
  for (uint32_t i = 1; i < e->verdicts_count; i++) {
    const struct verdict *old = &e->verdicts[i];
    if (old->kind == verdict->kind && old->property == verdict->property &&
        old->rank == verdict->rank && old->reason == verdict->reason &&
        !strcmp(old->text, verdict->text))
      return (uint16_t)i;
  }
  if (e->verdicts_count > UINT16_MAX)
    breach("more than 65535 different violations");
  if (!(e->verdicts_count & (e->verdicts_count - 1)))
    e->verdicts = intern_grow(e->verdicts, 2 * (e->verdicts_count + 1) * sizeof *e->verdicts);
  if (!e->verdicts_count)
    e->verdicts[e->verdicts_count++] = (struct verdict){0};
  e->verdicts[e->verdicts_count] = *verdict;
  return (uint16_t)e->verdicts_count++;
}

/* Notes what the step that has just run changed. Returns the number of its effect. */
static uint32_t note_effect(struct explorer *e, const struct verdict *verdict)
{
  struct effect effect = {.first = e->changes_count, .verdict = note_verdict(e, verdict)};
  for (uint32_t i = 0; i < e->touched_count; i++) {
    uint32_t part = e->touched[i];
    if (!e->is_edited[part])
      continue;
    uint32_t id = intern(&e->parts, e->scratch[part].bytes, e->scratch[part].size);
    if (id == e->tree[e->count + part])
      continue;
    if (e->changes_count == e->changes_room) {
      e->changes_room = e->changes_room ? 2 * e->changes_room : 4096;
      e->changes = intern_grow(e->changes, e->changes_room * sizeof *e->changes);
    }
    e->changes[e->changes_count++] = (struct change){part, id};
    effect.count++;
  }
  if (e->effects_count == e->effects_room) {
    e->effects_room = e->effects_room ? 2 * e->effects_room : 4096;
    e->effects = intern_grow(e->effects, e->effects_room * sizeof *e->effects);
  }
  e->effects[e->effects_count] = effect;
  return e->effects_count++;
}

/* Writes `note` at the end of `edge`, where it may stand already. */
static void note_down(struct edge *edge, uint32_t note)
{
  if (edge->note != NOTE_UNKNOWN && edge->note != note)
    breach("a step depends on something that is not in its parts");
  edge->note = note;
}

/* Runs the step and writes down, from its root in the trie on, what it read and what it did. */
static const struct effect *run_step(struct explorer *e, uint32_t number, const struct move *move)
{
  struct move copy = *move;
  struct verdict verdict = {0};
  clear_step(e);
  world_step(e->world, &copy, &e->actions, &verdict);
  e->out->steps++;
  uint32_t effect = note_effect(e, &verdict);
  struct edge *edge = follow(e, 0, number);
  for (uint32_t i = 0; i < e->touched_count; i++) {
    uint32_t part = e->touched[i];
    note_down(edge, part + 1);
    edge = follow(e, edge->next, e->tree[e->count + part]);
  }
  note_down(edge, NOTE_EFFECT | effect);
  clear_step(e);
  return &e->effects[effect];
}

/* The effect of `move` in the state being expanded. */
static const struct effect *step(struct explorer *e, const struct move *move)
{
  uint32_t number = intern(&e->moves, move, sizeof *move);
  const struct edge *edge = follow(e, 0, number);
  for (;;) {
    if (edge->note == NOTE_UNKNOWN)
      return run_step(e, number, move);
    if (edge->note & NOTE_EFFECT)
      return &e->effects[edge->note & ~NOTE_EFFECT];
    edge = follow(e, edge->next, e->tree[e->count + edge->note - 1]);
  }
}

/* ---- states ---- */

/* Number of the state whose leaves are in `heap` and whose inner nodes are stale where `dirty`. */
static uint32_t fold(struct explorer *e, uint32_t *heap)
{
  for (uint32_t i = e->count - 1; i >= 2; i--)
    if (e->dirty[i]) {
      heap[i] = pairs_add(&e->nodes, heap[2 * i], heap[2 * i + 1]);
      e->dirty[i] = false;
    }
  return pairs_add(&e->states, heap[2], heap[3]);
}

static void unfold(const struct explorer *e, uint32_t state, uint32_t *heap)
{
  heap[2] = pairs_left(&e->states, state);
  heap[3] = pairs_right(&e->states, state);
  for (uint32_t i = 2; i < e->count; i++) {
    heap[2 * i] = pairs_left(&e->nodes, heap[i]);
    heap[2 * i + 1] = pairs_right(&e->nodes, heap[i]);
  }
}

/* The successor that `effect` makes of `state`, which is being expanded; many moves (places above
 * all) change nothing. */
static uint32_t successor(struct explorer *e, uint32_t state, const struct effect *effect)
{
  if (!effect->count)
    return state;
  memcpy(e->next, e->tree, 2 * e->count * sizeof *e->next);
  for (uint32_t i = 0; i < effect->count; i++) {
    const struct change *change = &e->changes[effect->first + i];
    uint32_t node = e->count + change->part;
    e->next[node] = change->id;
    for (node /= 2; node > 1 && !e->dirty[node]; node /= 2)
      e->dirty[node] = true;
  }
  return fold(e, e->next);
}

static void add_parent(struct explorer *e, uint32_t state, uint32_t parent)
{
  if (state >= e->parent_room) {
    e->parent_room = e->parent_room ? e->parent_room + e->parent_room / 2 : 4096;
    e->parent = intern_grow(e->parent, e->parent_room * sizeof *e->parent);
  }
  e->parent[state] = parent;
}

static uint64_t memory_taken(const struct explorer *e)
{
  return pairs_bytes(&e->states) + pairs_bytes(&e->nodes) +
         ((uint64_t)e->edges_mask + 1) * sizeof *e->edges + e->parts.bytes + e->moves.bytes +
         e->parent_room * sizeof *e->parent + e->effects_room * sizeof *e->effects +
         e->changes_room * sizeof *e->changes +
         (e->parts.room + e->moves.room) * sizeof *e->parts.item;
}

/* ---- properties ---- */

static bool checked(const struct explorer *e, const char *property)
{
  const char *const *names = e->options->properties ? e->options->properties : explorer_defaults;
  for (; *names; names++)
    if (!strcmp(*names, property))
      return true;
  return false;
}

/* Turns what a move showed into a violation, if it is one that is to be found. */
static bool violates(const struct explorer *e, struct verdict *verdict)
{
  if (verdict->kind == VERDICT_GAVE_UP) {
    verdict->kind = VERDICT_VIOLATION;
    verdict->property = "recovers";
    static const char *const reasons[REASONS] = {[REASON_NONE] = "no reason",
                                                 [REASON_NO_CHECKPOINT] = "it takes no checkpoints",
                                                 [REASON_FULL] = "one of its lists is full",
                                                 [REASON_PROTOCOL] =
                                                     "an event that its claims exclude"};
    snprintf(verdict->text, sizeof verdict->text, "the protocol gives up: %s",
             verdict->reason < REASONS ? reasons[verdict->reason] : "unknown reason");
  }
  return verdict->kind == VERDICT_VIOLATION && checked(e, verdict->property);
}

static bool gave_up(const struct explorer *e)
{
  for (int rank = 0; rank < e->world->ranks; rank++) {
    uint32_t part = world_part(e->world, WORLD_RANK, rank, 0);
    const struct world_rank *bytes = e->parts.item[e->tree[e->count + part]].bytes;
    if (bytes->gave_up)
      return true;
  }
  return false;
}

/* Property outcome, in the state being expanded. */
static bool wrong_outcome(struct explorer *e, struct verdict *verdict)
{
  struct intern *outcomes = e->options->outcomes;
  if (!outcomes)
    return false;
  uint32_t ranks = (uint32_t)e->world->ranks, histories[ranks];
  for (uint32_t rank = 0; rank < ranks; rank++) {
    uint32_t part = world_part(e->world, WORLD_PROGRAM, (int)rank, 0);
    const struct world_program *program = e->parts.item[e->tree[e->count + part]].bytes;
    histories[rank] = program->history;
  }
  uint32_t known = outcomes->count;
  if (intern(outcomes, histories, ranks * (uint32_t)sizeof *histories) <= known ||
      e->options->collect)
    return false;
  *verdict = (struct verdict){.kind = VERDICT_VIOLATION, .property = "outcome"};
  int used = snprintf(verdict->text, sizeof verdict->text,
                      "the programs end with histories that no run without failures has:");
  for (uint32_t rank = 0; rank < ranks && (size_t)used < sizeof verdict->text; rank++)
    used += snprintf(verdict->text + used, sizeof verdict->text - (size_t)used, " %08x",
                     histories[rank]);
  return checked(e, "outcome");
}

/* ---- the search ---- */

static void list_move(void *data, const struct move *move)
{
  struct explorer *e = data;
  if (e->list_count == e->list_room) {
    e->list_room = e->list_room ? 2 * e->list_room : 64;
    e->list = intern_grow(e->list, e->list_room * sizeof *e->list);
  }
  e->list[e->list_count++] = *move;
}

/* Loads `state` and lists its moves. */
static void enter(struct explorer *e, uint32_t state)
{
  unfold(e, state, e->tree);
  clear_step(e);
  e->list_count = 0;
  world_moves(e->world, list_move, e);
}

/* Moves that the world may well never make: only others count as progress. */
static bool uncalled_for(const struct move *move)
{
  return move->kind == MOVE_CRASH || move->kind == MOVE_LIE;
}

/* Properties of the state being expanded, `still` when only uncalled-for moves leave it. */
static bool wrong_state(struct explorer *e, bool still, struct verdict *verdict)
{
  if (gave_up(e))
    return false;
  if (world_finished(e->world)) {
    if (wrong_outcome(e, verdict))
      return true;
    world_at_end(e->world, verdict);
    if (violates(e, verdict))
      return true;
  }
  if (!still)
    return false;
  world_at_rest(e->world, verdict);
  return violates(e, verdict);
}

/* Takes every move of `state`. True on a violation: verdict and, if a move showed it, `move`. */
static bool expand(struct explorer *e, uint32_t state, struct verdict *verdict, struct move *move)
{
  bool still = true;
  enter(e, state);
  for (uint32_t i = 0; i < e->list_count; i++) {
    const struct effect *effect = step(e, &e->list[i]);
    e->out->transitions++;
    if (effect->verdict) {
      *verdict = e->verdicts[effect->verdict];
      if (violates(e, verdict)) {
        *move = e->list[i];
        return true;
      }
    }
    uint32_t known = e->states.count, to = successor(e, state, effect);
    if (to > known)
      add_parent(e, to, state);
    still &= to == state || uncalled_for(&e->list[i]);
  }
  e->out->rests += still;
  return wrong_state(e, still, verdict);
}

/* The move that leads from one state to another. */
static struct move way(struct explorer *e, uint32_t from, uint32_t to)
{
  enter(e, from);
  for (uint32_t i = 0; i < e->list_count; i++)
    if (successor(e, from, step(e, &e->list[i])) == to)
      return e->list[i];
  breach("a state is not reached from its parent");
  return (struct move){0};
}

/* Fills in the run to `state` and, when there is one, the `last` move. */
static void write_run(struct explorer *e, uint32_t state, const struct move *last)
{
  unsigned length = 0;
  for (uint32_t s = state; e->parent[s]; s = e->parent[s])
    length++;
  struct move *moves = intern_grow(NULL, (length + 1) * sizeof *moves);
  unsigned at = length;
  for (uint32_t s = state; e->parent[s]; s = e->parent[s])
    moves[--at] = way(e, e->parent[s], s);
  if (last->kind || last->event.kind)
    moves[length++] = *last;
  e->out->moves = moves;
  e->out->moves_count = length;
}

static const char *bound_hit(const struct explorer *e, uint32_t state)
{
  const struct explorer_options *options = e->options;
  if (options->max_states && e->states.count > options->max_states)
    return "max-states";
  if (options->max_bytes && state % 4096 == 0 && memory_taken(e) > options->max_bytes)
    return "memory";
  return NULL;
}

static void search(struct explorer *e)
{
  struct exploration *out = e->out;
  uint32_t layer = 1; /* the last state of the present depth */
  for (uint32_t state = 1; state <= e->states.count; state++) {
    if (state > layer) {
      layer = e->states.count;
      out->depth++;
    }
    struct move move = {0};
    if (expand(e, state, &out->why, &move)) {
      out->verdict = EXPLORER_VIOLATED;
      write_run(e, state, &move);
      return;
    }
    if ((out->bound = bound_hit(e, state))) {
      out->verdict = EXPLORER_INCONCLUSIVE;
      return;
    }
    if (e->options->progress && state % 8192 == 0)
      e->options->progress(e->options->progress_data, e->states.count, out->transitions,
                           out->depth);
  }
}

/* ---- setting up ---- */

static void begin(struct explorer *e, unsigned crashes, unsigned timers)
{
  struct world *world = e->world;
  e->count = world_parts(world);
  e->nothing = intern(&e->parts, NULL, 0);
  e->tree = zeroes(2 * e->count, sizeof *e->tree);
  e->next = zeroes(2 * e->count, sizeof *e->next);
  e->dirty = zeroes(e->count, 1);
  e->scratch = zeroes(e->count, sizeof *e->scratch);
  e->touched = zeroes(e->count, sizeof *e->touched);
  e->is_touched = zeroes(e->count, 1);
  e->is_edited = zeroes(e->count, 1);
  e->actions.capacity = ACTIONS_MAX(&world->config[0]);
  e->actions.item = zeroes(e->actions.capacity, sizeof *e->actions.item);
  for (uint32_t part = 0; part < e->count; part++)
    e->tree[e->count + part] = e->nothing;
  world->memory = (struct world_memory){e, read_part, edit_part, keep, kept, NULL};
  world_begin(world, crashes, timers);
  for (uint32_t part = 0; part < e->count; part++)
    if (e->is_edited[part])
      e->tree[e->count + part] = intern(&e->parts, e->scratch[part].bytes, e->scratch[part].size);
  clear_step(e);
  memset(e->dirty, true, e->count);
  add_parent(e, fold(e, e->tree), 0);
}

static void end(struct explorer *e)
{
  for (uint32_t part = 0; part < e->count; part++)
    free(e->scratch[part].bytes);
  void *all[] = {e->tree,       e->next,      e->dirty,        e->scratch, e->touched,
                 e->is_touched, e->is_edited, e->actions.item, e->parent,  e->edges,
                 e->effects,    e->changes,   e->verdicts,     e->list};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  intern_clear(&e->parts);
  intern_clear(&e->moves);
  pairs_clear(&e->states);
  pairs_clear(&e->nodes);
}

void explore(struct world *world, unsigned crashes, unsigned timers,
             const struct explorer_options *options, struct exploration *out)
{
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  *out = (struct exploration){.verdict = EXPLORER_HOLDS};
  /* a property that is not asked for must not hide, in the same step, one that is */
  world->properties = options->properties ? options->properties : explorer_defaults;
  struct explorer e = {.world = world, .options = options, .out = out};
  begin(&e, crashes, timers);
  search(&e);
  out->states = e.states.count;
  out->bytes = memory_taken(&e);
  end(&e);
  clock_gettime(CLOCK_MONOTONIC, &to);
  out->seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

void exploration_clear(struct exploration *out)
{
  free(out->moves);
  *out = (struct exploration){0};
}
