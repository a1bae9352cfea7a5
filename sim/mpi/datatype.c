#include "sim/mpi/datatype.h"

#include "sim/mpi/wrap.h"

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

/* ---- subarrays, whose extent in SMPI is that of one element, and which need two dimensions ----
 */

static int subarray(int dimensions, const int *sizes, const int *lengths, const int *starts,
                    int order, MPI_Datatype element, MPI_Datatype *made)
{
  MPI_Aint stride = elements_extent(element), place = 0;
  MPI_Datatype part = element, outer;
  for (int i = 0; i < dimensions; i++) {
    int k = order == MPI_ORDER_C ? dimensions - 1 - i : i;
    if (lengths[k] < 1 || starts[k] < 0 || starts[k] + lengths[k] > sizes[k])
      return MPI_ERR_ARG;
    PMPI_Type_create_hvector(lengths[k], 1, stride, part, &outer);
    part = outer;
    place += starts[k] * stride;
    stride *= sizes[k];
  }
  return PMPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, place, stride},
                                 (MPI_Datatype[]){MPI_LB, part, MPI_UB}, made);
}

LOOK_UP_CALL(Type_create_subarray, (dimensions, sizes, lengths, starts, order, element, made),
             ((void)r, subarray(dimensions, sizes, lengths, starts, order, element, made)))
