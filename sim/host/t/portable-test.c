/* Tests the bytes of images at the application level. The test has a writer of its own, which makes
 * images number by number in either byte order. Reading them must give the data, and writing the
 * data must give the same bytes. Bytes that are no image are refused. */
#include "sim/host/storage/portable.h"

#include <stdio.h>
#include <string.h>

static int tests;

static void ok(bool good, const char *name)
{
  printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

/* ---- the writer: most significant byte first, or last ---- */

static unsigned char image[4096];
static size_t used;
static bool big;

static void byte(unsigned value)
{
  image[used++] = (unsigned char)value;
}

static void number(unsigned long long value, int bytes)
{
  for (int i = 0; i < bytes; i++)
    byte((unsigned)(value >> 8 * (big ? bytes - 1 - i : i)) & 255);
}

/* Lists the numbers 1.5, -2.25 and 2^-10 by the bits that IEEE 754 defines. */
static const unsigned long long doubles[] = {0x3ff8000000000000ULL, 0xc002000000000000ULL,
                                             0x3f50000000000000ULL};
static const unsigned long long floats[] = {0x3fc00000ULL, 0xc0100000ULL, 0x3a800000ULL};
static const double values[] = {1.5, -2.25, 0x1p-10};

static void region(int id, int type, int items, int size, const unsigned long long *value)
{
  number((unsigned)id, 4);
  number((unsigned)type, 4);
  number((unsigned long long)items * (unsigned)size, 8);
  for (int i = 0; i < items; i++)
    number(value[i], size);
}

/* Makes items 2 to 4 of 10 in rows 5 to 5 of 6: three doubles. */
static void part(int id)
{
  static const unsigned long long extents[] = {6, 5, 1, 10, 2, 3};
  number((unsigned)id, 4);
  number(5 + 2 * 256, 4);
  number(24, 8);
  for (int i = 0; i < 6; i++)
    number(extents[i], 8);
  for (int i = 0; i < 3; i++)
    number(doubles[i], 8);
}

static void communicator(int at, int parent, int colour, int size, int rank, int flags)
{
  const int numbers[] = {at, parent, colour, 70 + at, size, rank, 10 * at, flags};
  for (int i = 0; i < 8; i++)
    number((unsigned)numbers[i], 4);
}

/* Makes an image of rank 2 of 4, in a barrier of communicator 5. */
static void make(bool order)
{
  static const unsigned long long shorts[] = {0xfffe, 0x0102},
                                  ints[] = {0xfffffffdULL, 0x01020304ULL},
                                  longs[] = {0x0102030405060708ULL}, text[] = {'a', 'b', 'c'};
  used = 0;
  big = order;
  static const unsigned header[] = {1, 2, 0, 5, 11, 12, 8, 2, 3, 0};
  for (size_t i = 0; i < sizeof header / sizeof *header; i++)
    number(header[i], 4);
  number(doubles[0], 8);
  number(doubles[1], 8);
  number(0, 8);
  region(1, 1, 2, 2, shorts);
  region(2, 2, 2, 4, ints);
  region(3, 3, 1, 8, longs);
  region(4, 4, 3, 4, floats);
  region(5, 5, 3, 8, doubles);
  region(6, 0, 3, 1, text);
  region(9, -1, 3, 1, text);
  part(10);
  number(3, 4);
  number(0xffffffffULL, 4);
  communicator(0, 0, 0, 4, 2, 0);
  communicator(1, 0, 0, 1, 0, 0);
  communicator(5, 0, -1, 2, 1, 3);
  number(0, 4);
  number(2, 4);
  size_t bytes = used;
  used = 56;
  number(bytes, 8);
  used = bytes;
}

static struct saved *read_image(const char **why)
{
  return portable_read(g_byte_array_append(g_byte_array_new(), image, (guint)used), 4, 2, why);
}

/* ---- what is read ---- */

static const struct region *region_of(const struct saved *saved, int id)
{
  for (guint i = 0; i < saved->regions->len; i++)
    if (g_array_index(saved->regions, struct region, i).id == id)
      return &g_array_index(saved->regions, struct region, i);
  return NULL;
}

static bool has(const struct saved *saved, int id, enum item item, const void *data, size_t bytes)
{
  char copy[64] = {0};
  const struct region *found = region_of(saved, id);
  if (!found || found->item != item || found->bytes != bytes)
    return false;
  portable_copy(copy, saved, found);
  return !memcmp(copy, data, bytes);
}

static bool has_data(const struct saved *saved)
{
  static const int16_t shorts[] = {-2, 0x0102};
  static const int32_t ints[] = {-3, 0x01020304};
  static const int64_t longs[] = {0x0102030405060708};
  static const float singles[] = {1.5F, -2.25F, 0x1p-10F};
  return has(saved, 1, ITEM_INT16, shorts, sizeof shorts) &&
         has(saved, 2, ITEM_INT32, ints, sizeof ints) &&
         has(saved, 3, ITEM_INT64, longs, sizeof longs) &&
         has(saved, 4, ITEM_FLOAT, singles, sizeof singles) &&
         has(saved, 5, ITEM_DOUBLE, values, sizeof values) && has(saved, 6, ITEM_BYTE, "abc", 3) &&
         has(saved, 9, ITEM_NONE, "abc", 3) && saved->regions->len == 8 &&
         has(saved, 10, ITEM_DOUBLE, values, sizeof values);
}

static bool has_shape(const struct saved *saved)
{
  const struct shape expected = {2, {6, 10}, {5, 2}, {1, 3}};
  return portable_same_shape(&region_of(saved, 10)->shape, &expected) &&
         !region_of(saved, 9)->shape.dimensions;
}

static bool has_numbers(const struct saved *saved)
{
  return saved->place == 2 && !saved->finalized && saved->barrier == 5 && saved->receives == 11 &&
         saved->iteration == 12 && saved->image_bytes == values[0] &&
         saved->iteration_bytes == values[1] && saved->position->len == 2 &&
         g_array_index(saved->position, int, 0) == 3 &&
         g_array_index(saved->position, int, 1) == -1;
}

static bool has_comms(const struct saved *saved)
{
  if (saved->comms->len != 3)
    return false;
  const struct saved_comm *comm = (const struct saved_comm *)(const void *)saved->comms->data;
  return comm[0].size == 4 && comm[0].member[3] == 3 && comm[0].rank == 2 && !comm[0].freed &&
         comm[1].size == 1 && comm[1].member[0] == 2 && comm[1].number == 1 &&
         comm[2].number == 5 && comm[2].colour == -1 && comm[2].key == 75 && comm[2].calls == 50 &&
         comm[2].rank == 1 && comm[2].member[0] == 0 && comm[2].member[1] == 2 && comm[2].freed &&
         comm[2].hidden;
}

/* Tests that the bytes of a long double are reversed, and that nothing else of it is changed,
 * because its layout is that of the machine. */
static void try_long_double(void)
{
  long double value = 1.0L / 3.0L, back = 0.0L;
  struct saved *now = portable_new();
  const struct region one = {
      .id = 1, .item = ITEM_LONG_DOUBLE, .bytes = sizeof value, .memory = (char *)&value};
  g_array_append_val(now->regions, one);
  const char *why;
  struct saved *saved = portable_read(portable_write(now, true), 4, 2, &why);
  portable_copy(&back, saved, region_of(saved, 1));
  unsigned char first = *(const unsigned char *)region_of(saved, 1)->memory;
  ok(back == value && first == ((const unsigned char *)&value)[sizeof value - 1],
     "a long double, turned and back");
  portable_free(saved);
  portable_free(now);
}

static void try_order(bool order, const char *name)
{
  const char *why = NULL;
  char said[80];
  make(order);
  struct saved *saved = read_image(&why);
  snprintf(said, sizeof said, "%s: %s", name, why ? why : "is an image");
  ok(saved != NULL, said);
  if (!saved)
    return;
  snprintf(said, sizeof said, "%s: its order is recorded", name);
  ok(saved->turned == (order == (G_BYTE_ORDER == G_LITTLE_ENDIAN)), said);
  snprintf(said, sizeof said, "%s: data, numbers, communicators", name);
  ok(has_data(saved) && has_shape(saved) && has_numbers(saved) && has_comms(saved), said);
  /* gives each region memory of its own, as in the program */
  for (guint i = 0; i < saved->regions->len; i++) {
    struct region *each = &g_array_index(saved->regions, struct region, i);
    char *own = g_malloc(each->bytes);
    portable_copy(own, saved, each);
    each->memory = own;
  }
  GByteArray *again = portable_write(saved, saved->turned);
  snprintf(said, sizeof said, "%s: the same bytes are written", name);
  ok(again->len == used && !memcmp(again->data, image, used), said);
  for (guint i = 0; i < saved->regions->len; i++)
    g_free(g_array_index(saved->regions, struct region, i).memory);
  g_byte_array_unref(again);
  portable_free(saved);
}

/* ---- what is no image ---- */

static bool is_refused(void)
{
  const char *why = NULL;
  struct saved *saved = read_image(&why);
  if (saved)
    portable_free(saved);
  return !saved && why;
}

static void refuse(size_t at, unsigned long long value, const char *name)
{
  make(true);
  size_t bytes = used;
  used = at;
  number(value, 4);
  used = bytes;
  ok(is_refused(), name);
}

static void try_wrong(void)
{
  bool all = true;
  make(true);
  for (size_t bytes = used; used-- > 0;) {
    all &= is_refused();
    if (used >= 64) { /* also cuts the data if the header gives the shorter length */
      size_t length = used;
      used = 56;
      number(length, 8);
      used = length;
      all &= is_refused();
      used = 56;
      number(bytes, 8);
      used = length;
    }
  }
  ok(all, "each shorter one is refused");
  refuse(0, 2, "no byte order is refused");
  refuse(24, 9, "more regions than there are are refused");
  refuse(28, 0x40000000, "more positions are refused");
  refuse(32, 2, "fewer communicators are refused");
  refuse(68, 9, "an unknown type is refused");
  refuse(76, 3, "a part of an item is refused");
  make(true);
  enum { BEHIND_PART = 2 * 4 + 2 * 32 + 40, PART = 16 + 6 * 8 + 24 };
  size_t type = used - BEHIND_PART - PART + 4, extents = type + 12;
  refuse(type, 5 + 4 * 256, "an array of four dimensions is refused");
  refuse(extents + 12, 6, "and a part that ends behind its array");
  refuse(extents + 44, 4, "and one that has another number of bytes");
  refuse(72, 1, "a region of 4 GiB and more is refused");
  make(true);
  refuse(used - 24, 5, "a communicator of more ranks than there are is refused");
  make(true);
  refuse(used - 24, 0xffffffffULL, "and one of fewer than none");
}

int main(void)
{
  try_order(false, "least significant byte first");
  try_order(true, "most significant byte first");
  try_long_double();
  try_wrong();
  printf("1..%d\n", tests);
  return 0;
}
