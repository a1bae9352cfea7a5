/* Compares the judgement of runs that repeat for ever with a simpler search that does not use
 * components: it finds all states that each state reaches, forwards and backwards. */
#include <errno.h>
#include <unistd.h>

#include "base/components.h"
#include "protocols/parts/act.h"
#include "protocols/t/tap.h"
#include "verify/reduce/recurrence.h"
#include "verify/t/reference.h"
#include "world/scenario/plugin.h"

/* ---- protocols that never fall silent ---- */

/* Steps a protocol in which ranks 0 and 1 write to each other for ever. */
static void chatter(const struct rcl_config *config, void *state, const struct rcl_event *event,
                    struct rcl_actions *actions)
{
  rcl_protocol_step(rcl_protocol_named("none"), config, state, event, actions, false);
  if (event->kind == RCL_EVENT_START && config->self == 0)
    rcl_send_control(actions, 1, 1, 0, 0);
  if (event->kind == RCL_EVENT_CONTROL)
    rcl_send_control(actions, event->peer, 1, 0, 0);
}

/* Steps `chatter`, and holds the program of rank 1 for ever. */
static void mute(const struct rcl_config *config, void *state, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  chatter(config, state, event, actions);
  if (event->kind == RCL_EVENT_START && config->self == 1)
    rcl_act(actions, RCL_ACTION_HOLD);
}

/* Steps `mute`, but now and then releases the program. */
static void stutter(const struct rcl_config *config, void *state, const struct rcl_event *event,
                    struct rcl_actions *actions)
{
  uint64_t *held = state;
  mute(config, state, event, actions);
  if (event->kind != RCL_EVENT_CONTROL || config->self != 1)
    return;
  rcl_act(actions, *held ? RCL_ACTION_HOLD : RCL_ACTION_RELEASE);
  *held = !*held;
}

/* Steps `mute`, but releases the program at the first control message. */
static void pause_(const struct rcl_config *config, void *state, const struct rcl_event *event,
                   struct rcl_actions *actions)
{
  mute(config, state, event, actions);
  if (event->kind == RCL_EVENT_CONTROL && config->self == 1)
    rcl_act(actions, RCL_ACTION_RELEASE);
}

/* Limits a protocol in which a message goes to and fro while it is answered. A lot decides what
 * each rank does. */
enum { LOTS = 5 };

struct lot {
  uint8_t next, answer; /* the new state of the rank, and its answer, or 0 if there is none */
  bool turns;           /* the rank holds its program, or releases it */
};

static struct lot lots[2][LOTS][LOTS], started[2];
static uint8_t moved[2][LOTS]; /* new states at events of the program */

static void draw_lot(GRand *rand, struct lot *lot)
{
  *lot = (struct lot){
      .next = (uint8_t)g_rand_int_range(rand, 0, LOTS),
      .answer = (uint8_t)(g_rand_int_range(rand, 0, 5) ? g_rand_int_range(rand, 1, LOTS) : 0),
      .turns = !g_rand_int_range(rand, 0, 4)};
}

static void draw_lots(guint32 seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  for (int rank = 0; rank < 2; rank++) {
    draw_lot(rand, &started[rank]);
    for (int state = 0; state < LOTS; state++) {
      moved[rank][state] =
          (uint8_t)(g_rand_int_range(rand, 0, 2) ? state : g_rand_int_range(rand, 0, LOTS));
      for (int word = 0; word < LOTS; word++)
        draw_lot(rand, &lots[rank][state][word]);
    }
  }
}

static void gambler(const struct rcl_config *config, void *state, const struct rcl_event *event,
                    struct rcl_actions *actions)
{
  uint8_t *at = state, *held = at + 1;
  int self = config->self;
  rcl_protocol_step(rcl_protocol_named("none"), config, state, event, actions, false);
  const struct lot *lot = event->kind == RCL_EVENT_START     ? &started[self]
                          : event->kind == RCL_EVENT_CONTROL ? &lots[self][*at][event->value]
                                                             : NULL;
  *at = lot ? lot->next : moved[self][*at];
  if (event->kind == RCL_EVENT_START)
    *held = 0;
  if (lot && lot->turns) {
    rcl_act(actions, *held ? RCL_ACTION_RELEASE : RCL_ACTION_HOLD);
    *held = !*held;
  }
  if (lot && lot->answer && (event->kind == RCL_EVENT_CONTROL || !self))
    rcl_send_control(actions, !self, 1, 0, lot->answer);
}

static size_t word(const struct rcl_config *config)
{
  (void)config;
  return sizeof(uint64_t);
}

static struct rcl_protocol talkers[] = {{.name = "chatter", .step = chatter},
                                        {.name = "mute", .step = mute},
                                        {.name = "stutter", .step = stutter},
                                        {.name = "pause", .step = pause_},
                                        {.name = "gambler", .step = gambler}};

static void register_talkers(void)
{
  static const char *const controls[] = {"none", "word", NULL};
  static const struct rcl_protocol *list[G_N_ELEMENTS(talkers) + 1];
  for (size_t i = 0; i < G_N_ELEMENTS(talkers); i++) {
    talkers[i].title = talkers[i].name;
    talkers[i].controls = controls;
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
      if (verdict.kind == VERDICT_VIOLATION) /* a violation must not stop the search */
        g_error("%s, rank %d: %s", verdict.property, verdict.rank, verdict.text);
      edge.to = GPOINTER_TO_UINT(look_up(numbers, nodes, save(r), node->depth + 1));
      g_array_append_val(node->edges, edge);
    }
  }
}

/* Sets reach[to] for all nodes that `from` reaches in one move or more. */
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

/* Returns whether `move` can happen everywhere in the component and never does within it. */
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

/* Returns whether a run can stay in the component of `n` and violate `progress`. Sets `inside` to
 * that component. */
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

/* Returns the length of the shortest way to such a component, or -1 if there is none. */
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
  for (guint n = 0; n < nodes->len && least < 0; n++) /* nodes are in the order of depth */
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

static const char *const progress[] = {"progress", NULL};

static void explore_small(const struct small *small, const struct explorer_options *options,
                          struct exploration *found)
{
  struct world world;
  struct script *script = set_up(small, &world);
  explore(&world, small->crashes, small->timers, options, found);
  world_clear(&world);
  script_free(script);
}

static void run(const struct small *small, unsigned workers, struct exploration *found)
{
  explore_small(small, &(struct explorer_options){.properties = progress, .workers = workers},
                found);
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

/* Saves at the end of each level except the last ones. */
static void stop_early(const struct small *small, struct explorer_options *options,
                       const struct exploration *all, const char *save)
{
  struct exploration found;
  options->save = save;
  options->max_states = all->states - 1;
  explore_small(small, options, &found);
  exploration_clear(&found);
  options->max_states = 0;
}

/* Returns whether a search that goes on from a save has the same result as a search without a
 * save. */
static bool resumes(const struct small *small, const struct exploration *all)
{
  static const char save[] = "liveness-test-save";
  struct explorer_options options = {.properties = progress, .workers = 2};
  struct exploration found;
  stop_early(small, &options, all, save);
  explore_small(small, &options, &found);
  bool same = found.resumed && found.verdict == all->verdict && same_moves(&found, all);
  exploration_clear(&found);
  return same;
}

/* Returns whether a search that goes on from a save judges as a search without a save. The world
 * counts as large, so steps alone decide. If runs go round, neither search may say that progress
 * was judged. */
static bool resumes_large(const struct small *small, const struct exploration *all)
{
  static const char save[] = "liveness-test-save";
  struct explorer_options options = {.properties = progress, .workers = 2, .max_cycles = 1};
  struct exploration once, found;
  explore_small(small, &options, &once);
  stop_early(small, &options, all, save);
  explore_small(small, &options, &found);
  bool goes_round = all->verdict == EXPLORER_VIOLATED;
  bool same = found.resumed && found.verdict == EXPLORER_HOLDS && once.verdict == EXPLORER_HOLDS &&
              found.recurs == once.recurs && found.cycles == once.cycles &&
              found.cycles == !found.recurs && (found.recurs || !goes_round);
  exploration_clear(&once);
  exploration_clear(&found);
  return same;
}

/* Removes the files in a folder. An inconclusive search leaves its save and the states that the
 * save names. */
static void remove_files(const char *folder)
{
  g_autoptr(GDir) files = g_dir_open(folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(files));)
    remove(name);
}

/* Returns whether a search with all states on disk, which goes on from a save, finds the same or
 * says that memory does not suffice. */
static bool spills(const struct small *small, const struct exploration *all)
{
  static const char save[] = "liveness-test-save";
  struct explorer_options options = {
      .properties = progress, .max_bytes = 1 << 20, .disk = "liveness-test"};
  struct exploration found;
  stop_early(small, &options, all, save);
  explore_small(small, &options, &found);
  bool fine = found.resumed && found.archived == all->states &&
              (found.verdict == EXPLORER_INCONCLUSIVE ? !strcmp(found.bound, "memory")
                                                      : found.verdict == all->verdict);
  exploration_clear(&found);
  remove_files(".");
  return fine;
}

/* Tests randomly drawn protocols in three ways: by steps alone, by all states, and with two
 * workers. */
static void by_lot(void)
{
  static const struct small small = {
      "gambler", 2, 1, 0, false, false, 0, "rank 0: send 1, recv 1\nrank 1: recv 0, send 0"};
  enum { DRAWN = 60 };
  unsigned violated = 0, right = 0, same = 0, resumed = 0, large = 0, disk = 0;
  for (guint32 seed = 1; seed <= DRAWN; seed++) {
    struct world world;
    struct exploration one, two;
    draw_lots(seed);
    struct script *script = set_up(&small, &world);
    int stem = search(&world, &small);
    world_clear(&world);
    script_free(script);
    run(&small, 1, &one);
    explore_small(&small,
                  &(struct explorer_options){.properties = progress, .workers = 2, .audit = true},
                  &two);
    violated += stem >= 0;
    right += stem >= 0
                 ? one.verdict == EXPLORER_VIOLATED && (int)(one.moves_count - one.again) == stem
                 : one.verdict == EXPLORER_HOLDS;
    same += one.verdict == two.verdict && same_moves(&one, &two);
    resumed += resumes(&small, &one);
    large += resumes_large(&small, &one);
    disk += spills(&small, &one);
    exploration_clear(&one);
    exploration_clear(&two);
  }
  ok(violated >= DRAWN / 10 && violated < DRAWN / 10 * 9,
     "of %d protocols drawn by lot, %u go round for ever", DRAWN, violated);
  ok(right == DRAWN, "the explorer and the reference agree on %u", right);
  ok(resumed == DRAWN, "a search that goes on from a save, on %u", resumed);
  ok(large == DRAWN, "where states are too many to look at, by its steps, on %u", large);
  ok(disk == DRAWN, "with states on disk %u are right, or inconclusive", disk);
  ok(same == DRAWN, "two workers, and a search of all states, on %u", same);
}

/* ---- steps ---- */

/* Returns whether some of the first `count` steps can be repeated for ever. */
static bool recur(const struct recurrence_change (*steps)[2], int count)
{
  struct recurrence *r = recurrence_new(NULL);
  for (int i = 0; i < count; i++)
    recurrence_add(r, steps[i], steps[i][1].part ? 2 : 1);
  bool left = recurrence_solve(r);
  recurrence_free(r);
  return left;
}

static void steps(void)
{
  static const struct recurrence_change coupled[][2] = {
      {{1, 7, 8}}, {{1, 8, 7}, {2, 1, 2}}, {{2, 2, 1}, {3, 5, 6}}, {{4, 6, 5}}, {{3, 6, 5}}};
  for (int count = 0; count < 5; count++)
    ok(!recur(coupled, count), "%d steps, of which each needs another one", count);
  ok(recur(coupled, 5), "and all that they need");
}

/* ---- components of graphs ---- */

enum { NODES = 40 };

struct graph {
  unsigned edges[NODES];
  uint64_t to[NODES][NODES];
  uint32_t number[NODES];
  /* numbers of reported components of several nodes, and of nodes in them */
  size_t larger, inside;
};

static bool next_edge(void *ctx, uint64_t node, uint32_t *edge, uint64_t *to)
{
  const struct graph *g = ctx;
  if (*edge == g->edges[node])
    return false;
  *to = g->to[node][(*edge)++];
  if (*edge == g->edges[node] && node % 2) /* tells at once that this edge is the last */
    *edge = EDGE_NONE;
  return true;
}

static void count_component(void *ctx, const uint64_t *nodes, size_t count)
{
  struct graph *g = ctx;
  g->larger++;
  for (size_t i = 0; i < count; i++)
    g->inside += g->number[nodes[i]] == g->number[nodes[0]];
}

/* Returns whether two nodes have equal numbers exactly if they reach each other. */
static bool are_right(const struct graph *g)
{
  bool reach[NODES][NODES] = {{false}};
  size_t inside = 0;
  for (int i = 0; i < NODES; i++)
    for (unsigned n = 0; n < g->edges[i]; n++)
      reach[i][g->to[i][n]] = true;
  for (int k = 0; k < NODES; k++)
    for (int i = 0; i < NODES; i++)
      for (int j = 0; j < NODES; j++)
        reach[i][j] |= reach[i][k] && reach[k][j];
  for (int i = 0; i < NODES; i++) {
    bool alone = true;
    for (int j = 0; j < NODES; j++) {
      bool both = reach[i][j] && reach[j][i];
      if (i != j && both != (g->number[i] == g->number[j] && g->number[i] != COMPONENT_ALONE))
        return false;
      alone &= i == j || !both;
    }
    inside += !alone;
  }
  return g->inside == inside && (g->larger > 0) == (inside > 0);
}

static void components(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);
  unsigned right = 0, larger = 0;
  enum { GRAPHS = 500 };
  for (int n = 0; n < GRAPHS; n++) {
    struct graph g = {.larger = 0};
    uint32_t last = COMPONENT_ALONE;
    int edges = g_rand_int_range(rand, 0, 3 * NODES);
    for (int i = 0; i < edges; i++) {
      int from = g_rand_int_range(rand, 0, NODES);
      if (g.edges[from] < NODES)
        g.to[from][g.edges[from]++] = (uint64_t)g_rand_int_range(rand, 0, NODES);
    }
    struct components search = {
        .number = g.number, .last = &last, .ctx = &g, .edge = next_edge, .found = count_component};
    for (uint64_t node = 0; node < NODES; node++)
      components_from(&search, node);
    components_clear(&search);
    right += are_right(&g) && last == COMPONENT_ALONE - g.larger && !search.stopped;
    larger += g.larger > 1;
  }
  ok(right == GRAPHS && larger > GRAPHS / 10, "components of %u graphs", right);
  struct graph ring = {.larger = 0};
  uint32_t last = COMPONENT_ALONE;
  size_t left = 16;
  ring.edges[0] = ring.edges[1] = 1;
  ring.to[0][0] = 1;
  struct components search = {.number = ring.number,
                              .last = &last,
                              .left = &left,
                              .ctx = &ring,
                              .edge = next_edge,
                              .found = count_component};
  components_from(&search, 0);
  ok(search.stopped && !ring.larger, "without memory the search stops");
  components_clear(&search);
}

static void memory(void)
{
  const struct small small = {"chatter", 2,     0, 0,
                              false,     false, 0, "rank 0: send 1\nrank 1: recv 0"};
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
  g_autofree char *folder = g_dir_make_tmp("recline-liveness-XXXXXX", NULL);
  if (chdir(folder) != 0)
    g_error("%s: %s", folder, strerror(errno));
  by_lot();
  rmdir(folder);
  steps();
  components();
  memory();
  return done();
}
