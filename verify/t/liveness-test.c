/* Runs that go round for ever, against a search that knows nothing of components: from each state
 * all that it reaches, forwards and back. */
#include "protocols/parts/act.h"
#include "protocols/t/tap.h"
#include "verify/scenario/plugin.h"
#include "verify/t/reference.h"

/* ---- protocols that never fall silent ---- */

/* Rank 0 and the next one write to each other for ever. */
static void chatter(const struct rcl_config *config, void *state, const struct rcl_event *event,
                    struct rcl_actions *actions)
{
  rcl_protocol_step(rcl_protocol_named("none"), config, state, event, actions, false);
  if (event->kind == RCL_EVENT_START && config->self == 0)
    rcl_send_control(actions, 1, 1, 0, 0);
  if (event->kind == RCL_EVENT_CONTROL)
    rcl_send_control(actions, event->peer, 1, 0, 0);
}

/* The same, and the program of rank 1 is held: */
static void mute(const struct rcl_config *config, void *state, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  chatter(config, state, event, actions);
  if (event->kind == RCL_EVENT_START && config->self == 1)
    rcl_act(actions, RCL_ACTION_HOLD); /* for ever, */
}

static void stutter(const struct rcl_config *config, void *state, const struct rcl_event *event,
                    struct rcl_actions *actions)
{
  uint64_t *held = state;
  mute(config, state, event, actions);
  if (event->kind != RCL_EVENT_CONTROL || config->self != 1)
    return;
  rcl_act(actions, *held ? RCL_ACTION_HOLD : RCL_ACTION_RELEASE); /* now and then, */
  *held = !*held;
}

static void pause_(const struct rcl_config *config, void *state, const struct rcl_event *event,
                   struct rcl_actions *actions)
{
  mute(config, state, event, actions);
  if (event->kind == RCL_EVENT_CONTROL && config->self == 1)
    rcl_act(actions, RCL_ACTION_RELEASE); /* or at first. */
}

static size_t word(const struct rcl_config *config)
{
  (void)config;
  return sizeof(uint64_t);
}

static struct rcl_protocol talkers[] = {{.name = "chatter", .step = chatter},
                                        {.name = "mute", .step = mute},
                                        {.name = "stutter", .step = stutter},
                                        {.name = "pause", .step = pause_}};

static void register_talkers(void)
{
  static const struct rcl_protocol *list[G_N_ELEMENTS(talkers) + 1];
  for (size_t i = 0; i < G_N_ELEMENTS(talkers); i++) {
    talkers[i].title = talkers[i].name;
    talkers[i].state_size = word;
    list[i] = &talkers[i];
  }
  rcl_protocol_register(list);
}

/* ---- the reference ---- */

struct edge {
  guint to;
  bool fair;
  struct move move;
};

struct node {
  GBytes *state;
  GArray *edges; /* struct edge */
  unsigned depth;
  bool bad;
};

static gpointer look_up(GHashTable *numbers, GPtrArray *nodes, GBytes *state, unsigned depth)
{
  gpointer number;
  if (g_hash_table_lookup_extended(numbers, state, NULL, &number))
    return number;
  struct node *node = g_new0(struct node, 1);
  *node = (struct node){
      .state = state, .edges = g_array_new(FALSE, FALSE, sizeof(struct edge)), .depth = depth};
  number = GUINT_TO_POINTER(nodes->len);
  g_ptr_array_add(nodes, node);
  g_hash_table_insert(numbers, state, number);
  return number;
}

static void build(struct reference *r, GPtrArray *nodes)
{
  g_autoptr(GHashTable) numbers = g_hash_table_new(g_bytes_hash, g_bytes_equal);
  look_up(numbers, nodes, save(r), 0);
  for (guint n = 0; n < nodes->len; n++) {
    struct node *node = nodes->pdata[n];
    struct verdict verdict;
    g_array_set_size(r->moves, 0);
    load(r, node->state);
    world_for_ever(r->world, &verdict);
    node->bad = verdict.kind == VERDICT_VIOLATION;
    world_moves(r->world, list_move, r);
    g_autoptr(GArray) moves = g_array_copy(r->moves);
    for (guint i = 0; i < moves->len; i++) {
      struct edge edge = {.move = g_array_index(moves, struct move, i)};
      struct move taken = edge.move;
      edge.fair = taken.kind != MOVE_CRASH && taken.kind != MOVE_FAULT;
      load(r, node->state);
      world_step(r->world, &taken, &r->actions, &verdict);
      edge.to = GPOINTER_TO_UINT(look_up(numbers, nodes, save(r), node->depth + 1));
      g_array_append_val(node->edges, edge);
    }
  }
}

/* reach[to] is set for all that `from` reaches in one move or more. */
static void mark(const GPtrArray *nodes, guint from, bool *reach)
{
  g_autoptr(GQueue) queue = g_queue_new();
  g_queue_push_tail(queue, GUINT_TO_POINTER(from));
  while (!g_queue_is_empty(queue)) {
    const struct node *node = nodes->pdata[GPOINTER_TO_UINT(g_queue_pop_head(queue))];
    for (guint i = 0; i < node->edges->len; i++) {
      guint to = g_array_index(node->edges, struct edge, i).to;
      if (!reach[to])
        g_queue_push_tail(queue, GUINT_TO_POINTER(to));
      reach[to] = true;
    }
  }
}

/* Whether `move` can happen everywhere in the component and never does within it. */
static bool leaves(const GPtrArray *nodes, const bool *inside, const struct move *move)
{
  for (guint n = 0; n < nodes->len; n++) {
    const struct node *node = nodes->pdata[n];
    bool possible = false;
    for (guint i = 0; inside[n] && i < node->edges->len; i++) {
      const struct edge *edge = &g_array_index(node->edges, struct edge, i);
      if (memcmp(&edge->move, move, sizeof *move) != 0)
        continue;
      possible = true;
      if (inside[edge->to])
        return false;
    }
    if (inside[n] && !possible)
      return false;
  }
  return true;
}

/* The component of `n`, if a run can stay in it against `progress`. */
static bool is_wrong(const GPtrArray *nodes, bool *const *reach, guint n, bool *inside)
{
  guint count = 0;
  bool bad = false, fair = true;
  const struct node *node = nodes->pdata[n];
  for (guint m = 0; m < nodes->len; m++) {
    inside[m] = reach[n][m] && reach[m][n];
    count += inside[m];
    bad |= inside[m] && ((const struct node *)nodes->pdata[m])->bad;
  }
  for (guint i = 0; i < node->edges->len; i++) {
    const struct edge *edge = &g_array_index(node->edges, struct edge, i);
    fair &= !edge->fair || !leaves(nodes, inside, &edge->move);
  }
  return count > 1 && bad && fair;
}

/* Length of the shortest way to such a component; -1: there is none. */
static int search(struct world *world, const struct small *small)
{
  static const char *const progress[] = {"progress", NULL};
  struct reference r;
  reference_begin(&r, world, small->crashes, small->timers, progress);
  g_autoptr(GPtrArray) nodes = g_ptr_array_new();
  build(&r, nodes);
  g_autofree bool **reach = g_new0(bool *, nodes->len);
  g_autofree bool *inside = g_new0(bool, nodes->len);
  int least = -1;
  for (guint n = 0; n < nodes->len; n++) {
    reach[n] = g_new0(bool, nodes->len);
    mark(nodes, n, reach[n]);
  }
  for (guint n = 0; n < nodes->len && least < 0; n++) /* they stand by depth */
    if (is_wrong(nodes, reach, n, inside))
      least = (int)((const struct node *)nodes->pdata[n])->depth;
  for (guint n = 0; n < nodes->len; n++) {
    struct node *node = nodes->pdata[n];
    g_bytes_unref(node->state);
    g_array_unref(node->edges);
    g_free(node);
    g_free(reach[n]);
  }
  reference_clear(&r);
  return least;
}

/* ---- tests ---- */

static void run(const struct small *small, unsigned workers, struct exploration *found)
{
  static const char *const progress[] = {"progress", NULL};
  struct world world;
  struct script *script = set_up(small, &world);
  explore(&world, small->crashes, small->timers,
          &(struct explorer_options){.properties = progress, .workers = workers}, found);
  world_clear(&world);
  script_free(script);
}

static bool same_moves(const struct exploration *a, const struct exploration *b)
{
  if (a->moves_count != b->moves_count || a->again != b->again)
    return false;
  return !a->moves_count || !memcmp(a->moves, b->moves, a->moves_count * sizeof *a->moves);
}

static void same_as_reference(const struct small *small, bool wrong)
{
  struct world world;
  struct exploration first, found;
  struct script *script = set_up(small, &world);
  int stem = search(&world, small);
  world_clear(&world);
  script_free(script);
  run(small, 1, &first);
  ok((stem >= 0) == wrong, "%s, %u crashes: the reference finds %s", small->protocol,
     small->crashes, wrong ? "a run that goes round for ever" : "none that goes round for ever");
  if (!ok(wrong ? first.verdict == EXPLORER_VIOLATED && first.again > 0 &&
                      (int)(first.moves_count - first.again) == stem
                : first.verdict == EXPLORER_HOLDS,
          "%s, %u crashes: and so does the explorer", small->protocol, small->crashes))
    note("verdict %d, %u moves, %u of them again, the reference has %d before", first.verdict,
         first.moves_count, first.again, stem);
  for (unsigned workers = 2; workers <= 3; workers++) {
    run(small, workers, &found);
    ok(found.verdict == first.verdict && same_moves(&found, &first),
       "%s, %u crashes: the same with %u workers", small->protocol, small->crashes, workers);
    exploration_clear(&found);
  }
  exploration_clear(&first);
}

static void memory(void)
{
  const struct small small = {"chatter", 2,     0, 0,
                              false,     false, 0, "rank 0: send 1\nrank 1: recv 0"};
  static const char *const progress[] = {"progress", NULL};
  struct world world;
  struct exploration found;
  struct script *script = set_up(&small, &world);
  explore(&world, 0, 0, &(struct explorer_options){.properties = progress, .max_bytes = 1 << 16},
          &found);
  ok(found.verdict == EXPLORER_INCONCLUSIVE, "where memory is short, it says so");
  exploration_clear(&found);
  world_clear(&world);
  script_free(script);
}

int main(void)
{
  static const char script[] = "rank 0: send 1, recv 1\nrank 1: recv 0, send 0";
  g_autoptr(GError) error = NULL;
  if (!plugin_mutants(&error)) {
    printf("Bail out! %s\n", error->message);
    return 1;
  }
  register_talkers();
  for (unsigned crashes = 0; crashes < 2; crashes++) {
    same_as_reference(&(struct small){"chatter", 2, crashes, 0, false, false, 0, script}, false);
    same_as_reference(&(struct small){"mute", 2, crashes, 0, false, false, 0, script}, true);
    same_as_reference(&(struct small){"stutter", 2, crashes, 0, false, false, 0, script}, true);
    same_as_reference(&(struct small){"pause", 2, crashes, 0, false, false, 0, script}, false);
  }
  same_as_reference(&(struct small){"bookmark", 2, 0, 1, false, true, 0, script}, false);
  same_as_reference(&(struct small){"bookmark~until-equal", 2, 0, 1, false, true, 0, script}, true);
  same_as_reference(&(struct small){"bookmark~asks-again", 2, 0, 1, false, true, 0, script}, true);
  memory();
  return done();
}
