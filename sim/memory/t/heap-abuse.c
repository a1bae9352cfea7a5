/* Does to its heap what a program must not do. Usage: heap-abuse twice|inside|beyond|
 * stack|constant|number|other|overrun. Each must end with exit code 64 and one line on standard
 * error. */
#include "sim/memory/heap.h"

#include <stdlib.h>
#include <string.h>

static char constant[64] __attribute__((aligned(16))) = {[8] = 64};

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  char own[64] __attribute__((aligned(16))) = {[8] = 64};
  char *volatile before = malloc(100), *volatile large = malloc(1 << 20);
  heap_enter(heap_arena(0));
  free(before); /* libc's block */
  large = realloc(large, 10);
  char *volatile block = malloc(100);
  char *volatile wall = malloc(100);
  if (!strcmp(what, "twice")) {
    free(block);
    free(block);
  } else if (!strcmp(what, "inside")) {
    free(block + 16);
  } else if (!strcmp(what, "beyond")) {
    free(wall);
    free(wall + (1 << 16));
  } else if (!strcmp(what, "stack")) {
    free(own + 16);
  } else if (!strcmp(what, "constant")) {
    free(constant + 16);
  } else if (!strcmp(what, "number")) {
    free((void *)0x10);
  } else if (!strcmp(what, "other")) {
    large = realloc(own + 8, 100);
  } else if (!strcmp(what, "overrun")) {
    void *start;
    size_t length;
    memset(block, 1, 200);
    heap_leave();
    heap_used(heap_arena(0), &start, &length);
  }
  return 0;
}
