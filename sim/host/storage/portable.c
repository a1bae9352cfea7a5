#include "sim/host/storage/portable.h"

#include <string.h>

enum { ORDER_MARK = 1, REGION_BYTES = 16, EXTENTS_BYTES = 24, COMM_BYTES = 32, MEMBER_BYTES = 4 };
enum { DIMENSION = 256 }; /* number that is added to the type of a region for each dimension */
enum comm_flag { FREED = 1, HIDDEN = 2 };

bool portable_is_type(enum item item)
{
  return item == ITEM_NONE || (unsigned)item < ITEMS;
}

size_t portable_item_bytes(enum item item)
{
  static const size_t bytes[ITEMS] = {[ITEM_BYTE] = 1,
                                      [ITEM_INT16] = 2,
                                      [ITEM_INT32] = 4,
                                      [ITEM_INT64] = 8,
                                      [ITEM_FLOAT] = sizeof(float),
                                      [ITEM_DOUBLE] = sizeof(double),
                                      [ITEM_LONG_DOUBLE] = sizeof(long double)};
  return item == ITEM_NONE ? 1 : bytes[item];
}

uint64_t portable_region_bytes(const struct region *region)
{
  return REGION_BYTES + (uint64_t)region->shape.dimensions * EXTENTS_BYTES + region->bytes;
}

bool portable_same_shape(const struct shape *a, const struct shape *b)
{
  bool same = a->dimensions == b->dimensions;
  for (int d = 0; same && d < a->dimensions; d++)
    same = a->whole[d] == b->whole[d] && a->first[d] == b->first[d] && a->part[d] == b->part[d];
  return same;
}

struct saved *portable_new(void)
{
  struct saved *saved = g_new0(struct saved, 1);
  saved->regions = g_array_new(FALSE, FALSE, sizeof(struct region));
  saved->position = g_array_new(FALSE, FALSE, sizeof(int));
  saved->comms = g_array_new(FALSE, FALSE, sizeof(struct saved_comm));
  return saved;
}

void portable_free(struct saved *saved)
{
  for (guint i = 0; i < saved->comms->len; i++)
    g_free(g_array_index(saved->comms, struct saved_comm, i).member);
  g_array_unref(saved->regions);
  g_array_unref(saved->position);
  g_array_unref(saved->comms);
  if (saved->bytes)
    g_byte_array_unref(saved->bytes);
  g_free(saved);
}

/* Returns whether an image lists the members of a communicator. Communicator 0 has all ranks as
 * members, and communicator 1 has only the rank itself. So the members of these two are not
 * stored. */
static bool lists_members(int number)
{
  return number > 1;
}

/* ---- items in either order ---- */

/* Reverses the order of bytes in each item of `size` bytes. */
static void turn(void *items, size_t bytes, size_t size)
{
  char *item = items;
  for (size_t at = 0; at + size <= bytes; at += size)
    for (size_t i = 0; i < size / 2; i++) {
      char byte = item[at + i];
      item[at + i] = item[at + size - 1 - i];
      item[at + size - 1 - i] = byte;
    }
}

/* ---- writing ---- */

struct writer {
  GByteArray *bytes;
  bool turned;
};

static void put(const struct writer *w, const void *items, size_t bytes, size_t size)
{
  guint at = w->bytes->len;
  g_byte_array_append(w->bytes, items, (guint)bytes);
  if (w->turned)
    turn(w->bytes->data + at, bytes, size);
}

static void put_number(const struct writer *w, uint32_t number)
{
  put(w, &number, sizeof number, sizeof number);
}

static void put_long(const struct writer *w, uint64_t number)
{
  put(w, &number, sizeof number, sizeof number);
}

static void put_header(const struct writer *w, const struct saved *saved, uint64_t bytes)
{
  put_number(w, ORDER_MARK);
  put_number(w, saved->place);
  put_number(w, saved->finalized);
  put_number(w, (uint32_t)saved->barrier);
  put_number(w, saved->receives);
  put_number(w, saved->iteration);
  put_number(w, saved->regions->len);
  put_number(w, saved->position->len);
  put_number(w, saved->comms->len);
  put_number(w, 0);
  put(w, &saved->image_bytes, sizeof saved->image_bytes, sizeof(double));
  put(w, &saved->iteration_bytes, sizeof saved->iteration_bytes, sizeof(double));
  put_long(w, bytes);
}

static void put_region(const struct writer *w, const struct region *region)
{
  put_number(w, (uint32_t)region->id);
  put_number(w, (uint32_t)region->item + DIMENSION * (uint32_t)region->shape.dimensions);
  put_long(w, region->bytes);
  for (int d = 0; d < region->shape.dimensions; d++) {
    put_long(w, (uint64_t)region->shape.whole[d]);
    put_long(w, (uint64_t)region->shape.first[d]);
    put_long(w, (uint64_t)region->shape.part[d]);
  }
  put(w, region->memory, region->bytes, portable_item_bytes(region->item));
}

static void put_comm(const struct writer *w, const struct saved_comm *comm)
{
  const int numbers[] = {comm->number, comm->parent, comm->colour, comm->key,
                         comm->size,   comm->rank,   comm->calls};
  put(w, numbers, sizeof numbers, sizeof *numbers);
  put_number(w, (comm->freed ? FREED : 0U) | (comm->hidden ? HIDDEN : 0U));
  if (lists_members(comm->number))
    put(w, comm->member, (size_t)comm->size * sizeof *comm->member, sizeof *comm->member);
}

GByteArray *portable_write(const struct saved *saved, bool turned)
{
  const struct writer w = {g_byte_array_new(), turned};
  uint64_t bytes = PORTABLE_HEADER_BYTES + saved->position->len * (uint64_t)sizeof(int);
  for (guint i = 0; i < saved->regions->len; i++)
    bytes += portable_region_bytes(&g_array_index(saved->regions, struct region, i));
  for (guint i = 0; i < saved->comms->len; i++) {
    const struct saved_comm *comm = &g_array_index(saved->comms, struct saved_comm, i);
    bytes += COMM_BYTES + (lists_members(comm->number) ? MEMBER_BYTES * (uint64_t)comm->size : 0);
  }
  put_header(&w, saved, bytes);
  for (guint i = 0; i < saved->regions->len; i++)
    put_region(&w, &g_array_index(saved->regions, struct region, i));
  for (guint i = 0; i < saved->position->len; i++)
    put_number(&w, (uint32_t)g_array_index(saved->position, int, i));
  for (guint i = 0; i < saved->comms->len; i++)
    put_comm(&w, &g_array_index(saved->comms, struct saved_comm, i));
  return w.bytes;
}

/* ---- reading ---- */

struct reader {
  const GByteArray *bytes;
  size_t at;
  /* turned: items have the other byte order; ended: a read went beyond the end */
  bool turned, ended;
};

/* Reads that many bytes, in the order in which they are stored. */
static char *take(struct reader *r, uint64_t bytes)
{
  r->ended |= bytes > r->bytes->len - r->at;
  if (r->ended)
    return NULL;
  r->at += bytes;
  return (char *)r->bytes->data + r->at - bytes;
}

static void get(struct reader *r, void *items, size_t bytes, size_t size)
{
  const char *from = take(r, bytes);
  if (!from) {
    memset(items, 0, bytes);
    return;
  }
  memcpy(items, from, bytes);
  if (r->turned)
    turn(items, bytes, size);
}

static uint32_t get_number(struct reader *r)
{
  uint32_t number;
  get(r, &number, sizeof number, sizeof number);
  return number;
}

static uint64_t get_long(struct reader *r)
{
  uint64_t number;
  get(r, &number, sizeof number, sizeof number);
  return number;
}

/* Holds the lengths of the lists. */
struct counts {
  uint32_t regions, positions, comms;
};

static const char *get_header(struct reader *r, struct saved *saved, struct counts *counts)
{
  uint32_t mark = get_number(r);
  if (mark == GUINT32_SWAP_LE_BE(ORDER_MARK))
    r->turned = true;
  else if (mark != ORDER_MARK)
    return "it does not begin with the mark of a byte order";
  saved->place = get_number(r);
  saved->finalized = get_number(r) != 0;
  saved->barrier = (int)get_number(r);
  saved->receives = get_number(r);
  saved->iteration = get_number(r);
  counts->regions = get_number(r);
  counts->positions = get_number(r);
  counts->comms = get_number(r);
  get_number(r);
  get(r, &saved->image_bytes, sizeof saved->image_bytes, sizeof(double));
  get(r, &saved->iteration_bytes, sizeof saved->iteration_bytes, sizeof(double));
  return get_long(r) == r->bytes->len ? NULL : "it has another length than it says";
}

static void get_shape(struct reader *r, struct shape *shape)
{
  for (int d = 0; d < shape->dimensions; d++) {
    shape->whole[d] = (int64_t)get_long(r);
    shape->first[d] = (int64_t)get_long(r);
    shape->part[d] = (int64_t)get_long(r);
  }
}

/* Returns whether the part lies within its array, and has as many bytes as the region. */
static bool fits(const struct region *region)
{
  const struct shape *shape = &region->shape;
  uint64_t items = region->bytes / portable_item_bytes(region->item), product = 1;
  for (int d = 0; d < shape->dimensions; d++) {
    int64_t part = shape->part[d];
    if (part < 0 || shape->first[d] < 0 || part > shape->whole[d] ||
        shape->first[d] > shape->whole[d] - part || (part && product > items / (uint64_t)part))
      return false;
    product *= (uint64_t)part;
  }
  return !shape->dimensions || product == items;
}

static const char *get_region(struct reader *r, struct saved *saved)
{
  struct region region = {.id = (int)get_number(r)};
  uint32_t type = get_number(r), dimensions = type / DIMENSION;
  bool parts = type != (uint32_t)ITEM_NONE && dimensions;
  if (parts && dimensions > SHAPE_DIMENSIONS)
    return "it has an array of too many dimensions";
  region.shape.dimensions = parts ? (int)dimensions : 0;
  region.item = (enum item)(parts ? type % DIMENSION : type);
  if (!portable_is_type(region.item))
    return "it has items of an unknown type";
  region.bytes = get_long(r);
  if (region.bytes % portable_item_bytes(region.item))
    return "it has a part of an item";
  get_shape(r, &region.shape);
  if (!r->ended && !fits(&region))
    return "it has a part that is not in its array";
  region.memory = take(r, region.bytes);
  if (!r->ended)
    g_array_append_val(saved->regions, region);
  return NULL;
}

static const char *get_comm(struct reader *r, struct saved *saved, int ranks, int rank)
{
  int numbers[7];
  get(r, numbers, sizeof numbers, sizeof *numbers);
  uint32_t flags = get_number(r);
  struct saved_comm comm = {.number = numbers[0],
                            .parent = numbers[1],
                            .colour = numbers[2],
                            .key = numbers[3],
                            .size = numbers[4],
                            .rank = numbers[5],
                            .calls = numbers[6],
                            .freed = flags & FREED,
                            .hidden = flags & HIDDEN};
  if (comm.size < 0 || comm.size > ranks)
    return "it has a communicator of more ranks than there are";
  comm.member = g_new(int, (size_t)comm.size + 1);
  if (lists_members(comm.number))
    get(r, comm.member, (size_t)comm.size * sizeof *comm.member, sizeof *comm.member);
  for (int i = 0; i < comm.size && !lists_members(comm.number); i++)
    comm.member[i] = comm.size == 1 ? rank : i;
  g_array_append_val(saved->comms, comm);
  return NULL;
}

/* Reads the lists. Stops where the bytes end, so that a wrong count does not take long.
 */
static const char *get_lists(struct reader *r, struct saved *saved, const struct counts *counts,
                             int ranks, int rank)
{
  const char *why = NULL;
  for (uint32_t i = 0; i < counts->regions && !why && !r->ended; i++)
    why = get_region(r, saved);
  for (uint32_t i = 0; i < counts->positions && !why && !r->ended; i++) {
    int position = (int)get_number(r);
    g_array_append_val(saved->position, position);
  }
  for (uint32_t i = 0; i < counts->comms && !why && !r->ended; i++)
    why = get_comm(r, saved, ranks, rank);
  if (!why && (r->ended || r->at != r->bytes->len))
    why = "its lists have another length than they say";
  return why;
}

struct saved *portable_read(GByteArray *bytes, int ranks, int rank, const char **why)
{
  struct saved *saved = portable_new();
  struct reader r = {.bytes = saved->bytes = bytes};
  struct counts counts = {0};
  *why = get_header(&r, saved, &counts);
  if (!*why)
    *why = get_lists(&r, saved, &counts, ranks, rank);
  saved->turned = r.turned;
  if (!*why)
    return saved;
  portable_free(saved);
  return NULL;
}

void portable_copy(void *to, const struct saved *saved, const struct region *region)
{
  if (!region->bytes)
    return;
  memcpy(to, region->memory, region->bytes);
  if (saved->turned)
    turn(to, region->bytes, portable_item_bytes(region->item));
}
