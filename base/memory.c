#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/platform.h"

enum { HUGE_PAGE = 1 << 21 };

void memory_exhausted(size_t bytes)
{
  fprintf(stderr, "recline: out of memory: %zu bytes in one piece, expected less\n", bytes);
  _Exit(EXIT_INCONCLUSIVE);
}

void *memory_grow(void *memory, size_t bytes)
{
  void *grown = realloc(memory, bytes ? bytes : 1);
  if (!grown)
    memory_exhausted(bytes);
  return grown;
}

void *memory_room(void *list, uint32_t count, uint32_t *room, size_t item)
{
  if (count < *room)
    return list;
  *room = *room ? *room + *room / 2 + 1 : 256; /* room 1 must grow, too */
  return memory_grow(list, *room * item);
}

void *memory_zeroed_room(void *list, uint32_t number, uint32_t *room, size_t item)
{
  if (number < *room)
    return list;
  uint32_t before = *room;
  *room = 2 * number + 64;
  list = memory_grow(list, *room * item);
  memset((char *)list + before * item, 0, (*room - before) * item);
  return list;
}

void *memory_table(size_t count, size_t size)
{
  size_t bytes = count * size, unit = bytes < HUGE_PAGE ? MEMORY_LINE : HUGE_PAGE;
  size_t units = (bytes + unit - 1) / unit * unit;
  void *memory = aligned_alloc(unit, units ? units : unit);
  if (!memory)
    memory_exhausted(bytes);
  if (unit == HUGE_PAGE)
    platform_prefer_huge_pages(memory, units);
  return memset(memory, 0, bytes);
}
