#include "sim/memory/next_symbol.h"

int next_close(int descriptor)
{
  static int (*next)(int);
  if (!next)
    find_next("close", &next, sizeof next);
  return next(descriptor);
}

int next_fclose(FILE *stream)
{
  static int (*next)(FILE *);
  if (!next)
    find_next("fclose", &next, sizeof next);
  return next(stream);
}

FILE *next_fdopen(int descriptor, const char *how)
{
  static FILE *(*next)(int, const char *);
  if (!next)
    find_next("fdopen", &next, sizeof next);
  return next(descriptor, how);
}
