/* Declares lists of operations, for the files that parse scripts. */
#ifndef RECLINE_SCRIPT_PARTS_H
#define RECLINE_SCRIPT_PARTS_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "world/script/script.h"

enum { OPERATIONS_MAX = 65535 }; /* world_program.next is 16 bits wide */

/* Holds the operations of one line, with loops unrolled. */
struct list {
  struct operation *item;
  size_t count, room;
};

static inline void *checked(void *memory)
{
  if (!memory) {
    fputs("script: out of memory\n", stderr);
    abort();
  }
  return memory;
}

static inline void append(struct list *list, const struct operation *operation)
{
  if (list->count == list->room) {
    list->room = list->room ? 2 * list->room : 8;
    list->item = checked(realloc(list->item, list->room * sizeof *list->item));
  }
  list->item[list->count++] = *operation;
}

/* Replaces the calls of windows by messages. Returns NULL, or a static text that says what is wrong
 * with the calls. */
const char *script_make_windows(struct script *);

static inline void free_ops(struct operation **ops, int ranks)
{
  for (int rank = 0; ops && rank < ranks; rank++)
    free(ops[rank]);
  free(ops);
}

#endif
