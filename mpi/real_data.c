/* Keeps the data that the program protects. Writes them as a part of an image, and puts them back
 * from an image. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/real_inside.h"

/* The image to start from, and its regions, until the data are put back. */
static FILE *image;
static struct real_found *found;
static uint32_t count;

/* ---- protected data ---- */

/* Returns the index of an id, or the index at which the id belongs. */
static uint32_t place_of(int id)
{
  uint32_t at = 0;
  while (at < real.regions && real.region[at].id < id)
    at++;
  return at;
}

static void add(struct real_region region)
{
  uint32_t at = place_of(region.id);
  if (at < real.regions && real.region[at].id == region.id)
    real_die(64, "process %d protects data %d twice, expected recline_unprotect(%d) in between",
             real.rank, region.id, region.id);
  real.region = memory_room(real.region, real.regions, &real.regions_room, sizeof *real.region);
  memmove(real.region + at + 1, real.region + at, (real.regions - at) * sizeof *real.region);
  real.region[at] = region;
  real.regions++;
}

static void check_shape(int id, const struct real_shape *shape)
{
  if (shape->dimensions < 1 || shape->dimensions > REAL_DIMENSIONS)
    real_die(64, "process %d protects data %d of %" PRId64 " dimensions, expected 1 to %d",
             real.rank, id, shape->dimensions, REAL_DIMENSIONS);
  for (int d = 0; d < shape->dimensions; d++)
    if (shape->part[d] < 0 || shape->first[d] < 0 ||
        shape->part[d] > shape->whole[d] - shape->first[d])
      real_die(64,
               "process %d protects %" PRId64 " items from %" PRId64 " of %" PRId64
               " in dimension %d of data %d, expected a part of the array",
               real.rank, shape->part[d], shape->first[d], shape->whole[d], d, id);
}

void real_protect(int id, void *address, size_t count_of_items, size_t item_bytes, int type,
                  const struct real_shape *shape)
{
  size_t bytes = count_of_items * item_bytes;
  if (shape)
    check_shape(id, shape);
  if (!address && bytes)
    real_die(64, "process %d protects data %d at no address, expected one", real.rank, id);
  add((struct real_region){.id = id,
                           .type = type,
                           .address = address,
                           .bytes = bytes,
                           .item_bytes = item_bytes,
                           .shape = shape ? *shape : (struct real_shape){0}});
}

void real_protect_stream(int id, const struct real_stream *stream)
{
  add((struct real_region){.id = id, .stream = *stream});
}

void real_unprotect(int id)
{
  uint32_t at = place_of(id);
  if (at == real.regions || real.region[at].id != id)
    real_die(64, "process %d does not protect data %d, expected recline_protect(%d) before",
             real.rank, id, id);
  real.regions--;
  memmove(real.region + at, real.region + at + 1, (real.regions - at) * sizeof *real.region);
}

/* ---- to an image ---- */

static void put(FILE *file, const void *bytes, size_t size)
{
  if (size)
    fwrite(bytes, size, 1, file); /* output_close() reports errors */
}

static void save(FILE *file, const struct real_region *region)
{
  struct real_region_head head = {.id = region->id,
                                  .type = region->type,
                                  .bytes = region->bytes,
                                  .item_bytes = (uint32_t)region->item_bytes,
                                  .shape = region->shape};
  long at = ftell(file);
  put(file, &head, sizeof head);
  put(file, region->address, region->bytes);
  if (!region->stream.save)
    return;
  if (!region->stream.save(region->stream.ctx, file))
    real_die(64, "process %d cannot write its data %d: %s", real.rank, region->id, strerror(errno));
  long end = ftell(file);
  head.bytes = (uint64_t)(end - at) - sizeof head;
  fseek(file, at, SEEK_SET);
  put(file, &head, sizeof head);
  fseek(file, end, SEEK_SET);
}

void real_data_save(FILE *file)
{
  for (uint32_t i = 0; i < real.regions; i++)
    save(file, &real.region[i]);
}

/* ---- from an image ---- */

struct real_found *real_data_find(FILE *file, uint32_t regions)
{
  bool fine = true;
  struct real_found *all = memory_table(regions + 1, sizeof *all);
  for (uint32_t i = 0; fine && i < regions; i++) {
    fine = fread(&all[i].head, sizeof all[i].head, 1, file) == 1;
    all[i].at = ftell(file);
    fine = fine && !fseek(file, (long)all[i].head.bytes, SEEK_CUR);
  }
  if (fine)
    return all;
  free(all);
  return NULL;
}

void real_data_keep(FILE *file, struct real_found *all, uint32_t regions)
{
  image = file;
  found = all;
  count = regions;
}

enum real_place real_restarts(void)
{
  return real.restart;
}

static const struct real_found *find(int id)
{
  for (uint32_t i = 0; i < count; i++)
    if (found[i].head.id == id)
      return &found[i];
  return NULL;
}

size_t real_protected_bytes(int id)
{
  if (real.from && real.restart)
    return real_redistribute_bytes(id);
  const struct real_found *data = find(id);
  return data ? data->head.bytes : 0;
}

static void check_fits(const struct real_region *region, const struct real_region_head *head)
{
  if (head->type != region->type)
    real_die(64, "process %d protects data %d with type %d, expected type %d as in the image",
             real.rank, region->id, region->type, head->type);
  if (!region->stream.restore && head->bytes > region->bytes)
    real_die(64, "process %d protects %zu bytes of data %d, expected %llu or more as in the image",
             real.rank, region->bytes, region->id, (unsigned long long)head->bytes);
}

static void put_back(const struct real_found *data)
{
  uint32_t at = place_of(data->head.id);
  const struct real_region *region = &real.region[at];
  if (at == real.regions || region->id != data->head.id)
    real_die(64, "process %d does not protect data %d, expected all data of the image", real.rank,
             data->head.id);
  check_fits(region, &data->head);
  bool fine = !fseek(image, data->at, SEEK_SET);
  if (fine && region->stream.restore)
    fine = region->stream.restore(region->stream.ctx, image);
  else if (fine && data->head.bytes)
    fine = fread(region->address, data->head.bytes, 1, image) == 1;
  if (!fine)
    real_die(64,
             "process %d: data %d of checkpoint %u cannot be read, expected the file as it was "
             "written",
             real.rank, region->id, real.checkpoint);
}

static void put_all_back(void)
{
  for (uint32_t i = 0; i < count; i++)
    put_back(&found[i]);
  if (count < real.regions)
    real_die(64, "process %d protects %u data, expected the %u of the image and no other",
             real.rank, real.regions, count);
  fclose(image);
  free(found);
  image = NULL;
  found = NULL;
  count = 0;
}

enum real_place real_restore(void)
{
  enum real_place place = real.restart;
  if (!place)
    return place;
  if (real.from)
    real_redistribute();
  else
    put_all_back();
  real.restart = REAL_NOWHERE;
  real.same = place;
  real_switch(REAL_COMPUTE); /* from here on, time does not count as restart */
  return place;
}
