#include "sim/mpi/types/datatype.h"

#include "sim/host/rank/buffers.h"
#include "sim/mpi/types/op.h"

#include <string.h>

MPI_Aint elements_extent(MPI_Datatype type)
{
  return typemap_of(type)->extent;
}

bool elements_stay_within(MPI_Datatype type)
{
  const struct typemap *map = typemap_of(type);
  return map->low == 0 && map->true_low >= 0 && map->true_low + map->true_extent <= map->extent;
}

/* Allocates memory for `count` elements, from the first byte of their data to the last byte. If the
 * extent is negative, the first element comes last in memory. */
void *elements_new(struct rank *r, MPI_Aint count, MPI_Datatype type, void **memory)
{
  const struct typemap *map = typemap_of(type);
  MPI_Aint others = count > 1 ? (count - 1) * map->extent : 0;
  *memory = rank_alloc_unset(r, (size_t)(map->true_extent + ABS(others)));
  return (char *)*memory - map->true_low - MIN(others, 0);
}

void elements_copy(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                   MPI_Datatype to_type)
{
  const struct typemap *source = typemap_of(from_type), *target = typemap_of(to_type);
  MPI_Count bytes = MIN(from_count * source->size, to_count * target->size);
  if (bytes <= 0)
    return;
  if (typemap_is_plain(source) && typemap_is_plain(target)) {
    memmove(to, from, (size_t)bytes);
    return;
  }
  char *packed = g_malloc((gsize)bytes);
  typemap_pack(source, from, packed, bytes);
  typemap_unpack(target, packed, to, bytes);
  g_free(packed);
}

void elements_combine(const void *before, void *into, int count, MPI_Datatype type, MPI_Op op)
{
  if (!op_apply(op, before, into, count, type))
    PMPI_Reduce_local(before, into, count, type, op);
}
