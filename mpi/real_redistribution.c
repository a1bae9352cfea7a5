/* Goes on from a checkpoint of another number of processes. Each process reads the data that it
 * protects from the images of all old processes. The protocol starts as in a new run, and no
 * message is restored. So no message may cross the checkpoint, and the protocol must ensure that.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file_bytes.h"
#include "base/memory.h"
#include "mpi/real_inside.h"

/* Holds what is known about the image of one process. The file of the image stays open until the
 * data are put back. */
struct old_image {
  FILE *file;
  struct real_found *found;
  uint32_t count;
};
static struct old_image *old;
static int olds;

static const struct real_found *part_of(int owner, int id)
{
  for (uint32_t i = 0; i < old[owner].count; i++)
    if (old[owner].found[i].head.id == id)
      return &old[owner].found[i];
  return NULL;
}

static void read_bytes(int owner, const struct real_found *part, size_t from, void *to, size_t size)
{
  if (fseek(old[owner].file, part->at + (long)from, SEEK_SET) ||
      !file_get(old[owner].file, to, size))
    real_die(64,
             "process %d: data %d of process %d of checkpoint %u cannot be read, expected the file "
             "as it was written",
             real.rank, part->head.id, owner, real.from);
}

/* ---- what all images have in common ---- */

void real_redistribute_begin(int count)
{
  olds = count;
  old = memory_table((size_t)count, sizeof *old);
}

void real_redistribute_add(int owner, FILE *file, struct real_found *found, uint32_t regions)
{
  old[owner] = (struct old_image){.file = file, .found = found, .count = regions};
}

static bool all_have_same(const struct real_found *part)
{
  size_t size = part->head.bytes;
  char *first = memory_grow(NULL, size + 1), *other = memory_grow(NULL, size + 1);
  bool same = !part->head.shape.dimensions;
  if (same)
    read_bytes(0, part, 0, first, size);
  for (int owner = 1; same && owner < olds; owner++) {
    const struct real_found *its = part_of(owner, part->head.id);
    same = its && its->head.type == part->head.type && its->head.bytes == size;
    if (same)
      read_bytes(owner, its, 0, other, size);
    same = same && !memcmp(first, other, size);
  }
  free(first);
  free(other);
  return same;
}

/* Returns a part with that id from the first image that has one, or NULL if none has. */
static const struct real_found *any_part(int id)
{
  const struct real_found *part = NULL;
  for (int owner = 0; owner < olds && !part; owner++)
    part = part_of(owner, id);
  return part;
}

size_t real_redistribute_bytes(int id)
{
  const struct real_found *part = any_part(id);
  if (!part)
    return 0;
  if (!part->head.shape.dimensions)
    return part == part_of(0, id) && all_have_same(part) ? part->head.bytes : 0;
  size_t bytes = part->head.item_bytes;
  for (int d = 0; d < part->head.shape.dimensions; d++)
    bytes *= (size_t)part->head.shape.whole[d];
  return bytes;
}

/* ---- a process reads its parts ---- */

/* Describes a part that is being read. */
struct filling {
  const struct real_region *region;
  struct box box;
  bool *filled; /* by item: whether it was put in */
};

/* Puts in items of a row. If another image has put in the item already, the value must be the
 * same. */
static void put_row(const struct filling *f, size_t at, const char *row, size_t items, int owner)
{
  size_t size = f->region->item_bytes;
  for (size_t i = 0; i < items; i++) {
    char *to = (char *)f->region->address + (at + i) * size;
    if (f->filled[at + i] && memcmp(to, row + i * size, size) != 0)
      real_die(64,
               "process %d of checkpoint %u has data %d with another value of an item than a lower "
               "one, expected the same value from all that have an item",
               owner, real.from, f->region->id);
    memcpy(to, row + i * size, size);
    f->filled[at + i] = true;
  }
}

static void read_part(const struct filling *f, int owner, const struct real_found *part)
{
  struct box theirs = box_of((int)part->head.shape.dimensions, part->head.shape.first,
                             part->head.shape.part),
             both;
  if (!box_meet(&f->box, &theirs, &both))
    return;
  size_t size = f->region->item_bytes, items = (size_t)(both.end[2] - both.first[2]);
  char *row = memory_grow(NULL, items * size + 1);
  for (int64_t i = both.first[0]; i < both.end[0]; i++)
    for (int64_t j = both.first[1]; j < both.end[1]; j++) {
      const int64_t at[BOX_DIMENSIONS] = {i, j, both.first[2]};
      read_bytes(owner, part, box_item(&theirs, at) * size, row, items * size);
      put_row(f, box_item(&f->box, at), row, items, owner);
    }
  free(row);
}

static void require_same_array(const struct real_region *mine, int owner,
                               const struct real_region_head *head)
{
  bool same = head->type == mine->type && head->shape.dimensions == mine->shape.dimensions;
  for (int d = 0; same && d < mine->shape.dimensions; d++)
    same = head->shape.whole[d] == mine->shape.whole[d];
  if (!same)
    real_die(64,
             "process %d protects data %d as part of another array than process %d of checkpoint "
             "%u has, expected the same type and extents of the whole",
             real.rank, mine->id, owner, real.from);
}

static void fill_part(const struct real_region *mine)
{
  size_t items = mine->bytes / mine->item_bytes;
  struct filling f = {.region = mine,
                      .box =
                          box_of((int)mine->shape.dimensions, mine->shape.first, mine->shape.part),
                      .filled = memory_table(items + 1, sizeof *f.filled)};
  for (int owner = 0; owner < olds; owner++) {
    const struct real_found *part = part_of(owner, mine->id);
    if (!part)
      continue;
    require_same_array(mine, owner, &part->head);
    read_part(&f, owner, part);
  }
  for (size_t i = 0; i < items; i++)
    if (!f.filled[i])
      real_die(64,
               "process %d protects data %d, of which no process of checkpoint %u has item %zu, "
               "expected parts that cover the whole",
               real.rank, mine->id, real.from, i);
  free(f.filled);
}

static void fill_copy(const struct real_region *mine)
{
  const struct real_found *then = part_of(0, mine->id);
  if (!then || mine->stream.restore)
    real_die(64,
             "process %d protects data %d, which checkpoint %u does not have for other processes",
             real.rank, mine->id, real.from);
  if (!all_have_same(then))
    real_die(
        64,
        "process %d protects data %d, in which the processes of checkpoint %u differ, expected "
        "recline_protect_distributed() in both runs, or recline_protect(%d) after its data are "
        "put back",
        real.rank, mine->id, real.from, mine->id);
  if (then->head.type != mine->type || then->head.bytes > mine->bytes)
    real_die(
        64,
        "process %d protects %zu bytes of data %d of type %d, expected %llu or more of type %d "
        "as in checkpoint %u",
        real.rank, mine->bytes, mine->id, mine->type, (unsigned long long)then->head.bytes,
        then->head.type, real.from);
  read_bytes(0, then, 0, mine->address, then->head.bytes);
}

static bool is_protected(int id)
{
  for (uint32_t i = 0; i < real.regions; i++)
    if (real.region[i].id == id)
      return true;
  return false;
}

/* Ends the run unless the program protects data in a form that every process can read. */
static void require_protected(void)
{
  for (int owner = 0; owner < olds; owner++)
    for (uint32_t i = 0; i < old[owner].count; i++) {
      const struct real_region_head *head = &old[owner].found[i].head;
      if (!is_protected(head->id) && real_redistribute_bytes(head->id) > 0)
        real_die(64, "process %d does not protect data %d, expected all data of the checkpoint",
                 real.rank, head->id);
    }
}

void real_redistribute(void)
{
  require_protected();
  for (uint32_t i = 0; i < real.regions; i++)
    if (real.region[i].shape.dimensions)
      fill_part(&real.region[i]);
    else
      fill_copy(&real.region[i]);
  for (int owner = 0; owner < olds; owner++) {
    fclose(old[owner].file);
    free(old[owner].found);
  }
  free(old);
  old = NULL;
  olds = 0;
}
