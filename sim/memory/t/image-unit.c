/* Tests images without MPI, on the stack of main and on a separate stack, as SimGrid's ranks have.
 * The "program" is this executable. Data that must survive a rollback lie in libc memory. Prints
 * TAP. */
#define _GNU_SOURCE
#include "sim/memory/heap.h"
#include "sim/memory/image.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK = 1 << 18, TIMES = 100, TEN_MB = 10 << 20, PAGE_BYTES = 4096 };
enum { WINDOWS = 60, IMAGES = 6, FEW_KB = 256 << 10 };

struct outside { /* not rolled back */
  struct image_source *source;
  struct image *image, *older;
  int captures, restores, tests;
  ucontext_t main, coroutine;
  char *neighbour; /* first byte behind the stack of the coroutine */
  double start, capture_s[TIMES], restore_s[TIMES];
};

static struct outside *outside;
static int global = 1;
static char bss[100000];
static _Thread_local int thread_local_state = 3;

static void ok(bool good, const char *what)
{
  printf("%sok %d - %s\n", good ? "" : "not ", ++outside->tests, what);
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int recurse(int depth)
{
  volatile int local = depth;
  if (!depth)
    return image_capture(outside->source, &outside->image) == IMAGE_RESTORED ? 1000 : 0;
  int result = recurse(depth - 1);
  return result + local;
}

/* Captures a rank in a recursion, changes everything, and restores it, TIMES times. */
static void test_rank(struct arena *arena, size_t stack_bytes)
{
  outside->source = image_source_new(&global, arena, stack_bytes);
  ok(outside->source != NULL, "the memory of the rank is found");
  outside->restores = 0;
  volatile int local = 5;
  volatile double real = 1.5;
  heap_enter(arena);
  char *text = strdup("before");
  global = 2;
  bss[99999] = 'b';
  thread_local_state = 4;
  int sum = recurse(10);
  bool first = outside->restores == 0;
  if (first || outside->restores == TIMES)
    ok(sum == (first ? 55 : 1055), "the recursion has its locals");
  bool same = local == 5 && real == 1.5 && global == 2 && bss[99999] == 'b' &&
              thread_local_state == 4 && !strcmp(text, "before") && heap_owner(text) == 1;
  if (!same || first || outside->restores == TIMES)
    ok(same, "all memory is as it was captured");
  local = 6;
  real = 2.5;
  global = 3;
  bss[99999] = 'c';
  thread_local_state = 5;
  free(text);
  text = strdup("after, and longer than it was before");
  for (int i = 0; i < 100; i++)
    free(malloc((size_t)i * 100));
  struct arena *mode = heap_leave();
  if (mode != arena)
    ok(false, "the heap mode came back");
  outside->neighbour[0]++;
  if (outside->restores++ < TIMES)
    image_restore(outside->image);
  image_free(outside->image);
  image_source_free(outside->source);
  free(text);
}

/* Restores two images of one rank in turn. Neither may change the other. */
static void test_two_images(struct arena *arena)
{
  outside->source = image_source_new(&global, arena, 0);
  outside->restores = 0;
  volatile int local = 1;
  bool good = true;
  if (image_capture(outside->source, &outside->older) == IMAGE_RESTORED)
    good = local == 1;
  if (outside->restores < 2 || !good)
    ok(good, "the older image");
  if (outside->restores == 0) {
    local = 2;
    if (image_capture(outside->source, &outside->image) == IMAGE_RESTORED) {
      ok(local == 2, "the newer image");
      outside->restores = 2;
      image_restore(outside->older);
    }
    local = 3;
    outside->restores = 1;
    image_restore(outside->image);
  }
  image_free(outside->older);
  image_free(outside->image);
  image_free(NULL);
  image_source_free(outside->source);
}

static void test_errors(struct arena *arena)
{
  errno = 0;
  ok(!image_source_new(outside, arena, 0) && errno == ENOTSUP, "an address in no program");
  errno = 0;
  ok(!image_source_new(outside, NULL, 0) && errno == ENOENT, "the same, without a heap");
  errno = 0;
  ok(!image_source_new(&global, arena, (size_t)1 << 40) && errno == ERANGE,
     "a stack that the mapping cannot hold");
}

static double resident_mb(void)
{
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%*d %ld", &pages) != 1)
    abort();
  fclose(file);
  return (double)pages * (double)getpagesize() / 1e6;
}

/* Makes random writes, captures, restores and frees of several images, and compares the memory
 * with complete copies. An image must stay exact, whichever other images are freed. */
struct model {
  struct image *image[IMAGES];
  unsigned char *copy[IMAGES];
  unsigned char *block;
  int at, steps, restores;
  uint64_t seed;
  bool good;
};

static struct model *model; /* in libc memory */

static uint64_t draw(uint64_t below) /* splitmix64 */
{
  uint64_t z = (model->seed += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % below;
}

static void scribble(void)
{
  unsigned char *page = model->block + draw(WINDOWS) * PAGE_BYTES;
  switch (draw(3)) {
  case 0:
    memset(page, 0, draw(20) * PAGE_BYTES);
    break;
  case 1:
    memset(page, (int)draw(256), draw(3 * PAGE_BYTES));
    break;
  default:
    page[draw(PAGE_BYTES)]++;
  }
}

static void drop_image(int i)
{
  image_free(model->image[i]);
  free(model->copy[i]);
  model->image[i] = NULL;
  model->copy[i] = NULL;
}

static void capture_model(int i, size_t bytes)
{
  model->copy[i] = malloc(bytes);
  memcpy(model->copy[i], model->block, bytes);
  model->at = i;
  if (image_capture(outside->source, &model->image[i]) == IMAGE_RESTORED)
    model->good = model->good && !memcmp(model->copy[model->at], model->block, bytes);
}

static void test_model(struct arena *arena, uint64_t seed)
{
  const size_t bytes = (WINDOWS + 20) * PAGE_BYTES;
  model = calloc(1, sizeof *model);
  *model = (struct model){.seed = seed, .good = true};
  outside->source = image_source_new(&global, arena, 0);
  heap_enter(arena);
  model->block = calloc(1, bytes);
  heap_leave();
  while (model->good && model->steps++ < 3000) {
    int i = model->at = (int)draw(IMAGES);
    for (uint64_t writes = draw(6); writes > 0; writes--)
      scribble();
    if (!model->image[i]) {
      capture_model(i, bytes);
    } else if (draw(2)) {
      drop_image(i);
    } else {
      model->restores++;
      image_restore(model->image[i]);
    }
  }
  for (int i = 0; i < IMAGES; i++)
    drop_image(i);
  printf("# seed %llu: %d restores\n", (unsigned long long)seed, model->restores);
  ok(model->good && model->restores > 500, "random images agree with whole copies");
  free(model->block);
  free(model);
  image_source_free(outside->source);
}

/* Tests what a second image costs if little has changed. Also tests that the second image stays
 * complete when the image with which it shares copies is freed. */
static void test_sharing(struct arena *arena)
{
  outside->source = image_source_new(&global, arena, 0);
  heap_enter(arena);
  char *block = malloc(TEN_MB);
  memset(block, 1, TEN_MB);
  heap_leave();
  image_capture(outside->source, &outside->older);
  memset(block + TEN_MB / 2, 2, FEW_KB);
  double before = resident_mb();
  outside->restores = 0;
  if (image_capture(outside->source, &outside->image) == IMAGE_CAPTURED) {
    ok(image_bytes(outside->image) > TEN_MB, "a second image is as large as the first");
    ok(image_copied_bytes(outside->image) < 2 * FEW_KB, "but copies only what has changed");
    ok(resident_mb() - before < 2, "and takes no more memory than that");
    memset(block, 3, TEN_MB);
    image_free(outside->older);
    outside->older = NULL;
    image_restore(outside->image);
  }
  bool good = true;
  for (int i = 0; i < TEN_MB; i++)
    good = good && block[i] == (i >= TEN_MB / 2 && i < TEN_MB / 2 + FEW_KB ? 2 : 1);
  ok(good, "it is whole when the first is gone");
  before = resident_mb();
  free(block);
  image_free(outside->image);
  ok(before - resident_mb() > 1.5 * TEN_MB / 1e6, "the memory of both is given back");
  image_source_free(outside->source);
}

/* Tests that heap which was given back is not saved, and not there after a restore. */
static void test_holes(struct arena *arena)
{
  outside->source = image_source_new(&global, arena, 0);
  heap_enter(arena);
  char *block = malloc(TEN_MB), *wall = malloc(1);
  memset(block, 1, TEN_MB);
  free(block);
  heap_leave();
  double before = resident_mb();
  if (image_capture(outside->source, &outside->image) == IMAGE_CAPTURED) {
    ok(image_bytes(outside->image) < TEN_MB / 10, "a hole in the heap is not saved");
    heap_enter(arena);
    block = malloc(3 * TEN_MB);
    heap_leave();
    memset(block, 2, 3 * TEN_MB);
    image_restore(outside->image);
  }
  ok(resident_mb() - before < 5, "what the heap has grown by since is given back by a restore");
  image_free(outside->image);
  free(wall);
  image_source_free(outside->source);
}

static int compare(const void *a, const void *b)
{
  double first = *(const double *)a, second = *(const double *)b;
  return (first > second) - (first < second);
}

static void measure(struct arena *arena)
{
  outside->source = image_source_new(&global, arena, 0);
  heap_enter(arena);
  char *block = malloc(TEN_MB);
  memset(block, 1, TEN_MB);
  heap_leave();
  for (int i = 0; i < TIMES; i++) {
    outside->captures = i;
    double start = now();
    enum image_outcome outcome = image_capture(outside->source, &outside->image);
    if (outcome == IMAGE_CAPTURED) {
      outside->capture_s[outside->captures] = now() - start;
      memset(block, 2, TEN_MB);
      outside->start = now();
      image_restore(outside->image);
    }
    outside->restore_s[outside->captures] = now() - outside->start;
    if (i == 0)
      printf("# first: capture %.2f ms\n", 1e3 * outside->capture_s[0]);
    if (i < TIMES - 1)
      image_free(outside->image);
  }
  qsort(outside->capture_s, TIMES, sizeof(double), compare);
  qsort(outside->restore_s, TIMES, sizeof(double), compare);
  size_t bytes = image_bytes(outside->image);
  ok(bytes > TEN_MB && bytes < TEN_MB + 1000000, "an image says how much it holds");
  printf("# %.1f MB: median capture %.2f ms, restore %.2f ms\n", (double)bytes / 1e6,
         1e3 * outside->capture_s[TIMES / 2], 1e3 * outside->restore_s[TIMES / 2]);
  image_free(outside->image);
  image_source_free(outside->source);
  free(block);
}

/* Makes the library's pagemap unreadable, so that it works as under a kernel that does not tell
 * which pages were touched. */
static void close_pagemap(struct arena *arena)
{
  struct rlimit limit, none = {.rlim_cur = 0};
  outside->source = image_source_new(&global, arena, 0);
  getrlimit(RLIMIT_NOFILE, &limit);
  none.rlim_max = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &none);
  image_capture(outside->source, &outside->image);
  setrlimit(RLIMIT_NOFILE, &limit);
  image_free(outside->image);
  image_source_free(outside->source);
}

static void coroutine(void)
{
  test_rank(heap_arena(1), STACK);
  setcontext(&outside->main);
}

/* Makes a stack as SimGrid makes it: a guard page, the stack, and no guard at the other end. */
static void run_coroutine(void)
{
  char *guarded = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(guarded, 4096, PROT_NONE);
  getcontext(&outside->coroutine);
  outside->coroutine.uc_stack.ss_sp = guarded + 4096;
  outside->coroutine.uc_stack.ss_size = STACK;
  outside->coroutine.uc_link = NULL;
  makecontext(&outside->coroutine, coroutine, 0);
  char *neighbour = guarded + 4096 + STACK;
  outside->neighbour = neighbour;
  swapcontext(&outside->main, &outside->coroutine);
  ok(neighbour[0] == TIMES + 1, "memory beyond the stack is left alone");
}

/* Usage: image-unit [seed [unmapped]]. With the second argument the kernel does not tell which
 * pages were touched. */
int main(int argc, char **argv)
{
  setvbuf(stdout, NULL, _IONBF, 0); /* a buffer would be rolled back */
  outside = calloc(1, sizeof *outside);
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
  struct arena *arena = heap_arena(2);
  if (argc > 2)
    close_pagemap(arena);
  run_coroutine();
  test_two_images(arena);
  test_errors(arena);
  test_model(arena, seed);
  test_sharing(arena);
  test_holes(arena);
  measure(arena);
  printf("1..%d\n", outside->tests);
  return outside->tests == 0;
}
