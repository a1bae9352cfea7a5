/* Tests what the judge must notice: worlds in which one rule of the world, of a reduction or of a
 * table decides the verdict or a count. Each rule is one that verify/bench/mutate-noticed.txt takes
 * away. */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "protocols/line.h"
#include "protocols/parts/commit.h"
#include "protocols/t/tap.h"
#include "verify/explore/explorer.h"
#include "verify/state/transition_cache.h"
#include "verify/state/visited.h"
#include "verify/t/reference.h"
#include "world/rules/in_place.h"
#include "world/scenario/plugin.h"

/* ---- protocols with one flaw each ---- */

/* Steps a protocol with local checkpoints: after a request each rank is captured at its next safe
 * point, without messages under way. A rank tells rank 0 when its image is durable, and when its
 * log is. */
enum control { REQUEST = 1, IMAGE, LOG };

struct naive {
  uint32_t wanted, captured, own, image, log, pad;
  struct rcl_commit commit;
};

static size_t naive_bytes(const struct rcl_config *config)
{
  (void)config;
  return (sizeof(struct naive) + 7) / 8 * 8;
}

static void ask_all(const struct rcl_config *config, struct naive *state,
                    struct rcl_actions *actions)
{
  if (!rcl_commit_begin(&state->commit, true, state->captured + 1, actions))
    return;
  state->wanted = 1;
  rcl_send_control_to_all(config, actions, REQUEST, state->captured + 1);
}

static void naive_step(const struct rcl_config *config, struct naive *state,
                       const struct rcl_event *event, struct rcl_actions *actions)
{
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START:
    state->wanted = 0;
    state->commit = (struct rcl_commit){0};
    if (rcl_coordinator(config))
      rcl_act(actions, RCL_ACTION_SET_TIMER);
    break;
  case RCL_EVENT_DOWN:
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = event->checkpoint;
    break;
  case RCL_EVENT_TIMER:
    ask_all(config, state, actions);
    break;
  case RCL_EVENT_SEND:
    rcl_act(actions, RCL_ACTION_TRANSMIT);
    break;
  case RCL_EVENT_RECEIVE:
    rcl_match(actions, event);
    break;
  case RCL_EVENT_ARRIVED:
    rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
    break;
  case RCL_EVENT_SAFE_POINT:
    if (state->wanted)
      rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = ++state->captured;
    state->wanted = 0;
    break;
  case RCL_EVENT_CAPTURED:
    rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
    rcl_store(actions, RCL_PART_LOG, event->checkpoint);
    break;
  case RCL_EVENT_DURABLE:
    if (rcl_coordinator(config))
      state->own |= event->part == RCL_PART_IMAGE ? 1 : 2;
    else
      rcl_send_control(actions, 0, event->part == RCL_PART_IMAGE ? IMAGE : LOG, event->checkpoint,
                       0);
    break;
  case RCL_EVENT_CONTROL:
    state->wanted |= event->control == REQUEST;
    break;
  case RCL_EVENT_COMMITTED:
    rcl_commit_end(&state->commit, actions);
    break;
  default:
    break;
  }
}

static void commit_once(struct naive *state, bool all, struct rcl_actions *actions)
{
  if (!all || state->commit.done)
    return;
  state->commit.done = 1;
  rcl_act(actions, RCL_ACTION_COMMIT)->checkpoint = 1;
}

/* Steps a protocol with a flaw: a message about the log is ignored if it comes before the message
 * about the image. */
static void forgets_log(const struct rcl_config *config, void *memory,
                        const struct rcl_event *event, struct rcl_actions *actions)
{
  struct naive *state = memory;
  naive_step(config, state, event, actions);
  if (event->kind == RCL_EVENT_CONTROL && event->control == LOG && state->image)
    state->log = 1;
  if (event->kind == RCL_EVENT_CONTROL && event->control == IMAGE)
    state->image = 1;
  if (rcl_coordinator(config))
    commit_once(state, state->own == 3 && state->image && state->log, actions);
}

/* Steps a protocol with a flaw: it commits when all images are durable, without waiting for logs.
 */
static void waits_for_images(const struct rcl_config *config, void *memory,
                             const struct rcl_event *event, struct rcl_actions *actions)
{
  struct naive *state = memory;
  naive_step(config, state, event, actions);
  if (event->kind == RCL_EVENT_CONTROL && event->control == IMAGE)
    state->image = 1;
  if (rcl_coordinator(config))
    commit_once(state, state->own & 1 && state->image, actions);
}

/* Steps a protocol with a flaw: a TIMER only sets the timer again, without a change of the state.
 */
static void ignores_timers(const struct rcl_config *config, void *state,
                           const struct rcl_event *event, struct rcl_actions *actions)
{
  if (event->kind == RCL_EVENT_TIMER)
    rcl_act(actions, RCL_ACTION_SET_TIMER);
  else
    naive_step(config, state, event, actions);
}

/* Steps a protocol with a flaw: rank 1 sets its timer when it starts, and never again. */
static void clock_once(const struct rcl_config *config, void *state, const struct rcl_event *event,
                       struct rcl_actions *actions)
{
  struct rcl_action item[RCL_ACTIONS_MAX(config)];
  struct rcl_actions all = {.capacity = RCL_ACTIONS_MAX(config), .item = item};
  rcl_protocol_step(rcl_protocol_named("time-based"), config, state, event, &all, false);
  for (uint32_t i = 0; i < all.count; i++)
    if (config->self != 1 || event->kind == RCL_EVENT_START || item[i].kind != RCL_ACTION_SET_TIMER)
      *rcl_act(actions, (enum rcl_action_kind)item[i].kind) = item[i];
}

/* Steps a protocol with a flaw: each send sets a timer although one is set already. */
static void clock_twice(const struct rcl_config *config, void *state, const struct rcl_event *event,
                        struct rcl_actions *actions)
{
  rcl_protocol_step(rcl_protocol_named("time-based"), config, state, event, actions, false);
  if (event->kind == RCL_EVENT_SEND)
    rcl_act(actions, RCL_ACTION_SET_TIMER)->checkpoint = 9;
}

/* Steps a protocol with a flaw: a timer belongs to the first checkpoint unless it belongs to the
 * second one, even a timer that is set after the second checkpoint. */
static void clock_back(const struct rcl_config *config, void *state, const struct rcl_event *event,
                       struct rcl_actions *actions)
{
  rcl_protocol_step(rcl_protocol_named("time-based"), config, state, event, actions, false);
  for (uint32_t i = 0; i < actions->count; i++)
    if (actions->item[i].kind == RCL_ACTION_SET_TIMER)
      actions->item[i].checkpoint = actions->item[i].checkpoint == 2 ? 2 : 1;
}

/* Steps a protocol with a flaw: the number of earlier steps decides whether it sends a control
 * message. */
static void sends_at_times(const struct rcl_config *config, void *state,
                           const struct rcl_event *event, struct rcl_actions *actions)
{
  static uint32_t steps;
  naive_step(config, state, event, actions);
  if (event->kind == RCL_EVENT_SEND && steps++ % 2 == 0)
    rcl_send_control(actions, event->peer, LOG, 0, 0);
}

/* Steps a protocol with a flaw: the number of earlier calls decides its state, which changes at
 * every third call. An audit calls a step three times, so all three calls agree. Only the next
 * step of this kind differs. */
static void counts_steps(const struct rcl_config *config, void *state,
                         const struct rcl_event *event, struct rcl_actions *actions)
{
  enum { CALLS = 3 };
  static uint32_t calls;
  rcl_protocol_step(rcl_protocol_named("none"), config, state, event, actions, false);
  if (event->kind == RCL_EVENT_SAFE_POINT)
    *(uint64_t *)state = 1 + calls++ / CALLS % 2;
}

static size_t eight_bytes(const struct rcl_config *config)
{
  (void)config;
  return 8;
}

/* Registers `like` as `name`, with another step and size of its state. */
static void add(const char *like, const char *name,
                void (*step)(const struct rcl_config *, void *, const struct rcl_event *,
                             struct rcl_actions *),
                size_t (*bytes)(const struct rcl_config *))
{
  static struct rcl_protocol protocols[8];
  static const struct rcl_protocol *lists[8][2];
  static size_t count;
  struct rcl_protocol *protocol = &protocols[count];
  *protocol = *rcl_protocol_named(like);
  protocol->name = name;
  protocol->step = step;
  protocol->state_size = bytes;
  lists[count][0] = protocol;
  if (!rcl_protocol_register(lists[count++]))
    abort();
}

static void add_naive(const char *name,
                      void (*step)(const struct rcl_config *, void *, const struct rcl_event *,
                                   struct rcl_actions *))
{
  static const char *const controls[] = {"none", "request", "image", "log", NULL};
  static const char *const invariants[] = {NULL};
  static struct rcl_protocol protocols[8];
  static const struct rcl_protocol *lists[8][2];
  static size_t count;
  protocols[count] = (struct rcl_protocol){.name = name,
                                           .title = "naive local checkpoints",
                                           .control_bytes = 12,
                                           .controls = controls,
                                           .invariants = invariants,
                                           .state_size = naive_bytes,
                                           .step = step};
  lists[count][0] = &protocols[count];
  if (!rcl_protocol_register(lists[count++]))
    abort();
}

/* ---- exploring ---- */

struct hazards {
  unsigned hazards;
  int per_node;
};

static void explore_with(const struct small *small, const struct hazards *hazards,
                         const struct explorer_options *options, struct exploration *found)
{
  struct world world;
  struct script *script = set_up(small, &world);
  if (hazards) {
    world.hazards = hazards->hazards;
    world.per_node = hazards->per_node;
  }
  explore(&world, small->crashes, small->timers, options, found);
  world_clear(&world);
  script_free(script);
}

/* Returns whether `property` is violated or, if `property` is NULL, whether the claim holds. */
static bool judged(const struct small *small, const struct hazards *hazards,
                   const struct explorer_options *options, const char *property)
{
  struct exploration found;
  explore_with(small, hazards, options, &found);
  bool right = property
                   ? found.verdict == EXPLORER_VIOLATED && !strcmp(found.why.property, property)
                   : found.verdict == EXPLORER_HOLDS;
  if (!right)
    note("%s: verdict %d, %s", small->protocol, (int)found.verdict,
         found.verdict == EXPLORER_VIOLATED ? found.why.property : "");
  exploration_clear(&found);
  return right;
}

/* ---- reductions ---- */

/* Tests that messages of one pair of ranks do not commute. Two parts become durable in either
 * order, so the messages about them are sent in either order. */
static void messages_of_a_pair(void)
{
  static const char *const properties[] = {"commits", "deadlock", NULL};
  static const struct small small = {
      "forgets-log", 2,     0, 1,
      false,         false, 0, "rank 0: checkpoint, choose 1\nrank 1: checkpoint, choose 1"};
  for (unsigned reduced = 0; reduced <= 1; reduced++)
    ok(judged(&small, NULL,
              &(struct explorer_options){.properties = properties, .stubborn = reduced}, "commits"),
       "messages to one rank in the other order, %s", reduced ? "reduced" : "in full");
}

/* Tests a coordinator whose possible moves depend on the number of timers left, which is not in its
 * state. */
static void timers_for_nothing(void)
{
  static const char *const properties[] = {"legal", NULL};
  static const struct small small = {
      "ignores-timers", 2, 0, 3, false, false, 0, "rank 0: choose 2\nrank 1: choose 2, choose 2"};
  for (unsigned audit = 0; audit <= 1; audit++)
    ok(judged(
           &small, NULL,
           &(struct explorer_options){.properties = properties, .stubborn = true, .audit = audit},
           NULL),
       "timers after which the coordinator is as it was, reduced%s", audit ? ", audited" : "");
}

/* ---- the world ---- */

/* Tests a world in which rank 0 sets its timer again, and rank 1 never does. */
static void clocks(void)
{
  static const char *const properties[] = {"requests", NULL};
  static const struct small small = {"clock-once", 2,     0, 2,
                                     false,        false, 0, "rank *: checkpoint, checkpoint"};
  struct exploration found;
  explore_with(&small, NULL, &(struct explorer_options){.properties = properties}, &found);
  if (!ok(found.verdict == EXPLORER_VIOLATED && found.why.rank == 1 &&
              g_str_has_prefix(found.why.text, "no timer is set"),
          "with clocks each rank has to set its own again"))
    note("%s, rank %d: %s", found.why.property, found.why.rank, found.why.text);
  exploration_clear(&found);
}

/* Tests two rules: a timer is set only if none is set, and never for an older checkpoint than the
 * last timer. */
static void alarms(const char *protocol)
{
  static const char *const legal[] = {"legal", NULL};
  const struct small small = {protocol,
                              2,
                              0,
                              3,
                              false,
                              false,
                              0,
                              "rank 0: send 1, checkpoint\n"
                              "rank 1: recv 0, checkpoint"};
  struct exploration found;
  explore_with(&small, NULL, &(struct explorer_options){.properties = legal, .max_states = 20000},
               &found);
  bool violated = found.verdict == EXPLORER_VIOLATED;
  if (!ok(violated && strstr(found.why.text, "set-timer at ") &&
              strstr(found.why.text, "an alarm of checkpoint"),
          "%s: no such alarm may be set", protocol))
    note("%s", violated ? found.why.text : "not violated");
  exploration_clear(&found);
}

/* Tests that the judge notices a rank that starts from a torn log, as a commit came before the log
 * was durable. */
static void torn_logs(void)
{
  static const char *const properties[] = {"restorable", NULL};
  static const struct small small = {
      "waits-for-images", 2, 1, 1, false, false, 0, "rank *: checkpoint, choose 1"};
  const struct explorer_options options = {.properties = properties};
  ok(judged(&small, &(struct hazards){HAZARD_TORN_WRITES, 1}, &options, "restorable"),
     "a torn log of a checkpoint that was committed");
  ok(judged(&small, &(struct hazards){HAZARD_WHOLE_WRITES, 1}, &options, NULL),
     "which a machine does not leave whose writes are whole");
}

struct most {
  uint32_t ends; /* ways in which writes end if the node of rank 0 crashes */
  uint32_t cuts; /* places within the step of a safe point at which rank 0 can crash */
};

static void look(void *data, const GArray *moves)
{
  struct most *most = data;
  uint32_t ends = 0, cuts = 0;
  for (guint i = 0; i < moves->len; i++) {
    const struct move *move = &g_array_index(moves, struct move, i);
    ends += move->kind == MOVE_CRASH && move->rank == 0;
    cuts += world_cut(move) >= 0 && move->rank == 0 && move->event.kind == RCL_EVENT_SAFE_POINT;
  }
  most->ends = MAX(most->ends, ends);
  most->cuts = MAX(most->cuts, cuts);
}

/* Returns the highest values that any state has. */
static struct most listed(const struct small *small, const struct hazards *hazards)
{
  struct world world;
  struct most most = {0};
  uint64_t states, transitions;
  struct script *script = set_up(small, &world);
  world.hazards = hazards->hazards;
  world.per_node = hazards->per_node;
  plain_search(&world, small->crashes, small->timers, &states, &transitions,
               &(struct visitor){look, &most});
  world_clear(&world);
  script_free(script);
  return most;
}

static void crashes_within(void)
{
  static const struct small small = {"forgets-log", 2,     1, 1,
                                     false,         false, 0, "rank *: checkpoint, choose 1"};
  struct most most = listed(&small, &(struct hazards){HAZARD_TORN_WRITES, 2});
  ok(most.ends == 81, "four writes of a node end in 81 ways, of %u", most.ends);
  most = listed(&small, &(struct hazards){HAZARD_WHOLE_WRITES, 2});
  ok(most.ends == 16, "and in 16 where none is torn, of %u", most.ends);
  most = listed(&small, &(struct hazards){HAZARD_CUT_STEPS, 1});
  ok(most.cuts == 4, "a step of two ranks is cut behind 0 to 3 actions, in %u ways", most.cuts);
}

/* ---- the search ---- */

/* Tests that the numbers of states and transitions are those of a search without the explorer's
 * optimisations. */
static void same_as_plain(const struct small *small, unsigned least_depth, uint64_t least)
{
  static const char *const nothing[] = {NULL};
  struct world world;
  struct exploration found;
  uint64_t states, transitions;
  struct script *script = set_up(small, &world);
  plain_search(&world, small->crashes, small->timers, &states, &transitions, NULL);
  world_clear(&world);
  script_free(script);
  explore_with(small, NULL, &(struct explorer_options){.properties = nothing}, &found);
  if (!ok(found.states == states && found.transitions == transitions &&
              found.depth >= least_depth && states >= least,
          "%s: %" G_GUINT64_FORMAT " states to a depth of %u, as in a plain search",
          small->protocol, states, found.depth))
    note("the explorer has %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT,
         found.states, found.transitions, transitions);
  exploration_clear(&found);
}

static void deep_and_many(void)
{
  GString *script = g_string_new("rank 0:");
  for (int i = 0; i < 70; i++)
    g_string_append_printf(script, "%s choose 1", i ? "," : "");
  same_as_plain(&(struct small){"none", 1, 1, 0, false, false, 0, script->str}, 70, 100);
  g_string_free(script, TRUE);
  same_as_plain(
      &(struct small){"c3", 2, 1, 1, false, false, 0,
                      "rank 0: checkpoint, send 1, recv 1\nrank 1: recv 0, checkpoint, send 0"},
      20, 5000);
}

/* Returns whether a search has the expected result: the claim holds if the protocol is pure;
 * otherwise a step has another result when it is repeated. */
static bool repeats(const char *protocol, bool audit, bool pure)
{
  static const char *const nothing[] = {NULL};
  const struct small small = {protocol,
                              2,
                              0,
                              0,
                              false,
                              true,
                              0,
                              "rank 0: send 1, send 1, recv 1, recv 1\n"
                              "rank 1: send 0, send 0, recv 0, recv 0"};
  struct exploration found;
  explore_with(&small, NULL, &(struct explorer_options){.properties = nothing, .audit = audit},
               &found);
  bool violated = found.verdict == EXPLORER_VIOLATED;
  bool right = pure ? found.verdict == EXPLORER_HOLDS
                    : violated && !strcmp(found.why.property, "pure") &&
                          strstr(found.why.text, "the same step came out differently");
  if (!right)
    note("%s: verdict %d, %s", protocol, (int)found.verdict, violated ? found.why.text : "");
  exploration_clear(&found);
  return right;
}

static void impure_steps(void)
{
  ok(repeats("sends-at-times", false, false),
     "a step that looks at other parts than before is impure");
  ok(repeats("counts-steps", true, false), "one that ends otherwise is, in an audit");
  ok(repeats("none", true, true), "another is not");
}

/* ---- the memory of hosts ---- */

/* Tests that kept bytes stay, with their sizes, until they are forgotten. */
static void kept_in_place(void)
{
  static const struct small small = {"none", 2, 0, 0, false, false, 0, "rank *: checkpoint"};
  static const char texts[] = "a state, and others of other sizes";
  struct world world;
  struct parts parts;
  uint32_t number[12], size;
  bool right = true;
  struct script *script = set_up(&small, &world);
  parts_init(&parts, &world);
  const struct world_memory *memory = &world.memory;
  for (uint32_t i = 0; i < 12; i++)
    number[i] = memory->keep(memory->ctx, texts + i, i + 1);
  for (uint32_t i = 0; i < 12; i++) {
    const void *bytes = memory->kept(memory->ctx, number[i], &size);
    right &= size == i + 1 && !memcmp(bytes, texts + i, size);
    if (i % 2)
      memory->forget(memory->ctx, number[i]);
  }
  uint32_t again = memory->keep(memory->ctx, texts, 20);
  for (uint32_t i = 0; i < 12; i += 2) {
    const void *bytes = memory->kept(memory->ctx, number[i], &size);
    right &= again != number[i] && size == i + 1 && !memcmp(bytes, texts + i, size);
  }
  ok(right, "what a host keeps is there until it is forgotten");
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
}

/* Tests parts that grow by doubling, up to sizes at which a part has its own pages. */
static void grown_in_place(void)
{
  enum { MOST = 1 << 18 };
  static const struct small small = {"none", 2, 0, 0, false, false, 0, "rank *: checkpoint"};
  struct world world;
  struct parts parts;
  uint32_t part;
  bool right = true;
  struct script *script = set_up(&small, &world);
  parts_init(&parts, &world);
  const struct world_memory *memory = &world.memory;
  part = world_part(&world, WORLD_CHANNEL, 0, 1);
  for (uint32_t size = 16; size <= MOST; size *= 2) {
    unsigned char *bytes = memory->edit(memory->ctx, part, size);
    for (uint32_t i = 0; i < size; i++)
      right &= bytes[i] == (i < size / 2 && size > 16 ? (unsigned char)i : 0);
    for (uint32_t i = 0; i < size; i++)
      bytes[i] = (unsigned char)i;
  }
  ok(right, "a part that grows keeps its bytes, and the others are zero");
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
}

/* ---- what clauses are shown ---- */

/* Returns whether the counts of messages are 0 for each rank whose state is not shown
 * (protocols/line.h). If no rank can go back any more, no state is shown, although `frees` keeps
 * the numbers of messages that images have received. */
static bool counts_with_states(const struct rcl_whole *whole, int from, int to)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(whole, from, to);
  const struct rcl_whole_rank *sender = &whole->rank[from], *receiver = &whole->rank[to];
  return (sender->committed || !channel->committed.sent) &&
         (sender->newer || !channel->newer.sent) &&
         (receiver->committed || !channel->committed.given) &&
         (receiver->newer || !channel->newer.given);
}

static bool captures(const struct rcl_whole *whole, int rank, int other)
{
  (void)other;
  return !whole->committed && !whole->rank[rank].durable;
}

static void shown_counts(void)
{
  static const char *const properties[] = {"frees", "line-invariant", NULL};
  static const struct small small = {
      "shows", 2,
      0,       1,
      false,   false,
      0,       "rank 0: send 1, checkpoint, choose 1\nrank 1: recv 0, checkpoint, choose 1"};
  static struct rcl_clause line[] = {
      {"counts", "with states", RCL_OF_PAIR, false, counts_with_states}, {0}};
  static struct rcl_protocol shows;
  static const struct rcl_protocol *const list[] = {&shows, NULL};
  shows = *rcl_protocol_named("bookmark");
  shows.name = "shows";
  shows.line = line;
  if (!rcl_protocol_register(list))
    abort();
  ok(judged(&small, NULL, &(struct explorer_options){.properties = properties}, NULL),
     "counts are shown with the states that they belong to");
  line[0] = (struct rcl_clause){"none", "is durable", RCL_OF_RANK, false, captures};
  ok(judged(&small, NULL, &(struct explorer_options){.properties = properties}, "line-invariant"),
     "where images are stored");
}

int main(void)
{
  g_autoptr(GError) error = NULL;
  if (!plugin_mutants(&error)) {
    printf("Bail out! %s\n", error->message);
    return 1;
  }
  add_naive("forgets-log", forgets_log);
  add_naive("waits-for-images", waits_for_images);
  add("time-based", "clock-once", clock_once, rcl_protocol_named("time-based")->state_size);
  add("time-based", "clock-twice", clock_twice, rcl_protocol_named("time-based")->state_size);
  add("time-based", "clock-back", clock_back, rcl_protocol_named("time-based")->state_size);
  add_naive("sends-at-times", sends_at_times);
  add_naive("ignores-timers", ignores_timers);
  add("none", "counts-steps", counts_steps, eight_bytes);
  messages_of_a_pair();
  timers_for_nothing();
  clocks();
  alarms("clock-twice");
  alarms("clock-back");
  torn_logs();
  crashes_within();
  deep_and_many();
  impure_steps();
  kept_in_place();
  grown_in_place();
  shown_counts();
  return done();
}
