#include "verify/state/transition_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/hash.h"
#include "base/memory.h"
#include "protocols/text.h"

/* Holds an edge of the trie: at `node`, the value `value` leads to node `next`. `note` belongs to
 * node `next`: it names the part to look at next, or the result. So all that a walk needs is in one
 * struct. */
struct edge {
  uint32_t node, value;
  uint32_t next; /* number of a node, or 0 if the slot is free */
  uint32_t note;
};

/* any other note is 1 + the number of a part */
static const uint32_t NOTE_UNKNOWN = 0, NOTE_RESULT = UINT32_C(1) << 31;

/* Numbers the nodes where descents of the trie begin. All other nodes are numbered from 1. */
static const uint32_t ROOT_STEPS = 0, ROOT_LISTS = UINT32_MAX;

struct scratch {
  void *bytes;
  uint32_t size, room;
};

/* ---- memory of the world ---- */

static void note_read(struct transition_cache *m, uint32_t part)
{
  if (!m->is_looked[part]) {
    m->is_looked[part] = true;
    m->looked[m->looked_count++] = part;
  }
}

static const void *read_part(void *ctx, uint32_t part, uint32_t *size)
{
  struct transition_cache *m = ctx;
  note_read(m, part);
  if (m->is_edited[part]) {
    *size = m->scratch[part].size;
    return m->scratch[part].bytes;
  }
  const struct interned *item = &m->parts.item[m->values[part]];
  *size = item->size;
  return item->bytes;
}

static const struct world_head *read_head(void *ctx, uint32_t part)
{
  struct transition_cache *m = ctx;
  if (m->is_looked[part] || m->parts.item[m->values[part]].size < sizeof(struct world_rank))
    return NULL;
  note_read(m, m->count + part);
  uint32_t head = transition_cache_head(m, m->values[part]); /* this call may move the items */
  return m->parts.item[head].bytes;
}

uint32_t transition_cache_head(struct transition_cache *m, uint32_t value)
{
  m->heads = memory_zeroed_room(m->heads, value, &m->heads_room, sizeof *m->heads);
  if (!m->heads[value]) {
    const struct world_head head = world_head_of(m->parts.item[value].bytes);
    m->heads[value] = intern(&m->parts, &head, sizeof head);
  }
  return m->heads[value];
}

static uint32_t value_of(struct transition_cache *m, uint32_t looked)
{
  return looked < m->count ? m->values[looked]
                           : transition_cache_head(m, m->values[looked - m->count]);
}

static void *edit_part(void *ctx, uint32_t part, uint32_t size)
{
  struct transition_cache *m = ctx;
  struct scratch *scratch = &m->scratch[part];
  uint32_t need = size > scratch->size ? size : scratch->size;
  const struct interned *item = NULL;
  note_read(m, part);
  if (!m->is_edited[part]) {
    item = &m->parts.item[m->values[part]];
    need = size > item->size ? size : item->size;
  }
  if (need > scratch->room) {
    scratch->room = 2 * need;
    scratch->bytes = memory_grow(scratch->bytes, scratch->room);
  }
  if (item) {
    m->is_edited[part] = true;
    scratch->size = item->size;
    if (item->size)
      memcpy(scratch->bytes, item->bytes, item->size);
  }
  if (size > scratch->size)
    memset((char *)scratch->bytes + scratch->size, 0, size - scratch->size);
  scratch->size = size;
  return scratch->bytes;
}

static uint32_t keep_bytes(void *ctx, const void *bytes, uint32_t size)
{
  return intern(&((struct transition_cache *)ctx)->parts, bytes, size);
}

static const void *kept_bytes(void *ctx, uint32_t number, uint32_t *size)
{
  const struct transition_cache *m = ctx;
  if (!number || number > m->parts.count)
    breach("the world asks for kept bytes that it never kept");
  *size = m->parts.item[number].size;
  return m->parts.item[number].bytes;
}

void transition_cache_forget_reads(struct transition_cache *m)
{
  for (uint32_t i = 0; i < m->looked_count; i++)
    m->is_looked[m->looked[i]] = m->is_edited[m->looked[i]] = false;
  m->looked_count = 0;
}

/* ---- the trie ---- */

/* Returns the edge from `node` for `value`, or the free slot where it belongs. */
static struct edge *edge_at(const struct transition_cache *m, uint32_t node, uint32_t value)
{
  uint32_t at = hash_home((uint64_t)node << 32 | value, m->edges_room);
  while (m->edges[at].next && (m->edges[at].node != node || m->edges[at].value != value))
    at = at + 1 < m->edges_room ? at + 1 : 0;
  return &m->edges[at];
}

static void grow_edges(struct transition_cache *m)
{
  uint32_t room = m->edges_room;
  struct edge *old = m->edges;
  m->edges_room = room ? room + room / 2 : 4096;
  m->edges = memory_table(m->edges_room, sizeof *m->edges);
  for (uint32_t i = 0; i < room; i++)
    if (old[i].next)
      *edge_at(m, old[i].node, old[i].value) = old[i];
  free(old);
}

/* Returns the edge from `node` for `value`, and adds the edge if it is missing. The pointer is
 * valid until the next call. */
static struct edge *edge_from(struct transition_cache *m, uint32_t node, uint32_t value)
{
  if (m->edges_count >= m->edges_room / 4 * 3)
    grow_edges(m);
  struct edge *edge = edge_at(m, node, value);
  if (!edge->next)
    *edge = (struct edge){node, value, ++m->edges_count, NOTE_UNKNOWN};
  return edge;
}

/* Descends the trie by the values of the state. Returns the note at the end of the descent: a
 * result, or NOTE_UNKNOWN. Leaves the parts at which the descent has looked in `looked`. */
static uint32_t walk_trie(struct transition_cache *m, uint32_t root, uint32_t number)
{
  transition_cache_forget_reads(m);
  const struct edge *edge = edge_from(m, root, number);
  while (edge->note != NOTE_UNKNOWN && !(edge->note & NOTE_RESULT)) {
    REQUIRE(edge->note <= 2 * m->count, "a node of the trie names a part, or the head of one");
    note_read(m, edge->note - 1);
    edge = edge_from(m, edge->next, value_of(m, edge->note - 1));
  }
  return edge->note;
}

/* Writes `note` at the end of `edge`. Returns false if another note is there already. */
static bool note_down(struct edge *edge, uint32_t note)
{
  bool same = edge->note == NOTE_UNKNOWN || edge->note == note;
  edge->note = same ? note : edge->note;
  return same;
}

/* Adds to the trie what the last run has looked at, and the result of the run. Returns false if an
 * earlier run saw the same values, but then looked at another part. */
static bool write_down(struct transition_cache *m, uint32_t root, uint32_t number, uint32_t result)
{
  struct edge *edge = edge_from(m, root, number);
  for (uint32_t i = 0; i < m->looked_count; i++) {
    uint32_t part = m->looked[i];
    if (!note_down(edge, part + 1))
      return false;
    edge = edge_from(m, edge->next, value_of(m, part));
  }
  return note_down(edge, NOTE_RESULT | result);
}

/* ---- steps ---- */

static uint16_t note_verdict(struct transition_cache *m, const struct verdict *verdict)
{
  if (verdict->kind == VERDICT_FINE)
    return 0;
  if (verdict->kind == VERDICT_IMPOSSIBLE)
    breach("the world refuses a move that it listed, at rank %d: %s", verdict->rank, verdict->text);
  for (uint32_t i = 1; i < m->verdicts_count; i++) {
    const struct verdict *old = &m->verdicts[i];
    if (old->kind == verdict->kind && old->property == verdict->property &&
        old->rank == verdict->rank && old->reason == verdict->reason &&
        !strcmp(old->text, verdict->text))
      return (uint16_t)i;
  }
  if (m->verdicts_count > UINT16_MAX)
    breach("more than 65535 different violations");
  if (!(m->verdicts_count & (m->verdicts_count - 1)))
    m->verdicts = memory_grow(m->verdicts, 2 * (m->verdicts_count + 1) * sizeof *m->verdicts);
  if (!m->verdicts_count)
    m->verdicts[m->verdicts_count++] = (struct verdict){0};
  m->verdicts[m->verdicts_count] = *verdict;
  return (uint16_t)m->verdicts_count++;
}

/* Appends what the last step has changed to `changes`. Ends the edits of the step, so that the
 * world reads `values` again. Returns the number of changes. */
static uint32_t append_changes(struct transition_cache *m)
{
  uint32_t first = m->changes_count;
  for (uint32_t i = 0; i < m->looked_count; i++) {
    uint32_t part = m->looked[i];
    if (!m->is_edited[part])
      continue;
    m->is_edited[part] = false;
    uint32_t value = intern(&m->parts, m->scratch[part].bytes, m->scratch[part].size);
    if (value == m->values[part])
      continue;
    m->changes = memory_room(m->changes, m->changes_count, &m->changes_room, sizeof *m->changes);
    m->changes[m->changes_count++] = (struct change){part, value, m->values[part]};
  }
  return m->changes_count - first;
}

/* Notes the effect of the last step. Returns its number. */
static uint32_t note_effect(struct transition_cache *m, const struct verdict *verdict)
{
  struct effect effect = {
      .first = m->changes_count, .verdict = note_verdict(m, verdict), .reached = verdict->reached};
  effect.count = (uint16_t)append_changes(m);
  m->effects = memory_room(m->effects, m->effects_count, &m->effects_room, sizeof *m->effects);
  m->effects[m->effects_count] = effect;
  return m->effects_count++;
}

/* Runs the step in the state of `values`, and watches what the step looks at and what it edits. */
static void run_step(struct transition_cache *m, uint32_t move, struct verdict *verdict)
{
  struct move copy = *(const struct move *)m->moves.item[move].bytes;
  transition_cache_forget_reads(m);
  world_step(m->world, &copy, &m->actions, verdict);
  m->steps++;
}

/* Returns whether the last run has the effect that is noted. */
static bool did_same(struct transition_cache *m, const struct effect *effect,
                     const struct verdict *verdict)
{
  uint32_t first = m->changes_count, count = append_changes(m);
  m->changes_count = first;
  return note_verdict(m, verdict) == effect->verdict && count == effect->count &&
         !memcmp(&verdict->reached, &effect->reached, sizeof effect->reached) &&
         (!count ||
          !memcmp(&m->changes[first], &m->changes[effect->first], count * sizeof *m->changes));
}

/* Runs a step again in a state that agrees with the noted state in all parts at which the step has
 * looked, and perhaps in no other part. Returns whether the step does the same. */
static bool audit_step(struct transition_cache *m, uint32_t move, const struct effect *effect)
{
  uint32_t count = m->looked_count, looked[2 * m->count];
  struct verdict verdict = {0};
  memcpy(looked, m->looked, count * sizeof *looked);
  run_step(m, move, &verdict);
  return count == m->looked_count && !memcmp(looked, m->looked, count * sizeof *looked) &&
         did_same(m, effect, &verdict);
}

/* Returns the number of the effect of a step whose effect depends on something outside of its
 * parts. Only the code of a protocol can make a step do that. */
static uint32_t note_impure(struct transition_cache *m, uint32_t move, uint32_t effect)
{
  const struct move *of = m->moves.item[move].bytes;
  struct verdict verdict = {.kind = VERDICT_VIOLATION, .property = "pure", .rank = of->rank};
  if (of->kind != MOVE_EVENT)
    breach("a move without a step depends on something that is not in its parts");
  snprintf(verdict.text, sizeof verdict.text,
           "%s is impure: the same step came out differently at %s", m->world->protocol->name,
           event_name((enum rcl_event_kind)of->event.kind));
  struct effect impure = m->effects[effect];
  impure.verdict = note_verdict(m, &verdict);
  m->effects = memory_room(m->effects, m->effects_count, &m->effects_room, sizeof *m->effects);
  m->effects[m->effects_count] = impure;
  return m->effects_count++;
}

const struct effect *transition_cache_step(struct transition_cache *m, uint32_t move)
{
  REQUIRE(move >= 1 && move <= m->moves.count, "a step is one of a move that was listed");
  uint32_t note = walk_trie(m, ROOT_STEPS, move);
  REQUIRE(!(note & NOTE_RESULT) || (note & ~NOTE_RESULT) < m->effects_count,
          "the end of a walk names an effect");
  uint32_t effect = note & ~NOTE_RESULT;
  bool pure;
  if (note & NOTE_RESULT) {
    pure = !m->audit || audit_step(m, move, &m->effects[effect]);
  } else {
    struct verdict verdict = {0};
    run_step(m, move, &verdict);
    effect = note_effect(m, &verdict);
    pure = write_down(m, ROOT_STEPS, move, effect);
  }
  return &m->effects[pure ? effect : note_impure(m, move, effect)];
}

void transition_cache_apply(struct transition_cache *m, const struct effect *effect)
{
  for (uint32_t i = 0; i < effect->count; i++)
    m->values[m->changes[effect->first + i].part] = m->changes[effect->first + i].value;
}

/* ---- moves ---- */

static void list_move(void *data, const struct move *move)
{
  struct transition_cache *m = data;
  m->list_moves =
      memory_room(m->list_moves, m->list_moves_count, &m->list_moves_room, sizeof *m->list_moves);
  m->list_moves[m->list_moves_count++] = intern(&m->moves, move, sizeof *move);
}

/* Lists the moves of `origin` in the state of `values`, at the end of list_moves. */
static struct enabled_list run_list(struct transition_cache *m, uint32_t origin)
{
  struct enabled_list turn = {.first = m->list_moves_count};
  uint32_t each = (uint32_t)m->world->ranks + 1, of_rank = origin / each;
  transition_cache_forget_reads(m);
  if (of_rank < each - 1 && origin % each == 0)
    turn.standing = world_standing(m->world, (int)of_rank);
  world_moves_of(m->world, origin, list_move, m);
  turn.count = (uint16_t)(m->list_moves_count - turn.first);
  return turn;
}

/* Does for a list of moves what audit_step() does for a step. */
static void audit_list(struct transition_cache *m, uint32_t origin,
                       const struct enabled_list *noted)
{
  uint32_t count = m->looked_count, looked[2 * m->count];
  memcpy(looked, m->looked, count * sizeof *looked);
  struct enabled_list turn = run_list(m, origin);
  m->list_moves_count = turn.first;
  if (count != m->looked_count || memcmp(looked, m->looked, count * sizeof *looked) != 0 ||
      turn.count != noted->count ||
      memcmp(&turn.standing, &noted->standing, sizeof turn.standing) != 0 ||
      (turn.count && memcmp(&m->list_moves[turn.first], &m->list_moves[noted->first],
                            turn.count * sizeof *m->list_moves) != 0))
    breach("a list of moves depends on something that is not in its parts");
}

const struct enabled_list *transition_cache_list(struct transition_cache *m, uint32_t origin)
{
  uint32_t note = walk_trie(m, ROOT_LISTS, origin);
  REQUIRE(!(note & NOTE_RESULT) || (note & ~NOTE_RESULT) < m->lists_count,
          "the end of a walk names a list of moves");
  if (note & NOTE_RESULT) {
    if (m->audit)
      audit_list(m, origin, &m->lists[note & ~NOTE_RESULT]);
    return &m->lists[note & ~NOTE_RESULT];
  }
  struct enabled_list turn = run_list(m, origin);
  m->lists = memory_room(m->lists, m->lists_count, &m->lists_room, sizeof *m->lists);
  m->lists[m->lists_count] = turn;
  if (!write_down(m, ROOT_LISTS, origin, m->lists_count))
    breach("a list of moves depends on something that is not in its parts");
  return &m->lists[m->lists_count++];
}

/* ---- beginning and end ---- */

void transition_cache_init(struct transition_cache *m, struct world *world, unsigned crashes,
                           unsigned timers)
{
  *m = (struct transition_cache){.world = world, .count = world_parts(world)};
  uint32_t nothing = intern(&m->parts, NULL, 0);
  m->values = memory_table(m->count, sizeof *m->values);
  m->scratch = memory_table(m->count, sizeof *m->scratch);
  m->looked = memory_table(2 * m->count, sizeof *m->looked);
  m->is_looked = memory_table(2 * m->count, 1);
  m->is_edited = memory_table(2 * m->count, 1);
  m->actions.capacity = RCL_ACTIONS_MAX(&world->config[0]);
  m->actions.item = memory_table(m->actions.capacity, sizeof *m->actions.item);
  for (uint32_t part = 0; part < m->count; part++)
    m->values[part] = nothing;
  world->memory =
      (struct world_memory){m, read_part, read_head, edit_part, NULL, keep_bytes, kept_bytes, NULL};
  world_begin(world, crashes, timers);
  for (uint32_t part = 0; part < m->count; part++)
    if (m->is_edited[part])
      m->values[part] = intern(&m->parts, m->scratch[part].bytes, m->scratch[part].size);
  transition_cache_forget_reads(m);
}

void transition_cache_clear(struct transition_cache *m)
{
  for (uint32_t part = 0; part < m->count; part++)
    free(m->scratch[part].bytes);
  void *all[] = {m->heads,     m->values,       m->scratch, m->looked,  m->is_looked,
                 m->is_edited, m->actions.item, m->edges,   m->effects, m->changes,
                 m->lists,     m->list_moves,   m->verdicts};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  intern_clear(&m->parts);
  intern_clear(&m->moves);
  *m = (struct transition_cache){0};
}

size_t transition_cache_bytes(const struct transition_cache *m)
{
  return m->edges_room * sizeof *m->edges + intern_bytes(&m->parts) + intern_bytes(&m->moves) +
         m->heads_room * sizeof *m->heads + m->effects_room * sizeof *m->effects +
         m->changes_room * sizeof *m->changes + m->lists_room * sizeof *m->lists +
         m->list_moves_room * sizeof *m->list_moves;
}
