/* Describes where the data of a rank in a collective lie. */
#ifndef RECLINE_BUFFERS_H
#define RECLINE_BUFFERS_H

#include "sim/host/rank/typemap.h"
#include "sim/net/payload.h"

#include <glib.h>
#include <smpi/smpi.h>
#include <stdbool.h>

/* Returns the size in bytes of an element of a type whose elements lie in order and without gaps,
 * like the predefined types of numbers. Returns 0 for other types. */
size_t plain_bytes(MPI_Datatype);

/* Returns the bytes of data in one item. */
static inline int type_bytes(MPI_Datatype type)
{
  return (int)typemap_of(type)->size;
}

/* items_pack() and items_unpack() do what MPI_Pack and MPI_Unpack do. */
int items_pack(const void *items, int count, MPI_Datatype type, void *packed, int bytes,
               int *position);
int items_unpack(const void *packed, int bytes, int *position, void *items, int count,
                 MPI_Datatype type);

/* Describes equal blocks of `count` elements, or blocks by counts and displacements. Displacements
 * are in elements, or in bytes if each block has its own type. */
struct blocks {
  void *buffer;
  const int *counts, *displacements; /* by block, or NULL if all blocks are equal */
  int count;
  MPI_Datatype type;
  const MPI_Datatype *types; /* by block, or NULL if all blocks have `type` */
  const MPI_Aint *places;    /* by block: replaces displacements that do not fit into an int */
  bool repeated;             /* the first block is used for every block */
};

#define EQUAL(BUFFER, COUNT, TYPE)                                                                 \
  (struct blocks)                                                                                  \
  {                                                                                                \
    .buffer = (void *)(uintptr_t)(BUFFER), .count = (COUNT), .type = (TYPE)                        \
  }
#define UNEQUAL(BUFFER, COUNTS, STARTS, TYPE)                                                      \
  (struct blocks)                                                                                  \
  {                                                                                                \
    .buffer = (void *)(uintptr_t)(BUFFER), .counts = (COUNTS), .displacements = (STARTS),          \
    .type = (TYPE)                                                                                 \
  }
#define TYPED(BUFFER, COUNTS, STARTS, TYPES)                                                       \
  (struct blocks)                                                                                  \
  {                                                                                                \
    .buffer = (void *)(uintptr_t)(BUFFER), .counts = (COUNTS), .displacements = (STARTS),          \
    .types = (TYPES)                                                                               \
  }

int block_count(const struct blocks *, int i);
MPI_Datatype block_type(const struct blocks *, int i);
/* 0 for a block without elements, which may have no type */
int block_bytes(const struct blocks *, int i);
void *block_at(const struct blocks *, int i);

/* blocks_pack() packs the first `number` blocks as bytes, one behind the other; blocks_unpack()
 * unpacks them. */
struct payload *blocks_pack(const struct blocks *, int number);
void blocks_unpack(const struct blocks *, int number, const struct payload *);

#endif
