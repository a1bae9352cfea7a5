/* Tests the allocator against a model that is too simple to be wrong: a table of blocks, each
 * filled with bytes of its own. Usage: heap-unit [seed]. Prints TAP. */
#define _GNU_SOURCE
#include "sim/memory/heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum { BLOCKS = 512, ROUNDS = 200000, KEPT = 64 };

struct entry {
  unsigned char *at;
  size_t bytes;
  unsigned char fill;
};

static struct entry table[BLOCKS];
static struct arena *arena;
static uint64_t seed;
static int tests;

static void ok(bool good, const char *what)
{
  printf("%sok %d - %s\n", good ? "" : "not ", ++tests, what);
}

static uint64_t draw(uint64_t below) /* splitmix64 */
{
  uint64_t z = (seed += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % below;
}

static size_t draw_size(void)
{
  switch (draw(8)) {
  case 0:
    return draw(16);
  case 1:
    return draw(200000);
  case 2:
    return draw(5000);
  default:
    return draw(300);
  }
}

static size_t used(struct arena *of)
{
  void *start;
  size_t length;
  heap_used(of, &start, &length);
  return length;
}

static bool intact(const struct entry *entry, size_t bytes)
{
  for (size_t i = 0; i < bytes; i++)
    if (entry->at[i] != entry->fill)
      return false;
  return true;
}

static bool placed(const struct entry *entry, size_t alignment)
{
  void *start;
  size_t length;
  heap_used(arena, &start, &length);
  return entry->at && (uintptr_t)entry->at % alignment == 0 && heap_owner(entry->at) == 7 &&
         malloc_usable_size(entry->at) >= entry->bytes && (char *)entry->at >= (char *)start &&
         (char *)entry->at + entry->bytes <= (char *)start + length;
}

static void fill(struct entry *entry)
{
  entry->fill = (unsigned char)draw(256);
  memset(entry->at, entry->fill, entry->bytes);
}

static bool allocate(struct entry *entry)
{
  size_t alignment = HEAP_ALIGNMENT;
  bool zeroed = false;
  entry->bytes = draw_size();
  switch (draw(4)) {
  case 0:
    entry->at = calloc(1, entry->bytes);
    zeroed = true;
    break;
  case 1:
    alignment = (size_t)16 << draw(9);
    if (posix_memalign((void **)&entry->at, alignment, entry->bytes))
      return false;
    break;
  default:
    entry->at = malloc(entry->bytes);
  }
  entry->fill = 0;
  bool good = placed(entry, alignment) && (!zeroed || intact(entry, entry->bytes));
  fill(entry);
  return good;
}

static bool resize(struct entry *entry)
{
  size_t old = entry->bytes;
  entry->bytes = draw_size() + 1;
  entry->at = realloc(entry->at, entry->bytes);
  bool good =
      placed(entry, HEAP_ALIGNMENT) && intact(entry, old < entry->bytes ? old : entry->bytes);
  fill(entry);
  return good;
}

static bool step(struct entry *entry)
{
  if (!entry->at)
    return allocate(entry);
  if (!intact(entry, entry->bytes))
    return false;
  if (draw(3) == 0)
    return resize(entry);
  free(entry->at);
  entry->at = NULL;
  return true;
}

static bool random_steps(int rounds)
{
  bool good = true;
  for (int i = 0; good && i < rounds; i++) {
    struct entry *entry = &table[draw(BLOCKS)];
    heap_enter(arena);
    good = step(entry);
    heap_leave();
  }
  return good;
}

static bool all_intact(void)
{
  for (int i = 0; i < BLOCKS; i++)
    if (table[i].at && !intact(&table[i], table[i].bytes))
      return false;
  return true;
}

/* this runs in libc mode, because the arena of the block counts, not the mode */
static void free_all(void)
{
  for (int i = 0; i < BLOCKS; i++) {
    free(table[i].at);
    table[i].at = NULL;
  }
}

/* Copies the used bytes, and puts them back after more steps. The heap must then be as it was, and
 * later steps must work. */
static void test_restore(void)
{
  static struct entry kept[BLOCKS];
  void *start, *after;
  size_t length, length_after;
  random_steps(5000);
  heap_used(arena, &start, &length);
  void *copy = malloc(length);
  memcpy(copy, start, length);
  memcpy(kept, table, sizeof kept);
  for (int i = 0; i < 3; i++) {
    random_steps(5000);
    memcpy(start, copy, length);
    heap_give_back(arena); /* frees pages that the steps have used beyond the range */
    memcpy(table, kept, sizeof kept);
  }
  heap_used(arena, &after, &length_after);
  ok(after == start && length_after == length, "a restored arena has its used range back");
  ok(all_intact(), "its blocks have their contents back");
  ok(random_steps(20000), "and it goes on working");
  free_all();
  free(copy);
}

static void churn(size_t most)
{
  void *block[KEPT] = {NULL};
  for (int i = 0; i < 20000; i++) {
    void **slot = &block[draw(KEPT)];
    free(*slot);
    *slot = malloc(draw(most) + 1);
  }
  for (int i = 0; i < KEPT; i++)
    free(block[i]);
}

static void test_reuse(void)
{
  size_t empty = used(arena);
  heap_enter(arena);
  churn(100000);
  size_t once = used(arena);
  for (int i = 0; i < 20; i++)
    churn(100000);
  heap_leave();
  ok(once == empty && used(arena) == empty, "what is freed is given back down to the last byte");

  heap_enter(arena);
  void *pin = NULL;
  size_t most = 0;
  for (int i = 0; i < 2000; i++) {
    void *large = malloc(1000003);
    void *next = malloc(50); /* lies after `large`, until the next round frees it */
    free(large);
    free(pin);
    pin = next;
    if (used(arena) > most)
      most = used(arena);
  }
  free(pin);
  heap_leave();
  ok(most < empty + 3200000, "a hole is used again by what was there");
}

/* Returns how many bytes of the arena are in memory, up to the highest address that the arena has
 * used. */
static size_t resident(void)
{
  enum { REACH = 256 << 20, PAGE = 4096 };
  static unsigned char present[REACH / PAGE];
  void *start;
  size_t length, bytes = 0;
  heap_used(arena, &start, &length);
  if (mincore(start, REACH, present))
    return SIZE_MAX;
  for (size_t i = 0; i < REACH / PAGE; i++)
    bytes += (present[i] & 1u) * PAGE;
  return bytes;
}

/* Fills 100 MiB with blocks of `size`. Frees all of them except the last one, which is above the
 * others. */
static void test_hole(size_t size, const char *what)
{
  enum { TOTAL = 100 << 20 };
  heap_give_back(arena);
  size_t count = TOTAL / size + 1, before = resident();
  heap_enter(arena);
  char **block = calloc(count, sizeof *block);
  for (size_t i = 0; i < count; i++) {
    block[i] = malloc(size);
    memset(block[i], 1, size);
  }
  bool filled = resident() > TOTAL;
  for (size_t i = 0; i + 1 < count; i++)
    free(block[i]);
  /* the number of bytes that the arena may keep, see arena.c */
  size_t most = used(arena) / 4 + (3 << 20);
  bool kept = resident() - before < most + count * sizeof *block;
  heap_give_back(arena);
  bool given = resident() - before < (1 << 20) + count * sizeof *block;
  free(block[count - 1]);
  free(block);
  heap_leave();
  ok(filled && kept && given, what);
}

/* Tests a program that allocates and frees many times, both blocks that live short and blocks that
 * live long. Its heap must not grow, and must not hold memory that is no longer used. */
static void test_long_churn(void)
{
  enum { LIVE = 2000, PHASES = 12, STEPS = 40000 };
  static void *block[LIVE];
  heap_give_back(arena);
  size_t most_used = 0, most_resident = 0, before = resident();
  heap_enter(arena);
  for (int phase = 0; phase < PHASES; phase++) {
    size_t large = phase % 3 == 0 ? 60000 : 2000; /* sizes of blocks differ between the phases */
    for (int i = 0; i < STEPS; i++) {
      void **slot = &block[draw(draw(4) ? 200 : LIVE)];
      free(*slot);
      size_t size = draw(16) ? draw(400) : draw(large);
      *slot = memset(malloc(size + 1), 1, size + 1);
      most_used = used(arena) > most_used ? used(arena) : most_used;
    }
    if (phase == 2) /* by now the program has had all sizes */
      most_resident = resident();
  }
  bool bounded = resident() < most_resident + most_resident / 2;
  for (int i = 0; i < LIVE; i++)
    free(block[i]);
  size_t quiet = resident() - before;
  heap_leave();
  printf("# churn: %.1f MB used at most, %.1f MB resident, %.2f MB when all is freed\n",
         (double)most_used / 1e6, (double)most_resident / 1e6, (double)quiet / 1e6);
  ok(bounded, "an arena does not grow with time");
  ok(quiet < 3 << 20, "and is given back when nothing is used");
}

static long page_faults(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/* Tests a buffer that each of many calls allocates. After the first few calls the buffer keeps its
 * pages. If the buffer is larger than the memory that all arenas together may keep, it gives the
 * pages back each time. */
static void test_same_again(void)
{
  enum { LARGE = 8 << 20, CALLS = 100, LARGEST = 400 << 20 };
  heap_give_back(arena);
  size_t before = resident();
  heap_enter(arena);
  long faults = page_faults();
  for (int i = 0; i < CALLS; i++)
    free(memset(malloc(LARGE), i, LARGE));
  faults = page_faults() - faults;
  size_t kept = resident() - before;
  for (int i = 0; i < 3; i++)
    free(memset(malloc(LARGEST), i, LARGEST));
  size_t most = resident() - before;
  heap_leave();
  printf("# %ld pages taken for %d blocks of %d\n", faults, CALLS, LARGE / 4096);
  ok(faults < 10 * (LARGE / 4096) && kept <= LARGE + (1 << 20),
     "large blocks that come again have their pages still");
  ok(most <= 256 << 20, "blocks that are too large for that have not");
}

static bool is_zero(const char *bytes, size_t count)
{
  const volatile char *first = bytes; /* volatile, because the compiler knows what calloc gives */
  return !*first && !memcmp(bytes, bytes + 1, count - 1);
}

/* Tests calloc. It must give zeros, wherever its memory comes from, and must not touch pages that
 * are zero already. The block is so small that it keeps its pages when it is freed. */
static void test_zeros(void)
{
  enum { LARGE = 64 << 20, SMALL = 512 << 10 };
  void *start;
  size_t length;
  heap_give_back(arena);
  size_t before = resident();
  heap_enter(arena);
  char *block = calloc(1, LARGE);
  bool untouched = resident() - before < 1 << 20;
  free(block);
  memset(block = malloc(SMALL), 'x', SMALL);
  free(block);
  block = calloc(1, SMALL);
  bool zeros = is_zero(block, SMALL);
  memset(block, 'x', SMALL);
  heap_leave();
  heap_used(arena, &start, &length);
  char *saved = malloc(length);
  memcpy(saved, start, length);
  heap_enter(arena);
  free(block);
  heap_leave();
  heap_give_back(arena);
  memcpy(start, saved, length); /* a rollback, after which the block exists again */
  free(saved);
  heap_enter(arena);
  free(block);
  block = calloc(1, SMALL);
  bool again = is_zero(block, SMALL);
  free(block);
  heap_leave();
  ok(untouched, "calloc does not touch fresh memory");
  ok(zeros, "calloc gives zeros where other blocks were");
  ok(again, "and where a rollback has put one back");
}

static void test_modes(void)
{
  void *libc = malloc(100);
  memset(libc, 'x', 100);
  ok(heap_owner(libc) == HEAP_NOBODY && heap_owner(NULL) == HEAP_NOBODY,
     "memory of libc mode is in no arena");
  heap_enter(arena);
  char *moved = realloc(libc, 200);
  char *copied = strdup("from within libc");
  free(NULL);
  ok(heap_leave() == arena && heap_leave() == NULL, "leaving tells the mode before");
  ok(heap_owner(moved) == 7 && moved[0] == 'x' && moved[99] == 'x',
     "realloc of a libc block in program mode moves it into the arena");
  ok(heap_owner(copied) == 7, "libc allocates in the arena on the program's behalf");
  ok(((char *)libc)[50] == 'x', "but leaves the libc block as it was");
  heap_enter(arena);
  free(libc);
  heap_leave();
  ok(((char *)libc)[50] == 'x' && ((char *)libc)[0] == 'x',
     "free of a libc block in program mode is not carried out");
  moved = realloc(moved, 100000);
  ok(heap_owner(moved) == 7 && moved[99] == 'x',
     "realloc of an arena block in libc mode stays in the arena");
  free(moved);
  free(copied);
  free(libc);
}

static void test_other_arena(void)
{
  struct arena *other = heap_arena(4095);
  heap_enter(other);
  void *theirs = malloc(10);
  heap_enter(arena);
  size_t before = used(arena);
  ok(heap_owner(theirs) == 4095, "ranks have arenas of their own");
  free(theirs);
  ok(used(arena) == before, "a block is freed in the arena that owns it");
  heap_leave();
  ok(heap_arena(7) == arena, "a rank has one arena");
  errno = 0;
  ok(!heap_arena(HEAP_RANKS) && errno == EINVAL, "and there are so many ranks");
}

/* Tests that no byte of the linker's data is in the arena, because they must survive a rollback. */
static void test_linker(void)
{
  void *kept = NULL;
  heap_enter(arena);
  size_t before = used(arena);
  void *library = dlopen("libanl.so.1", RTLD_NOW); /* a library of libc that is not loaded yet */
  if (library)
    kept = malloc(1);
  size_t after = used(arena);
  free(kept);
  heap_leave();
  if (!library)
    printf("# no library to load\n");
  ok(!library || after == before + 32, "the linker gets libc memory even in program mode");
}

static void test_limits(void)
{
  void *result = NULL;
  volatile size_t huge = SIZE_MAX; /* volatile, because the compiler knows that this cannot work */
  heap_enter(arena);
  errno = 0;
  ok(!malloc(huge) && errno == ENOMEM, "malloc of everything fails");
  ok(!calloc(huge / 2, 3), "calloc sees the overflow");
  ok(!reallocarray(NULL, huge / 2, 3), "reallocarray sees the overflow");
  ok(!malloc((size_t)1 << 40), "a block larger than the arena fails");
  ok(posix_memalign(&result, 24, 8) == EINVAL, "an alignment is a power of two");
  ok(posix_memalign(&result, 16, huge - 8) == ENOMEM, "posix_memalign of everything fails");
  ok(!pvalloc(huge), "pvalloc sees the overflow");
  void *page = valloc(1), *two = pvalloc(4097), *line = aligned_alloc(64, 100);
  volatile size_t crooked = 48;
  void *odd = memalign(crooked, 100);
  ok((uintptr_t)page % 4096 == 0 && (uintptr_t)two % 4096 == 0 && malloc_usable_size(two) >= 8192 &&
         (uintptr_t)line % 64 == 0 && (uintptr_t)odd % 64 == 0,
     "the other aligned functions align");
  void *none = malloc(0);
  ok(none && heap_owner(none) == 7, "malloc(0) is a block");
  ok(!realloc(none, 0), "realloc to 0 frees it");
  free(page);
  free(two);
  free(line);
  free(odd);
  heap_leave();
}

static void measure(void)
{
  struct timespec start, end;
  enum { OPERATIONS = 4000000 };
  static void *slot[1024];
  heap_enter(arena);
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < OPERATIONS; i++) {
    void **at = &slot[draw(1024)];
    free(*at);
    *at = malloc(draw(1000));
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  for (int i = 0; i < 1024; i++)
    free(slot[i]);
  heap_leave();
  double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
  printf("# %.0f ns for a free and a malloc\n", ns / OPERATIONS);
}

int main(int argc, char **argv)
{
  setvbuf(stdout, NULL, _IOLBF, 1 << 12);
  seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
  printf("# seed %llu\n", (unsigned long long)seed);
  arena = heap_arena(7);
  ok(arena != NULL, "an arena is made");
  size_t empty = used(arena);
  ok(random_steps(ROUNDS), "random steps agree with the model");
  ok(all_intact(), "no block was written over");
  free_all();
  ok(used(arena) == empty, "an arena with nothing in it is as small as a new one");
  test_restore();
  test_reuse();
  test_hole(1000, "100 MiB of small blocks are given back from under a block that stays");
  test_hole(70000, "so are large ones");
  test_long_churn();
  test_same_again();
  test_zeros();
  test_modes();
  test_other_arena();
  test_linker();
  test_limits();
  ok(used(arena) == empty, "nothing was left behind");
  measure();
  printf("1..%d\n", tests);
  return 0;
}
