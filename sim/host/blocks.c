#include "sim/host/blocks.h"

#include <stdint.h>

/* Predefined types, which are asked for with every message and never freed. */
static struct known {
  MPI_Datatype type;
  size_t bytes;
} known[64];

size_t plain_bytes(MPI_Datatype type)
{
  struct known *place = &known[(uintptr_t)type / 16 % G_N_ELEMENTS(known)];
  if (place->type == type && type)
    return place->bytes;
  int integers, addresses, types, combiner, size = type_bytes(type);
  MPI_Aint low, extent;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  PMPI_Type_get_extent(type, &low, &extent);
  if (combiner != MPI_COMBINER_NAMED)
    return 0;
  *place = (struct known){type, low == 0 && extent == size ? (size_t)size : 0};
  return place->bytes;
}

/* The same items, counted from address 1 instead of 0. */
static MPI_Datatype moved(MPI_Datatype type)
{
  MPI_Datatype result;
  PMPI_Type_create_hindexed(1, (int[]){1}, (MPI_Aint[]){-1}, type, &result);
  PMPI_Type_commit(&result);
  return result;
}

static void *const ONE = (void *)1;

int items_pack(const void *items, int count, MPI_Datatype type, void *packed, int bytes,
               int *position)
{
  if (items != MPI_BOTTOM)
    return PMPI_Pack(items, count, type, packed, bytes, position, MPI_COMM_WORLD);
  MPI_Datatype from_one = moved(type);
  int result = PMPI_Pack(ONE, count, from_one, packed, bytes, position, MPI_COMM_WORLD);
  PMPI_Type_free(&from_one);
  return result;
}

int items_unpack(const void *packed, int bytes, int *position, void *items, int count,
                 MPI_Datatype type)
{
  if (items != MPI_BOTTOM)
    return PMPI_Unpack(packed, bytes, position, items, count, type, MPI_COMM_WORLD);
  MPI_Datatype from_one = moved(type);
  int result = PMPI_Unpack(packed, bytes, position, ONE, count, from_one, MPI_COMM_WORLD);
  PMPI_Type_free(&from_one);
  return result;
}

int block_count(const struct blocks *blocks, int i)
{
  return blocks->counts ? blocks->counts[i] : blocks->count;
}

MPI_Datatype block_type(const struct blocks *blocks, int i)
{
  return blocks->types ? blocks->types[i] : blocks->type;
}

int block_bytes(const struct blocks *blocks, int i)
{
  int count = block_count(blocks, i);
  return count > 0 ? count * type_bytes(block_type(blocks, i)) : 0;
}

void *block_at(const struct blocks *blocks, int i)
{
  MPI_Aint low, extent = 1;
  if (blocks->repeated)
    return blocks->buffer;
  if (blocks->places)
    return (char *)blocks->buffer + blocks->places[i];
  MPI_Aint index = blocks->displacements ? blocks->displacements[i] : (MPI_Aint)i * blocks->count;
  if (!blocks->types)
    PMPI_Type_get_extent(blocks->type, &low, &extent);
  return (char *)blocks->buffer + index * extent;
}

struct payload *blocks_pack(const struct blocks *blocks, int number)
{
  int position = 0;
  size_t bytes = 0;
  for (int i = 0; i < number; i++)
    bytes += (size_t)block_bytes(blocks, i);
  struct payload *payload = payload_new(bytes);
  for (int i = 0; i < number; i++)
    if (block_bytes(blocks, i) > 0)
      items_pack(block_at(blocks, i), block_count(blocks, i), block_type(blocks, i), payload->own,
                 (int)bytes, &position);
  return payload;
}

void blocks_unpack(const struct blocks *blocks, int number, const struct payload *payload)
{
  int position = 0;
  for (int i = 0; i < number; i++)
    if (block_bytes(blocks, i) > 0)
      items_unpack(payload->bytes, (int)payload->size, &position, block_at(blocks, i),
                   block_count(blocks, i), block_type(blocks, i));
}
