/* Prints random walks through worlds of claims. verify/t/monitors.t judges them again.
 *
 *     monitor-walks SEED COUNT FUZZ PROPERTY[,PROPERTY]... CLAIM...
 *
 * Prints COUNT walks, each of one of the claims, with some of the properties judged (and always
 * `legal`). FUZZ of 100 walks have a protocol that goes wrong now and then, so that all properties
 * are violated. Each walk is printed as
 *
 *     walk SEED CLAIM-FILE
 *     world KEY=VALUE...         level, independent, clocks, places, ...
 *     op RANK KIND PEER TAG COMM NAME COUNT FLOW       the script, as it is run
 *     stranger RANK RANK         the first rank is no neighbour of the second
 *     timer RANK                 the rank has a timer already, as free programs have started
 *     judged PROPERTY...
 *     ---
 *     a line of a trace (docs/trace.md) for each move, each followed by the lines below that apply:
 *     broken N                   the invariant that the state of the rank breaks now
 *     saw PROPERTY               the monitor's verdict on the move, its last
 *     end PROPERTY|-             on a state in which all programs have finished
 *     outcome 0|1                whether some run without failures ends with these histories
 *     reached N...               what the walk has shown, in the order of enum reach
 *     vain RANK                  a TIMER of the rank would set the timer again
 *     rest PROPERTY|-            at the end of the walk, as if nothing could happen any more
 *     ever PROPERTY|-            the same for `progress`
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/text.h"
#include "verify/check/claim.h"
#include "world/rules/in_place.h"
#include "world/scenario/plugin.h"
#include "world/scenario/scenario.h"
#include "world/trace/trace_lines.h"

static uint64_t random_state;

static unsigned draw(unsigned below)
{
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)((random_state >> 33) % below);
}

/* ---- a protocol that goes wrong ---- */

static struct rcl_protocol fuzzed;
static const struct rcl_protocol *honest;
static bool goes_wrong;
static struct reached reached; /* events that the walk has shown */
static bool armed; /* the next step is the first of a move; other steps only try a START */
static int broken; /* the invariant that the state breaks after the step */

static void insert(struct rcl_actions *actions, unsigned at, struct rcl_action action)
{
  memmove(&actions->item[at + 1], &actions->item[at],
          (actions->count - at) * sizeof *actions->item);
  actions->item[at] = action;
  actions->count++;
}

/* Clears the fields of an action that a trace does not show. */
static void leave_what_shows(struct rcl_action *action)
{
  char text[TEXT_MAX];
  struct rcl_action shown;
  if (!action_parse(action_print(NULL, action, text), &shown))
    *action = shown;
}

static struct rcl_action any_action(const struct rcl_config *config)
{
  static const uint8_t kinds[] = {
      RCL_ACTION_SUPPRESS, RCL_ACTION_DELIVER, RCL_ACTION_DISCARD,         RCL_ACTION_KEEP,
      RCL_ACTION_FORGET,   RCL_ACTION_RESEND,  RCL_ACTION_FORCE,           RCL_ACTION_HOLD,
      RCL_ACTION_RELEASE,  RCL_ACTION_DRAIN,   RCL_ACTION_CAPTURE,         RCL_ACTION_STORE,
      RCL_ACTION_COMMIT,   RCL_ACTION_ERASE,   RCL_ACTION_STOPPED_LOGGING, RCL_ACTION_GIVE_UP,
      RCL_ACTION_OPEN,     RCL_ACTION_MATCH,   RCL_ACTION_TRANSMIT,        RCL_ACTION_REJOIN,
      RCL_ACTION_OUTPUT};
  struct rcl_action action = {.kind = kinds[draw(sizeof kinds)]};
  switch (action.kind) {
  case RCL_ACTION_DELIVER:
  case RCL_ACTION_MATCH:
    action.request = 1 + draw(2);
    action.peer = (int16_t)draw((unsigned)config->ranks);
    break;
  case RCL_ACTION_RESEND:
  case RCL_ACTION_DRAIN:
  case RCL_ACTION_REJOIN:
    action.peer = (int16_t)draw((unsigned)config->ranks);
    break;
  case RCL_ACTION_GIVE_UP:
    action.reason = RCL_REASON_PROTOCOL;
    break;
  default:
    break;
  }
  if (action.kind == RCL_ACTION_KEEP || action.kind == RCL_ACTION_FORGET ||
      action.kind == RCL_ACTION_RESEND || action.kind == RCL_ACTION_DELIVER)
    action.slot = draw(3);
  if (action.kind == RCL_ACTION_REJOIN)
    action.call = (int32_t)draw(2) + 1;
  if (action.kind == RCL_ACTION_CAPTURE || action.kind == RCL_ACTION_STORE ||
      action.kind == RCL_ACTION_COMMIT || action.kind == RCL_ACTION_ERASE ||
      action.kind == RCL_ACTION_STOPPED_LOGGING)
    action.checkpoint = 1 + draw(2);
  if (action.kind == RCL_ACTION_OUTPUT) {
    action.output = draw(3);
    action.checkpoint = draw(3);
  }
  if (action.kind == RCL_ACTION_STORE)
    action.part = (uint8_t)draw(RCL_PARTS);
  leave_what_shows(&action);
  return action;
}

static void bend(const struct rcl_config *config, struct rcl_action *action)
{
  switch (draw(6)) {
  case 0:
    action->checkpoint += draw(2) ? 1 : UINT32_MAX;
    break;
  case 1:
    action->slot += draw(2) ? 1 : UINT32_MAX;
    break;
  case 2:
    action->request += draw(2) ? 1 : UINT32_MAX;
    break;
  case 3:
    action->peer = (int16_t)draw((unsigned)config->ranks);
    break;
  case 4:
    action->output += draw(2) ? 1 : UINT32_MAX;
    break;
  default:
    action->part ^= 1;
  }
  leave_what_shows(action);
}

static void go_wrong(const struct rcl_config *config, struct rcl_actions *actions)
{
  unsigned count = actions->count, at = count ? draw(count) : 0;
  unsigned how = count ? draw(5) : 4;
  if (how == 0) {
    memmove(&actions->item[at], &actions->item[at + 1], (count - at - 1) * sizeof *actions->item);
    actions->count--;
  } else if (how == 1) {
    insert(actions, at, actions->item[at]);
  } else if (how == 2) {
    struct rcl_action other = actions->item[0];
    actions->item[0] = actions->item[at];
    actions->item[at] = other;
  } else if (how == 3) {
    bend(config, &actions->item[at]);
  } else {
    insert(actions, draw(count + 1), any_action(config));
  }
}

static void fuzzed_step(const struct rcl_config *config, void *state, const struct rcl_event *event,
                        struct rcl_actions *actions)
{
  rcl_protocol_step(honest, config, state, event, actions, false);
  if (!armed)
    return;
  armed = false;
  broken = honest->violated_invariant ? honest->violated_invariant(config, state) : 0;
  if (goes_wrong && !draw(32) && actions->count + 2 < actions->capacity)
    go_wrong(config, actions);
}

/* ---- a world ---- */

struct place {
  const char *file;
  struct scenario *scenario;
  struct script *script;
  struct intern outcomes; /* has no entries if there are too many outcomes */
};

static void find_outcomes(struct place *place)
{
  static const char *const deadlock[] = {"deadlock", NULL};
  struct world world, like;
  struct exploration found;
  const struct explorer_options options = {
      .properties = deadlock, .outcomes = &place->outcomes, .collect = true, .max_states = 20000};
  if (place->script->free)
    return;
  claim_world(place->scenario, place->script, &like);
  world_init(&world, rcl_protocol_named("none"), place->script->ranks, 1);
  world.fifo = like.fifo;
  world.overtaking = like.overtaking;
  world.bounded = true;
  world.script = place->script;
  explore(&world, 0, 0, &options, &found);
  world_clear(&world);
  world_clear(&like);
  if (found.verdict != EXPLORER_HOLDS)
    intern_clear(&place->outcomes);
  exploration_clear(&found);
}

static void open_place(struct place *place, const char *file)
{
  g_autoptr(GError) error = NULL;
  *place = (struct place){.file = file, .scenario = scenario_load(file, NULL, &error)};
  place->script = place->scenario ? claim_script(place->scenario, &error) : NULL;
  if (error) {
    fprintf(stderr, "%s\n", error->message);
    exit(64);
  }
  find_outcomes(place);
}

static void print_world(const struct place *place, const struct world *world,
                        const char *const *judged)
{
  printf("world ranks=%d channel=%d independent=%d clocks=%d anywhere=%d fifo=%d overtaking=%d "
         "exceeds=%u node=%d bounded=%d hazards=%u collectives=%d reconnects=%d controls=%u\n",
         world->ranks, world->protocol->level == RCL_LEVEL_CHANNEL, world->protocol->independent,
         world->protocol->clocks, world->places_anywhere, world->fifo, world->overtaking,
         world->exceeds, world->per_node, world->bounded, world->hazards,
         world->protocol->collectives, world->protocol->reconnects,
         world->protocol->controls ? g_strv_length((char **)world->protocol->controls) : 0);
  for (int rank = 0; rank < world->ranks && world->topology; rank++)
    for (int peer = 0; peer < world->ranks; peer++)
      if (peer != rank && !rcl_is_neighbour(&world->config[rank], peer))
        printf("stranger %d %d\n", rank, peer);
  for (int rank = 0; rank < world->ranks; rank++)
    for (const struct operation *op = place->script->ops[rank]; op->kind != SCRIPT_END; op++)
      printf("op %d %d %d %d %d %d %u %d\n", rank, op->kind, op->peer, op->tag, op->comm, op->name,
             op->count, op->flow);
  for (int rank = 0; rank < world->ranks; rank++) {
    uint32_t size;
    const struct world_rank *me =
        world->memory.read(world->memory.ctx, world_part(world, WORLD_RANK, rank, 0), &size);
    if (me->timer)
      printf("timer %d\n", rank);
  }
  printf("judged");
  for (; *judged; judged++)
    printf(" %s", *judged);
  printf("\n---\n");
}

/* ---- a walk ---- */

struct choice {
  struct move move;
  unsigned seen;
};

/* Draws one of the moves. Crashes, faults and safe points are drawn less often than others. */
static void consider(void *data, const struct move *move)
{
  struct choice *choice = data;
  bool safe = move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_SAFE_POINT;
  unsigned weight = move->kind == MOVE_CRASH || move->kind == MOVE_FAULT ? 1 : safe ? 2 : 8;
  choice->seen += weight;
  if (draw(choice->seen) < weight)
    choice->move = *move;
}

static const void *part_of(const struct world *world, enum part_kind kind, int rank)
{
  uint32_t size;
  return world->memory.read(world->memory.ctx, world_part(world, kind, rank, 0), &size);
}

static const char *name_of(const struct verdict *verdict)
{
  return verdict->kind == VERDICT_VIOLATION ? verdict->property
         : verdict->kind == VERDICT_GAVE_UP ? "recovers"
                                            : "-";
}

/* Judges the end of the programs. Returns true if something is wrong. */
static bool judge_end(const struct place *place, const struct world *world)
{
  struct verdict verdict;
  struct content histories[world->ranks];
  world_at_end(world, &verdict);
  printf("end %s\n", name_of(&verdict));
  for (int rank = 0; rank < world->ranks; rank++)
    histories[rank] = ((const struct world_program *)part_of(world, WORLD_PROGRAM, rank))->history;
  bool known = intern_find(&place->outcomes, histories, (uint32_t)sizeof histories) != 0;
  if (place->outcomes.count)
    printf("outcome %d\n", known);
  return verdict.kind != VERDICT_FINE || (place->outcomes.count && !known);
}

/* Takes a drawn move. Returns true if the walk is over. */
static bool take(const struct place *place, struct world *world, struct trace_lines *lines,
                 struct rcl_actions *actions, unsigned *crashes, unsigned step)
{
  struct choice choice = {.seen = 0};
  struct verdict verdict;
  do {
    choice.seen = 0;
    world_moves(world, consider, &choice);
    if (!choice.seen)
      return true;
  } while (choice.move.kind == MOVE_CRASH && !world->bounded && !*crashes && !draw(64));
  if (choice.move.kind == MOVE_CRASH && !world->bounded && !*crashes)
    return true;
  *crashes -= choice.move.kind == MOVE_CRASH && *crashes;
  armed = true;
  broken = 0;
  world_step(world, &choice.move, actions, &verdict);
  reached_add(&reached, &verdict.reached);
  char *line = trace_line(lines, world, &choice.move, actions, &verdict);
  printf("%u %s\n", step, line);
  free(line);
  if (broken)
    printf("broken %d\n", broken);
  if (verdict.kind != VERDICT_FINE) {
    printf("saw %s\n", name_of(&verdict));
    return true;
  }
  return world_finished(world) && (judge_end(place, world) || !draw(8));
}

/* Returns whether the rank has a timer that a TIMER would set again. */
static bool asks_in_vain(const struct world *world, int rank, struct rcl_actions *actions)
{
  const struct world_rank *me = part_of(world, WORLD_RANK, rank);
  const struct rcl_event timer = {.kind = RCL_EVENT_TIMER, .checkpoint = me->set.checkpoint};
  bool vain = false;
  if ((!me->timer && !me->set.checkpoint) || me->phase != RANK_RUNNING)
    return false;
  g_autofree void *state = g_memdup2(me + 1, world->state_bytes);
  rcl_protocol_step(honest, &world->config[rank], state, &timer, actions, false);
  for (uint32_t i = 0; i < actions->count; i++)
    vain |= actions->item[i].kind == RCL_ACTION_SET_TIMER;
  return vain;
}

static void walk(const struct place *place, const char *const *judged, uint64_t seed)
{
  struct world world;
  struct parts parts;
  struct verdict verdict;
  honest = rcl_protocol_named(place->scenario->protocol.name);
  fuzzed = *honest;
  fuzzed.step = fuzzed_step;
  unsigned crashes = (unsigned)place->scenario->check.crashes;
  armed = false;
  reached = (struct reached){0};
  claim_world(place->scenario, place->script, &world);
  world.protocol = &fuzzed;
  world.properties = judged;
  world.line_stamps = true;
  world.bounded = !honest->clocks || draw(2);
  parts_init(&parts, &world);
  world_begin(&world, crashes, (unsigned)place->scenario->check.checkpoints);
  struct rcl_actions actions = {.capacity = RCL_ACTIONS_MAX(&world.config[0]) + 2};
  actions.item = calloc(actions.capacity, sizeof *actions.item);
  struct trace_lines *lines = trace_lines_new();
  printf("walk %" G_GUINT64_FORMAT " %s\n", seed, place->file);
  print_world(place, &world, judged);
  unsigned most = 5 + draw(200), step = 0;
  while (step < most && !take(place, &world, lines, &actions, &crashes, step))
    step++;
  printf("reached");
  for (int i = 0; i < REACHES; i++)
    printf(" %u", reached.most[i]);
  printf("\n");
  for (int rank = 0; rank < world.ranks; rank++)
    if (asks_in_vain(&world, rank, &actions))
      printf("vain %d\n", rank);
  world_at_rest(&world, &verdict);
  printf("rest %s\n", name_of(&verdict));
  world_for_ever(&world, &verdict);
  printf("ever %s\n", name_of(&verdict));
  trace_lines_free(lines);
  free(actions.item);
  parts_clear(&parts);
  world_clear(&world);
}

/* Draws properties to judge: all that are named, any single one, or each with an even chance. */
static void choose(char **names, const char **judged)
{
  unsigned count = g_strv_length(names), how = draw(3), one = draw(count);
  *judged++ = "legal";
  for (unsigned i = 0; i < count; i++)
    if (how == 0 ? draw(8) : how == 1 ? i == one : draw(2))
      *judged++ = names[i];
  *judged = NULL;
}

int main(int argc, char **argv)
{
  if (argc < 6)
    return 64;
  g_setenv("RECLINE_DATA", RECLINE_SOURCE_DIR, FALSE);
  uint64_t first = g_ascii_strtoull(argv[1], NULL, 10);
  uint64_t count = g_ascii_strtoull(argv[2], NULL, 10);
  unsigned fuzz = (unsigned)g_ascii_strtoull(argv[3], NULL, 10);
  g_auto(GStrv) names = g_strsplit(argv[4], ",", -1);
  g_autofree const char **judged = g_new0(const char *, g_strv_length(names) + 2);
  static struct place *places; /* list that ends with the end of the walk */
  places = g_new0(struct place, (gsize)argc);
  for (uint64_t seed = first; seed < first + count; seed++) {
    random_state = seed * UINT64_C(0x9E3779B97F4A7C15);
    draw(2);
    int at = 5 + (int)draw((unsigned)argc - 5);
    if (!places[at].file)
      open_place(&places[at], argv[at]);
    choose(names, judged);
    goes_wrong = draw(100) < fuzz;
    walk(&places[at], judged, seed);
  }
  return 0;
}
