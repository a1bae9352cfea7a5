/* Tests that the world keeps a topology as it was written, finds a message whose place a host does
 * not know, says what a host owes, and says which receives are wildcards. No rank may start from an
 * image that was lost after a recovery to it began. Safe points pass where checkpoints are taken
 * anywhere, and a contribution is taken once when a rank takes part again. A call of a program that
 * has no script ends, and the digest of a world does not depend on the numbers of kept bytes. */
#include <stdlib.h>
#include <string.h>

#include "protocols/parts/act.h"
#include "protocols/t/tap.h"
#include "world/rules/in_place.h"
#include "world/rules/world_parts.h"
#include "world/rules/world_step.h"

enum { RANKS = 2, MOVES = 2000 };

static void topology(void)
{
  char problem[256];
  struct world world;
  world_init(&world, rcl_protocol_named("none"), 4, 1);
  ok(world_set_topology(&world, "ring", problem) && !strcmp(world.topology, "ring"),
     "a topology is copied to its end");
  world_clear(&world);
}

/* Chooses one of the wanted moves that the world lists. For the same list the choice is always the
 * same. */
struct choice {
  bool (*is_wanted)(const struct move *);
  struct move move;
  uint32_t found; /* number of wanted moves so far */
};

static void choose(void *data, const struct move *move)
{
  static uint32_t random = 1;
  struct choice *choice = data;
  if (!choice->is_wanted(move))
    return;
  random = random * 1664525u + 1013904223u;
  if ((random >> 16) % ++choice->found == 0)
    choice->move = *move;
}

static bool is_event(const struct move *move)
{
  return move->kind == MOVE_EVENT;
}

static bool is_crash(const struct move *move)
{
  return move->kind == MOVE_CRASH && move->rank == 1;
}

static bool is_detection(const struct move *move)
{
  return move->kind == MOVE_DETECT;
}

static bool is_timer(const struct move *move)
{
  return move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_TIMER;
}

static bool is_start(const struct move *move)
{
  return move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_START && move->rank == 1;
}

static void take_move(struct world *world, struct move *move, struct verdict *verdict)
{
  struct rcl_actions actions = {.capacity = RCL_ACTIONS_MAX(&world->config[0])};
  actions.item = calloc(actions.capacity, sizeof *actions.item);
  world_step(world, move, &actions, verdict);
  free(actions.item);
}

static bool take(struct world *world, bool (*is_wanted)(const struct move *),
                 struct verdict *verdict)
{
  struct choice choice = {.is_wanted = is_wanted};
  world_moves(world, choose, &choice);
  if (choice.found)
    take_move(world, &choice.move, verdict);
  return choice.found;
}

/* Takes wanted moves until there is none, or one is no longer fine. */
static void take_all(struct world *world, bool (*is_wanted)(const struct move *),
                     struct verdict *verdict)
{
  for (int i = 0; i < MOVES && verdict->kind == VERDICT_FINE; i++)
    if (!take(world, is_wanted, verdict))
      return;
}

static uint32_t part_size(const struct world *world, enum part_kind kind, int from, int to)
{
  uint32_t size;
  world_read(world, kind, from, to, &size);
  return size;
}

static void lose_images(const struct world *world, int rank)
{
  uint32_t count;
  READ_LIST(struct world_record, world, WORLD_STORED, rank, 0, &count);
  struct world_record *stored =
      world_edit(world, WORLD_STORED, rank, 0, count * (uint32_t)sizeof *stored);
  for (uint32_t i = 0; i < count; i++)
    stored[i].harm = HARM_LOST;
}

/* Starts a rank from a committed checkpoint, whose image is either `lost` or there. */
static void starts(bool lost)
{
  int line;
  char *message = NULL;
  struct world world;
  struct parts parts;
  struct verdict verdict;
  struct script *script =
      script_parse("rank *: checkpoint, choose 2, checkpoint", RANKS, &line, &message);
  world_init(&world, rcl_protocol_named("bookmark"), RANKS, 4);
  world.script = script;
  world.bounded = true;
  parts_init(&parts, &world);
  world_begin(&world, 1, 1);
  for (int i = 0; i < MOVES && !read_global(&world)->committed; i++)
    take(&world, is_event, &verdict);
  ok(read_global(&world)->committed == 1, "a checkpoint is committed");
  take(&world, is_crash, &verdict);
  take(&world, is_detection, &verdict);
  if (lost)
    lose_images(&world, 1);
  ok(take(&world, is_start, &verdict) &&
         verdict.kind == (lost ? VERDICT_VIOLATION : VERDICT_FINE) &&
         (!lost || !strcmp(verdict.property, "restorable")),
     lost ? "none starts from an image that was lost since" : "a rank starts from its image");
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
}

/* Outputs of all ranks that come before a checkpoint leave when it is committed. */
static void covers(void)
{
  static const char *const nothing[] = {NULL};
  int line;
  char *message = NULL;
  struct world world;
  struct parts parts;
  struct verdict verdict = {.kind = VERDICT_FINE};
  struct script *script =
      script_parse("rank *: output, checkpoint, choose 2, checkpoint", RANKS, &line, &message);
  world_init(&world, rcl_protocol_named("bookmark"), RANKS, 4);
  world.script = script;
  world.bounded = true;
  world.properties = nothing;
  parts_init(&parts, &world);
  world_begin(&world, 0, 1);
  for (int i = 0; i < MOVES && !take(&world, is_timer, &verdict); i++)
    take(&world, is_event, &verdict); /* the start that sets the timer */
  take_all(&world, is_event, &verdict);
  ok(read_global(&world)->committed == 1 && part_size(&world, WORLD_LEFT, 0, 0) &&
         part_size(&world, WORLD_LEFT, 1, 0),
     "the outputs of all ranks before a checkpoint leave with it");
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
}

static bool comes_from(const struct move *move, int peer)
{
  return move->kind == MOVE_EVENT && move->event.peer == peer &&
         (move->event.kind == RCL_EVENT_ARRIVED || move->event.kind == RCL_EVENT_CONTROL);
}

static bool comes_from_first(const struct move *move)
{
  return comes_from(move, 0);
}

static bool comes_from_last(const struct move *move)
{
  return comes_from(move, 1);
}

/* A host that does not know where a message lies in its channel names its sender and content. */
static void finds(bool (*is_wanted)(const struct move *), const char *from)
{
  int line;
  char *message = NULL;
  struct world world;
  struct parts parts;
  struct verdict verdict = {.kind = VERDICT_IMPOSSIBLE};
  struct script *script =
      script_parse("rank 0: send 1, recv 1\nrank 1: send 0, recv 0", RANKS, &line, &message);
  world_init(&world, rcl_protocol_named("none"), RANKS, 4);
  world.script = script;
  parts_init(&parts, &world);
  world_begin(&world, 0, 0);
  struct choice choice = {.is_wanted = is_wanted};
  for (int i = 0; i < MOVES && !choice.found; i++) {
    take(&world, is_event, &verdict);
    world_moves(&world, choose, &choice);
  }
  choice.move.index = WORLD_FIND;
  take_move(&world, &choice.move, &verdict);
  ok(script && choice.found && verdict.kind == VERDICT_FINE, "%s", from);
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
}

/* ---- draining ---- */

static size_t drainer_size(const struct rcl_config *config)
{
  (void)config;
  return sizeof(uint64_t);
}

/* Rank 0 is held from its start on, and drains the channel from rank 1 alone. */
static void drainer_step(const struct rcl_config *config, void *state,
                         const struct rcl_event *event, struct rcl_actions *actions)
{
  (void)state;
  if (event->kind == RCL_EVENT_SEND)
    rcl_act(actions, RCL_ACTION_TRANSMIT);
  if (event->kind != RCL_EVENT_START || config->self != 0)
    return;
  rcl_act(actions, RCL_ACTION_HOLD);
  rcl_act(actions, RCL_ACTION_DRAIN)->peer = 1;
}

static bool arrives_from_drained(const struct move *move)
{
  return comes_from(move, 1) && move->rank == 0;
}

static bool arrives_from_other(const struct move *move)
{
  return comes_from(move, 2) && move->rank == 0;
}

static bool is_no_arrival(const struct move *move)
{
  return is_event(move) && move->event.kind != RCL_EVENT_ARRIVED;
}

/* A step may drain one channel: then messages of that channel, and no others, come out without a
 * receive. */
static void drains_one(void)
{
  static const char *const controls[] = {"none", NULL};
  static const struct rcl_protocol drainer = {.name = "drainer",
                                              .title = "drains one channel",
                                              .controls = controls,
                                              .state_size = drainer_size,
                                              .step = drainer_step};
  int line;
  char *message = NULL;
  struct world world;
  struct parts parts;
  struct verdict verdict = {.kind = VERDICT_FINE};
  struct script *script =
      script_parse("rank 0: recv 1, recv 2\nrank 1: send 0\nrank 2: send 0", 3, &line, &message);
  world_init(&world, &drainer, 3, 4);
  world.script = script;
  parts_init(&parts, &world);
  world_begin(&world, 0, 0);
  take_all(&world, is_no_arrival, &verdict);
  struct choice drained = {.is_wanted = arrives_from_drained},
                other = {.is_wanted = arrives_from_other};
  world_moves(&world, choose, &drained);
  world_moves(&world, choose, &other);
  ok(drained.found == 1 && other.found == 0,
     "of two channels with a message each the one that is drained has an arrival");
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
}

/* ---- wildcards ---- */

/* Counts the messages that wildcard receives are given. */
static void witness_step(const struct rcl_config *config, void *state,
                         const struct rcl_event *event, struct rcl_actions *actions)
{
  (void)config;
  if (event->kind == RCL_EVENT_SEND)
    rcl_act(actions, RCL_ACTION_TRANSMIT);
  if (event->kind == RCL_EVENT_RECEIVE)
    rcl_match(actions, event);
  if (event->kind != RCL_EVENT_ARRIVED)
    return;
  *(uint64_t *)state += event->wildcard;
  rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
}

/* An arrival says whether the receive that takes the message is a wildcard, whichever receives are
 * posted before that one. */
static void tells_wildcards(void)
{
  static const char *const controls[] = {"none", NULL};
  static const struct rcl_protocol witness = {.name = "witness",
                                              .title = "counts wildcard receives",
                                              .controls = controls,
                                              .state_size = drainer_size,
                                              .step = witness_step};
  int line;
  char *message = NULL;
  struct world world;
  struct parts parts;
  struct verdict verdict = {.kind = VERDICT_FINE};
  struct script *script = script_parse(
      "rank 0: irecv a any tag 1, irecv b any tag 2, irecv c any tag 3, wait c, wait b, "
      "wait a\nrank 1: send 0 tag 3, send 0 tag 2, send 0 tag 1",
      RANKS, &line, &message);
  world_init(&world, &witness, RANKS, 4);
  world.script = script;
  parts_init(&parts, &world);
  world_begin(&world, 0, 0);
  take_all(&world, is_no_arrival, &verdict);
  take_all(&world, is_event, &verdict);
  uint64_t count;
  memcpy(&count, read_rank(&world, 0) + 1, sizeof count);
  ok(count == 3 && read_program(&world, 0)->finished,
     "three wildcard receives are said to be wildcards");
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
}

/* ---- what a host owes ---- */

/* A host owes the events to which ranks are entitled: a start, a message under way to a rank that
 * runs, the notice of a crash. */
static void owes(bool crashes)
{
  int line;
  char *message = NULL;
  struct world world;
  struct parts parts;
  struct move owed;
  struct verdict verdict = {.kind = VERDICT_FINE};
  struct script *script = script_parse("rank 0: send 1\nrank 1: recv 0", RANKS, &line, &message);
  world_init(&world, rcl_protocol_named("none"), RANKS, 4);
  world.script = script;
  world.bounded = true;
  parts_init(&parts, &world);
  world_begin(&world, 1, 0);
  ok(world_owes(&world, &owed) && owed.event.kind == RCL_EVENT_START, "a start is owed");
  take_all(&world, is_no_arrival, &verdict);
  ok(world_owes(&world, &owed) && owed.event.kind == RCL_EVENT_ARRIVED && owed.rank == 1,
     "a message under way is owed to a rank that runs");
  if (crashes)
    take(&world, is_crash, &verdict);
  else
    take_all(&world, is_event, &verdict);
  ok(world_owes(&world, &owed) == crashes && (!crashes || owed.kind == MOVE_DETECT),
     crashes ? "the notice of a crash is owed" : "nothing is owed when it has come");
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
}

/* ---- places of checkpoints ---- */

static bool is_begin(const struct move *move)
{
  return move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_START;
}

static bool is_choice(const struct move *move)
{
  return move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_CHOICE;
}

/* A caller of world_init() that says nothing of places has checkpoints anywhere, where programs
 * pass safe points without a step. */
static void passes_safe_points(bool says_program)
{
  int line;
  char *message = NULL;
  struct world world;
  struct parts parts;
  struct verdict verdict = {.kind = VERDICT_FINE};
  struct script *script = script_parse("rank *: checkpoint, choose 2", RANKS, &line, &message);
  world_init(&world, rcl_protocol_named("none"), RANKS, 4);
  world.places_anywhere &= !says_program;
  world.script = script;
  parts_init(&parts, &world);
  world_begin(&world, 0, 0);
  take_all(&world, is_begin, &verdict);
  ok(take(&world, is_choice, &verdict) != says_program,
     says_program ? "a program waits at its safe points" : "but not where any place is one");
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
}

/* ---- taking part again ---- */

enum { AGAIN = 1 };

/* Rank 1 is held from its start on. Rank 0, the root of a broadcast, asks it to take part again. */
static void rejoiner_step(const struct rcl_config *config, void *state,
                          const struct rcl_event *event, struct rcl_actions *actions)
{
  (void)state;
  if (event->kind == RCL_EVENT_DOWN)
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = event->checkpoint;
  if (event->kind == RCL_EVENT_COLLECTIVE)
    rcl_act(actions, RCL_ACTION_JOIN);
  if (event->kind == RCL_EVENT_CONTROL)
    rcl_act(actions, RCL_ACTION_REJOIN)->call = 1; /* whose root is rank 0 */
  if (event->kind == RCL_EVENT_START && config->self == 0)
    rcl_send_control(actions, 1, AGAIN, 0, 0);
  if (event->kind == RCL_EVENT_START && config->self == 1)
    rcl_act(actions, RCL_ACTION_HOLD);
}

static bool is_no_call(const struct move *move)
{
  return is_event(move) && move->event.kind != RCL_EVENT_COLLECTIVE;
}

static bool is_no_control(const struct move *move)
{
  return is_event(move) && move->event.kind != RCL_EVENT_CONTROL;
}

/* A contribution to a call in which its receiver takes part again disappears: when it comes, or,
 * `late`, when the receiver takes part after it has come. */
static void rejoins(bool late, bool grouped)
{
  static const char *const controls[] = {"none", "again", NULL};
  static const struct rcl_protocol rejoiner = {.name = "rejoiner",
                                               .title = "takes part again",
                                               .controls = controls,
                                               .collectives = true,
                                               .state_size = drainer_size,
                                               .step = rejoiner_step};
  int line;
  char *message = NULL;
  struct world world;
  struct parts parts;
  struct verdict verdict = {.kind = VERDICT_FINE};
  struct script *script = script_parse("rank *: bcast 0", RANKS, &line, &message);
  world_init(&world, &rejoiner, RANKS, 4);
  world.script = script;
  world.bounded = true;
  parts_init(&parts, &world);
  if (grouped)
    parts_group_shares(&parts, &world);
  world_begin(&world, 1, 0);
  take(&world, is_start, &verdict);
  take(&world, is_crash, &verdict);
  take(&world, is_detection, &verdict);
  take_all(&world, late ? is_no_control : is_no_call, &verdict);
  uint32_t come = part_size(&world, WORLD_SHARE, 0, 1),
           again = part_size(&world, WORLD_REJOINED, 1, 0);
  take_all(&world, is_event, &verdict);
  ok(late ? come && !again : again && !come, "%s%s", late ? "a contribution has come" : "none has",
     grouped ? ", in a group" : "");
  ok(verdict.kind == VERDICT_FINE && !part_size(&world, WORLD_SHARE, 0, 1) &&
         !part_size(&world, WORLD_REJOINED, 1, 0),
     "a rank that takes part again takes it once");
  parts_clear(&parts);
  world_clear(&world);
  script_free(script);
}

/* ---- worlds without a script ---- */

static void begin_plain(struct world *world, struct parts *parts)
{
  world_init(world, rcl_protocol_named("none"), RANKS, 4);
  world->bounded = true;
  parts_init(parts, world);
  world_begin(world, 1, 1);
}

static void ends_call(void)
{
  struct world world;
  struct parts parts;
  begin_plain(&world, &parts);
  const struct content history = read_program(&world, 0)->history;
  edit_program(&world, 0)->call.state = CALL_JOINED;
  world_end_call(&(struct step_context){.w = &world, .rank = 0}, true, content_of(7));
  const struct world_program *program = read_program(&world, 0);
  ok(program->call.state == CALL_NONE && !program->next &&
         content_same(&program->history, &history),
     "a call without a script ends, and its result is not part of the history");
  parts_clear(&parts);
  world_clear(&world);
}

/* Returns the digest of a world in which a rank has an image and a stored image with the given
 * bytes. The world has kept `others` other contents before these bytes. */
static uint64_t digest_of(const char *image, const char *stored, int others)
{
  struct world world;
  struct parts parts;
  begin_plain(&world, &parts);
  const struct world_memory *memory = &world.memory;
  for (int i = 0; i < others; i++)
    memory->keep(memory->ctx, "other", 5);
  edit_rank(&world, 0)->image = memory->keep(memory->ctx, image, 4);
  const struct world_record record = {
      .checkpoint = 1, .part = RCL_PART_IMAGE, .image = memory->keep(memory->ctx, stored, 4)};
  list_insert(&world, WORLD_STORED, 0, 0, 0, &record, sizeof record);
  uint64_t digest = world_digest(&world);
  parts_clear(&parts);
  world_clear(&world);
  return digest;
}

static void digests(void)
{
  uint64_t digest = digest_of("this", "that", 0);
  ok(digest_of("this", "that", 3) == digest, "a digest does not depend on numbers of kept bytes");
  ok(digest_of("thus", "that", 0) != digest && digest_of("this", "thus", 0) != digest,
     "but on the bytes");
}

int main(void)
{
  ends_call();
  digests();
  for (int form = 0; form < 4; form++)
    rejoins(form & 1, form & 2);
  covers();
  tells_wildcards();
  owes(false);
  owes(true);
  drains_one();
  finds(comes_from_first, "a message from the first rank is found");
  finds(comes_from_last, "a message from the last rank is found");
  passes_safe_points(true);
  passes_safe_points(false);
  topology();
  starts(false);
  starts(true);
  return done();
}
