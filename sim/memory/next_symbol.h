/* Finds the functions of libc that librecline_heap.so replaces. */
#ifndef RECLINE_NEXT_SYMBOL_H
#define RECLINE_NEXT_SYMBOL_H

#include "sim/memory/heap.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Writes the address of libc's function into the function pointer at `function`, because ISO C
 * cannot convert an object pointer to a function pointer. Does not allocate. */
static inline void find_next(const char *name, void *function, size_t size)
{
  void *symbol = dlsym(RTLD_NEXT, name);
  memcpy(function, &symbol, size);
}

/* Defines NAME in place of libc's. It runs in libc mode: BEFORE, then RESULT, in which `next` is
 * libc's function and `mode` the arena of the calling program, NULL for libc itself. */
#define IN_LIBC_MODE(TYPE, NAME, PARAMETERS, BEFORE, RESULT)                                       \
  HEAP_API TYPE NAME PARAMETERS;                                                                   \
  HEAP_API TYPE NAME PARAMETERS                                                                    \
  {                                                                                                \
    static TYPE(*next) PARAMETERS;                                                                 \
    struct arena *mode = heap_leave();                                                             \
    if (!next)                                                                                     \
      find_next(#NAME, &next, sizeof next);                                                        \
    BEFORE;                                                                                        \
    TYPE result = RESULT;                                                                          \
    heap_enter(mode);                                                                              \
    return result;                                                                                 \
  }

/* libc's own close(), fclose() and fdopen(). */
int next_close(int descriptor);
FILE *next_fdopen(int descriptor, const char *how);
int next_fclose(FILE *);

#endif
