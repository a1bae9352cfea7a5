/* Where the data of a rank in a collective lie. */
#ifndef RECLINE_BLOCKS_H
#define RECLINE_BLOCKS_H

#include <glib.h>
#include <smpi/smpi.h>

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
