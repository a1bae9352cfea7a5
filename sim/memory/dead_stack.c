#define _DEFAULT_SOURCE
#include "sim/memory/dead_stack.h"

#include "sim/memory/image_source.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  /* number of bytes below a caller's frame that hold the frames of this file's functions */
  TOP = 1024,
  BLOCK = 4096
};

typedef uint64_t line __attribute__((vector_size(16), may_alias));
enum { LINES = BLOCK / sizeof(line) };

/* Calls no function, because the frame of that function would lie in the cleared part. So the
 * compiler must not turn the loop into a call of memset(). */
static inline void clear_lines(line *first, int count)
{
#pragma GCC unroll 8
  for (int i = 0; i < count; i++) {
    first[i] = (line){0};
    __asm__ volatile("" : : : "memory");
  }
}

static inline bool is_zero(const line *first)
{
  line all = {0};
#pragma GCC unroll 8
  for (int i = 0; i < LINES; i++)
    all |= first[i];
  return !(all[0] | all[1]);
}

__attribute__((noinline)) static void clear_blocks(const char *least)
{
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  line *block = (line *)((frame - TOP / 2) / sizeof(line) * sizeof(line));
  do {
    block -= LINES;
    if ((const char *)block < least || is_zero(block))
      return;
    clear_lines(block, LINES);
  } while (true);
}

/* Clears the stack next to the caller's frame. This function's own frame leaves the same bytes
 * each time. */
__attribute__((noinline)) static void clear_top(void)
{
  line top[TOP / sizeof(line)];
  clear_lines(top, TOP / sizeof(line));
}

void dead_stack_clear(const struct image_source *source)
{
  if (!source)
    return;
  clear_blocks(source->stack.start + 2 * BLOCK);
  clear_top();
}

void dead_stack_discard(const struct image_source *source, char *frame)
{
  size_t page = (size_t)getpagesize();
  char *end = frame - (uintptr_t)frame % page - page, *start = source->stack.start;
  start += (page - (uintptr_t)start % page) % page;
  if (start < end)
    madvise(start, (size_t)(end - start), MADV_DONTNEED);
}
