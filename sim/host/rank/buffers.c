#include "sim/host/rank/buffers.h"

size_t plain_bytes(MPI_Datatype type)
{
  const struct typemap *map = typemap_of(type);
  return typemap_is_plain(map) ? (size_t)map->size : 0;
}

int items_pack(const void *items, int count, MPI_Datatype type, void *packed, int bytes,
               int *position)
{
  const struct typemap *map = typemap_of(type);
  MPI_Count all = count * map->size;
  if (all > bytes - *position)
    return MPI_ERR_TRUNCATE;
  typemap_pack(map, items, (char *)packed + *position, all);
  *position += (int)all;
  return MPI_SUCCESS;
}

int items_unpack(const void *packed, int bytes, int *position, void *items, int count,
                 MPI_Datatype type)
{
  const struct typemap *map = typemap_of(type);
  MPI_Count all = count * map->size;
  if (all > bytes - *position)
    return MPI_ERR_TRUNCATE;
  typemap_unpack(map, (const char *)packed + *position, items, all);
  *position += (int)all;
  return MPI_SUCCESS;
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
  MPI_Aint extent = 1;
  char *first = blocks->buffer == MPI_BOTTOM ? NULL : blocks->buffer;
  if (blocks->repeated)
    return first;
  if (blocks->places)
    return first + blocks->places[i];
  MPI_Aint index = blocks->displacements ? blocks->displacements[i] : (MPI_Aint)i * blocks->count;
  if (!blocks->types)
    extent = typemap_of(blocks->type)->extent;
  return first + index * extent;
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
