/* Calls by which the programs inform recline's MPI layer (include/recline.h). Without the layer, as
 * under plain smpirun, they have no effect. */
#ifndef RECLINE_TELL_H
#define RECLINE_TELL_H

#include "include/recline.h"

#pragma weak recline_choose
#pragma weak recline_output
#pragma weak recline_potential_checkpoint
#pragma weak recline_iteration
#pragma weak recline_iteration_bytes
#pragma weak recline_image_bytes
#pragma weak recline_protect_items
#pragma weak recline_protect_distributed
#pragma weak recline_protected_bytes
#pragma weak recline_restore
#pragma weak recline_restarts

/* Tells that iteration `iteration` begins. The first iteration is 1. */
static inline void tell_iteration(unsigned iteration)
{
  if (recline_iteration)
    recline_iteration(iteration);
}

/* Tells how many bytes an iteration changes, and how many a checkpoint has to hold. */
static inline void tell_bytes(unsigned long long iteration, unsigned long long image)
{
  if (recline_iteration_bytes)
    recline_iteration_bytes(iteration);
  if (recline_image_bytes)
    recline_image_bytes(image);
}

/* Registers items of images at the application level. They have a type, so that a node of another
 * byte order can read them. */
static inline void tell_items(int id, void *address, int count, enum recline_item type)
{
  if (recline_protect_items)
    recline_protect_items(id, address, (size_t)count, type);
}

static inline void tell_doubles(int id, double *address, int count)
{
  tell_items(id, address, count, RECLINE_DOUBLE);
}

/* Registers this rank's part of an array of doubles that is spread over the ranks. */
static inline void tell_part(int id, double *address, int dimensions, const long long whole[],
                             const long long first[], const long long part[])
{
  if (recline_protect_distributed)
    recline_protect_distributed(id, address, RECLINE_DOUBLE, dimensions, whole, first, part);
}

/* Returns the bytes of registered items that can be restored, or 0 if there is none. */
static inline size_t tell_recorded(int id)
{
  return recline_protected_bytes ? recline_protected_bytes(id) : 0;
}

/* Returns from which point the program runs. After a crash, restores the registered items first. */
static inline enum recline_place tell_restarts(void)
{
  return recline_restarts ? recline_restarts() : RECLINE_NO_RESTART;
}

static inline enum recline_place tell_restore(void)
{
  return recline_restore ? recline_restore() : RECLINE_NO_RESTART;
}

#endif
