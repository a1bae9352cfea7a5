/* Defines constructors and queries of datatypes. All of them use type maps (typemap.h). */
#include "include/mpi/values.h"
#include "sim/host/rank/buffers.h"
#include "sim/host/rank/typemap.h"
#include "sim/mpi/fortran/fortran.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/datatype.h"
#include "sim/mpi/types/type_reuse.h"

#include <limits.h>
#include <string.h>

/* ---- making ---- */

/* Describes a part of a constructor's arguments. */
struct list {
  const void *items;
  size_t bytes;
};

static struct list list_of(const void *items, size_t bytes)
{
  return (struct list){items, bytes};
}

#define LIST(items, count) list_of(items, (size_t)(count) * sizeof *(items))
#define ONE(what) list_of(&(what), sizeof(what))
#define NOTHING list_of(NULL, 0)
#define LISTS(...)                                                                                 \
  (const struct list[])                                                                            \
  {                                                                                                \
    __VA_ARGS__,                                                                                   \
    {                                                                                              \
      NULL, 0                                                                                      \
    }                                                                                              \
  }

static GByteArray *joined(const struct list *lists)
{
  GByteArray *all = g_byte_array_new();
  for (; lists->items; lists++)
    g_byte_array_append(all, lists->items, (guint)lists->bytes);
  return all;
}

/* Makes a type. It is a type that the rank has freed, or a new type. */
static int make(struct rank *r, int combiner, const struct list *integers, struct list addresses,
                struct list types, MPI_Datatype *made)
{
  g_autoptr(GByteArray) all = joined(integers);
  const struct typemap_recipe recipe = {.combiner = combiner,
                                        .integers = (int)(all->len / sizeof(int)),
                                        .addresses = (int)(addresses.bytes / sizeof(MPI_Aint)),
                                        .types = (int)(types.bytes / sizeof(MPI_Datatype)),
                                        .integer = (const int *)(const void *)all->data,
                                        .address = addresses.items,
                                        .type = types.items};
  return type_again(r, &recipe, made) ? MPI_SUCCESS : typemap_make(&recipe, made);
}

/* Defines a constructor. The last one of ARGUMENTS is `made`. INTEGERS stand in parentheses. */
#define TYPE_CALL(NAME, ARGUMENTS, COMBINER, COUNT, INTEGERS, ADDRESSES, TYPES)                    \
  LOOK_UP_CALL(NAME, ARGUMENTS,                                                                    \
               (COUNT) < 0                                                                         \
                   ? MPI_ERR_COUNT                                                                 \
                   : make(r, MPI_COMBINER_##COMBINER, LISTS INTEGERS, ADDRESSES, TYPES, made))

#define HVECTOR_CALL(NAME)                                                                         \
  TYPE_CALL(NAME, (count, length, stride, old, made), HVECTOR, count, (ONE(count), ONE(length)),   \
            ONE(stride), ONE(old))
#define INDEXED_CALL(NAME)                                                                         \
  TYPE_CALL(NAME, (count, lengths, places, old, made), INDEXED, count,                             \
            (ONE(count), LIST(lengths, count), LIST(places, count)), NOTHING, ONE(old))
#define HINDEXED_CALL(NAME)                                                                        \
  TYPE_CALL(NAME, (count, lengths, places, old, made), HINDEXED, count,                            \
            (ONE(count), LIST(lengths, count)), LIST(places, count), ONE(old))
#define STRUCT_CALL(NAME)                                                                          \
  TYPE_CALL(NAME, (count, lengths, places, types, made), STRUCT, count,                            \
            (ONE(count), LIST(lengths, count)), LIST(places, count), LIST(types, count))

TYPE_CALL(Type_contiguous, (count, old, made), CONTIGUOUS, count, (ONE(count)), NOTHING, ONE(old))
TYPE_CALL(Type_vector, (count, length, stride, old, made), VECTOR, count,
          (ONE(count), ONE(length), ONE(stride)), NOTHING, ONE(old))
HVECTOR_CALL(Type_hvector)
HVECTOR_CALL(Type_create_hvector)
INDEXED_CALL(Type_indexed)
INDEXED_CALL(Type_create_indexed)
HINDEXED_CALL(Type_hindexed)
HINDEXED_CALL(Type_create_hindexed)
TYPE_CALL(Type_create_indexed_block, (count, length, places, old, made), INDEXED_BLOCK, count,
          (ONE(count), ONE(length), LIST(places, count)), NOTHING, ONE(old))
TYPE_CALL(Type_create_hindexed_block, (count, length, places, old, made), HINDEXED_BLOCK, count,
          (ONE(count), ONE(length)), LIST(places, count), ONE(old))
STRUCT_CALL(Type_struct)
STRUCT_CALL(Type_create_struct)
TYPE_CALL(Type_create_resized, (old, lower, extent, made), RESIZED, 0, (NOTHING),
          LIST(((const MPI_Aint[]){lower, extent}), 2), ONE(old))
TYPE_CALL(Type_create_subarray, (n, sizes, lengths, starts, order, old, made), SUBARRAY, n,
          (ONE(n), LIST(sizes, n), LIST(lengths, n), LIST(starts, n), ONE(order)), NOTHING,
          ONE(old))
TYPE_CALL(Type_create_darray, (ranks, rank, n, sizes, how, shares, grid, order, old, made), DARRAY,
          n,
          (ONE(ranks), ONE(rank), ONE(n), LIST(sizes, n), LIST(how, n), LIST(shares, n),
           LIST(grid, n), ONE(order)),
          NOTHING, ONE(old))

/* Gets a type by its digits. Such types are predefined: all callers get the same type, and no
 * program frees it (MPI 3.1, section 17.1.9). */
static int find_kind(struct rank *r, int combiner, int digits, int exponent, MPI_Datatype *made)
{
  static GArray *known; /* MPI_Datatype */
  if (!known)
    known = g_array_new(FALSE, FALSE, sizeof(MPI_Datatype));
  for (guint i = 0; i < known->len; i++) {
    *made = g_array_index(known, MPI_Datatype, i);
    const struct typemap *map = typemap_of(*made);
    if (map->combiner == combiner && map->integer[0] == digits &&
        map->integer[map->integers - 1] == exponent)
      return MPI_SUCCESS;
  }
  size_t integers = combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2;
  int result = make(r, combiner, LISTS(LIST(((const int[]){digits, exponent}), integers)), NOTHING,
                    NOTHING, made);
  if (result == MPI_SUCCESS)
    g_array_append_val(known, *made);
  return result;
}

LOOK_UP_CALL(Type_create_f90_real, (digits, exponent, made),
             find_kind(r, MPI_COMBINER_F90_REAL, digits, exponent, made))
LOOK_UP_CALL(Type_create_f90_complex, (digits, exponent, made),
             find_kind(r, MPI_COMBINER_F90_COMPLEX, digits, exponent, made))
LOOK_UP_CALL(Type_create_f90_integer, (digits, made),
             find_kind(r, MPI_COMBINER_F90_INTEGER, digits, digits, made))

int type_duplicate(struct rank *r, MPI_Datatype type, MPI_Datatype *made)
{
  return make(r, MPI_COMBINER_DUP, LISTS(NOTHING), NOTHING, ONE(type), made);
}

static int match_size(int class, int size, MPI_Datatype *type)
{
  const struct {
    int class, size;
    MPI_Datatype type;
  } known[] = {
      {MPI_TYPECLASS_REAL, 4, MPI_REAL4},        {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
      {MPI_TYPECLASS_REAL, 16, MPI_REAL16},      {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},
      {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},  {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},
      {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},  {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16},
      {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},  {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
      {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};
  for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
    if (known[i].class == class && known[i].size == size) {
      *type = known[i].type;
      return MPI_SUCCESS;
    }
  return MPI_ERR_ARG;
}

LOOK_UP_CALL(Type_match_size, (class, size, type), ((void)r, match_size(class, size, type)))

/* ---- sizes and bounds ---- */

/* Evaluates the expressions, which tell properties of `type`. The result is MPI_SUCCESS, or
 * MPI_ERR_TYPE if there is no type. */
#define TOLD(...) ((void)r, type == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : (__VA_ARGS__, MPI_SUCCESS))

/* Returns MPI_UNDEFINED for a value that does not fit into an int (MPI 3.1, section 4.1.7). */
static int narrow(MPI_Count value)
{
  return value > INT_MAX ? MPI_UNDEFINED : (int)value;
}

#define MAP typemap_of(type)
LOOK_UP_CALL(Type_size, (type, size), TOLD(*size = narrow(MAP->size)))
LOOK_UP_CALL(Type_size_x, (type, size), TOLD(*size = MAP->size))
LOOK_UP_CALL(Type_get_extent, (type, low, extent), TOLD(*low = MAP->low, *extent = MAP->extent))
LOOK_UP_CALL(Type_get_extent_x, (type, low, extent), TOLD(*low = MAP->low, *extent = MAP->extent))
LOOK_UP_CALL(Type_get_true_extent, (type, low, extent),
             TOLD(*low = MAP->true_low, *extent = MAP->true_extent))
LOOK_UP_CALL(Type_get_true_extent_x, (type, low, extent),
             TOLD(*low = MAP->true_low, *extent = MAP->true_extent))
LOOK_UP_CALL(Type_extent, (type, extent), TOLD(*extent = MAP->extent))
LOOK_UP_CALL(Type_lb, (type, low), TOLD(*low = MAP->low))
LOOK_UP_CALL(Type_ub, (type, high), TOLD(*high = MAP->low + MAP->extent))

/* ---- how much has come ---- */

static MPI_Count whole(const MPI_Status *status, const struct typemap *map)
{
  if (map->size == 0)
    return status->count > 0 ? MPI_UNDEFINED : 0;
  return status->count % map->size ? MPI_UNDEFINED : status->count / map->size;
}

static MPI_Count elements(const MPI_Status *status, const struct typemap *map)
{
  MPI_Count found = typemap_elements(map, status->count);
  return found < 0 ? MPI_UNDEFINED : found;
}

LOOK_UP_CALL(Get_count, (status, type, count), TOLD(*count = narrow(whole(status, MAP))))
LOOK_UP_CALL(Get_elements, (status, type, count), TOLD(*count = narrow(elements(status, MAP))))
LOOK_UP_CALL(Get_elements_x, (status, type, count), TOLD(*count = elements(status, MAP)))
LOOK_UP_CALL(Status_set_elements, (status, type, count),
             TOLD(status->count = (int)typemap_bytes(MAP, count)))
LOOK_UP_CALL(Status_set_elements_x, (status, type, count),
             TOLD(status->count = (int)typemap_bytes(MAP, count)))

/* ---- packing: the communicator is named and not used ---- */

LOOK_UP_CALL(Pack, (in, count, type, out, size, position, comm),
             items_pack(in, count, type, out, size, position))
LOOK_UP_CALL(Unpack, (in, size, position, out, count, type, comm),
             items_unpack(in, size, position, out, count, type))
LOOK_UP_CALL(Pack_size, (count, type, comm, size), TOLD(*size = narrow(count * MAP->size)))

/* ---- the constructor of a type ---- */

LOOK_UP_CALL(Type_get_envelope, (type, integers, addresses, types, combiner),
             TOLD(*integers = MAP->integers, *addresses = MAP->addresses, *types = MAP->types,
                  *combiner = MAP->combiner))

/* The types that this call returns belong to the program, which may free them. */
static int get_contents(const struct typemap *map, int integers, int addresses, int types,
                        int *integer, MPI_Aint *address, MPI_Datatype *type)
{
  if (map->combiner == MPI_COMBINER_NAMED)
    return MPI_ERR_TYPE;
  if (integers < map->integers || addresses < map->addresses || types < map->types)
    return MPI_ERR_ARG;
  for (int i = 0; i < map->integers; i++)
    integer[i] = map->integer[i];
  for (int i = 0; i < map->addresses; i++)
    address[i] = map->address[i];
  for (int i = 0; i < map->types; i++)
    type[i] = map->type[i];
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Type_get_contents, (type, integers, addresses, types, integer, address, part),
             ((void)r, get_contents(MAP, integers, addresses, types, integer, address, part)))

/* ---- in Fortran ---- */

static int get_contents_fortran(struct rank *r, const int *type, int integers, int addresses,
                                int types, int *integer, MPI_Aint *address, int *part)
{
  MPI_Datatype *parts = g_new0(MPI_Datatype, (gsize)MAX(types, 0) + 1);
  const struct typemap *map = typemap_of(fortran_get_type(r, type));
  int error = get_contents(map, integers, addresses, types, integer, address, parts);
  for (int i = 0; i < map->types && error == MPI_SUCCESS; i++)
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

/* Defines a call of MPI 1. Its address is a default integer in Fortran. */
#define OLD_BOUND_CALL(NAME, IN_C)                                                                 \
  FORTRAN_CALL(NAME, (int *type, int *value, int *error), (type, value, error),                    \
               MPI_Aint found = 0;                                                                 \
               *error = IN_C(fortran_get_type(r, type), &found); *value = (int)found)

OLD_BOUND_CALL(mpi_type_extent_, MPI_Type_extent)
OLD_BOUND_CALL(mpi_type_lb_, MPI_Type_lb)
OLD_BOUND_CALL(mpi_type_ub_, MPI_Type_ub)

/* Makes a type from the arguments of MPI 1. If `types` is NULL, all blocks have the type `old`.
 */
static int make_old(struct rank *r, int combiner, int count, const int *lengths, const int *places,
                    const int *types, const int *old, int *made)
{
  MPI_Aint *address = g_new0(MPI_Aint, (gsize)MAX(count, 0) + 1);
  MPI_Datatype *type = g_new0(MPI_Datatype, (gsize)MAX(count, 0) + 1), handle;
  for (int i = 0; i < count; i++) {
    address[i] = places[i];
    type[i] = fortran_get_type(r, types ? &types[i] : old);
  }
  int error = count < 0 ? MPI_ERR_COUNT
                        : make(r, combiner, LISTS(ONE(count), LIST(lengths, count)),
                               LIST(address, count), LIST(type, types ? count : 1), &handle);
  if (!error)
    fortran_put_type(r, made, NULL, handle);
  g_free(address);
  g_free(type);
  return error;
}

FORTRAN_CALL(mpi_type_hindexed_,
             (int *count, int *lengths, int *places, int *old, int *made, int *error),
             (count, lengths, places, old, made, error),
             *error = make_old(r, MPI_COMBINER_HINDEXED, *count, lengths, places, NULL, old, made))
FORTRAN_CALL(mpi_type_struct_,
             (int *count, int *lengths, int *places, int *types, int *made, int *error),
             (count, lengths, places, types, made, error),
             *error = make_old(r, MPI_COMBINER_STRUCT, *count, lengths, places, types, NULL, made))
FORTRAN_CALL(mpi_type_hvector_,
             (int *count, int *length, int *stride, int *old, int *made, int *error),
             (count, length, stride, old, made, error), MPI_Datatype handle;
             *error = MPI_Type_create_hvector(*count, *length, *stride, fortran_get_type(r, old),
                                              &handle);
             if (*error == MPI_SUCCESS) fortran_put_type(r, made, NULL, handle))

/* Gets a type by its digits. SMPI does not have these calls in Fortran. */
static int make_kind(struct rank *r, int combiner, int digits, int exponent, int *made)
{
  MPI_Datatype type;
  int error = find_kind(r, combiner, digits, exponent, &type);
  if (!error)
    fortran_put_type(r, made, NULL, type);
  return error;
}

FORTRAN_CALL(mpi_type_create_f90_real_, (int *digits, int *exponent, int *made, int *error),
             (digits, exponent, made, error),
             *error = make_kind(r, MPI_COMBINER_F90_REAL, *digits, *exponent, made))
FORTRAN_CALL(mpi_type_create_f90_complex_, (int *digits, int *exponent, int *made, int *error),
             (digits, exponent, made, error),
             *error = make_kind(r, MPI_COMBINER_F90_COMPLEX, *digits, *exponent, made))
FORTRAN_CALL(mpi_type_create_f90_integer_, (int *digits, int *made, int *error),
             (digits, made, error),
             *error = make_kind(r, MPI_COMBINER_F90_INTEGER, *digits, *digits, made))
