/* What a program must not do to its heap. Usage: heap-abuse twice|inside|beyond|overrun; expected
 * to end with exit code 64 and one line on standard error. */
#include "sim/memory/heap.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  heap_enter(heap_arena(0));
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
  } else if (!strcmp(what, "overrun")) {
    void *start;
    size_t length;
    memset(block, 1, 200);
    heap_leave();
    heap_used(heap_arena(0), &start, &length);
  }
  return 0;
}
