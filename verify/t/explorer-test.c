/* Compares the explorer with a search that has none of its optimisations (no interning, no memory
 * of steps, complete states as byte strings in one set), and with counts made by hand. */
#define _GNU_SOURCE /* mallinfo2 */
#include <glib.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "protocols/parts/act.h"
#include "protocols/t/tap.h"
#include "verify/explore/explorer.h"
#include "verify/explore/search.h"
#include "verify/state/fingerprint.h"
#include "verify/state/frontier.h"
#include "verify/state/model.h"
#include "verify/state/transition_cache.h"
#include "verify/state/visited.h"
#include "verify/t/reference.h"
#include "verify/t/snapshot_count.h"
#include "world/rules/in_place.h"
#include "world/scenario/plugin.h"

/* ---- worlds ---- */

static void run_with(const struct small *small, const struct explorer_options *options,
                     struct exploration *found)
{
  struct world world;
  struct script *script = set_up(small, &world);
  explore(&world, small->crashes, small->timers, options, found);
  world_clear(&world);
  script_free(script);
}

static void run(const struct small *small, unsigned workers, const char *const *properties,
                struct exploration *found)
{
  run_with(small, &(struct explorer_options){.properties = properties, .workers = workers}, found);
}

static const char *const nothing[] = {NULL};

/* Explores in a process of its own. Returns true if that ends with a breach. */
static bool breaches(const struct small *small, const struct explorer_options *options)
{
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    struct exploration found;
    close(STDERR_FILENO);
    run_with(small, options, &found);
    _exit(0);
  }
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

/* ---- tests ---- */

static void same_as_reference(void)
{
  static const struct small worlds[] = {
      {"none", 2, 0, 0, false, true, 0, "rank 0: send 1\nrank 1: recv 0"},
      {"none", 3, 1, 0, false, true, 0, "rank 0: recv any, recv any\nrank *: send 0"},
      {"bookmark", 2, 0, 1, false, true, 0, "rank 0: send 1, recv 1\nrank 1: send 0, recv 0"},
      {"bookmark", 2, 1, 1, true, true, 0, "rank 0: send 1, send 1 tag 1\nrank 1: recv 0 tag any"},
      {"c3", 2, 0, 1, false, false, 0,
       "rank 0: checkpoint, send 1, recv any\nrank 1: send 0, checkpoint, recv 0"},
      {"c3", 2, 1, 1, false, false, 0, "rank 0: checkpoint, choose 2, send 1\nrank 1: recv 0"},
      {"c3", 2, 0, 1, false, false, FAULT_DROP | FAULT_DUPLICATE | FAULT_EARLY_DURABLE,
       "rank 0: irecv a 1, checkpoint, wait a\nrank 1: checkpoint, send 0"},
      {"cl-t", 3, 0, 1, false, false, 0, "rank *: free 1"},
      {"chandy-lamport", 2, 1, 1, false, true, 0, "rank 0: send 1 tag 1, send 1\nrank 1: recv 0"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(worlds); i++) {
    struct world world;
    struct exploration found;
    uint64_t states, transitions;
    struct script *script = set_up(&worlds[i], &world);
    plain_search(&world, worlds[i].crashes, worlds[i].timers, &states, &transitions, NULL);
    world_clear(&world);
    script_free(script);
    for (unsigned workers = 1; workers <= 3; workers++) {
      run(&worlds[i], workers, nothing, &found);
      ok(found.states == states && found.transitions == transitions,
         "%s, %d ranks, %u workers: %" G_GUINT64_FORMAT " states, %" G_GUINT64_FORMAT
         " transitions, as the reference search",
         worlds[i].protocol, worlds[i].ranks, workers, states, transitions);
      if (found.states != states || found.transitions != transitions)
        note("the explorer has %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT, found.states,
             found.transitions);
      exploration_clear(&found);
    }
  }
}

static void counts(const struct small *small, uint64_t states, uint64_t transitions, unsigned depth,
                   const char *what)
{
  struct exploration found;
  run(small, 1, nothing, &found);
  if (!ok(found.states == states && found.transitions == transitions && found.depth == depth, "%s",
          what))
    note("%" G_GUINT64_FORMAT " states, %" G_GUINT64_FORMAT " transitions, depth %u", found.states,
         found.transitions, found.depth);
  exploration_clear(&found);
}

/* ---- what the explorer remembers ---- */

/* Steps a protocol that breaks the rule of purity: it keeps data outside of its state. */
static uint32_t steps_taken;

static void cheat(const struct rcl_config *config, void *state, const struct rcl_event *event,
                  struct rcl_actions *actions)
{
  rcl_protocol_step(rcl_protocol_named("none"), config, state, event, actions, false);
  if (event->kind == RCL_EVENT_SAFE_POINT)
    *(uint64_t *)state = 1 + steps_taken++ % 2;
}

static size_t cheat_bytes(const struct rcl_config *config)
{
  (void)config;
  return 8;
}

static const struct small cheated = {
    "cheat", 2,
    0,       0,
    false,   true,
    0,       "rank 0: send 1, send 1, recv 1, recv 1\nrank 1: send 0, send 0, recv 0, recv 0"};

/* Returns whether the world reads the state of `values`, and nothing that a step has edited. */
static bool reads_values(struct transition_cache *m)
{
  bool right = true;
  for (uint32_t part = 0; part < m->count; part++) {
    uint32_t size;
    const struct interned *item = &m->parts.item[m->values[part]];
    const void *bytes = m->world->memory.read(m, part, &size);
    right &= size == item->size && (!size || !memcmp(bytes, item->bytes, size));
  }
  return right;
}

/* Tests that a step that is not applied changes nothing, also if an audit repeats the step. */
static void steps_not_applied(void)
{
  static const struct small small = {"none", 2,    0, 0,
                                     false,  true, 0, "rank 0: send 1\nrank 1: recv 0"};
  struct world world;
  struct transition_cache m;
  struct script *script = set_up(&small, &world);
  transition_cache_init(&m, &world, 0, 0);
  m.audit = true;
  bool right = true;
  uint32_t steps = 0;
  for (uint32_t rank = 0; rank < 2; rank++) {
    const struct enabled_list turn = *transition_cache_list(&m, rank * 3);
    for (uint32_t i = 0; i < 2 * turn.count; i++, steps++) {
      transition_cache_step(&m, m.list_moves[turn.first + i / 2]);
      right &= reads_values(&m);
    }
  }
  ok(steps && right, "a step that is not applied is not read, nor is its audit");
  transition_cache_clear(&m);
  world_clear(&world);
  script_free(script);
}

/* Takes the first move of an origin, from `origin` on, in the state that is loaded. */
static void take_from(struct transition_cache *m, uint32_t origin, uint32_t origins)
{
  for (uint32_t i = 0; i < origins; i++) {
    const struct enabled_list turn = *transition_cache_list(m, (origin + i) % origins);
    if (!turn.count)
      continue;
    transition_cache_apply(m, transition_cache_step(m, m->list_moves[turn.first]));
    return;
  }
}

/* Tests that different values of a component have different digests, whichever parts differ. */
static void digests(void)
{
  enum { MOVES = 400, ORIGINS = 2 * 3 };
  static const struct small small = {
      "bookmark", 2,    0, 2,
      false,      true, 0, "rank 0: send 1, recv 1, send 1\nrank 1: send 0, recv 0, recv 0"};
  struct world world;
  struct model model;
  struct script *script = set_up(&small, &world);
  const struct explorer_options options = {.properties = nothing};
  model_init(&model, &world, &options, 0, small.timers);
  for (uint32_t i = 0; i < MOVES; i++) {
    uint32_t numbers[model.components];
    take_from(&model.rules_cache, i * 7, ORIGINS);
    model_store_numbers(&model, numbers);
  }
  uint32_t count = 0;
  bool right = true;
  for (uint32_t c = 0; c < model.components; c++) {
    struct intern all = {0};
    uint32_t values = model.component[c].values.count;
    for (uint32_t number = 0; number < values; number++) {
      uint64_t digest = model_digest(&model, c, number);
      intern(&all, &digest, sizeof digest);
    }
    right &= all.count == values;
    count += values;
    intern_clear(&all);
  }
  ok(right && count > 2 * model.components, "%u values of components have digests of their own",
     count);
  model_clear(&model);
  world_clear(&world);
  script_free(script);
}

static void audit(void)
{
  static struct rcl_protocol cheat_protocol;
  static const struct rcl_protocol *const list[] = {&cheat_protocol, NULL};
  cheat_protocol = *rcl_protocol_named("none");
  cheat_protocol.name = "cheat";
  cheat_protocol.step = cheat;
  cheat_protocol.state_size = cheat_bytes;
  rcl_protocol_register(list);
  const struct explorer_options options = {.properties = nothing, .audit = true};
  struct exploration found;
  run_with(&cheated, &options, &found);
  ok(found.verdict == EXPLORER_VIOLATED && !strcmp(found.why.property, "pure"),
     "a protocol that remembers something elsewhere is found out: %s", found.why.text);
  exploration_clear(&found);
  struct small honest = cheated;
  honest.protocol = "c3";
  ok(!breaches(&honest, &options), "one that does not is not");
}

/* Returns the size of the state of a protocol in which one rank takes a checkpoint by itself. A
 * START from an image without outputs resets the state. A START from an image with outputs keeps
 * it, and the rank stays held. */
static size_t word_bytes(const struct rcl_config *config)
{
  (void)config;
  return sizeof(uint64_t);
}

static void holds_outputs(const struct rcl_config *config, void *memory,
                          const struct rcl_event *event, struct rcl_actions *actions)
{
  uint64_t *captured = memory;
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START:
    *captured = event->output ? *captured : 0;
    if (*captured)
      rcl_act(actions, RCL_ACTION_HOLD);
    rcl_act(actions, RCL_ACTION_SET_TIMER);
    break;
  case RCL_EVENT_TIMER:
    rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = 1;
    break;
  case RCL_EVENT_CAPTURED:
    *captured = 1;
    rcl_act(actions, RCL_ACTION_STORE)->checkpoint = 1;
    break;
  case RCL_EVENT_DURABLE:
    rcl_act(actions, RCL_ACTION_COMMIT)->checkpoint = 1;
    break;
  default:
    break;
  }
  (void)config;
}

/* Tests that an audit finds a wrong canonical form of states. `blind` makes the form wrong: no
 * START from an image with outputs is tried for it. */
static void audit_merges(void)
{
  static const char *const deadlock[] = {"deadlock", NULL};
  static struct rcl_protocol outputs;
  static const struct rcl_protocol *const list[] = {&outputs, NULL};
  static const struct small small = {"holds-outputs", 1,    1, 1,
                                     false,           true, 0, "rank 0: output, choose 1"};
  outputs = *rcl_protocol_named("none");
  outputs.name = "holds-outputs";
  outputs.level = RCL_LEVEL_CHANNEL;
  outputs.step = holds_outputs;
  outputs.state_size = word_bytes;
  rcl_protocol_register(list);
  struct exploration found;
  run_with(&small, &(struct explorer_options){.properties = deadlock, .blind = true}, &found);
  ok(found.verdict == EXPLORER_HOLDS, "a wrong canonical form hides a violation");
  exploration_clear(&found);
  ok(breaches(&small,
              &(struct explorer_options){.properties = nothing, .blind = true, .audit = true}),
     "an audit finds it");
  run_with(&small, &(struct explorer_options){.properties = deadlock, .audit = true}, &found);
  ok(found.verdict == EXPLORER_VIOLATED, "the right one shows the violation, also in an audit");
  exploration_clear(&found);
}

static void by_hand(void)
{
  counts(&(struct small){"none", 1, 0, 0, false, false, 0, "rank 0:"}, 2, 2, 1,
         "an empty program: before and after its start, and a place in the latter");
  /* The sender is new, has started, or has sent. The receiver is new, has started, has posted, or
   * was given the message, which happens only after the send: 3 x 3 + 1 = 10 states. The sender
   * steps 2 x 3 times, the receiver 2 x 3 times, and there is 1 delivery. A finished rank is at a
   * place for checkpoints: the sender in 4 states, the receiver in 1. So there are 18 transitions.
   */
  const struct small message = {"none", 2, 0, 0, false, false, 0, "rank 0: send 1\nrank 1: recv 0"};
  counts(&message, 10, 18, 5, "one message: 10 states, 18 transitions, depth 5");
  /* If places are anywhere, every started rank has one more move: in 3 + 4 states of the sender,
   * and in 3 + 3 + 1 of the receiver. */
  struct small anywhere = message;
  anywhere.anywhere = true;
  counts(&anywhere, 10, 27, 5, "one message, places anywhere: 27 transitions");
}

/* ---- worlds whose numbers of states are known ---- */

struct known {
  const char *protocol;
  int ranks, messages; /* messages that each rank may send */
  uint64_t states, transitions;
  unsigned depth;
  bool is_long;
};

/* number of states on which SPIN, TLC, LTSmin, Rumur and two C programs agree, for each K up to 5,
 * or 0 if it is unknown */
static void reference_worlds(void)
{
  static const struct known worlds[] = {
      {"cl-c", 3, 1, 4000, 18076, 13, false},
      {"cl-c", 3, 2, 96860, 573316, 19, false},
      {"cl-c", 3, 3, 1146220, 7874900, 25, false},
      {"cl-c", 3, 4, 8753360, 66182585, 31, true},
      {"cl-c", 3, 5, 49545664, 400613024, 37, true},
      {"cl-c", 3, 6, 225227520, 1914137568, 43, true},
      {"cl-c", 4, 1, 3962692, 0, 0, true},
      {"cl-t", 3, 1, 16543, 0, 0, false},
      {"cl-t", 3, 2, 1347259, 0, 0, false},
      {"cl-t", 3, 3, 45671116, 0, 0, true},
      {"cl-t", 4, 1, 50498740, 0, 0, true},
  };
  static const char *const claims[] = {"invariant", "tokens", NULL};
  for (size_t i = 0; i < G_N_ELEMENTS(worlds); i++) {
    const struct known *known = &worlds[i];
    if (known->is_long && !g_getenv("RECLINE_LONG"))
      continue;
    g_autofree char *script = g_strdup_printf("rank *: free %d", known->messages);
    struct exploration found;
    run(&(struct small){known->protocol, known->ranks, 0, 1, false, false, 0, script}, 2, claims,
        &found);
    bool fine = found.verdict == EXPLORER_HOLDS && found.states == known->states &&
                (!known->transitions || found.transitions == known->transitions) &&
                (!known->depth || found.depth == known->depth);
    if (!ok(fine, "%s, %d ranks, %d messages each: %" G_GUINT64_FORMAT " states", known->protocol,
            known->ranks, known->messages, known->states))
      note("%" G_GUINT64_FORMAT " states, %" G_GUINT64_FORMAT " transitions, depth %u",
           found.states, found.transitions, found.depth);
    exploration_clear(&found);
  }
}

/* Returns a script in which each rank may send that many messages. */
static char *free_script(int ranks, const int *most)
{
  GString *script = g_string_new(NULL);
  for (int rank = 0; rank < ranks; rank++)
    g_string_append_printf(script, "rank %d: free %d\n", rank, most[rank]);
  return g_string_free(script, FALSE);
}

/* Compares the counts for cl-c with a formula, which agrees with the other programs. */
static void formula(void)
{
  static const struct {
    int ranks, most[SNAPSHOT_RANKS];
    uint64_t states;
  } known[] = {
      {3, {1, 1, 1}, 4000},      {3, {2, 2, 2}, 96860},      {3, {3, 3, 3}, 1146220},
      {3, {4, 4, 4}, 8753360},   {3, {5, 5, 5}, 49545664},   {3, {6, 6, 6}, 225227520},
      {3, {6, 7, 7}, 569098656}, {4, {1, 1, 1, 1}, 3962692},
  };
  bool same = true;
  for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
    same &= snapshot_count(known[i].ranks, known[i].most) == known[i].states;
  ok(same, "a formula gives the same numbers of states of cl-c");
  static const char *const claims[] = {"invariant", NULL};
  static const int uneven[][3] = {{0, 1, 3}, {3, 0, 1}, {1, 4, 2}, {12, 15}};
  for (size_t i = 0; i < G_N_ELEMENTS(uneven); i++) {
    const int ranks = uneven[i][2] ? 3 : 2, *most = uneven[i];
    g_autofree char *script = free_script(ranks, most);
    struct exploration found;
    run(&(struct small){"cl-c", ranks, 0, 1, false, false, 0, script}, 2, claims, &found);
    ok(found.verdict == EXPLORER_HOLDS && found.states == snapshot_count(ranks, most),
       "also with %d, %d and %d messages: %" G_GUINT64_FORMAT, most[0], most[1], uneven[i][2],
       found.states);
    exploration_clear(&found);
  }
}

/* Explores very large worlds if the user asks for it. RECLINE_LARGEST=memory explores more than two
 * billion states within 20 GiB. RECLINE_LARGEST=FOLDER explores more than five billion states
 * within 14 GiB of memory and some 25 GB in the folder. The world in memory has two ranks with many
 * messages, as states of more ranks need more than 64 bits. The world on disk has three ranks,
 * whose components have few values, which is faster. */
static void largest(void)
{
  const char *asked = g_getenv("RECLINE_LARGEST");
  if (!asked)
    return;
  bool memory = !strcmp(asked, "memory");
  static const int in_memory[] = {102, 101}, on_disk[] = {7, 7, 12};
  const int ranks = memory ? 2 : 3, *most = memory ? in_memory : on_disk;
  static const char *const claims[] = {"invariant", NULL};
  g_autofree char *script = free_script(ranks, most);
  g_autofree char *disk = memory ? NULL : g_build_filename(asked, "states", NULL);
  const struct explorer_options options = {.properties = claims,
                                           .workers = 2,
                                           .disk = disk,
                                           .max_bytes = (memory ? UINT64_C(20) : 14) << 30};
  struct exploration found;
  run_with(&(struct small){"cl-c", ranks, 0, 1, false, false, 0, script}, &options, &found);
  ok(found.verdict == EXPLORER_HOLDS && found.states == snapshot_count(ranks, most),
     "cl-c, %s messages: %" G_GUINT64_FORMAT " states, %" G_GUINT64_FORMAT
     " transitions, depth %u, in %.0f s, %.1f GB",
     memory ? "102 and 101" : "7, 7 and 12", found.states, found.transitions, found.depth,
     found.seconds, 1e-9 * (double)found.bytes);
  exploration_clear(&found);
}

/* Tests cl-t on channels without order. The tokens are wrong after one message, the first record
 * and all markers: 6 markers with three ranks, 12 with four. With four ranks SPIN's breadth-first
 * search needs more than 24 GB. */
static void without_order(void)
{
  static const char *const claims[] = {"tokens", NULL};
  for (int ranks = 3; ranks <= (g_getenv("RECLINE_LONG") ? 4 : 3); ranks++) {
    const struct small small = {"cl-t", ranks, 0, 1, false, false, 0, "rank *: free 1"};
    struct world world;
    struct exploration found;
    struct script *script = set_up(&small, &world);
    world.overtaking = true;
    explore(&world, 0, 1, &(struct explorer_options){.properties = claims, .workers = 2}, &found);
    ok(found.verdict == EXPLORER_VIOLATED && found.moves_count == (ranks == 3 ? 8 : 14),
       "cl-t, %d ranks, without order: violated after %u moves, %" G_GUINT64_FORMAT " states",
       ranks, found.moves_count, found.states);
    exploration_clear(&found);
    world_clear(&world);
    script_free(script);
  }
}

/* ---- reductions ---- */

static const char *const snapshot[] = {"invariant", "tokens", NULL};

/* Names the properties to judge. None of them is judged at the end, because bookmark still
 * discards drained messages then. */
static const char *const on_the_way[] = {"no-loss",  "legal",     "deadlock", "commits",
                                         "recovers", "invariant", NULL};

/* Compares what a reduction must not change: the verdict and, where it holds, the states at rest.
 */
static bool agree(const struct exploration *full, const struct intern *rests,
                  const struct exploration *reduced, const struct intern *left)
{
  bool same = full->verdict == reduced->verdict;
  if (full->verdict != EXPLORER_HOLDS)
    return same;
  same &= rests->count == left->count;
  for (uint32_t i = 1; i <= rests->count; i++)
    same &= intern_find(left, rests->item[i].bytes, rests->item[i].size) != 0;
  return same;
}

/* Explores with and without a reduction. Returns false if the results differ. `moves` and `names`
 * choose the reductions. */
static bool reduces(const struct small *small, const char *const *properties, bool moves,
                    bool names, bool blind, struct exploration *full, struct exploration *reduced)
{
  struct intern rests = {0}, left = {0};
  run_with(small,
           &(struct explorer_options){.properties = properties, .rests = &rests, .orbits = names},
           full);
  run_with(small,
           &(struct explorer_options){.properties = properties,
                                      .rests = &left,
                                      .stubborn = moves,
                                      .symmetry = names,
                                      .blind = blind},
           reduced);
  bool same = agree(full, &rests, reduced, &left);
  intern_clear(&rests);
  intern_clear(&left);
  free(full->moves);
  free(reduced->moves);
  return same;
}

static void reductions(void)
{
  static const struct small worlds[] = {
      {"cl-c", 3, 0, 1, false, false, 0, "rank *: free 1"},
      {"cl-t", 3, 0, 1, false, false, 0, "rank *: free 1"},
      {"cl-c", 2, 0, 1, false, false, 0, "rank *: free 4"},
      {"none", 3, 0, 0, false, false, 0, "rank 0: recv any, recv any\nrank *: send 0"},
      {"bookmark", 2, 0, 1, false, true, 0, "rank 0: send 1\nrank 1: recv 0"},
      {"c3", 2, 0, 1, false, false, 0,
       "rank 0: checkpoint, send 1, recv any\nrank 1: send 0, checkpoint, recv 0"},
      {"c3~early-forgotten", 2, 0, 1, false, false, 0,
       "rank 0: checkpoint, send 1, recv any\nrank 1: send 0, checkpoint, recv 0"},
      {"event-logging", 2, 0, 1, false, false, 0,
       "rank 0: send 1 tag 1, send 1 tag 2, checkpoint\nrank 1: irecv a 0 tag 2, recv 0 tag 1, "
       "wait a"},
      {"pessimistic", 2, 0, 0, false, false, 0, "rank 0: send 1, recv 1\nrank 1: recv 0, send 0"},
      {"none", 3, 0, 0, false, false, 0,
       "rank 0: recv any, allreduce, recv any, bcast 0\nrank *: send 0, allreduce, bcast 0"},
      {"c3", 3, 0, 1, false, false, 0,
       "rank 0: checkpoint, allreduce\nrank 1: allreduce, checkpoint\nrank 2: allreduce"},
      {"c3~barrier-now", 2, 0, 1, false, false, 0,
       "rank 0: checkpoint, barrier\nrank 1: barrier, checkpoint"},
  };
  struct exploration full, reduced;
  for (size_t i = 0; i < G_N_ELEMENTS(worlds); i++) {
    const char *const *properties = g_str_has_prefix(worlds[i].protocol, "cl-") ? snapshot
                                    : !strcmp(worlds[i].protocol, "bookmark")   ? on_the_way
                                                                                : NULL;
    bool same = reduces(&worlds[i], properties, true, false, false, &full, &reduced);
    ok(same && !reduced.unreduced && reduced.states < full.states,
       "%s: the same verdict and states at rest with %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
       " states%s%s",
       worlds[i].protocol, reduced.states, full.states, reduced.unreduced ? ", but " : "",
       reduced.unreduced ? reduced.unreduced : "");
  }
}

/* Tests the crash reduction. */
static void recoveries(void)
{
  static const struct small worlds[] = {
      {"c3", 2, 1, 1, false, false, 0,
       "rank 0: checkpoint, send 1, recv any\nrank 1: send 0, checkpoint, recv 0"},
      {"c3", 2, 2, 1, false, false, 0, "rank 0: checkpoint, send 1\nrank 1: recv 0"},
      {"c3", 3, 1, 1, false, false, 0, "rank 0: checkpoint, send 1\nrank 1: recv 0\nrank 2:"},
      {"c3", 2, 3, 1, false, false, 0, "rank 0: checkpoint, send 1\nrank 1: recv 0"},
      {"event-logging", 2, 2, 1, false, true, 0, "rank 0: send 1\nrank 1: recv 0, choose 2"},
      {"bookmark~commit-early", 2, 2, 1, false, true, 0, "rank 0: send 1\nrank 1: recv 0"},
      {"bookmark", 2, 2, 1, false, true, 0, "rank 0: send 1\nrank 1: recv 0"},
      {"event-logging", 2, 1, 1, false, false, 0,
       "rank 0: send 1, checkpoint, recv 1\nrank 1: checkpoint, recv 0, send 0"},
      {"message-tagging", 2, 1, 1, false, false, 0,
       "rank 0: send 1, checkpoint, recv 1\nrank 1: checkpoint, recv 0, send 0"},
      {"chandy-lamport", 2, 1, 1, false, true, 0, "rank 0: send 1\nrank 1: recv 0"},
      {"blocking", 2, 1, 1, false, false, 0, "rank *: checkpoint, barrier"},
      {"c3~no-hold", 2, 1, 1, false, false, 0,
       "rank 0: checkpoint, send 1, recv 1\nrank 1: recv 0, checkpoint, send 0"},
      /* Tests that a commit before the image is durable is found, although the two actions do not
       * depend on each other. */
      {"event-logging~done-early", 2, 1, 1, false, true, 0,
       "rank 0: send 1, recv 1\nrank 1: send 0, recv 0"},
      {"lai-yang~image-not-awaited", 2, 1, 1, false, true, 0,
       "rank 0: send 1, recv 1\nrank 1: send 0, recv 0"},
      /* Tests a gather, which waits for contributions. */
      {"c3", 2, 1, 1, false, false, 0,
       "rank 0: allreduce, checkpoint, bcast 0, checkpoint\n"
       "rank 1: allreduce, bcast 0, checkpoint, checkpoint"},
  };
  /* Names the reductions: stubborn sets are used before the crash, if the world has a crash and the
   * abstraction is not refused. */
  static const char *const names[G_N_ELEMENTS(worlds)] = {
      "por, recovery", "por, recovery", "por, recovery", "por, recovery", "por, recovery",
      "recovery",      "recovery",      "por, recovery", "por, recovery", "recovery",
      "por, recovery", "por, recovery", "por, recovery", "por, recovery", "por, recovery"};
  struct exploration full, reduced;
  for (size_t i = 0; i < G_N_ELEMENTS(worlds); i++) {
    bool same = reduces(&worlds[i], NULL, true, false, false, &full, &reduced);
    ok(same && !reduced.unreduced && !strcmp(reduced.reduction, names[i]) &&
           (full.verdict == EXPLORER_VIOLATED || reduced.states < full.states),
       "%s, %u crashes: the same verdict and states at rest with %" G_GUINT64_FORMAT
       " of %" G_GUINT64_FORMAT " states%s%s",
       worlds[i].protocol, worlds[i].crashes, reduced.states, full.states,
       reduced.unreduced ? ", but " : "", reduced.unreduced ? reduced.unreduced : "");
  }
}

/* Tests that the abstraction of one rank takes into account a coordinator that takes a checkpoint
 * because others ask for one. Otherwise the coordinator alone would seem to take ever more
 * checkpoints, and no message would have to come before a commit. */
static void asked_by_itself(void)
{
  static const struct small small = {"event-logging",
                                     2,
                                     1,
                                     1,
                                     false,
                                     false,
                                     0,
                                     "rank 0: checkpoint, send 1, recv 1, checkpoint\n"
                                     "rank 1: checkpoint, recv 0, send 0, checkpoint"};
  struct exploration full, reduced;
  bool same = reduces(&small, NULL, true, false, false, &full, &reduced);
  ok(same && full.verdict == EXPLORER_HOLDS && reduced.states * 4 < full.states,
     "event-logging: less than a quarter of the states: %" G_GUINT64_FORMAT
     " of %" G_GUINT64_FORMAT,
     reduced.states, full.states);
}

/* Holds the state of a protocol of two ranks. It commits a checkpoint before rank 1's image is
 * durable, but waits for that image before programs go on and before it asks for the next
 * checkpoint. So the write always ends before the next commit. The search must still see the end of
 * the write, as a recovery uses this very checkpoint. */
struct careless {
  uint32_t wanted, captured;
  uint32_t own, done, committed, durable; /* at rank 0, for the checkpoint under way */
};

enum { TAKE = 1, DONE, LATE };

static size_t careless_size(const struct rcl_config *config)
{
  (void)config;
  return sizeof(struct careless);
}

static void act(struct rcl_actions *actions, struct rcl_action action)
{
  actions->item[actions->count++] = action;
}

static void tell(struct rcl_actions *actions, const struct rcl_config *config, uint32_t control)
{
  act(actions, (struct rcl_action){.kind = RCL_ACTION_CONTROL,
                                   .peer = (int16_t)(1 - config->self),
                                   .control = control});
}

static void careless_program(const struct rcl_event *event, struct rcl_actions *actions)
{
  if (event->kind == RCL_EVENT_SEND)
    act(actions, (struct rcl_action){.kind = RCL_ACTION_TRANSMIT});
  if (event->kind == RCL_EVENT_RECEIVE)
    act(actions, (struct rcl_action){.kind = RCL_ACTION_MATCH,
                                     .request = event->request,
                                     .peer = event->peer,
                                     .tag = event->tag});
  if (event->kind == RCL_EVENT_ARRIVED)
    act(actions, (struct rcl_action){.kind = RCL_ACTION_DELIVER, .request = event->request});
  if (event->kind == RCL_EVENT_DOWN)
    act(actions,
        (struct rcl_action){.kind = RCL_ACTION_ROLL_BACK, .checkpoint = event->checkpoint});
}

static void careless_control(const struct rcl_config *config, struct careless *state,
                             const struct rcl_event *event, struct rcl_actions *actions)
{
  if (event->kind == RCL_EVENT_TIMER)
    tell(actions, config, TAKE);
  if (event->kind == RCL_EVENT_TIMER || event->control == TAKE)
    state->wanted = true;
  if (event->control == DONE || (event->kind == RCL_EVENT_DURABLE && !config->self)) {
    *(event->control == DONE ? &state->done : &state->own) = true;
    if (state->own && state->done)
      act(actions, (struct rcl_action){.kind = RCL_ACTION_COMMIT, .checkpoint = state->captured});
  }
  if (event->kind == RCL_EVENT_DURABLE && config->self) {
    act(actions, (struct rcl_action){.kind = RCL_ACTION_RELEASE});
    tell(actions, config, LATE);
  }
  state->committed |= event->kind == RCL_EVENT_COMMITTED;
  state->durable |= event->control == LATE;
  if (state->committed && state->durable) {
    state->own = state->done = state->committed = state->durable = false;
    act(actions, (struct rcl_action){.kind = RCL_ACTION_RELEASE});
    act(actions, (struct rcl_action){.kind = RCL_ACTION_SET_TIMER});
  }
}

static void careless_step(const struct rcl_config *config, void *memory,
                          const struct rcl_event *event, struct rcl_actions *actions)
{
  struct careless *state = memory;
  careless_program(event, actions);
  if (event->kind == RCL_EVENT_START) {
    *state = (struct careless){.captured = state->captured};
    if (!config->self)
      act(actions, (struct rcl_action){.kind = RCL_ACTION_SET_TIMER});
  } else if (event->kind == RCL_EVENT_SAFE_POINT && state->wanted) {
    act(actions,
        (struct rcl_action){.kind = RCL_ACTION_CAPTURE, .checkpoint = state->captured + 1});
  } else if (event->kind == RCL_EVENT_CAPTURED) {
    state->captured = event->checkpoint;
    state->wanted = false;
    act(actions, (struct rcl_action){.kind = RCL_ACTION_HOLD});
    act(actions, (struct rcl_action){.kind = RCL_ACTION_STORE,
                                     .part = RCL_PART_IMAGE,
                                     .checkpoint = event->checkpoint});
    if (config->self)
      tell(actions, config, DONE);
  } else if (event->kind == RCL_EVENT_TIMER || event->kind == RCL_EVENT_CONTROL ||
             event->kind == RCL_EVENT_DURABLE || event->kind == RCL_EVENT_COMMITTED) {
    careless_control(config, state, event, actions);
  }
}

static void late_record(void)
{
  static const char *const controls[] = {"none", "take", "done", "late", NULL},
                           *const restorable[] = {"restorable", NULL};
  static const struct rcl_protocol careless = {.name = "careless",
                                               .title = "commits before an image is durable",
                                               .controls = controls,
                                               .state_size = careless_size,
                                               .step = careless_step};
  static const struct rcl_protocol *const list[] = {&careless, NULL};
  static const struct small small = {
      "careless", 2,
      1,          2,
      false,      false,
      0,          "rank 0: checkpoint, checkpoint, send 1\nrank 1: checkpoint, checkpoint, recv 0"};
  struct exploration full, reduced;
  rcl_protocol_register(list);
  bool same = reduces(&small, restorable, true, false, false, &full, &reduced);
  ok(same && full.verdict == EXPLORER_VIOLATED && !strcmp(reduced.reduction, "por, recovery"),
     "an image of the committed checkpoint that is not durable yet is seen: %" G_GUINT64_FORMAT
     " of %" G_GUINT64_FORMAT " states (%s)",
     reduced.states, full.states, reduced.unreduced ? reduced.unreduced : reduced.reduction);
}

/* ---- what is left over at the end ---- */

/* Holds the state of a protocol that sends each message twice, so that a message is left over at
 * the end. This message no longer counts once the receiver drains its channels. The receiver drains
 * at a control message OPEN; if vanishing_holds, only while it holds its program, which it then
 * releases. */
struct vanishing {
  uint32_t held, open;
};

enum { OPEN = 1, GO };

static bool vanishing_holds;

static size_t vanishing_size(const struct rcl_config *config)
{
  (void)config;
  return sizeof(struct vanishing);
}

static void vanishing_send(const struct rcl_config *config, struct rcl_actions *actions)
{
  act(actions, (struct rcl_action){.kind = RCL_ACTION_KEEP, .slot = 1});
  act(actions, (struct rcl_action){.kind = RCL_ACTION_TRANSMIT});
  act(actions, (struct rcl_action){
                   .kind = RCL_ACTION_RESEND, .slot = 1, .peer = (int16_t)(1 - config->self)});
  act(actions, (struct rcl_action){.kind = RCL_ACTION_FORGET, .slot = 1});
  tell(actions, config, OPEN);
  tell(actions, config, GO);
}

static void vanishing_step(const struct rcl_config *config, void *memory,
                           const struct rcl_event *event, struct rcl_actions *actions)
{
  struct vanishing *state = memory;
  bool opens = event->kind == RCL_EVENT_CONTROL && event->control == OPEN;
  if (event->kind == RCL_EVENT_SEND) {
    vanishing_send(config, actions);
    return;
  }
  careless_program(event, actions);
  if (event->kind == RCL_EVENT_ARRIVED && vanishing_holds) {
    state->held = true;
    act(actions, (struct rcl_action){.kind = RCL_ACTION_HOLD});
  }
  if (event->kind != RCL_EVENT_CONTROL || state->open || state->held != vanishing_holds)
    return;
  if (vanishing_holds)
    act(actions, (struct rcl_action){.kind = RCL_ACTION_RELEASE});
  if (opens) {
    act(actions, (struct rcl_action){.kind = RCL_ACTION_DRAIN, .peer = RCL_ANY});
    state->open = true;
  }
}

/* Tests that a protocol is explored in full if a rank can undo a violation at the end by an
 * action, whichever rank that is. With vanishing_holds only one step does so, and it leads from
 * the node of the abstraction that is found last. */
static void vanishing(void)
{
  static const char *const controls[] = {"none", "open", "go", NULL}, *const once[] = {
                                                                          "no-duplicate", NULL};
  static const struct rcl_protocol leaver = {.name = "vanishing",
                                             .title = "sends twice",
                                             .controls = controls,
                                             .state_size = vanishing_size,
                                             .step = vanishing_step};
  static const struct rcl_protocol *const list[] = {&leaver, NULL};
  static const struct small to[] = {
      {"vanishing", 2, 0, 0, false, false, 0, "rank 0: recv 1\nrank 1: send 0"},
      {"vanishing", 2, 0, 0, false, false, 0, "rank 0: send 1\nrank 1: recv 0"}};
  rcl_protocol_register(list);
  for (int which = 0; which < 4; which++) {
    struct exploration full, reduced;
    int holds = which / 2, rank = which % 2;
    vanishing_holds = holds;
    reduces(&to[rank], once, true, false, false, &full, &reduced);
    ok(full.verdict == EXPLORER_VIOLATED && reduced.verdict == EXPLORER_VIOLATED &&
           reduced.unreduced &&
           !strcmp(reduced.unreduced, "what is left over at the end may vanish later"),
       "what is left over at the end vanishes at rank %d%s: %s, %s", rank,
       holds ? " where it was held" : "",
       full.verdict == EXPLORER_VIOLATED ? full.why.text : "not violated",
       reduced.unreduced ? reduced.unreduced : reduced.reduction);
  }
}

/* Holds an additional action that a variant of bookmark takes at events of kind `extra_at`: when a
 * rank is told of a crash, or when it starts again. */
static struct rcl_action extra;
static enum rcl_event_kind extra_at;

static void goes_on(const struct rcl_config *config, void *state, const struct rcl_event *event,
                    struct rcl_actions *actions)
{
  rcl_protocol_step(rcl_protocol_named("bookmark"), config, state, event, actions, false);
  if (event->kind != extra_at || !event->checkpoint)
    return;
  memmove(actions->item + 1, actions->item,
          actions->count++ * sizeof extra); /* a roll-back is the last action */
  actions->item[0] = extra;
  if (extra.kind == RCL_ACTION_CONTROL)
    actions->item[0].peer = config->self ? 0 : 1;
  else
    actions->item[0].checkpoint = event->checkpoint;
}

/* Tests that a protocol that breaks an assumption is noticed, and that no state is left out then.
 */
static void no_recovery(void)
{
  static struct rcl_protocol talkative;
  static const struct rcl_protocol *const list[] = {&talkative, NULL};
  static const struct {
    const char *what;
    enum rcl_event_kind at;
    struct rcl_action extra;
    unsigned crashes;
  } cases[] = {
      {"goes back and sends", RCL_EVENT_DOWN, {.kind = RCL_ACTION_CONTROL}, 1},
      {"goes back and sends, twice", RCL_EVENT_DOWN, {.kind = RCL_ACTION_CONTROL}, 2},
      {"starts again and erases", RCL_EVENT_START, {.kind = RCL_ACTION_ERASE}, 2},
  };
  talkative = *rcl_protocol_named("bookmark");
  talkative.name = "talkative";
  talkative.step = goes_on;
  rcl_protocol_register(list);
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    const struct small small = {
        "talkative", 2, cases[i].crashes, 1, false, true, 0, "rank 0: send 1\nrank 1: recv 0"};
    /* a rank that cannot start again dies, and so on for ever */
    struct explorer_options options = {.properties = nothing, .max_states = 5000};
    struct exploration full, reduced;
    extra = cases[i].extra;
    extra_at = cases[i].at;
    run_with(&small, &options, &full);
    options.stubborn = true;
    run_with(&small, &options, &reduced);
    ok(full.verdict != EXPLORER_VIOLATED && reduced.unreduced && reduced.states == full.states &&
           !strcmp(reduced.reduction, "none"),
       "a rank that %s: not reduced (%s)", cases[i].what,
       reduced.unreduced ? reduced.unreduced : reduced.reduction);
    exploration_clear(&full);
    exploration_clear(&reduced);
  }
}

/* Tests how far the reference worlds are reduced. */
static void reduced_worlds(void)
{
  static const struct {
    const char *protocol;
    int ranks, messages;
    uint64_t full, por, all; /* number of states; the reductions leave 1/por and 1/all of them */
    bool is_long;
  } worlds[] = {
      {"cl-c", 3, 2, 96860, 100, 190, false},
      {"cl-t", 3, 2, 1347259, 25, 50, false},
      {"cl-t", 4, 1, 50498740, 250, 1400, false},
      {"cl-t", 3, 3, 45671116, 50, 100, true},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(worlds); i++) {
    if (worlds[i].is_long && !g_getenv("RECLINE_LONG"))
      continue;
    g_autofree char *script = g_strdup_printf("rank *: free %d", worlds[i].messages);
    const struct small small = {worlds[i].protocol, worlds[i].ranks, 0, 1, false, false, 0, script};
    struct exploration por, all, again;
    struct explorer_options options = {.properties = snapshot, .stubborn = true, .workers = 1};
    run_with(&small, &options, &por);
    options.symmetry = true;
    run_with(&small, &options, &all);
    options.workers = 2;
    run_with(&small, &options, &again);
    ok(por.verdict == EXPLORER_HOLDS && por.states * worlds[i].por <= worlds[i].full,
       "%s, %d ranks, %d messages each: %" G_GUINT64_FORMAT " states, at most 1/%" G_GUINT64_FORMAT
       " of %" G_GUINT64_FORMAT,
       worlds[i].protocol, worlds[i].ranks, worlds[i].messages, por.states, worlds[i].por,
       worlds[i].full);
    ok(all.verdict == EXPLORER_HOLDS && all.states * worlds[i].all <= worlds[i].full,
       "with symmetry %" G_GUINT64_FORMAT ", at most 1/%" G_GUINT64_FORMAT, all.states,
       worlds[i].all);
    ok(all.states == again.states && all.transitions == again.transitions,
       "the same with two workers");
    exploration_clear(&por);
    exploration_clear(&all);
    exploration_clear(&again);
    if (worlds[i].full > 10000000 && g_getenv("RECLINE_LONG"))
      ok(reduces(&small, snapshot, true, true, false, &all, &again),
         "the same states at rest as in the full search");
  }
}

/* Explores worlds that are too large for a full search, and compares the counts with recorded
 * ones. */
static void beyond(void)
{
  static const struct {
    int ranks, messages;
    uint64_t states;
  } worlds[] = {{5, 1, 868059}, {4, 2, 8801929}};
  for (size_t i = 0; i < G_N_ELEMENTS(worlds) && g_getenv("RECLINE_LONG"); i++) {
    g_autofree char *script = g_strdup_printf("rank *: free %d", worlds[i].messages);
    const struct small small = {"cl-t", worlds[i].ranks, 0, 1, false, false, 0, script};
    struct explorer_options options = {
        .properties = snapshot, .stubborn = true, .symmetry = true, .workers = 1};
    struct exploration found;
    run_with(&small, &options, &found);
    ok(found.verdict == EXPLORER_HOLDS && !found.unreduced && found.states == worlds[i].states,
       "cl-t, %d ranks, %d messages each: all %" G_GUINT64_FORMAT " states in %.0f s",
       worlds[i].ranks, worlds[i].messages, found.states, found.seconds);
    exploration_clear(&found);
  }
}

/* Tests a wrong relation that says of all moves that they are independent. It loses states at rest
 * and violations, because a snapshot depends on which messages are sent before a rank records. */
static void wrong_relation(void)
{
  struct exploration full, reduced;
  const struct small small = {"cl-t", 3, 0, 1, false, false, 0, "rank *: free 1"};
  ok(!reduces(&small, snapshot, true, false, true, &full, &reduced) && !reduced.unreduced,
     "a wrong relation of independence is found out");
}

/* Tests that each orbit of the full search is visited exactly once, with any number of workers. */
static void symmetry(void)
{
  static const struct small worlds[] = {
      {"cl-c", 3, 0, 1, false, false, 0, "rank *: free 1"},
      {"cl-t", 3, 0, 1, false, false, 0, "rank *: free 1"},
      {"cl-c", 4, 0, 1, false, false, 0, "rank 0: free 1\nrank 1: free 1\nrank *:"},
      {"cl-t", 3, 0, 1, false, false, 0, "rank 0: free 2\nrank *: free 1"},
  };
  struct exploration full, reduced;
  for (size_t i = 0; i < G_N_ELEMENTS(worlds); i++) {
    bool same = reduces(&worlds[i], snapshot, false, true, false, &full, &reduced);
    ok(same && !reduced.unreduced && 2 * reduced.states >= full.states &&
           4 * reduced.states < 3 * full.states,
       "%s: the same with %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
       " states, up to the names of two ranks",
       worlds[i].protocol, reduced.states, full.states);
  }
}

/* Steps cl-c with the flaw that messages stay white. */
static void pale(const struct rcl_config *config, void *state, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  rcl_protocol_step(rcl_protocol_named("cl-c"), config, state, event, actions, false);
  if (event->kind == RCL_EVENT_SEND)
    actions->item[0].words[0] = 0;
}

static void keep_names(const struct rcl_config *config, void *state, const int16_t *to)
{
  (void)config;
  (void)state;
  (void)to;
}

/* Steps a protocol in which rank 2 exchanges the colours of its messages. So ranks have the same
 * values and messages, but at different steps. */
static void unlike(const struct rcl_config *config, void *state, const struct rcl_event *event,
                   struct rcl_actions *actions)
{
  struct rcl_event seen = *event;
  if (event->kind == RCL_EVENT_ARRIVED) /* colours are of no effect */
    seen.words[0] = 0;
  rcl_protocol_step(rcl_protocol_named("cl-t"), config, state, &seen, actions, false);
  if (event->kind == RCL_EVENT_SEND && config->self == 2)
    actions->item[0].words[0] ^= 1;
}

/* Returns whether the moves of a run can be taken, and the last one violates the property. */
static bool leads_there(const struct small *small, const struct exploration *found)
{
  struct world world;
  struct parts parts;
  struct verdict verdict = {0};
  struct script *script = set_up(small, &world);
  struct rcl_actions actions = {.capacity = RCL_ACTIONS_MAX(&world.config[0])};
  bool fine = found->moves_count > 0;
  actions.item = g_new0(struct rcl_action, actions.capacity);
  world.properties = snapshot;
  parts_init(&parts, &world);
  world_begin(&world, small->crashes, small->timers);
  for (unsigned i = 0; i < found->moves_count; i++) {
    struct move move = found->moves[i];
    world_step(&world, &move, &actions, &verdict);
    fine &= verdict.kind == (i + 1 < found->moves_count ? VERDICT_FINE : VERDICT_VIOLATION);
  }
  g_free(actions.item);
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
  return fine;
}

static void reduced_runs(void)
{
  static struct rcl_protocol pale_protocol, nameless, unlike_protocol;
  static const struct rcl_protocol *const list[] = {&pale_protocol, &nameless, &unlike_protocol,
                                                    NULL};
  pale_protocol = nameless = *rcl_protocol_named("cl-c");
  pale_protocol.name = "pale";
  pale_protocol.step = pale;
  nameless.name = "nameless";
  nameless.permute_ranks = keep_names;
  unlike_protocol = *rcl_protocol_named("cl-t");
  unlike_protocol.name = "unlike";
  unlike_protocol.step = unlike;
  rcl_protocol_register(list);
  struct small small = {"pale", 3, 0, 1, false, false, 0, "rank *: free 2"};
  for (unsigned which = 1; which <= 3; which++) {
    struct exploration found;
    run_with(
        &small,
        &(struct explorer_options){
            .properties = snapshot, .workers = 2, .stubborn = which & 1, .symmetry = which & 2},
        &found);
    ok(found.verdict == EXPLORER_VIOLATED && !found.unreduced && leads_there(&small, &found),
       "a run to a violation, with reduction %s: %u moves", found.reduction, found.moves_count);
    exploration_clear(&found);
  }
  const struct small few = {"cl-c", 3, 0, 1, false, false, 0, "rank *: free 1"};
  ok(!breaches(&few,
               &(struct explorer_options){.properties = nothing, .symmetry = true, .audit = true}),
     "an audit takes the moves of all ranks under all names");
  small.protocol = "nameless";
  ok(breaches(&small, &(struct explorer_options){.properties = snapshot, .symmetry = true}),
     "a protocol that renames its states wrongly is found out");
  small.protocol = "unlike";
  ok(breaches(&small, &(struct explorer_options){.properties = nothing, .symmetry = true}),
     "and one whose ranks send the same messages, but at other steps");
}

/* Tests that the counts and the run to a violation do not depend on the worker that finds it. */
static void same_with_workers(const struct small *small)
{
  struct exploration one, many;
  run(small, 1, NULL, &one);
  for (unsigned workers = 1; workers <= 4; workers++) {
    run(small, workers, NULL, &many);
    ok(one.verdict == EXPLORER_VIOLATED && many.verdict == EXPLORER_VIOLATED &&
           one.states == many.states && one.transitions == many.transitions &&
           one.steps == many.steps && one.depth == many.depth,
       "%s, %u workers: the same counts", small->protocol, workers);
    ok(one.moves_count == many.moves_count &&
           !memcmp(one.moves, many.moves, one.moves_count * sizeof *one.moves) &&
           !strcmp(one.why.text, many.why.text),
       "%s, %u workers: the same %u moves", small->protocol, workers, one.moves_count);
    exploration_clear(&many);
  }
  exploration_clear(&one);
}

/* Describes a world that is violated after 28 moves. */
static const struct small no_hold = {
    "c3~no-hold",
    2,
    1,
    1,
    false,
    false,
    0,
    "rank 0: checkpoint, send 1, recv 1\nrank 1: recv 0, checkpoint, send 0"};

static void workers(void)
{
  same_with_workers(&no_hold);
  same_with_workers(
      &(struct small){"c3", 2, 0, 1, false, false, FAULT_DROP,
                      "rank 0: checkpoint, send 1, recv 1\nrank 1: recv 0, checkpoint, send 0"});
}

static void bounds(void)
{
  static const struct small small = {"c3",  2,    1, 1,
                                     false, true, 0, "rank 0: send 1\nrank 1: recv 0"};
  struct exploration found;
  run_with(&small, &(struct explorer_options){.max_states = 100}, &found);
  ok(found.verdict == EXPLORER_INCONCLUSIVE && !strcmp(found.bound, "max-states") &&
         found.states > 20 && found.states <= 100,
     "a bound on states makes the verdict inconclusive");
  exploration_clear(&found);
}

/* Returns the number of states that a search with fingerprints of `bits` bits finds. */
static uint64_t by_fingerprints(const struct small *small, unsigned bits, unsigned workers,
                                bool reduced, double *omission)
{
  struct exploration found;
  static const char *const claims[] = {"invariant", "tokens", NULL};
  run_with(small,
           &(struct explorer_options){.properties = claims,
                                      .fingerprint = bits,
                                      .workers = workers,
                                      .stubborn = reduced,
                                      .symmetry = reduced},
           &found);
  uint64_t states = found.verdict == EXPLORER_HOLDS ? found.states : 0;
  *omission = found.omission;
  exploration_clear(&found);
  return states;
}

static void fingerprints(void)
{
  static const struct small world = {"cl-c", 3, 0, 1, false, false, 0, "rank *: free 2"};
  static const char *const progress[] = {"progress", NULL};
  struct exploration found;
  double omission;
  uint64_t states = by_fingerprints(&world, EXPLORER_FINGERPRINT, 1, false, &omission);
  ok(states == 96860 && omission > 1e-8 && omission < 1e-7,
     "fingerprints: all states, a chance of %.1e of fewer", omission);
  ok(by_fingerprints(&world, EXPLORER_FINGERPRINT, 2, false, &omission) == 96860,
     "the same with two workers");
  ok(by_fingerprints(&world, EXPLORER_FINGERPRINT, 2, true, &omission) == 446,
     "the same with reductions");
  states = by_fingerprints(&world, 20, 1, false, &omission);
  ok(states > 80000 && states < 96860 && omission == 1,
     "%" G_GUINT64_FORMAT " by fingerprints of 20 bits, which are too few", states);
  run_with(&no_hold, &(struct explorer_options){.fingerprint = EXPLORER_FINGERPRINT}, &found);
  ok(found.verdict == EXPLORER_VIOLATED && found.moves_count == 28 && found.omission == 0,
     "a violation has its run, of states");
  exploration_clear(&found);
  run_with(&(struct small){"c3", 2, 0, 1, false, true, 0, "rank 0: send 1\nrank 1: recv 0"},
           &(struct explorer_options){.fingerprint = EXPLORER_FINGERPRINT, .properties = progress},
           &found);
  ok(found.verdict == EXPLORER_HOLDS && found.omission == 0, "ways round are of states, too");
  exploration_clear(&found);
}

/* Tests that packed fields lie side by side. A field goes to the next word if it is wider than the
 * room that is left, and a new word is begun if no word has room. */
static void packs_tightly(void)
{
  const uint8_t bytes[] = {8, 8, 8, 8, 8, 8, 8}, words[] = {32, 32};
  struct packing *narrow = packing_new(bytes, G_N_ELEMENTS(bytes)),
                 *wide = packing_new(words, G_N_ELEMENTS(words));
  ok(narrow && narrow->words == 2 && wide && wide->words == 3,
     "seven bytes lie in %u words beside a tag, two words in %u", narrow ? narrow->words : 0,
     wide ? wide->words : 0);
  free(narrow);
  free(wide);
}

/* Tests the bytes of queues, which decide what goes to disk. A search has a queue for each of two
 * levels, and two queues for each worker. */
static void queue_bytes(void)
{
  g_autofree struct worker *workers = g_new0(struct worker, 2);
  struct explorer e = {.now.bytes = 1, .fresh.bytes = 20, .workers = 2, .worker = workers};
  workers[0].share.bytes = 300;
  workers[0].later.bytes = 4000;
  workers[1].share.bytes = 50000;
  workers[1].later.bytes = 600000;
  ok(explorer_queue_bytes(&e) == 654321,
     "the queues of two workers have %" G_GUINT64_FORMAT " bytes", explorer_queue_bytes(&e));
}

/* Tests that states on disk make no difference, and that no memory at all makes the verdict
 * inconclusive. */
static void short_memory(void)
{
  static const struct small small = {
      "c3", 2, 1, 1, false, true, 0, "rank 0: send 1, recv 1\nrank 1: recv 0, send 0"};
  struct exploration all, less;
  struct explorer_options options = {.properties = nothing, .workers = 2, .max_queue = 10000};
  run(&small, 1, nothing, &all);
  run_with(&small, &options, &less);
  ok(less.spilled && less.states == all.states && less.transitions == all.transitions,
     "%" G_GUINT64_FORMAT " states, also when they wait on disk", less.states);
  exploration_clear(&less);
  options.max_bytes = all.bytes / 2;
  run_with(&small, &options, &less);
  ok(less.verdict == EXPLORER_INCONCLUSIVE && !strcmp(less.bound, "memory"),
     "a bound on memory makes the verdict inconclusive");
  exploration_clear(&less);
  g_autofree char *folder = g_dir_make_tmp("recline-disk-XXXXXX", NULL);
  g_autofree char *prefix = g_build_filename(folder, "states", NULL);
  options.disk = prefix;
  run_with(&small, &options, &less);
  ok(less.verdict == EXPLORER_HOLDS && less.archived == less.states && less.states == all.states &&
         less.transitions == all.transitions && less.rests == all.rests && less.depth == all.depth,
     "with a disk the same %" G_GUINT64_FORMAT " states", less.states);
  exploration_clear(&less);
  exploration_clear(&all);
  run(&no_hold, 1, NULL, &all);
  options.properties = NULL;
  options.max_bytes = all.bytes / 2;
  run_with(&no_hold, &options, &less);
  ok(less.archived && less.verdict == EXPLORER_VIOLATED && less.moves_count == all.moves_count &&
         !memcmp(less.moves, all.moves, all.moves_count * sizeof *all.moves),
     "and the same run to a violation, with %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
     " states on disk",
     less.archived, less.states);
  exploration_clear(&less);
  options.disk = "/nowhere/states";
  run_with(&no_hold, &options, &less);
  ok(less.verdict == EXPLORER_INCONCLUSIVE && !strcmp(less.bound, "disk"),
     "where no file can be made it is inconclusive");
  exploration_clear(&less);
  exploration_clear(&all);
  ok(rmdir(folder) == 0, "no file is left");
}

/* Tests the tables themselves, at sizes that make them grow. */
static void tables(void)
{
  uint32_t room = 1;
  char *list = memory_room(memory_grow(NULL, 1), 1, &room, 1);
  ok(room > 1, "a list with room for one grows");
  free(list);
  struct intern table = {0};
  bool right = intern(&table, NULL, 0) == 1;
  char bytes[64] = {0};
  for (uint32_t round = 0; round < 2; round++)
    for (uint32_t i = 1; i <= 20000; i++) {
      memcpy(bytes, &i, sizeof i);
      right &= intern(&table, bytes, 4 + i % 60) == i + 1;
    }
  ok(right && table.count == 20001, "bytes are told apart by content and length");
  intern_clear(&table);
}

/* Tests that fingerprints have the number of bits that the caller asked for. */
static void fingerprints_of(void)
{
  bool right = true;
  for (unsigned bits = 16; bits <= 58; bits++) {
    struct packing *packing = fingerprint_packing(bits);
    uint32_t one[PACKING_WORDS], numbers[2];
    uint64_t seen = 0;
    for (uint64_t hash = 0; hash < 64; hash++) {
      fingerprint_pack(packing, hash, one);
      packing_unpack(packing, one, numbers);
      seen |= (uint64_t)numbers[0] << 32 | numbers[1];
    }
    right &= (unsigned)__builtin_popcountll(seen) == bits;
    free(packing);
  }
  ok(right, "fingerprints have as many bits as were asked for");
}

/* Tests that packing fills words, with the widest numbers first. Behind the tag, all bits of all
 * words must be used. */
static void filled(void)
{
  static const uint8_t halves[] = {16, 16, 16, 16, 16}, whole[] = {32, 26, 32};
  struct packing *of_halves = packing_new(halves, 5), *of_whole = packing_new(whole, 3);
  bool right = of_halves->words == 3 && of_whole->words == 3 && of_whole->field[0].shift == 0 &&
               of_whole->field[1].word == 0 && of_whole->field[1].shift == TAG_BITS;
  uint32_t state[PACKING_WORDS], numbers[3];
  packing_pack(of_whole, (const uint32_t[]){UINT32_MAX, (1 << 26) - 1, 1u << 31}, state);
  packing_unpack(of_whole, state, numbers);
  right &= numbers[0] == UINT32_MAX && numbers[1] == (1 << 26) - 1 && numbers[2] == 1u << 31;
  ok(right, "words of packed states are filled to the last bit");
  free(of_halves);
  free(of_whole);
}

/* Tests that states leave a frontier in the order in which they entered, also from disk and in
 * shares. */
static void chunks(void)
{
  static const uint8_t bits[] = {20, 20, 20};
  struct packing *packing = packing_new(bits, 3);
  struct frontier frontier = {0}, more = {0}, share = {0};
  struct spill spill;
  uint32_t numbers[3], state[PACKING_WORDS], next = 0, count = 5000;
  bool right = spill_init(&spill);
  for (uint32_t i = 0; i < count; i++) {
    packing_pack(packing, (const uint32_t[]){i, i / 2, 3 * i}, state);
    frontier_append(i < count / 2 ? &frontier : &more, packing, state);
    if (i % 1000 == 999)
      frontier_spill(&frontier, &spill);
  }
  right &= spill.end > 0;
  frontier_move(&frontier, &more);
  frontier_spill(&frontier, &spill);
  right &= frontier.states == count && frontier.bytes < 30000;
  for (; count < 8000; count++) { /* these stay in memory, for a while */
    packing_pack(packing, (const uint32_t[]){count, count / 2, 3 * count}, state);
    frontier_append(&frontier, packing, state);
  }
  for (uint64_t wanted = 0, all = count; frontier.states; wanted += 700) {
    frontier_share(&frontier, &share, wanted);
    right &= share.states >= wanted || !frontier.states;
    if (wanted > 2000) {
      frontier_spill(&share, &spill);
      frontier_spill(&frontier, &spill);
    }
    right &= share.states + frontier.states == all;
    all = frontier.states;
    for (struct chunk *chunk; (chunk = frontier_take(&share)); free(chunk))
      for (uint32_t i = 0; i < chunk->count; i++, next++) {
        packing_unpack(packing, chunk->states + i * packing->words, numbers);
        right &= numbers[0] == next && numbers[1] == next / 2 && numbers[2] == 3 * next;
      }
    right &= !share.bytes && !share.states;
  }
  ok(right && next == count && !frontier.bytes, "a frontier gives back what it was given");
  spill_clear(&spill);
  free(packing);
}

/* Tests that the memory of states on disk is used again, so that the heap stays small. */
static void spilled_memory(void)
{
  enum { STATES = 1 << 20 };
  static const uint8_t bits[] = {20, 31};
  struct packing *packing = packing_new(bits, 2);
  struct frontier frontier = {0};
  struct spill spill;
  uint32_t state[PACKING_WORDS];
  bool right = spill_init(&spill);
  size_t before = mallinfo2().arena;
  for (uint32_t i = 0; i < STATES; i++) {
    packing_pack(packing, (const uint32_t[]){i, i}, state);
    frontier_append(&frontier, packing, state);
    if (i % CHUNK_STATES == 0)
      frontier_spill(&frontier, &spill);
  }
  size_t taken = mallinfo2().arena - before, states = STATES * packing->words * sizeof *state;
  ok(right && taken < states / 8, "%zu bytes of states on disk take %zu bytes of memory", states,
     taken);
  frontier_clear(&frontier);
  spill_clear(&spill);
  free(packing);
}

/* Tests that a visited set keeps its states when it grows and when its layout changes. */
static void visited(unsigned threads)
{
  const uint8_t narrow[] = {20, 4, 0}, wide[] = {20, 31, 20};
  struct packing *packings[] = {packing_new(narrow, 3), packing_new(wide, 3)};
  struct visited set;
  uint32_t state[PACKING_WORDS], count = 300000, found = 0;
  visited_init(&set, packings[0], 1000, 1 << 26, 0);
  bool right = true;
  for (unsigned round = 0; round < 2; round++)
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t numbers[] = {i, i % 13, 0};
      packing_pack(set.packing, numbers, state);
      state[0] |= i % TAG_MASK + 1;
      enum visited_answer answer;
      while ((answer = visited_add(&set, state, packing_hash(set.packing, numbers))) ==
             VISITED_FULL)
        right &= visited_rebuild(&set, set.places * 2, set.packing, threads);
      right &= answer == (round ? VISITED_OLD : VISITED_NEW);
      set.count += answer == VISITED_NEW;
      if (visited_crowded(&set) || i == count / 2)
        right &= visited_rebuild(&set, set.places * 3 / 2,
                                 i < count / 2 ? set.packing : packings[1], threads);
    }
  for (uint64_t n = 0; n < visited_end(&set); n++)
    if (*visited_at(&set, n)) {
      uint32_t numbers[3];
      packing_unpack(set.packing, visited_at(&set, n), numbers);
      right &= numbers[1] == numbers[0] % 13 && !numbers[2] &&
               (*visited_at(&set, n) & TAG_MASK) == numbers[0] % TAG_MASK + 1;
      found++;
    }
  ok(right && found == count, "a visited set keeps what it has while %u threads let it grow",
     threads);
  visited_clear(&set);
  free(packings[0]);
  free(packings[1]);
}

int main(void)
{
  g_autoptr(GError) error = NULL;
  if (!plugin_mutants(&error)) {
    printf("Bail out! %s\n", error->message);
    return 1;
  }
  spilled_memory(); /* comes first, as nothing has been freed yet */
  tables();
  visited(1);
  visited(3);
  by_hand();
  same_as_reference();
  reference_worlds();
  formula();
  without_order();
  largest();
  reductions();
  recoveries();
  asked_by_itself();
  no_recovery();
  late_record();
  vanishing();
  wrong_relation();
  symmetry();
  reduced_runs();
  reduced_worlds();
  beyond();
  workers();
  audit();
  audit_merges();
  steps_not_applied();
  digests();
  bounds();
  fingerprints();
  packs_tightly();
  queue_bytes();
  short_memory();
  fingerprints_of();
  filled();
  chunks();
  return done();
}
