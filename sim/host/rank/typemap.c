#include "sim/host/rank/typemap.h"

#include "include/mpi/values.h"

#include <glib.h>
#include <limits.h>
#include <string.h>
#include <wchar.h>

/* ---- from parts to sizes and bounds ---- */

struct bounds {
  MPI_Aint low, high;
  bool any;
};

static void extend(struct bounds *bounds, MPI_Aint low, MPI_Aint high)
{
  bounds->low = bounds->any ? MIN(bounds->low, low) : low;
  bounds->high = bounds->any ? MAX(bounds->high, high) : high;
  bounds->any = true;
}

/* Holds the bounds of a type: the true bounds of its data, the bounds that its data imply, and the
 * bounds that the program has set. */
struct all_bounds {
  struct bounds data, implied, low_set, high_set;
};

static void extend_all(struct all_bounds *all, const struct typemap *of, MPI_Aint at)
{
  MPI_Aint high = at + of->low + of->extent, low = at + of->low;
  if (of->size > 0) {
    extend(&all->data, at + of->true_low, at + of->true_low + of->true_extent);
    extend(&all->implied, low, high);
  }
  if (of->low_set)
    extend(&all->low_set, low, low);
  if (of->high_set)
    extend(&all->high_set, high, high);
}

/* Extends the bounds by all copies of a part. The first and the last copies of the part are the
 * outermost ones, so only these are looked at. */
static void extend_by_part(struct all_bounds *all, const struct typemap *map,
                           const struct part *part)
{
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 2; i++)
      extend_all(all, part->of,
                 part->place + (t ? (map->times - 1) * map->stride : 0) +
                     (i ? (part->length - 1) * part->of->extent : 0));
}

static void set_bounds(struct typemap *map, const struct all_bounds *all)
{
  const struct bounds *low = all->low_set.any ? &all->low_set : &all->implied;
  const struct bounds *high = all->high_set.any ? &all->high_set : &all->implied;
  map->low = low->low;
  map->extent = high->high - map->low;
  map->true_low = all->data.low;
  map->true_extent = all->data.high - all->data.low;
  map->low_set = all->low_set.any;
  map->high_set = all->high_set.any;
  if (!map->high_set && map->extent % map->alignment != 0)
    map->extent += map->alignment - map->extent % map->alignment;
}

static bool is_one_run(const struct typemap *map)
{
  MPI_Aint end = 0;
  MPI_Count bytes = 0;
  for (int i = 0; i < map->parts; i++) {
    const struct part *part = &map->part[i];
    const struct typemap *of = part->of;
    MPI_Count size = part->length * of->size;
    if (size == 0)
      continue;
    MPI_Aint begin = part->place + of->true_low;
    if (!of->dense || (part->length > 1 && of->extent != of->size) || (bytes > 0 && begin != end))
      return false;
    end = begin + size;
    bytes += size;
  }
  return map->times == 1 || map->stride == bytes || bytes == 0;
}

static void measure(struct typemap *map)
{
  struct all_bounds all = {0};
  map->alignment = 1;
  for (int i = 0; i < map->parts; i++) {
    const struct part *part = &map->part[i];
    if (part->length == 0 || map->times == 0)
      continue;
    map->size += map->times * part->length * part->of->size;
    map->elements += map->times * part->length * part->of->elements;
    map->alignment = MAX(map->alignment, part->of->alignment);
    extend_by_part(&all, map, part);
  }
  set_bounds(map, &all);
  map->dense = is_one_run(map);
}

/* ---- predefined types ---- */

static GHashTable *maps; /* handle -> struct typemap */

static struct typemap *map_new(MPI_Datatype handle)
{
  struct typemap *map = g_new0(struct typemap, 1);
  map->handle = handle;
  map->times = 1;
  map->alignment = 1;
  if (handle)
    g_hash_table_insert(maps, handle, map);
  return map;
}

static struct typemap *name_type(MPI_Datatype handle, enum element element, size_t size,
                                 size_t alignment)
{
  struct typemap *map = map_new(handle);
  map->combiner = MPI_COMBINER_NAMED;
  map->element = element;
  map->size = (MPI_Count)size;
  map->elements = 1;
  map->extent = map->true_extent = (MPI_Aint)size;
  map->alignment = (int)alignment;
  map->dense = true;
  return map;
}

/* Names a type of pairs. MPI counts a pair as one element, but a pair has two parts here. */
static void name_pair(MPI_Datatype handle, enum element element, MPI_Datatype value,
                      MPI_Datatype index, size_t place)
{
  struct typemap *map = map_new(handle);
  struct part *part = g_new0(struct part, 2);
  part[0] = (struct part){0, 1, typemap_of(value)};
  part[1] = (struct part){(MPI_Aint)place, 1, typemap_of(index)};
  map->combiner = MPI_COMBINER_NAMED;
  map->element = element;
  map->parts = 2;
  map->part = part;
  measure(map);
  map->elements = 1;
}

/* Names a part that sets the lower or upper bound of a type, as in programs of MPI 1. */
static void name_marker(MPI_Datatype handle, bool low)
{
  struct typemap *map = map_new(handle);
  map->combiner = MPI_COMBINER_NAMED;
  map->low_set = low;
  map->high_set = !low;
}

__extension__ typedef __int128 int128;
__extension__ typedef __float128 quad;

#define NAME(HANDLE, ELEMENT, TYPE) name_type(HANDLE, ELEMENT, sizeof(TYPE), _Alignof(TYPE));
#define PAIR(HANDLE, ELEMENT, VALUE, INDEX, VALUE_TYPE, INDEX_TYPE)                                \
  {                                                                                                \
    struct HANDLE##_pair {                                                                         \
      VALUE_TYPE value;                                                                            \
      INDEX_TYPE index;                                                                            \
    };                                                                                             \
    name_pair(HANDLE, ELEMENT, VALUE, INDEX, offsetof(struct HANDLE##_pair, index));               \
  }

static void name_numbers(void)
{
  NAME(MPI_CHAR, ELEMENT_CHAR, char)
  NAME(MPI_SIGNED_CHAR, ELEMENT_I8, signed char)
  NAME(MPI_UNSIGNED_CHAR, ELEMENT_U8, unsigned char)
  NAME(MPI_SHORT, ELEMENT_I16, short)
  NAME(MPI_UNSIGNED_SHORT, ELEMENT_U16, unsigned short)
  NAME(MPI_INT, ELEMENT_I32, int)
  NAME(MPI_UNSIGNED, ELEMENT_U32, unsigned)
  NAME(MPI_LONG, ELEMENT_I64, long)
  NAME(MPI_UNSIGNED_LONG, ELEMENT_U64, unsigned long)
  NAME(MPI_LONG_LONG, ELEMENT_I64, long long)
  NAME(MPI_UNSIGNED_LONG_LONG, ELEMENT_U64, unsigned long long)
  NAME(MPI_WCHAR, ELEMENT_WCHAR, wchar_t)
  NAME(MPI_C_BOOL, ELEMENT_BOOL, bool)
  NAME(MPI_INT8_T, ELEMENT_I8, int8_t)
  NAME(MPI_INT16_T, ELEMENT_I16, int16_t)
  NAME(MPI_INT32_T, ELEMENT_I32, int32_t)
  NAME(MPI_INT64_T, ELEMENT_I64, int64_t)
  NAME(MPI_UINT8_T, ELEMENT_U8, uint8_t)
  NAME(MPI_UINT16_T, ELEMENT_U16, uint16_t)
  NAME(MPI_UINT32_T, ELEMENT_U32, uint32_t)
  NAME(MPI_UINT64_T, ELEMENT_U64, uint64_t)
  NAME(MPI_AINT, ELEMENT_I64, MPI_Aint)
  NAME(MPI_OFFSET, ELEMENT_I64, MPI_Offset)
  NAME(MPI_COUNT, ELEMENT_I64, MPI_Count)
  NAME(MPI_BYTE, ELEMENT_BYTE, unsigned char)
  NAME(MPI_PACKED, ELEMENT_OPAQUE, unsigned char)
  NAME(MPI_FLOAT, ELEMENT_F32, float)
  NAME(MPI_DOUBLE, ELEMENT_F64, double)
  NAME(MPI_LONG_DOUBLE, ELEMENT_F80, long double)
  NAME(MPI_C_FLOAT_COMPLEX, ELEMENT_C32, float _Complex)
  NAME(MPI_C_DOUBLE_COMPLEX, ELEMENT_C64, double _Complex)
  NAME(MPI_C_LONG_DOUBLE_COMPLEX, ELEMENT_C80, long double _Complex)
}

/* Names the types of GNU Fortran, whose REAL(16) is IEEE's number of 128 bits, not the machine's
 * long double. */
static void name_fortran(void)
{
  NAME(MPI_INTEGER1, ELEMENT_I8, int8_t)
  NAME(MPI_INTEGER2, ELEMENT_I16, int16_t)
  NAME(MPI_INTEGER4, ELEMENT_I32, int32_t)
  NAME(MPI_INTEGER8, ELEMENT_I64, int64_t)
  NAME(MPI_INTEGER16, ELEMENT_I128, int128)
  NAME(MPI_REAL, ELEMENT_F32, float)
  NAME(MPI_REAL4, ELEMENT_F32, float)
  NAME(MPI_REAL8, ELEMENT_F64, double)
  NAME(MPI_REAL16, ELEMENT_F128, quad)
  NAME(MPI_COMPLEX8, ELEMENT_C32, float _Complex)
  NAME(MPI_COMPLEX16, ELEMENT_C64, double _Complex)
  name_type(MPI_COMPLEX32, ELEMENT_C128, 2 * sizeof(quad), _Alignof(quad));
}

static void name_pairs(void)
{
  PAIR(MPI_SHORT_INT, ELEMENT_I16_I32, MPI_SHORT, MPI_INT, short, int)
  PAIR(MPI_2INT, ELEMENT_I32_I32, MPI_INT, MPI_INT, int, int)
  PAIR(MPI_LONG_INT, ELEMENT_I64_I32, MPI_LONG, MPI_INT, long, int)
  PAIR(MPI_2LONG, ELEMENT_I64_I64, MPI_LONG, MPI_LONG, long, long)
  PAIR(MPI_FLOAT_INT, ELEMENT_F32_I32, MPI_FLOAT, MPI_INT, float, int)
  PAIR(MPI_2FLOAT, ELEMENT_F32_F32, MPI_FLOAT, MPI_FLOAT, float, float)
  PAIR(MPI_DOUBLE_INT, ELEMENT_F64_I32, MPI_DOUBLE, MPI_INT, double, int)
  PAIR(MPI_2DOUBLE, ELEMENT_F64_F64, MPI_DOUBLE, MPI_DOUBLE, double, double)
  PAIR(MPI_LONG_DOUBLE_INT, ELEMENT_F80_I32, MPI_LONG_DOUBLE, MPI_INT, long double, int)
}

static void name_all(void)
{
  maps = g_hash_table_new(NULL, NULL);
  map_new(MPI_DATATYPE_NULL)->combiner = MPI_COMBINER_NAMED;
  name_numbers();
  name_fortran();
  name_pairs();
  NAME(MPI_CXX_BOOL, ELEMENT_BOOL, bool)
  NAME(MPI_CXX_FLOAT_COMPLEX, ELEMENT_C32, float _Complex)
  NAME(MPI_CXX_DOUBLE_COMPLEX, ELEMENT_C64, double _Complex)
  NAME(MPI_CXX_LONG_DOUBLE_COMPLEX, ELEMENT_C80, long double _Complex)
  name_marker(MPI_LB, true);
  name_marker(MPI_UB, false);
}

/* Makes the type map of a handle that neither MPI nor the program has made. The type consists of
 * bytes, and has the size that SMPI says. */
static struct typemap *unknown(MPI_Datatype handle)
{
  int size = 0;
  PMPI_Type_size(handle, &size);
  return name_type(handle, ELEMENT_OPAQUE, (size_t)size, 1);
}

const struct typemap *typemap_of(MPI_Datatype handle)
{
  static struct {
    MPI_Datatype handle;
    const struct typemap *map;
  } last[64]; /* a cache, because types are looked up with every message */
  size_t place = (uintptr_t)handle / 16 % G_N_ELEMENTS(last);
  if (last[place].map && last[place].handle == handle)
    return last[place].map;
  if (!maps)
    name_all();
  const struct typemap *map = g_hash_table_lookup(maps, handle);
  last[place].handle = handle;
  return last[place].map = map ? map : unknown(handle);
}

/* ---- constructors ---- */

static struct part *new_parts(struct typemap *map, int count)
{
  struct part *part = g_new0(struct part, (gsize)count + 1);
  map->parts = count;
  map->part = part;
  return part;
}

static void one_part(struct typemap *map, MPI_Aint place, MPI_Count length,
                     const struct typemap *of)
{
  *new_parts(map, 1) = (struct part){place, length, of};
}

/* Sets bounds that do not follow from the data. */
static void set_extent(struct typemap *map, MPI_Aint low, MPI_Aint extent)
{
  map->low = low;
  map->extent = extent;
  map->low_set = map->high_set = true;
}

static void repeat(struct typemap *map, MPI_Count times, MPI_Count length, MPI_Aint stride)
{
  one_part(map, 0, length, typemap_of(map->type[0]));
  map->times = times;
  map->stride = stride;
}

/* Makes blocks at `place`, which is counted in elements, or at the type's addresses if `place` is
 * NULL. Block i has lengths[i] elements or, if `lengths` is NULL, `length` elements. */
static void blocks(struct typemap *map, const int *lengths, int length, const int *place)
{
  int count = map->integer[0];
  struct part *part = new_parts(map, count);
  for (int i = 0; i < count; i++) {
    const struct typemap *of = typemap_of(map->type[map->types == 1 ? 0 : i]);
    part[i] = (struct part){place ? place[i] * of->extent : map->address[i],
                            lengths ? lengths[i] : length, of};
  }
}

/* Describes one dimension of an array. The dimension has `size` elements, and the type contains
 * some of them. */
struct dimension {
  int size;
  int start, length; /* if `ranks` is 0, the type contains this one block */
  /* otherwise the dimension is divided into blocks of `share` elements, and the type contains
   * every `ranks`-th block from number `rank` on */
  int share, ranks, rank;
};

static void add_run(GArray *runs, const struct typemap *of, int first, int length)
{
  struct part part = {first * of->extent, length, of};
  if (length > 0)
    g_array_append_val(runs, part);
}

static void line(struct typemap *map, const struct dimension *d, const struct typemap *of)
{
  GArray *runs = g_array_new(FALSE, FALSE, sizeof(struct part));
  if (d->ranks == 0)
    add_run(runs, of, d->start, d->length);
  for (int64_t i = (int64_t)d->rank * d->share; d->ranks > 0 && i < d->size;
       i += (int64_t)d->ranks * d->share)
    add_run(runs, of, (int)i, MIN(d->share, d->size - (int)i));
  map->parts = (int)runs->len;
  map->part = (const struct part *)(const void *)g_array_free(runs, FALSE);
  measure(map);
  set_extent(map, 0, d->size * of->extent);
}

/* Makes one dimension after the other, beginning with the dimension that varies fastest. The last
 * dimension makes the type itself. */
static void array(struct typemap *map, const struct dimension *all, int dimensions, int order)
{
  const struct typemap *of = typemap_of(map->type[0]);
  for (int i = 0; i < dimensions; i++) {
    struct typemap *outer = i == dimensions - 1 ? map : map_new(NULL);
    outer->combiner = map->combiner;
    line(outer, &all[order == MPI_ORDER_C ? dimensions - 1 - i : i], of);
    of = outer;
  }
}

static int make_subarray(struct typemap *map)
{
  int n = map->integer[0], error = n < 1 ? MPI_ERR_ARG : MPI_SUCCESS;
  const int *size = map->integer + 1, *length = size + n, *start = length + n;
  struct dimension *all = g_new0(struct dimension, (gsize)n + 1);
  for (int i = 0; i < n; i++) {
    all[i] = (struct dimension){.size = size[i], .start = start[i], .length = length[i]};
    if (length[i] < 1 || start[i] < 0 || start[i] > size[i] - length[i])
      error = MPI_ERR_ARG;
  }
  if (!error)
    array(map, all, n, start[n]);
  g_free(all);
  return error;
}

/* Distributes a dimension over ranks as MPI 3.1, section 4.1.4, says. */
static int distribute(struct dimension *d, int distribution, int share)
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

static int make_darray(struct typemap *map)
{
  int ranks = map->integer[0], rank = map->integer[1], n = map->integer[2], below = ranks;
  const int *size = map->integer + 3, *how = size + n, *share = how + n, *grid = share + n;
  int error = n < 1 || rank < 0 || rank >= ranks ? MPI_ERR_ARG : MPI_SUCCESS;
  struct dimension *all = g_new0(struct dimension, (gsize)n + 1);
  for (int i = 0; i < n && !error; i++) { /* the last dimension varies fastest */
    if (grid[i] < 1 || below % grid[i] != 0) {
      error = MPI_ERR_ARG;
      break;
    }
    below /= grid[i];
    all[i] = (struct dimension){.size = size[i], .ranks = grid[i], .rank = rank / below % grid[i]};
    error = distribute(&all[i], how[i], share[i]);
  }
  if (!error && below != 1)
    error = MPI_ERR_ARG;
  if (!error)
    array(map, all, n, grid[n]);
  g_free(all);
  return error;
}

/* Returns the smallest of GNU Fortran's types that has these digits and this exponent (MPI 3.1,
 * section 17.1.9). */
static MPI_Datatype real_of(int digits, int exponent, bool complex)
{
  static const struct {
    int digits, exponent;
  } kinds[] = {{6, 37}, {15, 307}, {18, 4931}, {33, 4931}};
  const MPI_Datatype reals[] = {MPI_REAL4, MPI_REAL8, MPI_LONG_DOUBLE, MPI_REAL16};
  const MPI_Datatype complexes[] = {MPI_COMPLEX8, MPI_COMPLEX16, MPI_C_LONG_DOUBLE_COMPLEX,
                                    MPI_COMPLEX32};
  if (digits == MPI_UNDEFINED && exponent == MPI_UNDEFINED)
    return MPI_DATATYPE_NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
    if ((digits == MPI_UNDEFINED || digits <= kinds[i].digits) &&
        (exponent == MPI_UNDEFINED || exponent <= kinds[i].exponent))
      return complex ? complexes[i] : reals[i];
  return MPI_DATATYPE_NULL;
}

static MPI_Datatype integer_of(int digits)
{
  static const int most[] = {2, 4, 9, 18, 38};
  const MPI_Datatype types[] = {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
                                MPI_INTEGER16};
  for (size_t i = 0; i < G_N_ELEMENTS(most); i++)
    if (digits <= most[i])
      return types[i];
  return MPI_DATATYPE_NULL;
}

/* Makes the type the same as a predefined type, so that reductions treat both types alike. */
static int same_as(struct typemap *map, MPI_Datatype type)
{
  const struct typemap *of = typemap_of(type);
  if (type == MPI_DATATYPE_NULL)
    return MPI_ERR_ARG;
  one_part(map, 0, 1, of);
  measure(map);
  map->low = of->low;
  map->extent = of->extent;
  map->low_set = of->low_set;
  map->high_set = of->high_set;
  map->element = of->element;
  return MPI_SUCCESS;
}

/* Returns whether the parts, which the program chooses, can make a type. */
static bool is_sound(const struct typemap *map)
{
  for (int i = 0; i < map->parts; i++)
    if (map->part[i].length < 0)
      return false;
  return map->times >= 0;
}

/* Makes the parts of a type whose bounds follow from its parts. */
static int make_parts(struct typemap *map)
{
  const int *integer = map->integer;
  int n = integer[0];
  switch (map->combiner) {
  case MPI_COMBINER_CONTIGUOUS:
    one_part(map, 0, n, typemap_of(map->type[0]));
    break;
  case MPI_COMBINER_VECTOR:
    repeat(map, n, integer[1], integer[2] * typemap_of(map->type[0])->extent);
    break;
  case MPI_COMBINER_HVECTOR:
    repeat(map, n, integer[1], map->address[0]);
    break;
  case MPI_COMBINER_INDEXED:
    blocks(map, integer + 1, 0, integer + 1 + n);
    break;
  case MPI_COMBINER_INDEXED_BLOCK:
    blocks(map, NULL, integer[1], integer + 2);
    break;
  case MPI_COMBINER_HINDEXED_BLOCK:
    blocks(map, NULL, integer[1], NULL);
    break;
  default: /* HINDEXED, STRUCT */
    blocks(map, integer + 1, 0, NULL);
    break;
  }
  if (!is_sound(map))
    return MPI_ERR_ARG;
  measure(map);
  return MPI_SUCCESS;
}

static int fill(struct typemap *map)
{
  switch (map->combiner) {
  case MPI_COMBINER_DUP:
    return same_as(map, map->type[0]);
  case MPI_COMBINER_F90_REAL:
    return same_as(map, real_of(map->integer[0], map->integer[1], false));
  case MPI_COMBINER_F90_COMPLEX:
    return same_as(map, real_of(map->integer[0], map->integer[1], true));
  case MPI_COMBINER_F90_INTEGER:
    return same_as(map, integer_of(map->integer[0]));
  case MPI_COMBINER_RESIZED:
    one_part(map, 0, 1, typemap_of(map->type[0]));
    measure(map);
    set_extent(map, map->address[0], map->address[1]);
    return MPI_SUCCESS;
  case MPI_COMBINER_SUBARRAY:
    return make_subarray(map);
  case MPI_COMBINER_DARRAY:
    return make_darray(map);
  default:
    return make_parts(map);
  }
}

/* ---- SMPI's type of the same handle ---- */

/* Makes SMPI's type of `size` bytes with these bounds; SMPI counts bytes in an `int`. */
static MPI_Datatype smpi_type(MPI_Count size, MPI_Aint low, MPI_Aint extent)
{
  MPI_Datatype bytes, made;
  PMPI_Type_contiguous((int)MIN(size, INT_MAX), MPI_BYTE, &bytes);
  made = bytes;
  if (low != 0 || extent != size) {
    PMPI_Type_create_resized(bytes, low, extent, &made);
    PMPI_Type_free(&bytes);
  }
  PMPI_Type_commit(&made);
  return made;
}

MPI_Datatype typemap_stand_in(MPI_Datatype type)
{
  static MPI_Datatype complex32;
  if (type == MPI_INTEGER1)
    return MPI_INT8_T;
  if (type != MPI_COMPLEX32)
    return type;
  if (!complex32) {
    complex32 = smpi_type(2 * sizeof(quad), 0, 2 * sizeof(quad));
    name_type(complex32, ELEMENT_C128, 2 * sizeof(quad), _Alignof(quad));
  }
  return complex32;
}

int typemap_make(const struct typemap_recipe *of, MPI_Datatype *made)
{
  for (int i = 0; i < of->types; i++)
    if (of->type[i] == MPI_DATATYPE_NULL)
      return MPI_ERR_TYPE;
  if (!maps)
    name_all();
  struct typemap *map = map_new(NULL);
  map->combiner = of->combiner;
  map->integers = of->integers;
  map->addresses = of->addresses;
  map->types = of->types;
  map->integer = g_memdup2(of->integer, (gsize)of->integers * sizeof *of->integer);
  map->address = g_memdup2(of->address, (gsize)of->addresses * sizeof *of->address);
  map->type = g_memdup2(of->type, (gsize)of->types * sizeof *of->type);
  int error = fill(map);
  if (error)
    return error; /* the memory is not freed, but a wrong call loses only little memory */
  map->handle = smpi_type(map->size, map->low, map->extent);
  g_hash_table_insert(maps, map->handle, map);
  *made = map->handle;
  return MPI_SUCCESS;
}

/* ---- data ---- */

static void walk_one(const struct typemap *map, MPI_Aint at,
                     void (*run)(void *ctx, MPI_Aint at, MPI_Count bytes), void *ctx)
{
  for (MPI_Count t = 0; t < map->times; t++)
    for (int i = 0; i < map->parts; i++)
      typemap_walk(map->part[i].of, at + t * map->stride + map->part[i].place, map->part[i].length,
                   run, ctx);
}

void typemap_walk(const struct typemap *map, MPI_Aint at, MPI_Count count,
                  void (*run)(void *ctx, MPI_Aint at, MPI_Count bytes), void *ctx)
{
  if (map->size == 0 || count <= 0)
    return;
  if (map->dense && (count == 1 || map->extent == map->size)) {
    run(ctx, at + map->true_low, count * map->size);
    return;
  }
  for (MPI_Count i = 0; i < count; i++, at += map->extent)
    if (map->dense)
      run(ctx, at + map->true_low, map->size);
    else
      walk_one(map, at, run, ctx);
}

void typemap_walk_elements(const struct typemap *map, MPI_Aint at, MPI_Count count,
                           void (*run)(void *ctx, const struct typemap *element, MPI_Aint at,
                                       MPI_Count count),
                           void *ctx)
{
  if (map->size == 0 || count <= 0)
    return;
  if (map->combiner == MPI_COMBINER_NAMED) {
    run(ctx, map, at, count);
    return;
  }
  for (MPI_Count i = 0; i < count; i++, at += map->extent)
    for (MPI_Count t = 0; t < map->times; t++)
      for (int p = 0; p < map->parts; p++)
        typemap_walk_elements(map->part[p].of, at + t * map->stride + map->part[p].place,
                              map->part[p].length, run, ctx);
}

/* Describes a copy between memory at `items` and packed bytes. */
struct copying {
  char *items, *packed;
  MPI_Count left;
  bool unpack;
};

static void copy_run(void *ctx, MPI_Aint at, MPI_Count bytes)
{
  struct copying *copying = ctx;
  char *item = copying->items + at;
  bytes = MIN(bytes, copying->left);
  if (bytes > 0)
    memcpy(copying->unpack ? item : copying->packed, copying->unpack ? copying->packed : item,
           (size_t)bytes);
  copying->packed += bytes;
  copying->left -= bytes;
}

static void copy(const struct typemap *map, struct copying copying)
{
  if (map->size > 0)
    typemap_walk(map, 0, (copying.left + map->size - 1) / map->size, copy_run, &copying);
}

/* Returns the address from which the places of a type are counted. SMPI's MPI_BOTTOM is an ordinary
 * address, but stands for address 0. */
static char *origin_of(const void *items)
{
  return items == MPI_BOTTOM ? NULL : (char *)(uintptr_t)items;
}

void typemap_pack(const struct typemap *map, const void *items, void *packed, MPI_Count bytes)
{
  copy(map, (struct copying){origin_of(items), packed, bytes, false});
}

void typemap_unpack(const struct typemap *map, const void *packed, void *items, MPI_Count bytes)
{
  copy(map, (struct copying){origin_of(items), (char *)(uintptr_t)packed, bytes, true});
}

/* ---- elements ---- */

MPI_Count typemap_elements(const struct typemap *map, MPI_Count bytes)
{
  MPI_Count whole = map->size > 0 ? bytes / map->size : 0;
  MPI_Count rest = bytes - whole * map->size, found = whole * map->elements;
  if (map->combiner == MPI_COMBINER_NAMED || rest == 0)
    return rest == 0 ? found : -1;
  for (MPI_Count t = 0; rest > 0 && t < map->times; t++)
    for (int i = 0; i < map->parts; i++) {
      const struct part *part = &map->part[i];
      MPI_Count here = MIN(rest, part->length * part->of->size);
      MPI_Count elements = typemap_elements(part->of, here);
      if (elements < 0)
        return -1;
      found += elements;
      rest -= here;
    }
  return found;
}

MPI_Count typemap_bytes(const struct typemap *map, MPI_Count elements)
{
  MPI_Count whole = map->elements > 0 ? elements / map->elements : 0;
  MPI_Count rest = elements - whole * map->elements, bytes = whole * map->size;
  for (MPI_Count t = 0; rest > 0 && t < map->times; t++)
    for (int i = 0; i < map->parts; i++) {
      const struct part *part = &map->part[i];
      MPI_Count here = MIN(rest, part->length * part->of->elements);
      bytes += typemap_bytes(part->of, here);
      rest -= here;
    }
  return bytes;
}
