/* Defines the calls of recline.h. If the host is off, these calls have no effect, as without
 * recline. */
#include <stdio.h>

#include "include/recline.h"
#include "mpi/real_calls.h"
#include "mpi/real_host.h"

static const size_t item_bytes[] = {[RECLINE_BYTE] = 1,
                                    [RECLINE_INT16] = 2,
                                    [RECLINE_INT32] = 4,
                                    [RECLINE_INT64] = 8,
                                    [RECLINE_FLOAT] = sizeof(float),
                                    [RECLINE_DOUBLE] = sizeof(double),
                                    [RECLINE_LONG_DOUBLE] = sizeof(long double)};

_Static_assert((int)RECLINE_AT_CHECKPOINT == (int)REAL_CHECKPOINT &&
                   (int)RECLINE_AT_BARRIER == (int)REAL_BARRIER &&
                   (int)RECLINE_AT_END == (int)REAL_END,
               "places have the same numbers");

void recline_potential_checkpoint(void)
{
  recline_iteration(0);
}

void recline_iteration(unsigned iteration)
{
  if (!real_is_on())
    return;
  real_calls_check_place();
  real_safe_point(iteration);
}

/* The next two calls set costs for a simulation. On real MPI they do nothing, because time passes
 * by itself. */
void recline_iteration_bytes(unsigned long long bytes)
{
  (void)bytes;
}

void recline_image_bytes(unsigned long long bytes)
{
  (void)bytes;
}

int recline_choose(int count)
{
  (void)count;
  return 0;
}

int recline_output(const void *bytes, unsigned long long size)
{
  return fwrite(bytes, 1, size, stdout) == size ? 0 : -1;
}

void recline_protect_items(int id, void *address, size_t count, enum recline_item type)
{
  if (real_is_on())
    real_protect(id, address, count, item_bytes[type], (int)type, NULL);
}

void recline_protect_distributed(int id, void *address, enum recline_item type, int dimensions,
                                 const long long whole[], const long long first[],
                                 const long long part[])
{
  struct real_shape shape = {.dimensions = dimensions};
  size_t count = 1;
  for (int d = 0; d < dimensions && d < REAL_DIMENSIONS; d++) {
    shape.whole[d] = whole[d];
    shape.first[d] = first[d];
    shape.part[d] = part[d];
    count *= (size_t)part[d];
  }
  if (real_is_on())
    real_protect(id, address, count, item_bytes[type], (int)type, &shape);
}

void recline_protect(int id, void *address, size_t bytes)
{
  recline_protect_items(id, address, bytes, RECLINE_BYTE);
}

void recline_unprotect(int id)
{
  if (real_is_on())
    real_unprotect(id);
}

enum recline_place recline_restarts(void)
{
  return real_is_on() ? (enum recline_place)real_restarts() : RECLINE_NO_RESTART;
}

size_t recline_protected_bytes(int id)
{
  return real_is_on() ? real_protected_bytes(id) : 0;
}

enum recline_place recline_restore(void)
{
  return real_is_on() ? (enum recline_place)real_restore() : RECLINE_NO_RESTART;
}

/* Refuses the calls of the position stack, which this host does not keep. */
static void refuse_stack(void)
{
  if (real_is_on())
    real_refuse("recline_push() and recline_resume()", "recline_restore()");
}

void recline_push(int position)
{
  (void)position;
  refuse_stack();
}

void recline_pop(void)
{
  refuse_stack();
}

int recline_resume(void)
{
  refuse_stack();
  return 0;
}
