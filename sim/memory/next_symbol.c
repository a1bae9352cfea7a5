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
