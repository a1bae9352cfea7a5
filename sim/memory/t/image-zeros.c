/* Measures what a static array of half a gigabyte costs if only a few bytes of it are used. The
 * rest must be neither read nor copied nor written. Prints TAP. */
#define _GNU_SOURCE
#include "sim/memory/heap.h"
#include "sim/memory/image.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HUGE_MB = 512, TEN_MB = 10 << 20, TESTS = 4 };

struct outside { /* not rolled back */
  struct image_source *source;
  struct image *image;
  double resident_mb, captured_mb, start, capture_ms, restore_ms;
};

static struct outside *outside;
static char array[(size_t)HUGE_MB << 20];

static void ok(bool good, const char *what)
{
  static int tests;
  printf("%sok %d - %s\n", good ? "" : "not ", ++tests, what);
}

static double now_ms(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
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

static void capture_and_restore(void)
{
  outside->start = now_ms();
  if (image_capture(outside->source, &outside->image) == IMAGE_CAPTURED) {
    outside->capture_ms = now_ms() - outside->start;
    outside->captured_mb = resident_mb();
    array[5] = 3;
    memset(array + sizeof array / 4, 4, TEN_MB);
    outside->start = now_ms();
    image_restore(outside->image);
  }
  outside->restore_ms = now_ms() - outside->start;
}

int main(void)
{
  setvbuf(stdout, NULL, _IONBF, 0); /* a buffer would be rolled back */
  outside = calloc(1, sizeof *outside);
  outside->source = image_source_new(array, heap_arena(0), 0);
  outside->resident_mb = resident_mb();
  array[5] = 1;
  array[sizeof array / 2] = 2;
  capture_and_restore();
  printf("# capture %.2f ms, restore %.2f ms\n", outside->capture_ms, outside->restore_ms);
  ok(image_bytes(outside->image) < TEN_MB / 10, "what is not touched is not saved");
  ok(outside->captured_mb - outside->resident_mb < 5, "and takes no memory by being looked at");
  ok(resident_mb() - outside->resident_mb < 5, "what was touched since is given back");
  bool zero = true;
  for (size_t i = 0; i < TEN_MB; i++)
    zero = zero && !array[sizeof array / 4 + i];
  ok(zero && array[5] == 1 && array[sizeof array / 2] == 2, "all is as it was, zeros too");
  printf("1..%d\n", TESTS);
  image_free(outside->image);
  image_source_free(outside->source);
  return 0;
}
