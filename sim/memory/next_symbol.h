/* Finds the functions of libc that librecline_heap.so replaces. */
#ifndef RECLINE_NEXT_SYMBOL_H
#define RECLINE_NEXT_SYMBOL_H

#include "sim/memory/heap.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Writes the address of libc's function into the function pointer at `function`, because ISO C
 * cannot convert an object pointer to a function pointer. This function does not allocate. */
static inline void find_next(const char *name, void *function, size_t size)
{
  void *symbol = dlsym(RTLD_NEXT, name);
  memcpy(function, &symbol, size);
}

/* Defines function NAME in place of libc's function. In libc mode it executes BEFORE and then
 * RESULT. In RESULT, `next` is libc's function, and `mode` is the arena of the calling program, or
 * NULL if libc itself calls. */
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

/* These functions are libc's own close(), fclose() and fdopen(). */
int next_close(int descriptor);
FILE *next_fdopen(int descriptor, const char *how);
int next_fclose(FILE *);

#endif
