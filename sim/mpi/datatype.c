#include "sim/mpi/datatype.h"

#include "sim/cc/mpi/values.h"
#include "sim/mpi/fortran.h"
#include "sim/mpi/kept.h"
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
  *memory = rank_alloc_unset(r, (size_t)(extent + (count > 1 ? (count - 1) * stride : 0)));
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

/* A duplicate -> the type that it is one of. */
static GHashTable *duplicates;

/* SMPI's multiplies the stride of a vector once more, and is not known to be one. */
int type_duplicate(struct rank *r, MPI_Datatype type, MPI_Datatype *made)
{
  int integers, addresses, types, combiner;
  if (type_again(r, "Type_dup", &(struct ingredient)ITEM(type), 1, made))
    return MPI_SUCCESS;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  int result = combiner == MPI_COMBINER_NAMED ? PMPI_Type_dup(type, made)
                                              : PMPI_Type_contiguous(1, type, made);
  if (result == MPI_SUCCESS)
    result = PMPI_Type_commit(made);
  if (!duplicates)
    duplicates = g_hash_table_new(NULL, NULL);
  if (result == MPI_SUCCESS)
    g_hash_table_insert(duplicates, *made, type);
  return type_keep(result, made);
}

static MPI_Datatype original_of(MPI_Datatype type)
{
  return duplicates ? g_hash_table_lookup(duplicates, type) : NULL;
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
  PMPI_Type_create_hindexed(1, (int[]){1}, &place, part, &outer);
  return PMPI_Type_create_resized(outer, 0, stride, made);
}

static int kept_subarray(struct rank *r, int dimensions, const int *sizes, const int *lengths,
                         const int *starts, int order, MPI_Datatype element, MPI_Datatype *made)
{
  const struct ingredient from[] = {LIST(sizes, dimensions), LIST(lengths, dimensions),
                                    LIST(starts, dimensions), ITEM(order), ITEM(element)};
  if (type_again(r, "Type_create_subarray", from, G_N_ELEMENTS(from), made))
    return MPI_SUCCESS;
  return type_keep(subarray(dimensions, sizes, lengths, starts, order, element, made), made);
}

LOOK_UP_CALL(Type_create_subarray, (dimensions, sizes, lengths, starts, order, element, made),
             kept_subarray(r, dimensions, sizes, lengths, starts, order, element, made))

/* ---- parts of distributed arrays, which SMPI does not have (MPI 3.1, section 4.1.4) ---- */

/* One dimension: `size` elements, given to `ranks` in blocks of `share`, of which this one has
 * every `ranks`-th from its own on. */
struct dimension {
  int size, share, ranks, rank;
};

static int dimension_of(struct dimension *d, int distribution, int share)
{
  int even = (d->size + d->ranks - 1) / d->ranks;
  if (distribution == MPI_DISTRIBUTE_NONE)
    d->share = d->size;
  else if (share == MPI_DISTRIBUTE_DFLT_DARG)
    d->share = distribution == MPI_DISTRIBUTE_BLOCK ? even : 1;
  else
    d->share = share;
  bool is_room = distribution != MPI_DISTRIBUTE_BLOCK || d->share >= even;
  bool is_alone = distribution != MPI_DISTRIBUTE_NONE || d->ranks == 1;
  return d->size > 0 && d->share > 0 && is_room && is_alone ? MPI_SUCCESS : MPI_ERR_ARG;
}

/* Its elements of `part`, which are `stride` bytes apart. */
static MPI_Datatype distributed(struct rank *r, const struct dimension *d, MPI_Datatype part,
                                MPI_Aint stride)
{
  MPI_Aint *place = rank_alloc(r, (size_t)d->size * sizeof *place);
  MPI_Datatype made;
  int count = 0;
  for (int i = 0; i < d->size; i++)
    if (i / d->share % d->ranks == d->rank)
      place[count++] = i * stride;
  PMPI_Type_create_hindexed_block(count, 1, place, part, &made);
  rank_free(place);
  return made;
}

static int distributed_array(struct rank *r, int ranks, int rank, int dimensions, const int *sizes,
                             const int *distributions, const int *shares, const int *grid,
                             int order, MPI_Datatype element, MPI_Datatype *made)
{
  MPI_Aint stride = elements_extent(element);
  MPI_Datatype part = element;
  struct dimension *all = rank_alloc(r, (size_t)dimensions * sizeof *all);
  int error = MPI_SUCCESS, below = ranks;
  for (int i = 0; i < dimensions && !error; i++) { /* the last varies fastest */
    below /= grid[i];
    all[i] = (struct dimension){.size = sizes[i], .ranks = grid[i], .rank = rank / below % grid[i]};
    error = dimension_of(&all[i], distributions[i], shares[i]);
  }
  for (int i = 0; i < dimensions && !error; i++) {
    const struct dimension *d = &all[order == MPI_ORDER_C ? dimensions - 1 - i : i];
    part = distributed(r, d, part, stride);
    stride *= d->size;
  }
  rank_free(all);
  return error ? error : PMPI_Type_create_resized(part, 0, stride, made);
}

static int kept_array(struct rank *r, int ranks, int rank, int dimensions, const int *sizes,
                      const int *distributions, const int *shares, const int *grid, int order,
                      MPI_Datatype element, MPI_Datatype *made)
{
  const struct ingredient from[] = {ITEM(ranks),
                                    ITEM(rank),
                                    LIST(sizes, dimensions),
                                    LIST(distributions, dimensions),
                                    LIST(shares, dimensions),
                                    LIST(grid, dimensions),
                                    ITEM(order),
                                    ITEM(element)};
  if (type_again(r, "Type_create_darray", from, G_N_ELEMENTS(from), made))
    return MPI_SUCCESS;
  return type_keep(distributed_array(r, ranks, rank, dimensions, sizes, distributions, shares, grid,
                                     order, element, made),
                   made);
}

LOOK_UP_CALL(Type_create_darray,
             (ranks, rank, dimensions, sizes, distributions, shares, grid, order, element, made),
             kept_array(r, ranks, rank, dimensions, sizes, distributions, shares, grid, order,
                        element, made))

/* ---- types of a class and a size ---- */

static int match_size(int class, int size, MPI_Datatype *type)
{
  const struct {
    int class, size;
    MPI_Datatype type;
  } known[] = {{MPI_TYPECLASS_REAL, sizeof(float), MPI_FLOAT},
               {MPI_TYPECLASS_REAL, sizeof(double), MPI_DOUBLE},
               {MPI_TYPECLASS_REAL, sizeof(long double), MPI_LONG_DOUBLE},
               {MPI_TYPECLASS_INTEGER, 1, MPI_INT8_T},
               {MPI_TYPECLASS_INTEGER, 2, MPI_INT16_T},
               {MPI_TYPECLASS_INTEGER, 4, MPI_INT32_T},
               {MPI_TYPECLASS_INTEGER, 8, MPI_INT64_T},
               {MPI_TYPECLASS_COMPLEX, 2 * sizeof(float), MPI_C_FLOAT_COMPLEX},
               {MPI_TYPECLASS_COMPLEX, 2 * sizeof(double), MPI_C_DOUBLE_COMPLEX}};
  for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
    if (known[i].class == class && known[i].size == size) {
      *type = known[i].type;
      return MPI_SUCCESS;
    }
  return MPI_ERR_ARG;
}

LOOK_UP_CALL(Type_match_size, (class, size, type), ((void)r, match_size(class, size, type)))

/* ---- of what a type was made: SMPI calls structs, and what is resized, indexed ---- */

static int get_envelope(MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner)
{
  int result = PMPI_Type_get_envelope(type, integers, addresses, types, combiner);
  int integer[4];
  MPI_Aint address[3];
  MPI_Datatype part[3] = {MPI_DATATYPE_NULL};
  if (original_of(type)) {
    *integers = *addresses = 0;
    *types = 1;
    *combiner = MPI_COMBINER_DUP;
    return MPI_SUCCESS;
  }
  if (result != MPI_SUCCESS || *combiner != MPI_COMBINER_INDEXED || *addresses == 0)
    return result;
  *combiner = MPI_COMBINER_STRUCT;
  if (*types == 3 && *integers == 4)
    PMPI_Type_get_contents(type, 4, 3, 3, integer, address, part);
  if (part[0] != MPI_LB || part[2] != MPI_UB || address[1] != 0)
    return result;
  *combiner = MPI_COMBINER_RESIZED;
  *integers = 0;
  *addresses = 2;
  *types = 1;
  return result;
}

static int get_contents(MPI_Datatype type, int integers, int addresses, int types, int *integer,
                        MPI_Aint *address, MPI_Datatype *part)
{
  int integers_there, addresses_there, types_there, combiner, all_integers[4];
  MPI_Aint all[3];
  MPI_Datatype parts[3];
  if (original_of(type) && types > 0) {
    part[0] = original_of(type);
    return MPI_SUCCESS;
  }
  get_envelope(type, &integers_there, &addresses_there, &types_there, &combiner);
  if (combiner != MPI_COMBINER_RESIZED || types_there != 1 || addresses < 2 || types < 1)
    return PMPI_Type_get_contents(type, integers, addresses, types, integer, address, part);
  int result = PMPI_Type_get_contents(type, 4, 3, 3, all_integers, all, parts);
  address[0] = all[0];
  address[1] = all[2] - all[0];
  part[0] = parts[1];
  return result;
}

LOOK_UP_CALL(Type_get_envelope, (type, integers, addresses, types, combiner),
             ((void)r, get_envelope(type, integers, addresses, types, combiner)))
LOOK_UP_CALL(Type_get_contents, (type, integers, addresses, types, integer, address, part),
             ((void)r, get_contents(type, integers, addresses, types, integer, address, part)))

static int get_contents_fortran(struct rank *r, const int *type, int integers, int addresses,
                                int types, int *integer, MPI_Aint *address, int *part)
{
  MPI_Datatype *parts = g_new0(MPI_Datatype, (gsize)types + 1);
  int error = MPI_Type_get_contents(fortran_get_type(r, type), integers, addresses, types, integer,
                                    address, parts);
  for (int i = 0; i < types && error == MPI_SUCCESS; i++)
    fortran_put_type(r, &part[i], NULL, parts[i]);
  g_free(parts);
  return error;
}

FORTRAN_CALL(mpi_type_get_contents_,
             (int *type, int *integers, int *addresses, int *types, int *integer, MPI_Aint *address,
              int *part, int *error),
             (type, integers, addresses, types, integer, address, part, error),
             *error = get_contents_fortran(r, type, *integers, *addresses, *types, integer, address,
                                           part))
