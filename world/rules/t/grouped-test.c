/* Lets two worlds take the same random moves. One world keeps contributions to collectives in
 * groups (shares.h), and the other keeps a part for each pair of ranks. Tests that each pair of
 * ranks has the same contributions under way in both. Contents are not compared, because groups do
 * not have them. */
#include <stdlib.h>
#include <string.h>

#include "protocols/t/tap.h"
#include "world/rules/in_place.h"
#include "world/rules/world_parts.h"

enum { RANKS = 3, MOVES_MAX = 400, STEPS = 400, WALKS = 60 };

struct twin {
  struct world world;
  struct parts parts;
  struct move moves[MOVES_MAX];
  uint32_t count; /* number of moves */
};

static uint32_t draw(uint32_t below)
{
  static uint64_t state = 1;
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)(state >> 33) % below;
}

static void begin(struct twin *twin, const char *protocol, struct script *script, bool grouped)
{
  world_init(&twin->world, rcl_protocol_named(protocol), RANKS, 12);
  twin->world.script = script;
  twin->world.bounded = true;
  parts_init(&twin->parts, &twin->world);
  if (grouped)
    parts_group_shares(&twin->parts, &twin->world);
  world_begin(&twin->world, 2, 2);
}

static void end(struct twin *twin)
{
  parts_clear(&twin->parts);
  world_clear(&twin->world);
}

static void note_move(void *data, const struct move *move)
{
  struct twin *twin = data;
  if (twin->count < MOVES_MAX)
    twin->moves[twin->count++] = *move;
}

static bool same_contribution(const struct world_message *x, const struct world_message *y)
{
  return x->comm == y->comm && x->tag == y->tag && x->incarnation == y->incarnation &&
         x->line == y->line && x->stopped == y->stopped &&
         !memcmp(x->words, y->words, sizeof x->words);
}

static bool same_shares(const struct twin *a, const struct twin *b, uint32_t *most)
{
  bool same = true;
  for (int from = 0; from < RANKS; from++)
    for (int to = 0; to < RANKS; to++) {
      uint32_t one, other;
      const struct world_message *x =
          READ_LIST(struct world_message, &a->world, WORLD_SHARE, from, to, &one);
      const struct world_message *y =
          READ_LIST(struct world_message, &b->world, WORLD_SHARE, from, to, &other);
      same &= one == other;
      for (uint32_t i = 0; same && i < one; i++)
        same = same_contribution(&x[i], &y[i]);
      *most = *most < one ? one : *most;
    }
  return same;
}

static bool step(struct twin *twin, struct move move)
{
  struct verdict verdict;
  struct rcl_actions actions = {.capacity = RCL_ACTIONS_MAX(&twin->world.config[0])};
  actions.item = calloc(actions.capacity, sizeof *actions.item);
  world_step(&twin->world, &move, &actions, &verdict);
  free(actions.item);
  return verdict.kind == VERDICT_FINE;
}

/* Returns whether the twins stay the same; notes the longest list, and crashes. */
static bool walk(const char *protocol, struct script *script, uint32_t *most, uint32_t *crashes)
{
  struct twin *twins = calloc(2, sizeof *twins);
  bool same = true, fine = true;
  begin(&twins[0], protocol, script, true);
  begin(&twins[1], protocol, script, false);
  for (uint32_t i = 0; i < STEPS && same && fine; i++) {
    twins[1].count = 0;
    world_moves(&twins[1].world, note_move, &twins[1]);
    if (!twins[1].count)
      break;
    const struct move move = twins[1].moves[draw(twins[1].count)];
    *crashes += move.kind == MOVE_CRASH;
    fine = step(&twins[0], move);
    same = step(&twins[1], move) == fine && same_shares(&twins[0], &twins[1], most);
  }
  end(&twins[0]);
  end(&twins[1]);
  free(twins);
  return same;
}

static void walks(const char *protocol, const char *text)
{
  int line;
  char *message = NULL;
  struct script *script = script_parse(text, RANKS, &line, &message);
  uint32_t wrong = 0, most = 0, crashes = 0;
  for (uint32_t i = 0; i < WALKS; i++)
    wrong += !walk(protocol, script, &most, &crashes);
  if (!ok(!wrong && most > 0 && crashes > 0, "%s: %s", protocol, text))
    note("%u walks differ, %u contributions at most, %u crashes", wrong, most, crashes);
  script_free(script);
}

int main(void)
{
  static const char *const protocols[] = {"blocking", "c3"};
  for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
    walks(protocols[i], "rank *: bcast 1, checkpoint, reduce 2, allreduce, checkpoint, barrier");
    walks(protocols[i], "rank 0: allreduce, member 1, checkpoint, allreduce on 1, bcast 0 on 1\n"
                        "rank 1: allreduce, checkpoint, choose 2\n"
                        "rank 2: allreduce, member 1, allreduce on 1, checkpoint, bcast 0 on 1");
  }
  return done();
}
