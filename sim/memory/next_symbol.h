/* The functions of libc behind those that librecline_heap.so defines in their place. */
#ifndef RECLINE_NEXT_SYMBOL_H
#define RECLINE_NEXT_SYMBOL_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Writes its address into the function pointer at `function`. ISO C knows no conversion of an
 * object pointer to a function pointer. Does not allocate. */
static inline void find_next(const char *name, void *function, size_t size)
{
  void *symbol = dlsym(RTLD_NEXT, name);
  memcpy(function, &symbol, size);
}

/* close() and fclose() of libc. */
int next_close(int descriptor);
int next_fclose(FILE *);

#endif
