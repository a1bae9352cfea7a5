#include "sim/mpi/datatype.h"

#include <string.h>

MPI_Aint elements_extent(MPI_Datatype type)
{
  MPI_Aint low, extent;
  PMPI_Type_get_extent(type, &low, &extent);
  return extent;
}

void *elements_new(struct rank *r, MPI_Aint count, MPI_Datatype type, void **memory)
{
  MPI_Aint low, extent;
  PMPI_Type_get_true_extent(type, &low, &extent);
  MPI_Aint stride = elements_extent(type);
  *memory = rank_alloc(r, (size_t)(extent + (count > 1 ? (count - 1) * stride : 0)));
  return (char *)*memory - low;
}

void elements_copy(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                   MPI_Datatype to_type)
{
  int in = 0, out = 0;
  size_t plain = plain_bytes(from_type), to_plain = plain_bytes(to_type);
  if (plain > 0 && to_plain > 0) {
    if (from_count > 0 && to_count > 0)
      memmove(to, from, MIN(plain * (size_t)from_count, to_plain * (size_t)to_count));
    return;
  }
  int bytes = type_bytes(from_type) * from_count, to_size = type_bytes(to_type);
  if (bytes == 0 || to_size == 0)
    return;
  char *packed = g_malloc((gsize)bytes);
  items_pack(from, from_count, from_type, packed, bytes, &in);
  items_unpack(packed, bytes, &out, to, MIN(to_count, bytes / to_size), to_type);
  g_free(packed);
}

void elements_combine(const void *before, void *into, int count, MPI_Datatype type, MPI_Op op)
{
  PMPI_Reduce_local(before, into, count, type, op);
}
