#include "verify/reduce/dependence.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "verify/reduce/visible.h"
#include "world/rules/world_parts.h"

/* A row consists of ROW_FIXED words, followed by its tables in the order of struct layout. */
enum { ROW_MOVES, ROW_UNCOMMITTING, ROW_VISIBLE, ROW_FIXED };

static uint64_t bit(uint32_t action)
{
  return UINT64_C(1) << action;
}

/* Tells where the tables of a row begin. */
struct layout {
  uint32_t with, enables, sends, stores, unsending, words;
};

static struct layout layout_of(const struct dependence *r, uint32_t rank)
{
  uint32_t actions = abstraction_actions(r->abstraction, rank), all = r->base[r->ranks];
  bool crash = r->abstraction->before_crash;
  struct layout l = {.with = ROW_FIXED, .enables = ROW_FIXED + actions};
  l.sends = l.enables + actions;
  l.stores = l.sends + all;
  l.unsending = l.stores + (crash ? actions : 0);
  l.words = l.unsending + (crash ? all : 0);
  return l;
}

/* Returns the index of a row. The coordinator knows GLOBAL, so for each of its values it has a row
 * for each value of GLOBAL. */
static uint32_t place(const struct dependence *r, uint32_t rank, uint32_t value, uint32_t global)
{
  uint32_t values = r->abstraction->rank[rank].values.count + 1;
  return value + (rank == RCL_COORDINATOR_RANK ? values * global : 0);
}

static uint32_t places(const struct dependence *r, uint32_t rank)
{
  return place(r, rank, 0, r->abstraction->shared[SHARED_GLOBAL].count + 1) +
         r->abstraction->rank[rank].values.count + 1;
}

struct row dependence_row(const struct dependence *r, uint32_t rank, uint32_t number)
{
  const struct layout l = layout_of(r, rank);
  const uint64_t *flat = r->rows[rank].item[number].bytes;
  return (struct row){.moves = flat[ROW_MOVES],
                      .with = flat + l.with,
                      .enables = flat + l.enables,
                      .sends = flat + l.sends,
                      .visible = flat[ROW_VISIBLE],
                      .stores = flat + l.stores,
                      .uncommitting = flat[ROW_UNCOMMITTING],
                      .unsending = flat + l.unsending};
}

uint32_t dependence_row_of(const struct dependence *r, uint32_t rank, uint32_t value,
                           uint32_t global)
{
  return r->row_of[rank][place(r, rank, value, global)];
}

uint32_t dependence_row_of_dead(const struct dependence *r, uint32_t rank)
{
  return r->row_of[rank][0];
}

/* ---- diamonds ---- */

/* Returns whether the messages of both lists can be sent in either order. They can if the two lists
 * have no channel in common. */
static bool apart(const struct abstraction *c, uint32_t a, uint32_t b)
{
  if (!a || !b)
    return true;
  const struct interned *one = &c->sends.item[a], *two = &c->sends.item[b];
  const struct abstraction_send *x = one->bytes, *y = two->bytes;
  for (uint32_t i = 0; i < one->size / sizeof *x; i++)
    for (uint32_t j = 0; j < two->size / sizeof *y; j++)
      if (x[i].part == y[j].part)
        return false;
  return true;
}

/* Returns the joint effect on the shared parts, or UINT32_MAX if it is too large to be tracked. */
static uint32_t both(uint32_t a, uint32_t b)
{
  return a && b ? UINT32_MAX : a | b;
}

/* Returns whether the edges commute as to contents. Nodes have no contents, so the edges are
 * compared. They do not commute if one edge writes contents that the other edge writes, moves or
 * removes. */
static bool same_contents(const struct abstraction_edge *a, const struct abstraction_edge *b)
{
  return !(a->writes || b->writes) || !(a->stores & b->stores);
}

/* Returns whether edge `a` followed by `b` does the same as `b` followed by `a`, from the node
 * where both edges begin. */
static bool diamond(const struct abstraction *c, uint32_t rank, const struct abstraction_edge *a,
                    const struct abstraction_edge *b)
{
  const struct abstraction_edge *then_b =
      a->target == VIOLATES ? a : abstraction_edge(c, rank, a->target, b->action);
  const struct abstraction_edge *then_a =
      b->target == VIOLATES ? b : abstraction_edge(c, rank, b->target, a->action);
  if (!then_a || !then_b)
    return false;
  if (then_a->target == VIOLATES || then_b->target == VIOLATES)
    return then_a->target == then_b->target;
  return then_a->target == then_b->target && then_a->sends == a->sends &&
         then_b->sends == b->sends && apart(c, a->sends, b->sends) && then_a->move == a->move &&
         then_b->move == b->move && then_a->writes == a->writes && then_b->writes == b->writes &&
         both(a->shares, then_b->shares) != UINT32_MAX &&
         both(a->shares, then_b->shares) == both(b->shares, then_a->shares);
}

/* Returns whether both actions take messages out of the same queue. Only the first message can be
 * taken out of a queue. */
static bool same_queue(const struct abstraction *c, uint32_t rank, uint32_t a, uint32_t b)
{
  const struct abstraction_action *x = abstraction_action(c, rank, a),
                                  *y = abstraction_action(c, rank, b);
  return x->peer != OWN && x->peer == y->peer && x->kind == y->kind &&
         abstraction_is_queue(c, x->kind);
}

/* Returns whether the edge drains a message that has no receive. When the message can be drained
 * depends on earlier messages, which may find receives meanwhile. */
static bool drained(const struct abstraction *c, const struct abstraction_edge *edge)
{
  const struct world *w = c->model->world;
  const struct move *move = c->model->rules_cache.moves.item[edge->move].bytes;
  return !w->fifo && !below_matching(w) && move->kind == MOVE_EVENT &&
         move->event.kind == RCL_EVENT_ARRIVED && move->event.request == RCL_NO_REQUEST;
}

/* ---- rows ---- */

static void note_diamonds(const struct abstraction *c, uint32_t rank, uint32_t node, uint64_t *with)
{
  const struct abstraction_rank *r = &c->rank[rank];
  for (uint32_t i = r->first[node]; i < r->first[node + 1]; i++)
    for (uint32_t j = r->first[node]; j < i; j++) {
      const struct abstraction_edge *a = &r->edges[i], *b = &r->edges[j];
      if (same_queue(c, rank, a->action, b->action))
        continue;
      if (!drained(c, a) && !drained(c, b) && same_contents(a, b) && diamond(c, rank, a, b))
        continue;
      with[a->action] |= bit(b->action);
      with[b->action] |= bit(a->action);
    }
}

static uint64_t moves_at(const struct abstraction *c, uint32_t rank, uint32_t node)
{
  const struct abstraction_rank *r = &c->rank[rank];
  uint64_t moves = 0;
  for (uint32_t i = r->first[node]; i < r->first[node + 1]; i++)
    moves |= bit(r->edges[i].action);
  return moves;
}

static void note_enabled(const struct abstraction *c, uint32_t rank,
                         const struct abstraction_edge *edge, uint64_t before, uint64_t *enables)
{
  uint64_t more = edge->target == VIOLATES ? 0 : moves_at(c, rank, edge->target) & ~before;
  for (; more; more &= more - 1)
    enables[__builtin_ctzll(more)] |= bit(edge->action);
}

/* Notes that the edge can enable actions of rank `to`: those that take in the given message of a
 * part. */
static void note_message(const struct dependence *r, const struct abstraction_edge *edge,
                         uint32_t to, struct abstraction_send message, uint64_t *sends)
{
  const struct abstraction *c = r->abstraction;
  for (uint32_t i = 0; i < abstraction_actions(c, to); i++)
    if (abstraction_takes_it(c, to, abstraction_action(c, to, i), &message))
      sends[r->base[to] + i] |= bit(edge->action);
}

static void note_sent(const struct dependence *r, const struct abstraction_edge *edge,
                      uint64_t *sends)
{
  const struct abstraction *c = r->abstraction;
  if (!edge->sends)
    return; /* if no message is ever sent, there is no table either */
  const struct interned *list = &c->sends.item[edge->sends];
  const struct abstraction_send *sent = list->bytes;
  const struct intern *parts = &c->model->rules_cache.parts;
  uint32_t pairs = r->ranks * r->ranks, size = (uint32_t)sizeof(struct world_message);
  uint32_t first = world_part(c->model->world, WORLD_CHANNEL, 0, 0);
  for (uint32_t i = 0; i < list->size / sizeof *sent; i++) {
    uint32_t to = (sent[i].part - first) % pairs % r->ranks;
    for (uint32_t at = 0; at < parts->item[sent[i].value].size; at += size) {
      const char *message = (const char *)parts->item[sent[i].value].bytes + at;
      note_message(r, edge, to,
                   (struct abstraction_send){sent[i].part, intern_find(parts, message, size)},
                   sends);
    }
  }
}

/* Looks at the runs that begin at a node with this edge. Notes the actions that need not come
 * before the next commit of such a run. For each message, also notes the actions that need not
 * come before the message. */
static void note_order(const struct dependence *r, const struct layout *l,
                       const struct abstraction_edge *edge, const uint64_t *after, uint64_t *row)
{
  uint32_t all = r->base[r->ranks];
  uint64_t others = ~bit(edge->action), sends[all];
  memset(sends, 0, sizeof sends);
  note_sent(r, edge, sends);
  row[ROW_UNCOMMITTING] |=
      others & (visible_commits(r->abstraction, edge) ? UINT64_MAX : after[ROW_UNCOMMITTING]);
  for (uint32_t i = 0; i < all; i++)
    row[l->unsending + i] |= others & (sends[i] ? UINT64_MAX : after[l->unsending + i]);
}

static void note_crash(const struct dependence *r, uint32_t rank, uint32_t node,
                       const struct layout *l, const struct abstraction_edge *edge,
                       const uint64_t *after, uint64_t *row)
{
  const struct abstraction *c = r->abstraction;
  if (visible_edge(c, rank, node, edge))
    row[ROW_VISIBLE] |= bit(edge->action);
  row[l->stores + edge->action] |= visible_stores(c, rank, node, edge);
  if (edge->target != VIOLATES && edge->target != node)
    note_order(r, l, edge, after, row);
}

/* Finds, for each node, facts that hold at the node and at all nodes that can follow it. */
static uint64_t *make_rows(const struct dependence *r, uint32_t rank, bool blind)
{
  const struct abstraction *c = r->abstraction;
  const struct abstraction_rank *cr = &c->rank[rank];
  const struct layout l = layout_of(r, rank);
  uint64_t *rows = memory_table((size_t)(cr->nodes.count + 1) * l.words, sizeof(uint64_t));
  for (uint32_t n = 0; n < cr->nodes.count; n++) {
    uint32_t node = cr->order[n];
    uint64_t *row = rows + (size_t)node * l.words;
    row[ROW_MOVES] = moves_at(c, rank, node);
    if (!blind)
      note_diamonds(c, rank, node, row + l.with);
    for (uint32_t i = cr->first[node]; i < cr->first[node + 1]; i++) {
      const struct abstraction_edge *edge = &cr->edges[i];
      const uint64_t *after = rows + (size_t)edge->target * l.words;
      note_enabled(c, rank, edge, row[ROW_MOVES], row + l.enables);
      note_sent(r, edge, row + l.sends);
      if (c->before_crash)
        note_crash(r, rank, node, &l, edge, after, row);
      for (uint32_t word = ROW_VISIBLE; edge->target != VIOLATES && word < l.unsending; word++)
        row[word] |= after[word];
    }
  }
  return rows;
}

static uint64_t own_moves(const struct abstraction *c, uint32_t rank)
{
  uint64_t own = 0;
  for (uint32_t i = 0; i < abstraction_actions(c, rank); i++)
    if (abstraction_action(c, rank, i)->peer == OWN)
      own |= bit(i);
  return own;
}

/* Joins, for each value, the facts of the nodes with that value. */
static void join_rows(struct dependence *r, uint32_t rank, const uint64_t *rows,
                      const char **refused)
{
  const struct abstraction_rank *cr = &r->abstraction->rank[rank];
  uint32_t words = layout_of(r, rank).words;
  uint64_t own = own_moves(r->abstraction, rank);
  uint32_t count = places(r, rank);
  uint64_t *joined = memory_table((size_t)count * words, sizeof(uint64_t));
  bool *seen = memory_table(count, sizeof *seen);
  for (uint32_t node = 1; node <= cr->nodes.count; node++) {
    const uint32_t *key = cr->nodes.item[node].bytes;
    uint32_t value = place(r, rank, key[0], key[1]);
    const uint64_t *row = rows + (size_t)node * words;
    uint64_t *to = joined + (size_t)value * words;
    if (seen[value] && (to[ROW_MOVES] ^ row[ROW_MOVES]) & own)
      *refused = "what a move does depends on the past";
    seen[value] = true;
    for (uint32_t word = 0; word < words; word++)
      to[word] |= row[word];
  }
  r->row_of[rank] = memory_grow(NULL, count * sizeof **r->row_of);
  for (uint32_t value = 0; value < count; value++)
    r->row_of[rank][value] =
        intern(&r->rows[rank], joined + (size_t)value * words, words * (uint32_t)sizeof *joined);
  free(joined);
  free(seen);
}

/* ---- what all share ---- */

/* Returns the entry that follows `entry` in a table of abstraction.shares, or 0 if the action
 * cannot be taken at `entry`. */
static uint32_t after(const struct abstraction *c, uint32_t shares, uint32_t entry)
{
  const struct interned *item = &c->shares.item[shares];
  const uint32_t *table = item->bytes;
  for (uint32_t i = 1; i < item->size / sizeof *table; i += 2)
    if (table[i] == entry)
      return table[i + 1];
  return 0;
}

/* Returns whether two ranks can have these effects on the shared parts in either order. */
static bool shared_commute(const struct abstraction *c, uint32_t a, uint32_t b)
{
  const struct interned *item = &c->shares.item[a];
  const uint32_t *table = item->bytes;
  if (table[0] != *(const uint32_t *)c->shares.item[b].bytes)
    return true;
  for (uint32_t i = 1; i < item->size / sizeof *table; i += 2) {
    uint32_t one = table[i + 1], two = after(c, b, table[i]);
    if (!two)
      continue; /* the two effects are never possible at the same time */
    uint32_t then_two = one == VIOLATES ? one : after(c, b, one);
    uint32_t then_one = two == VIOLATES ? two : after(c, a, two);
    if (!then_one || then_one != then_two)
      return false;
  }
  return true;
}

/* Lists, for each table, the actions with that effect. */
static uint64_t *users(const struct abstraction *c, uint32_t rank)
{
  uint64_t *users = memory_table(c->shares.count + 1, sizeof(uint64_t));
  const struct abstraction_rank *r = &c->rank[rank];
  for (uint32_t i = 0; i < r->edges_count; i++)
    users[r->edges[i].shares] |= bit(r->edges[i].action);
  return users;
}

static void note_others(struct dependence *r, uint32_t rank, uint32_t other)
{
  const struct abstraction *c = r->abstraction;
  uint64_t *mine = users(c, rank), *theirs = users(c, other);
  for (uint32_t a = 1; a <= c->shares.count; a++)
    for (uint32_t b = 1; b <= c->shares.count && mine[a]; b++) {
      if (!theirs[b] || shared_commute(c, a, b))
        continue;
      for (uint64_t left = mine[a]; left; left &= left - 1)
        r->others[(r->base[rank] + (uint32_t)__builtin_ctzll(left)) * r->ranks + other] |=
            theirs[b];
    }
  free(mine);
  free(theirs);
}

/* ---- beginning and end ---- */

struct dependence *dependence_new(const struct abstraction *c, bool blind, const char **refused)
{
  struct dependence *r = memory_grow(NULL, sizeof *r);
  uint32_t ranks = c->ranks;
  *r = (struct dependence){.abstraction = c, .ranks = ranks};
  r->base = memory_grow(NULL, (ranks + 1) * sizeof *r->base);
  r->rows = memory_table(ranks, sizeof *r->rows);
  r->row_of = memory_table(ranks, sizeof *r->row_of);
  r->base[0] = 0;
  for (uint32_t rank = 0; rank < ranks; rank++)
    r->base[rank + 1] = r->base[rank] + abstraction_actions(c, rank);
  r->others = memory_table((size_t)r->base[ranks] * ranks, sizeof(uint64_t));
  for (uint32_t rank = 0; rank < ranks; rank++) {
    uint64_t *rows = make_rows(r, rank, blind);
    join_rows(r, rank, rows, refused);
    free(rows);
    for (uint32_t other = 0; other < ranks && !blind; other++)
      if (other != rank)
        note_others(r, rank, other);
  }
  if (!*refused)
    return r;
  dependence_free(r);
  return NULL;
}

void dependence_free(struct dependence *r)
{
  if (!r)
    return;
  for (uint32_t rank = 0; rank < r->ranks; rank++) {
    intern_clear(&r->rows[rank]);
    free(r->row_of[rank]);
  }
  free(r->base);
  free(r->rows);
  free(r->row_of);
  free(r->others);
  free(r);
}
