/* Measures what one image costs, for image-cost.sh. Usage: image-cost MIB PERCENT. Prints one line.
 * The line begins with MIB and PERCENT. Then come the costs of three things, each in milliseconds
 * and in MiB of resident memory: a plain copy of the memory into fresh memory; the first image; a
 * second image after PERCENT of the pages were changed. The line ends with the milliseconds that it
 * takes to go back to the first image. */
#define _GNU_SOURCE
#include "sim/memory/heap.h"
#include "sim/memory/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

struct cost {
  double ms, mib;
};

static struct cost *plain, *first, *second, *back; /* in libc memory, which images do not touch */

static double now_ms(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static double resident_mib(void)
{
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%*d %ld", &pages) != 1)
    abort();
  fclose(file);
  return (double)pages * (double)getpagesize() / 1048576;
}

static void begin(struct cost *cost)
{
  *cost = (struct cost){.ms = -now_ms(), .mib = -resident_mib()};
  cost->ms = -now_ms();
}

static void end(struct cost *cost)
{
  cost->ms += now_ms();
  cost->mib += resident_mib();
}

static void measure_plain(const char *memory, size_t bytes)
{
  begin(plain);
  char *copy = malloc(bytes);
  if (!copy)
    abort();
  memcpy(copy, memory, bytes);
  __asm__ volatile("" : : "r"(copy) : "memory"); /* keeps the compiler from removing the copy */
  end(plain);
  free(copy);
}

/* Changes pages that are spread evenly, which is the worst case for code that works with ranges. */
static void change(char *memory, size_t pages, size_t percent)
{
  size_t count = pages * percent / 100;
  for (size_t i = 0; i < count; i++)
    memory[i * pages / count * PAGE_BYTES + i % PAGE_BYTES]++;
}

static void measure_images(struct image_source *source, char *memory, size_t pages, size_t percent)
{
  struct image *older, *newer;
  begin(first);
  if (image_capture(source, &older) == IMAGE_RESTORED) {
    end(back);
    return;
  }
  end(first);
  change(memory, pages, percent);
  begin(second);
  if (image_capture(source, &newer) != IMAGE_CAPTURED)
    abort();
  end(second);
  begin(back);
  image_restore(older);
}

int main(int argc, char **argv)
{
  size_t mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
  size_t percent = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
  struct arena *arena = heap_arena(0);
  struct cost *costs = calloc(4, sizeof *costs);
  plain = costs, first = costs + 1, second = costs + 2, back = costs + 3;
  size_t bytes = mib << 20;
  struct image_source *source = image_source_new(&plain, arena, 0);
  heap_enter(arena);
  char *memory = malloc(bytes);
  heap_leave();
  if (!source || !memory)
    abort();
  for (size_t i = 0; i < bytes; i++)
    memory[i] = (char)(i * 2654435761u >> 13 | 1);
  measure_plain(memory, bytes);
  measure_images(source, memory, bytes / PAGE_BYTES, percent);
  printf("%zu %zu %.2f %.1f %.2f %.1f %.2f %.1f %.2f\n", mib, percent, plain->ms, plain->mib,
         first->ms, first->mib, second->ms, second->mib, back->ms);
  return 0;
}
