/* Defines the calls of recline.h for checkpoints at the application level. */
#include "include/recline.h"
#include "sim/host/storage/application.h"
#include "sim/mpi/layer/wrap.h"

_Static_assert((int)RECLINE_AT_CHECKPOINT == (int)PLACE_CHECKPOINT &&
                   (int)RECLINE_AT_BARRIER == (int)PLACE_BARRIER &&
                   (int)RECLINE_AT_END == (int)PLACE_END &&
                   (int)RECLINE_LONG_DOUBLE == (int)ITEM_LONG_DOUBLE,
               "the program and the host have the same names");

/* Returns the rank of a program whose checkpoints are at the application level, or NULL. */
static struct rank *protecting(const char *name)
{
  struct rank *r = rank_self();
  if (!r || !application_level())
    return NULL;
  layer.call = name;
  return r;
}

/* Defines the call NAME. If protecting() returns NULL, the call has no effect and returns
 * OTHERWISE.
 */
#define APPLICATION_CALL(TYPE, NAME, PARAMETERS, OTHERWISE, ...)                                   \
  TYPE NAME PARAMETERS                                                                             \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    struct rank *r = protecting(#NAME);                                                            \
    TYPE result = r ? (__VA_ARGS__) : (OTHERWISE);                                                 \
    layer_leave(mode);                                                                             \
    return result;                                                                                 \
  }
#define APPLICATION_DEED(NAME, PARAMETERS, ...)                                                    \
  void NAME PARAMETERS                                                                             \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    struct rank *r = protecting(#NAME);                                                            \
    if (r)                                                                                         \
      __VA_ARGS__;                                                                                 \
    layer_leave(mode);                                                                             \
  }

APPLICATION_DEED(recline_protect, (int id, void *address, size_t bytes),
                 application_protect(r, id, address, bytes, ITEM_NONE))
APPLICATION_DEED(recline_protect_items,
                 (int id, void *address, size_t count, enum recline_item item),
                 application_protect(r, id, address, count, (enum item)item))

static void protect_part(struct rank *r, int id, void *address, enum recline_item item,
                         int dimensions, const long long whole[], const long long first[],
                         const long long part[])
{
  struct shape shape = {.dimensions = dimensions};
  for (int d = 0; d < dimensions && d < SHAPE_DIMENSIONS; d++) {
    shape.whole[d] = whole[d];
    shape.first[d] = first[d];
    shape.part[d] = part[d];
  }
  application_protect_part(r, id, address, (enum item)item, &shape);
}

APPLICATION_DEED(recline_protect_distributed,
                 (int id, void *address, enum recline_item item, int dimensions,
                  const long long whole[], const long long first[], const long long part[]),
                 protect_part(r, id, address, item, dimensions, whole, first, part))
APPLICATION_DEED(recline_unprotect, (int id), application_unprotect(r, id))
APPLICATION_DEED(recline_push, (int position), application_push(r, position))
APPLICATION_DEED(recline_pop, (void), application_pop(r))
APPLICATION_CALL(int, recline_resume, (void), 0, application_resume(r))
APPLICATION_CALL(size_t, recline_protected_bytes, (int id), 0, application_recorded(r, id))
APPLICATION_CALL(enum recline_place, recline_restarts, (void), RECLINE_NO_RESTART,
                 (enum recline_place)application_place(r))

static enum recline_place restore(struct rank *r)
{
  enum place place = application_place(r);
  if (place == PLACE_NONE)
    return RECLINE_NO_RESTART;
  host_restore(r, PLACE_NONE, NULL);
  rank_switch(r, ACTIVITY_COMPUTE);
  return (enum recline_place)place;
}

APPLICATION_CALL(enum recline_place, recline_restore, (void), RECLINE_NO_RESTART, restore(r))
