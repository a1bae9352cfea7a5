/* Where the data of a rank in a collective lie. */
#ifndef RECLINE_BLOCKS_H
#define RECLINE_BLOCKS_H

#include <glib.h>
#include <smpi/smpi.h>

/* Bytes of an element of a type whose elements lie without gaps in their order, as those of the
 * predefined types of numbers do; 0 for any other. */
size_t plain_bytes(MPI_Datatype);

/* Equal blocks of `count` elements, or blocks by counts and displacements. */
struct blocks {
  void *buffer;
  const int *counts, *displacements; /* NULL: equal blocks */
  int count;
  MPI_Datatype type;
};

int block_count(const struct blocks *, int i);
void *block_at(const struct blocks *, int i);

/* The bytes of the first `number` blocks, one behind the other, and back again. */
GBytes *blocks_pack(const struct blocks *, int number);
void blocks_unpack(const struct blocks *, int number, GBytes *);

#endif
