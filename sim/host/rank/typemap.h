/* Describes datatypes as MPI does, by type maps (MPI 3.1, section 4.1).
 *
 * SMPI's own description of a type is not used: it forgets constructors, takes the true extent for
 * the extent, and places elements of types with gaps wrongly. So each type that a program makes has
 * a type map here. SMPI's type of the same handle has only the size and the bounds of the type map,
 * because SMPI's collective algorithms read these. Data are packed, unpacked and copied by the type
 * map. */
#ifndef RECLINE_TYPEMAP_H
#define RECLINE_TYPEMAP_H

#include <smpi/smpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists the kinds of elements of predefined types. A type that a program makes is of none of these
 * kinds. */
enum element {
  ELEMENT_NONE,
  ELEMENT_I8,
  ELEMENT_I16,
  ELEMENT_I32,
  ELEMENT_I64,
  ELEMENT_I128,
  ELEMENT_U8,
  ELEMENT_U16,
  ELEMENT_U32,
  ELEMENT_U64,
  ELEMENT_CHAR,
  ELEMENT_WCHAR,
  ELEMENT_BOOL,
  ELEMENT_BYTE,
  ELEMENT_F32,
  ELEMENT_F64,
  ELEMENT_F80,
  ELEMENT_F128,
  ELEMENT_C32,
  ELEMENT_C64,
  ELEMENT_C80,
  ELEMENT_C128,
  ELEMENT_I16_I32, /* this and the next kinds are pairs */
  ELEMENT_I32_I32,
  ELEMENT_I64_I32,
  ELEMENT_I64_I64,
  ELEMENT_F32_I32,
  ELEMENT_F32_F32,
  ELEMENT_F64_I32,
  ELEMENT_F64_F64,
  ELEMENT_F80_I32,
  ELEMENT_OPAQUE, /* MPI_PACKED */
};

struct typemap;

/* Describes `length` elements of a type, one behind the other from byte `place` on. */
struct part {
  MPI_Aint place;
  MPI_Count length;
  const struct typemap *of;
};

/* Holds a type map. Bounds, strides and places are in bytes. */
struct typemap {
  MPI_Datatype handle;
  int combiner; /* the combiner, as MPI_Type_get_envelope returns it */
  /* numbers of arguments of the constructor, as in MPI_Type_get_contents */
  int integers, addresses, types;
  const int *integer;
  const MPI_Aint *address;
  const MPI_Datatype *type;

  enum element element;
  MPI_Count size, elements; /* size of the data; number of elements of predefined types */
  MPI_Aint low, extent;
  MPI_Aint true_low, true_extent; /* bounds of the data alone */
  bool low_set, high_set;         /* the program, not the data, has set the bound */
  int alignment;
  bool dense; /* the data are one run of bytes in their order */

  int parts; /* number of parts, or 0 if the type is predefined */
  const struct part *part;
  MPI_Count times; /* how many times all parts are repeated, `stride` apart */
  MPI_Aint stride;
};

/* Returns the type map of a handle, which lives for ever. MPI_DATATYPE_NULL has a type map without
 * data. */
const struct typemap *typemap_of(MPI_Datatype);

/* Holds the arguments of a constructor, by its combiner, in the order of MPI_Type_get_contents. */
struct typemap_recipe {
  int combiner;
  int integers, addresses, types;
  const int *integer;
  const MPI_Aint *address;
  const MPI_Datatype *type;
};

/* Makes and commits the type. Returns MPI_SUCCESS, or an error class and leaves `*made` as it is.
 */
int typemap_make(const struct typemap_recipe *, MPI_Datatype *made);

/* Returns, for SMPI's collective algorithms, a type whose size and bounds are right in SMPI. This
 * is the given type, or another type with the same elements. */
MPI_Datatype typemap_stand_in(MPI_Datatype);

/* Returns whether elements of the type lie one behind the other without gaps, from their first byte
 * on. */
static inline bool typemap_is_plain(const struct typemap *map)
{
  return map->dense && map->low == 0 && map->true_low == 0 && map->extent == map->size;
}

/* Calls `run` for the data of `count` elements in their order, the first of which is at byte `at`.
 * Each call gets a run of bytes that is as long as possible. */
void typemap_walk(const struct typemap *, MPI_Aint at, MPI_Count count,
                  void (*run)(void *ctx, MPI_Aint at, MPI_Count bytes), void *ctx);

/* Calls `run` for runs of elements of predefined types, in the same order. */
void typemap_walk_elements(const struct typemap *, MPI_Aint at, MPI_Count count,
                           void (*run)(void *ctx, const struct typemap *element, MPI_Aint at,
                                       MPI_Count count),
                           void *ctx);

/* typemap_pack() copies the first `bytes` bytes of data from `items` to `packed`; typemap_unpack()
 * copies them back. `items` may be MPI_BOTTOM. */
void typemap_pack(const struct typemap *, const void *items, void *packed, MPI_Count bytes);
void typemap_unpack(const struct typemap *, const void *packed, void *items, MPI_Count bytes);

/* typemap_elements() returns the number of elements of predefined types in the first `bytes` bytes
 * of data, or -1 if the bytes end within an element. typemap_bytes() returns the size of the first
 * `elements` elements. */
MPI_Count typemap_elements(const struct typemap *, MPI_Count bytes);
MPI_Count typemap_bytes(const struct typemap *, MPI_Count elements);

#endif
