/* Images without MPI: on the stack of main, and on one of our own, as SimGrid's ranks have. The
 * "program" is this executable. What must survive a rollback lives in libc memory. Prints TAP. */
#define _GNU_SOURCE
#include "../heap.h"
#include "../image.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { STACK = 1 << 18, TIMES = 100, TEN_MB = 10 << 20 };

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

/* One rank: captured in a recursion, then everything is changed, then restored, TIMES over. */
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

/* Two images of one rank, restored in turn: neither disturbs the other. */
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

static void coroutine(void)
{
  test_rank(heap_arena_new(1), STACK);
  setcontext(&outside->main);
}

/* As SimGrid makes them: a guard page, the stack, and no guard at the other end. */
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

int main(void)
{
  setvbuf(stdout, NULL, _IONBF, 0); /* a buffer would be rolled back */
  outside = calloc(1, sizeof *outside);
  run_coroutine();
  struct arena *arena = heap_arena_new(2);
  test_two_images(arena);
  test_errors(arena);
  measure(arena);
  printf("1..%d\n", outside->tests);
  return outside->tests == 0;
}
