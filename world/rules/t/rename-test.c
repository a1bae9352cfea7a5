/* Tests which parts of a world can be renamed when its ranks change their names. A part is refused
 * if its bytes do not show how to rename it: an image, what a program has received, a contribution
 * to a collective call. */
#include <string.h>

#include "protocols/t/tap.h"
#include "world/rules/world_parts.h"
#include "world/rules/world_step.h"

enum { RANKS = 3 };

static const int16_t to[RANKS] = {1, 2, 0};
static struct rcl_protocol renaming;
static struct world world;
static unsigned renamed_states;

static void rename_state(const struct rcl_config *config, void *state, const int16_t *names)
{
  (void)config, (void)state;
  renamed_states += names == to;
}

static bool renames(uint32_t part, void *bytes, uint32_t size)
{
  return world_rename(&world, part, to, bytes, size);
}

static void heads(void)
{
  struct {
    struct world_rank head;
    uint64_t state[64];
  } me = {.head = {.phase = RANK_RUNNING, .draining = 1}};
  uint32_t part = world_part(&world, WORLD_RANK, 1, 0);
  ok(renames(part, &me, sizeof me) && renamed_states == 1, "the protocol renames its state");
  me.head.image = 1;
  ok(!renames(part, &me, sizeof me) && renamed_states == 1, "but not one beside an image");
  me.head.image = 0;
  me.head.draining = 2;
  ok(!renames(part, &me, sizeof me) && renamed_states == 1, "nor one that drains a single peer");
  me.head.draining = 0;
  renaming.permute_ranks = NULL;
  ok(!renames(part, &me, sizeof me), "a protocol without permute_ranks renames nothing");
  renaming.permute_ranks = rename_state;
}

static struct world_program first_program(void)
{
  return (struct world_program){.history = world_first_history(1)};
}

static void programs(void)
{
  uint32_t part = world_part(&world, WORLD_PROGRAM, 1, 0);
  struct world_program program = first_program();
  struct content next = world_first_history(to[1]);
  ok(renames(part, &program, sizeof program) && content_same(&program.history, &next),
     "a program that has received nothing has the history of its new name");
  ok(!renames(part, &program, sizeof program), "one with another history is not renamed");
  program = first_program();
  program.call.state = CALL_NONE + 1;
  ok(!renames(part, &program, sizeof program), "nor one in a collective call");
  program = first_program();
  program.waiting = 1;
  ok(!renames(part, &program, sizeof program), "nor one that waits");
  program = first_program();
  program.given = 1;
  ok(!renames(part, &program, sizeof program), "nor one that was given a message");
  program = first_program();
  program.receives = 1;
  ok(!renames(part, &program, sizeof program), "nor one that has posted a receive");
  const struct script *script = world.script;
  world.script = NULL;
  program = first_program();
  ok(!renames(part, &program, sizeof program), "nor one of which no script says that it is free");
  world.script = script;
}

static void messages(void)
{
  uint32_t part = world_part(&world, WORLD_CHANNEL, 1, 2);
  struct content next = world_first_history(to[1]);
  struct world_message message[2] = {{.tag = 0, .content = world_first_history(1)},
                                     {.comm = CONTROL_COMM}};
  ok(renames(part, message, sizeof message) && content_same(&message[0].content, &next),
     "a message that tells of its sender's name alone tells of the new one");
  ok(!renames(part, message, sizeof message), "one that tells of more is not renamed");
}

static void others(void)
{
  uint64_t bytes[sizeof(struct world_global) / sizeof(uint64_t)] = {0};
  struct world_global *global = (void *)bytes;
  uint32_t all = world_part(&world, WORLD_GLOBAL, 0, 0);
  global->down = -1;
  ok(renames(all, global, sizeof *global), "what concerns no rank needs no renaming");
  global->down = 0;
  ok(!renames(all, global, sizeof *global), "a failure that is to be noticed names a rank");
  ok(!renames(world_part(&world, WORLD_SHARE, 1, 2), bytes, 8), "a contribution is not renamed");
  ok(renames(world_part(&world, WORLD_SHARE, 1, 2), bytes, 0), "but an empty part is");
  ok(!renames(world_part(&world, WORLD_STORED, 1, 0), bytes, 8), "nor is what is stored");
  ok(renames(world_part(&world, WORLD_TOKENS, 0, 0), bytes, 8), "tokens have no names");
}

int main(void)
{
  int line;
  char *message = NULL;
  renaming = *rcl_protocol_named("none");
  renaming.permute_ranks = rename_state;
  world_init(&world, &renaming, RANKS, 1);
  struct script *script = script_parse("rank *: free 1", RANKS, &line, &message);
  world.script = script;
  heads();
  programs();
  messages();
  others();
  script_free(script);
  world_clear(&world);
  return done();
}
