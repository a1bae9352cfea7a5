/* Does the same random operations to parts in place and to plain arrays: lists grow, lose items
 * anywhere, and are cut. Tests that taking items from the front of a long list moves nothing, and
 * that adding items behind moves the list seldom. A number of kept bytes that does not exist is
 * refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocols/t/tap.h"
#include "world/rules/in_place.h"
#include "world/rules/world_parts.h"

enum { RANKS = 2, ITEMS_MAX = 3000, ROUNDS = 60000, LONG = 1 << 15 };

struct item {
  uint64_t number, more;
};

static struct world world;
static struct parts parts;

static uint32_t draw(uint32_t below)
{
  static uint64_t state = 1;
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)(state >> 33) % below;
}

static void begin(void)
{
  world = (struct world){.protocol = rcl_protocol_named("none"), .ranks = RANKS};
  parts_init(&parts, &world);
}

static const struct item *items(uint32_t *count)
{
  return READ_LIST(struct item, &world, WORLD_CHANNEL, 0, 1, count);
}

static void add(uint64_t number, uint32_t index)
{
  struct item item = {.number = number};
  list_insert(&world, WORLD_CHANNEL, 0, 1, index, &item, sizeof item);
}

static void take(uint32_t index)
{
  list_remove(&world, WORLD_CHANNEL, 0, 1, index, sizeof(struct item));
}

/* ---- the same as plain arrays ---- */

static struct item plain[ITEMS_MAX + 1];
static uint32_t plain_count;

static void change(uint64_t number)
{
  uint32_t index = draw(4) ? plain_count : draw(plain_count + 1), at = draw(4) ? 0 : plain_count;
  if (plain_count < ITEMS_MAX && draw(100) < (number / 5000 % 2 ? 40 : 60)) {
    add(number, index);
    memmove(&plain[index + 1], &plain[index], (plain_count - index) * sizeof *plain);
    plain[index] = (struct item){.number = number};
    plain_count++;
  } else if (plain_count) {
    at = at ? draw(plain_count) : 0;
    take(at);
    memmove(&plain[at], &plain[at + 1], (plain_count - at - 1) * sizeof *plain);
    plain_count--;
  }
  if (draw(5000) == 0) {
    list_clear(&world, WORLD_CHANNEL, 0, 1);
    plain_count = 0;
  }
}

static void check_random(void)
{
  uint32_t count, wrong = 0, longest = 0;
  begin();
  for (uint64_t number = 1; number <= ROUNDS; number++) {
    change(number);
    const struct item *item = items(&count);
    wrong += count != plain_count || (count && memcmp(item, plain, count * sizeof *item) != 0);
    longest = longest < count ? count : longest;
  }
  ok(!wrong, "random operations");
  ok(longest > 500, "on lists of many items");
  parts_clear(&parts);
}

/* Returns the number of items that are moved when items are taken from the front of a list and as
 * many are added to it. */
static uint64_t moved_by_passing(uint32_t length, uint32_t times)
{
  uint32_t count;
  uint64_t moved = 0;
  begin();
  for (uint32_t i = 0; i < length; i++)
    add(i, i);
  for (uint32_t i = 0; i < times; i++) {
    const struct item *before = items(&count);
    take(0);
    moved += items(&count) == before + 1 ? 0 : count;
    before = items(&count);
    add(length + i, count);
    moved += items(&count) == before ? 0 : count;
  }
  const struct item *item = items(&count);
  ok(count == length && item[0].number == times && item[count - 1].number == times + length - 1,
     "the items that are left are those that were added last");
  parts_clear(&parts);
  return moved;
}

/* ---- copies ---- */

/* Tests that a copy of parts and of kept bytes, small and large, survives the original. */
static void check_copies(void)
{
  enum { SMALL = 10, LARGE = 70000, GONE = 20 };
  static unsigned char bytes[LARGE];
  struct parts copy;
  uint32_t count, size;
  memset(bytes, 7, sizeof bytes);
  begin();
  for (uint32_t i = 0; i < LONG; i++)
    add(i, i);
  for (uint32_t i = 0; i < GONE; i++)
    take(0);
  uint32_t small = world.memory.keep(world.memory.ctx, bytes, SMALL),
           gone = world.memory.keep(world.memory.ctx, bytes, SMALL),
           large = world.memory.keep(world.memory.ctx, bytes, LARGE);
  world.memory.forget(world.memory.ctx, gone);
  parts_copy(&copy, &parts);
  parts_clear(&parts);
  parts = copy;
  const struct item *item = items(&count);
  ok(count == LONG - GONE && item[0].number == GONE, "a copy has the items that were left");
  const void *kept = world.memory.kept(world.memory.ctx, large, &size);
  ok(size == LARGE && !memcmp(kept, bytes, LARGE), "and the large bytes that were kept");
  kept = world.memory.kept(world.memory.ctx, small, &size);
  ok(size == SMALL && !memcmp(kept, bytes, SMALL), "and the small ones");
  world.memory.forget(world.memory.ctx, large);
  parts_clear(&parts);
}

/* ---- numbers of kept bytes ---- */

/* Returns whether forgetting the bytes of that number, or, `reads`, reading them, is a breach. */
static bool is_breach(uint32_t number, bool reads)
{
  int status;
  uint32_t size;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    if (reads)
      world.memory.kept(world.memory.ctx, number, &size);
    else
      world.memory.forget(world.memory.ctx, number);
    _exit(0);
  }
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

static void check_numbers(void)
{
  begin();
  uint32_t gone = world.memory.keep(world.memory.ctx, "gone", 4),
           kept = world.memory.keep(world.memory.ctx, "kept", 4);
  world.memory.forget(world.memory.ctx, gone);
  ok(!is_breach(kept, true) && !is_breach(kept, false), "kept bytes are read and forgotten");
  ok(is_breach(gone, true) && is_breach(gone, false), "those that were forgotten are not");
  ok(is_breach(0, true) && is_breach(0, false), "nothing is kept as number 0");
  parts_clear(&parts);
}

int main(void)
{
  check_random();
  check_copies();
  check_numbers();
  uint64_t moved = moved_by_passing(LONG, 4 * LONG);
  ok(moved <= 8 * (uint64_t)LONG, "each item that passes a long list moves two others at most");
  return done();
}
