#include "verify/reduce/abstraction.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "verify/reduce/abstraction_parts.h"

/* Limits the number of nodes and edges of one rank. NODES_FEW applies as long as the number of
 * messages that can come is not bounded. */
enum { NODES_FEW = 1 << 8, NODES_MOST = 1 << 21, EDGES_MOST = 1 << 20 };

uint32_t abstraction_find(const struct abstraction *c, uint32_t rank,
                          const struct abstraction_action *action)
{
  return intern_find(&c->rank[rank].actions, action, sizeof *action) - 1;
}

uint32_t abstraction_global(const struct abstraction *c, uint32_t value)
{
  uint32_t key[1 + c->ranks];
  memset(key, 0, sizeof key);
  key[0] = value;
  return intern_find(&c->shared[SHARED_GLOBAL], key, (uint32_t)sizeof key);
}

const struct abstraction_edge *abstraction_edge(const struct abstraction *c, uint32_t rank,
                                                uint32_t node, uint32_t action)
{
  const struct abstraction_rank *r = &c->rank[rank];
  for (uint32_t i = r->first[node]; i < r->first[node + 1]; i++)
    if (r->edges[i].action == action)
      return &r->edges[i];
  return NULL;
}

/* ---- nodes and edges ---- */

static uint32_t queue_slot(const struct abstraction *c, const struct abstraction_action *action)
{
  uint32_t first = action->kind == WORLD_CONTROL ? c->ranks : 0;
  uint32_t peer = (uint32_t)action->peer;
  return KEY_QUEUES + first + peer;
}

static uint32_t count_slot(const struct abstraction *c, uint32_t number)
{
  return KEY_QUEUES + KINDS * c->ranks + number;
}

static uint32_t key_length(const struct abstraction *c, uint32_t rank)
{
  return c->bounded ? count_slot(c, abstraction_actions(c, rank)) : KEY_QUEUES;
}

static void add_edge(struct abstraction_rank *r, struct abstraction_edge edge)
{
  r->edges = memory_room(r->edges, r->edges_count, &r->edges_room, sizeof *r->edges);
  r->edges[r->edges_count++] = edge;
}

/* Takes an action at a node. Adds an edge if the action changes anything. */
static void take(struct abstraction *c, struct attempt *a, uint32_t number, uint32_t length)
{
  struct abstraction_rank *r = &c->rank[a->rank];
  struct outcome o = abstraction_try(c, a, number);
  bool own = a->action.peer == OWN;
  uint32_t key[length];
  if (c->refused || (own && o.survives && !o.violates && !o.sends && !o.shares && !o.writes &&
                     o.value == a->key[KEY_VALUE]))
    return;
  memcpy(key, a->key, sizeof key);
  key[KEY_VALUE] = o.value;
  if (o.shares && o.shared == SHARED_GLOBAL)
    key[KEY_CHANGES + o.shared] = ((const uint32_t *)c->shares.item[o.shares].bytes)[2];
  else if (o.shares)
    key[KEY_CHANGES + o.shared]++;
  if (c->bounded && !own && abstraction_is_queue(c, a->action.kind)) {
    uint32_t slot = queue_slot(c, &a->action);
    key[slot] = dfa_after(&c->dfas, key[slot], a->action.what);
  } else if (c->bounded && !own) {
    key[count_slot(c, number)]++;
  }
  add_edge(r, (struct abstraction_edge){
                  .target = o.survives ? intern(&r->nodes, key, (uint32_t)sizeof key) : VIOLATES,
                  .sends = o.sends,
                  .shares = o.shares,
                  .move = a->move,
                  .action = number,
                  .writes = o.writes,
                  .stores = c->before_crash && o.survives
                                ? abstraction_stores(c, r->values.item[a->key[KEY_VALUE]].bytes,
                                                     r->values.item[o.value].bytes, o.writes)
                                : 0});
}

/* Returns whether the message can come at a node. */
static bool can_come(const struct abstraction *c, const struct attempt *a, uint32_t number)
{
  if (!c->bounded)
    return true;
  if (!abstraction_is_queue(c, a->action.kind))
    return a->key[count_slot(c, number)] < c->rank[a->rank].most[number];
  return dfa_after(&c->dfas, a->key[queue_slot(c, &a->action)], a->action.what) != 0;
}

static void expand_own(struct abstraction *c, uint32_t rank, uint32_t node, uint32_t length)
{
  struct attempt a = {.rank = rank, .key = c->rank[rank].nodes.item[node].bytes};
  a.action = (struct abstraction_action){.peer = OWN};
  uint32_t number = abstraction_list(c, &a, rank * (c->ranks + 1), ABSTRACTION_ACTIONS);
  const struct interned *moves = &c->lists.item[number];
  const uint32_t *move = moves->bytes;
  uint32_t count = moves->size / (uint32_t)sizeof *move;
  abstraction_forget(&a);
  for (uint32_t i = 0; i < count && !c->refused; i++) {
    struct attempt own = {.rank = rank, .key = a.key, .move = move[i]};
    own.action = (struct abstraction_action){.peer = OWN, .what = move[i]};
    take(c, &own, abstraction_add_action(c, rank, &own.action), length);
    abstraction_forget(&own);
  }
}

/* Returns the move that takes in the message, or gathers contributions, or 0 if there is none. */
static uint32_t taking_move(struct abstraction *c, struct attempt *a, uint32_t number)
{
  bool gathers = a->action.peer == GATHER;
  /* the question contains the messages */
  uint32_t origin = a->rank * (c->ranks + 1) + (gathers ? 0 : (uint32_t)(a->action.peer + 1));
  uint32_t listed = abstraction_list(c, a, origin, ABSTRACTION_ACTIONS + 1 + number);
  const struct interned *moves = &c->lists.item[listed];
  if (gathers)
    return abstraction_gathering_move(c, moves);
  if (moves->size > sizeof a->move)
    refuse(c, "a message can be taken in in several ways");
  return moves->size ? *(const uint32_t *)moves->bytes : 0;
}

static void expand_taking(struct abstraction *c, uint32_t rank, uint32_t node, uint32_t length,
                          uint32_t number)
{
  struct attempt a = {.rank = rank, .key = c->rank[rank].nodes.item[node].bytes};
  a.action = *abstraction_action(c, rank, number);
  if (a.action.peer == OWN || !can_come(c, &a, number) ||
      (a.action.peer == GATHER && !abstraction_gathers_now(c, &a)))
    return;
  uint32_t move = taking_move(c, &a, number);
  abstraction_forget(&a);
  if (c->refused || !move)
    return;
  struct attempt taking = {.rank = rank, .key = a.key, .action = a.action, .move = move};
  take(c, &taking, number, length);
  abstraction_forget(&taking);
}

static void expand(struct abstraction *c, uint32_t rank, uint32_t node, uint32_t length)
{
  uint32_t known = c->bounded ? length - count_slot(c, 0) : abstraction_actions(c, rank);
  expand_own(c, rank, node, length);
  abstraction_add_gathers(
      c, &(struct attempt){.rank = rank, .key = c->rank[rank].nodes.item[node].bytes});
  for (uint32_t number = 0; number < known && !c->refused; number++)
    expand_taking(c, rank, node, length, number);
}

/* Finds all nodes of a rank, given the messages that are known so far to come to it. */
static void explore_rank(struct abstraction *c, uint32_t rank)
{
  struct abstraction_rank *r = &c->rank[rank];
  uint32_t length = key_length(c, rank), key[length];
  memset(key, 0, sizeof key);
  key[KEY_VALUE] = 1;
  key[KEY_CHANGES + SHARED_GLOBAL] = rank == RCL_COORDINATOR_RANK;
  for (uint32_t queue = 0; c->bounded && queue < KINDS * c->ranks; queue++)
    key[KEY_QUEUES + queue] = r->comes[queue];
  intern_clear(&r->nodes);
  intern_clear(&c->asked);
  r->edges_count = 0;
  intern(&r->nodes, key, (uint32_t)sizeof key);
  for (uint32_t node = 1; node <= r->nodes.count && !c->refused; node++) {
    if (node + 2 > r->first_room) {
      r->first_room = 2 * node + 2;
      r->first = memory_grow(r->first, r->first_room * sizeof *r->first);
    }
    r->first[node] = r->edges_count;
    expand(c, rank, node, length);
    r->first[node + 1] = r->edges_count;
    if (r->nodes.count > (c->bounded ? NODES_MOST : NODES_FEW) || r->edges_count > EDGES_MOST)
      refuse(c, "a rank can come to too many values");
  }
}

/* ---- beginning and end ---- */

static void begin(struct abstraction *c)
{
  struct model *model = c->model;
  const uint32_t *values = c->first;
  model_load_numbers(model, model->first);
  memcpy(c->first, model->rules_cache.values, model->rules_cache.count * sizeof *c->first);
  dfas_init(&c->dfas);
  for (uint32_t rank = 0; rank < c->ranks; rank++) {
    struct abstraction_rank *r = &c->rank[rank];
    abstraction_add_value(c, rank, values + part_of(c, WORLD_RANK, rank, 0));
    r->comes = memory_grow(NULL, KINDS * c->ranks * sizeof *r->comes);
    for (uint32_t queue = 0; queue < KINDS * c->ranks; queue++)
      r->comes[queue] = DFA_EMPTY;
  }
  for (uint32_t part = part_of(c, WORLD_CHANNEL, 0, 0); part < part_of(c, WORLD_GLOBAL, 0, 0);
       part++)
    if (values[part] != 1)
      refuse(c, "there are messages at the beginning");
  for (unsigned shared = 0; shared < SHARED_PARTS; shared++)
    abstraction_add_shared(c, shared, values[part_of(c, WORLD_GLOBAL, 0, 0) + shared], NULL, 0);
}

static const char *excluded(const struct model *model)
{
  const struct world *world = model->world;
  if (world->faults || world->overtaking || world->hazards & HAZARD_CONTROL_OVERTAKES)
    return "the host lies, or keeps no order";
  if (world->protocol->piggybacks)
    return "control messages come before messages";
  if (world->script && world->script->branches)
    return "programs branch on what they were given";
  if (world->script && world->script->windows)
    return "programs have windows";
  if (world->script && world->script->synchronous)
    return "programs wait for what others receive";
  if (world->protocol->clocks)
    return "there are clocks";
  if (model_checks(model, "quiet-channels"))
    return "property quiet-channels looks at all channels";
  if (model_needs_cycles(model))
    return "property progress looks at all runs";
  if (world->ranks + SHARED_PARTS + PAIR_KINDS * world->ranks > 32)
    return "there are too many ranks";
  return NULL;
}

static void clear(struct abstraction *c)
{
  for (uint32_t rank = 0; rank < c->ranks; rank++) {
    struct abstraction_rank *r = &c->rank[rank];
    void *all[] = {r->most, r->first, r->edges, r->order, r->heads, r->comes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      free(all[i]);
    intern_clear(&r->values);
    intern_clear(&r->actions);
    intern_clear(&r->shares);
    intern_clear(&r->nodes);
    *r = (struct abstraction_rank){0};
  }
  intern_clear(&c->sends);
  intern_clear(&c->gathers);
  intern_clear(&c->contents);
  intern_clear(&c->shares);
  intern_clear(&c->asked);
  intern_clear(&c->lists);
  dfas_clear(&c->dfas);
  for (unsigned i = 0; i < SHARED_PARTS; i++)
    intern_clear(&c->shared[i]);
}

static void complete(struct abstraction *c, bool bounded)
{
  clear(c);
  c->bounded = bounded;
  c->refused = NULL;
  begin(c);
  do {
    c->grown = false;
    for (uint32_t rank = 0; rank < c->ranks && !c->refused; rank++) {
      explore_rank(c, rank);
      if (!c->refused)
        abstraction_sort(c, rank);
    }
    for (uint32_t rank = 0; bounded && rank < c->ranks && !c->refused; rank++)
      abstraction_find_coming(c, rank);
  } while (c->grown && !c->refused);
}

struct abstraction *abstraction_new(struct model *model, bool before_crash, uint32_t most_tries,
                                    const char **refused)
{
  const struct world *world = model->world;
  *refused = excluded(model);
  if (*refused)
    return NULL;
  struct abstraction *c = memory_grow(NULL, sizeof *c);
  *c = (struct abstraction){.model = model,
                            .ranks = (uint32_t)world->ranks,
                            .before_crash = before_crash,
                            .most = most_tries};
  c->first = memory_grow(NULL, model->rules_cache.count * sizeof *c->first);
  c->rank = memory_table(c->ranks, sizeof *c->rank);
  complete(c, false);
  if (c->refused)
    complete(c, true);
  model->loaded = NULL;
  *refused = c->refused;
  if (!c->refused)
    return c;
  abstraction_free(c);
  return NULL;
}

void abstraction_free(struct abstraction *c)
{
  if (!c)
    return;
  clear(c);
  free(c->answers);
  free(c->first);
  free(c->rank);
  free(c);
}
