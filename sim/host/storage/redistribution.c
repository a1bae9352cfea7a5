#include "sim/host/storage/redistribution.h"

#include "sim/memory/die.h"

#include <inttypes.h>
#include <string.h>

/* struct saved, by rank of the run before, or NULL if there are none */
static GPtrArray *images;
static struct saved *common; /* what redistribution_image() returns */
static uint32_t checkpoint;

static const struct saved *image_of(guint rank)
{
  return images->pdata[rank];
}

static const struct region *find(const struct region *region, guint regions, int id)
{
  for (guint i = 0; i < regions; i++)
    if (region[i].id == id)
      return &region[i];
  return NULL;
}

static const struct region *region_of(const struct saved *saved, int id)
{
  return find((const struct region *)(const void *)saved->regions->data, saved->regions->len, id);
}

/* ---- images that other ranks can read ---- */

static void read_image(const char *folder, int rank, int ranks)
{
  g_autofree char *name = manifest_image(rank), *path = g_build_filename(folder, name, NULL);
  const char *why = "cannot be read";
  char *bytes;
  gsize size;
  struct saved *saved =
      g_file_get_contents(path, &bytes, &size, NULL)
          ? portable_read(g_byte_array_new_take((guint8 *)bytes, size), ranks, rank, &why)
          : NULL;
  if (!saved)
    die(DIE_INPUT, "%s: the image of rank %d %s, expected that of another run", folder, rank, why);
  g_ptr_array_add(images, saved);
}

static void require_place(const char *folder, const struct saved *saved, guint rank)
{
  const GArray *mine = saved->position, *first = image_of(0)->position;
  if (saved->iteration != image_of(0)->iteration)
    die(DIE_INPUT,
        "%s: rank 0 was captured in iteration %u and rank %u in %u, expected the same one for "
        "another number of ranks",
        folder, image_of(0)->iteration, rank, saved->iteration);
  if (saved->place != image_of(0)->place || saved->barrier != image_of(0)->barrier ||
      mine->len != first->len ||
      (mine->len && memcmp(mine->data, first->data, mine->len * sizeof(int)) != 0))
    die(DIE_INPUT,
        "%s: ranks 0 and %u were captured at different places, expected the same one for another "
        "number of ranks",
        folder, rank);
}

/* Ends the run if two ranks have made different numbers of collective calls on a communicator. */
static void require_calls(const char *folder, const struct saved *saved, GHashTable *calls)
{
  for (guint i = 0; i < saved->comms->len; i++) {
    const struct saved_comm *comm = &g_array_index(saved->comms, struct saved_comm, i);
    void *number = GINT_TO_POINTER(comm->number), *before;
    if (comm->freed || comm->size == 1)
      continue;
    if (!g_hash_table_lookup_extended(calls, number, NULL, &before))
      g_hash_table_insert(calls, number, GINT_TO_POINTER(comm->calls));
    else if (GPOINTER_TO_INT(before) != comm->calls)
      die(DIE_INPUT,
          "%s: a collective call crosses checkpoint %u, expected none for another number of ranks",
          folder, checkpoint);
  }
}

/* ---- what all images have in common ---- */

static bool same_bytes(const struct saved *a, const struct region *x, const struct saved *b,
                       const struct region *y)
{
  if (x->item != y->item || x->bytes != y->bytes || y->shape.dimensions)
    return false;
  g_autofree char *one = g_malloc(x->bytes + 1), *other = g_malloc(x->bytes + 1);
  portable_copy(one, a, x);
  portable_copy(other, b, y);
  return !memcmp(one, other, x->bytes);
}

static bool all_have(const struct region *region)
{
  for (guint rank = 1; rank < images->len; rank++) {
    const struct region *other = region_of(image_of(rank), region->id);
    if (!other || !same_bytes(image_of(0), region, image_of(rank), other))
      return false;
  }
  return true;
}

static void add_array(const struct region *part)
{
  struct region whole = *part;
  if (region_of(common, part->id))
    return;
  whole.memory = NULL;
  whole.bytes = portable_item_bytes(part->item);
  for (int d = 0; d < part->shape.dimensions; d++) {
    whole.shape.first[d] = 0;
    whole.shape.part[d] = part->shape.whole[d];
    whole.bytes *= (size_t)part->shape.whole[d];
  }
  g_array_append_val(common->regions, whole);
}

static void collect_regions(void)
{
  for (guint rank = 0; rank < images->len; rank++)
    for (guint i = 0; i < image_of(rank)->regions->len; i++) {
      const struct region *region = &g_array_index(image_of(rank)->regions, struct region, i);
      if (region->shape.dimensions)
        add_array(region);
      else if (rank == 0 && all_have(region))
        g_array_append_vals(common->regions, region, 1);
    }
}

void redistribution_begin(const char *folder, const struct manifest *manifest, int ranks)
{
  g_autoptr(GHashTable) calls = g_hash_table_new(NULL, NULL);
  images = g_ptr_array_new();
  checkpoint = manifest->checkpoint;
  for (int rank = 0; rank < ranks; rank++) {
    read_image(folder, rank, ranks);
    require_place(folder, image_of((guint)rank), (guint)rank);
    require_calls(folder, image_of((guint)rank), calls);
  }
  common = portable_new();
  common->place = image_of(0)->place;
  common->barrier = image_of(0)->barrier;
  common->turned = image_of(0)->turned;
  g_array_append_vals(common->position, image_of(0)->position->data, image_of(0)->position->len);
  collect_regions();
}

const struct saved *redistribution_image(void)
{
  return common;
}

uint32_t redistribution_checkpoint(void)
{
  return checkpoint;
}

/* ---- a rank reads its parts ---- */

/* Describes a part that is being read. */
struct filling {
  const struct region *region;
  struct box box;
  bool *filled; /* by item: whether it was put in */
  double bytes; /* number of bytes read so far */
};

/* Puts in items of a row. If another image has put in the item already, the value must be the
 * same. */
static void put_row(struct filling *f, size_t at, const char *row, size_t items, guint owner)
{
  size_t size = portable_item_bytes(f->region->item);
  for (size_t i = 0; i < items; i++) {
    char *to = f->region->memory + (at + i) * size;
    if (f->filled[at + i] && memcmp(to, row + i * size, size) != 0)
      die(DIE_INPUT,
          "rank %u of checkpoint %u has memory %d with another value of an item than a lower rank, "
          "expected the same value from all that have an item",
          owner, checkpoint, f->region->id);
    memcpy(to, row + i * size, size);
    f->filled[at + i] = true;
  }
  f->bytes += (double)(items * size);
}

static void read_part(struct filling *f, guint owner, const struct region *part)
{
  struct box theirs = box_of(part->shape.dimensions, part->shape.first, part->shape.part), both;
  if (!box_meet(&f->box, &theirs, &both))
    return;
  size_t size = portable_item_bytes(part->item);
  size_t items = (size_t)(both.end[2] - both.first[2]);
  g_autofree char *row = g_malloc(items * size);
  for (int64_t i = both.first[0]; i < both.end[0]; i++)
    for (int64_t j = both.first[1]; j < both.end[1]; j++) {
      const int64_t at[BOX_DIMENSIONS] = {i, j, both.first[2]};
      struct region line = *part;
      line.memory += box_item(&theirs, at) * size;
      line.bytes = items * size;
      portable_copy(row, image_of(owner), &line);
      put_row(f, box_item(&f->box, at), row, items, owner);
    }
}

static bool same_array(const struct region *a, const struct region *b)
{
  bool same = a->item == b->item && a->shape.dimensions == b->shape.dimensions;
  for (int d = 0; same && d < a->shape.dimensions; d++)
    same = a->shape.whole[d] == b->shape.whole[d];
  return same;
}

static double fill_part(int rank, const struct region *mine)
{
  size_t items = mine->bytes / portable_item_bytes(mine->item);
  g_autofree bool *filled = g_new0(bool, items + 1);
  struct filling f = {.region = mine,
                      .box = box_of(mine->shape.dimensions, mine->shape.first, mine->shape.part),
                      .filled = filled};
  for (guint owner = 0; owner < images->len; owner++) {
    const struct region *part = region_of(image_of(owner), mine->id);
    if (part && !same_array(mine, part))
      die(DIE_INPUT,
          "rank %d protects memory %d as part of another array than rank %u of checkpoint %u has, "
          "expected the same type and extents of the whole",
          rank, mine->id, owner, checkpoint);
    if (part)
      read_part(&f, owner, part);
  }
  for (size_t i = 0; i < items; i++)
    if (!filled[i])
      die(DIE_INPUT,
          "rank %d protects memory %d, of which no rank of checkpoint %u has item %zu, expected "
          "parts that cover the whole",
          rank, mine->id, checkpoint, i);
  return f.bytes;
}

static double fill_copy(int rank, const struct region *mine)
{
  const struct region *then = region_of(common, mine->id);
  if (!then && region_of(image_of(0), mine->id))
    die(DIE_INPUT,
        "rank %d protects memory %d, in which the ranks of checkpoint %u differ, expected "
        "recline_protect_distributed() in both runs, or recline_protect(%d) after its data are put "
        "back",
        rank, mine->id, checkpoint, mine->id);
  if (!then)
    die(DIE_INPUT, "rank %d protects memory %d, which checkpoint %u does not have", rank, mine->id,
        checkpoint);
  if (then->shape.dimensions || then->item != mine->item || then->bytes > mine->bytes)
    die(DIE_INPUT,
        "rank %d protects memory %d of %zu bytes of type %d, expected %zu of type %d as in "
        "checkpoint %u",
        rank, mine->id, mine->bytes, (int)mine->item, then->bytes, (int)then->item, checkpoint);
  portable_copy(mine->memory, image_of(0), then);
  return (double)portable_region_bytes(then);
}

double redistribution_fill(int rank, const struct region *region, int regions)
{
  double bytes = PORTABLE_HEADER_BYTES;
  for (guint i = 0; i < common->regions->len; i++) {
    int id = g_array_index(common->regions, struct region, i).id;
    if (!find(region, (guint)regions, id))
      die(DIE_INPUT,
          "checkpoint %u has memory %d, which rank %d does not protect, expected "
          "recline_protect(%d) before it is put back",
          checkpoint, id, rank, id);
  }
  for (int i = 0; i < regions; i++)
    bytes += region[i].shape.dimensions ? fill_part(rank, &region[i]) : fill_copy(rank, &region[i]);
  return bytes;
}
