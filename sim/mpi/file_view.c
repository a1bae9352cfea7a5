#include "sim/mpi/file_view.h"

#include "sim/host/blocks.h"
#include "sim/mpi/datatype.h"

#include <string.h>

/* ---- from types to segments ---- */

static void add(GArray *list, int64_t offset, int64_t bytes)
{
  struct segment *last = list->len > 0 ? &g_array_index(list, struct segment, list->len - 1) : NULL;
  if (last && last->offset + last->bytes == offset)
    last->bytes += bytes;
  else if (bytes > 0)
    g_array_append_val(list, ((struct segment){.offset = offset, .bytes = bytes}));
}

static GArray *segments_of(MPI_Datatype);

/* `count` elements of a type, whose segments are in `element`, from that place on. */
static void repeat(GArray *list, MPI_Datatype type, const GArray *element, int64_t at, int count)
{
  MPI_Aint extent = elements_extent(type);
  const struct segment *part = (const struct segment *)(const void *)element->data;
  if (element->len == 1 && part->bytes == extent) {
    add(list, at + part->offset, count * part->bytes);
    return;
  }
  for (int i = 0; i < count; i++)
    for (guint k = 0; k < element->len; k++)
      add(list, at + i * extent + part[k].offset, part[k].bytes);
}

/* A type as SMPI tells of it, by the arguments of the call that has made it. */
struct contents {
  int combiner, integers, addresses, types;
  int *integer;
  MPI_Aint *address;
  MPI_Datatype *type;
};

static void add_blocks(GArray *list, const struct contents *of, const GArray *element)
{
  MPI_Aint extent = elements_extent(of->type[0]);
  const int *lengths = of->integer + 1, *places = lengths + of->integer[0];
  for (int i = 0; i < of->integer[0]; i++)
    repeat(list, of->type[0], element, of->addresses ? of->address[i] : places[i] * extent,
           lengths[i]);
}

static void add_strided(GArray *list, const struct contents *of, const GArray *element)
{
  MPI_Aint stride = of->addresses ? of->address[0] : of->integer[2] * elements_extent(of->type[0]);
  for (int i = 0; i < of->integer[0]; i++)
    repeat(list, of->type[0], element, i * stride, of->integer[1]);
}

static void add_members(GArray *list, const struct contents *of)
{
  for (int i = 0; i < of->types; i++) {
    GArray *member = segments_of(of->type[i]);
    repeat(list, of->type[i], member, of->address[i], of->integer[1 + i]);
    g_array_unref(member);
  }
}

static MPI_Aint low_of(MPI_Datatype type)
{
  MPI_Aint low, extent;
  PMPI_Type_get_extent(type, &low, &extent);
  return low;
}

/* Whether it is made of several types. SMPI 3.32 calls a struct, and what is resized, indexed; in
 * SimGrid 4 they have their own names. */
static bool has_members(const struct contents *of)
{
  return (of->combiner == MPI_COMBINER_INDEXED || of->combiner == MPI_COMBINER_STRUCT) &&
         of->addresses > 0 && of->addresses == of->types && of->integers > of->types;
}

static void add_contents(GArray *list, MPI_Datatype type, const struct contents *of)
{
  GArray *element = segments_of(of->type[0]);
  switch (of->combiner) {
  case MPI_COMBINER_DUP:
  case MPI_COMBINER_RESIZED:
    repeat(list, of->type[0], element, 0, 1);
    break;
  case MPI_COMBINER_CONTIGUOUS:
    /* or indexed, with data that lie one behind the other */
    repeat(list, of->type[0], element, low_of(type) - low_of(of->type[0]), of->integer[0]);
    break;
  case MPI_COMBINER_VECTOR:
  case MPI_COMBINER_HVECTOR:
    add_strided(list, of, element);
    break;
  case MPI_COMBINER_HINDEXED:
    add_blocks(list, of, element);
    break;
  case MPI_COMBINER_INDEXED:
  case MPI_COMBINER_STRUCT:
    if (has_members(of))
      add_members(list, of);
    else
      add_blocks(list, of, element);
    break;
  default:
    die(DIE_INPUT, "a type of this kind (%d) cannot be used in the view of a file", of->combiner);
  }
  g_array_unref(element);
}

/* Of a predefined type there are none. */
static struct contents contents_of(MPI_Datatype type)
{
  struct contents of = {0};
  PMPI_Type_get_envelope(type, &of.integers, &of.addresses, &of.types, &of.combiner);
  if (of.combiner == MPI_COMBINER_NAMED)
    return of;
  of.integer = g_new0(int, (gsize)of.integers + 1);
  of.address = g_new0(MPI_Aint, (gsize)of.addresses + 1);
  of.type = g_new0(MPI_Datatype, (gsize)of.types + 1);
  PMPI_Type_get_contents(type, of.integers, of.addresses, of.types, of.integer, of.address,
                         of.type);
  return of;
}

static void free_contents(struct contents *of)
{
  g_free(of->integer);
  g_free(of->address);
  g_free(of->type);
}

static GArray *segments_of(MPI_Datatype type)
{
  struct contents of = contents_of(type);
  GArray *list = g_array_new(FALSE, FALSE, sizeof(struct segment));
  if (of.combiner == MPI_COMBINER_NAMED)
    add(list, 0, type_bytes(type));
  else
    add_contents(list, type, &of);
  free_contents(&of);
  return list;
}

MPI_Datatype type_element(MPI_Datatype type)
{
  struct contents of = contents_of(type);
  for (int i = 0; i < of.types; i++)
    if (type_bytes(of.type[i]) > 0) {
      type = type_element(of.type[i]);
      break;
    }
  free_contents(&of);
  return type;
}

GArray *type_segments(MPI_Datatype type, int count)
{
  GArray *list = g_array_new(FALSE, FALSE, sizeof(struct segment)), *element = segments_of(type);
  repeat(list, type, element, 0, count);
  g_array_unref(element);
  return list;
}

/* Of a rank, in its arena. */
static void keep_segments(struct rank *r, struct view *view)
{
  GArray *list = segments_of(view->filetype);
  view->segments = (int)list->len;
  view->segment = rank_alloc(r, list->len * sizeof *view->segment);
  if (list->len > 0)
    memcpy(view->segment, list->data, list->len * sizeof *view->segment);
  g_array_unref(list);
}

int view_set(struct rank *r, struct view *view, MPI_Offset displacement, MPI_Datatype etype,
             MPI_Datatype filetype)
{
  int etype_bytes = type_bytes(etype), bytes = type_bytes(filetype);
  if (displacement < 0 || etype_bytes <= 0 || bytes % etype_bytes != 0)
    return MPI_ERR_ARG;
  rank_free(view->segment);
  *view = (struct view){.displacement = displacement,
                        .etype = etype,
                        .filetype = filetype,
                        .etype_bytes = etype_bytes,
                        .extent = elements_extent(filetype),
                        .bytes = bytes};
  keep_segments(r, view);
  return MPI_SUCCESS;
}

void view_default(struct rank *r, struct view *view)
{
  view_set(r, view, 0, MPI_BYTE, MPI_BYTE);
}

/* ---- from what is seen to the file ---- */

/* Tiles without gaps. */
static bool is_plain(const struct view *view)
{
  return view->segments == 1 && view->extent == view->bytes;
}

/* What of the tile that begins at `start` is seen from its byte `skip` on. Returns how much. */
static int64_t add_tile(const struct view *view, GArray *list, int64_t start, int64_t skip,
                        int64_t bytes)
{
  int64_t added = 0;
  for (int i = 0; i < view->segments && added < bytes; i++) {
    struct segment part = view->segment[i];
    int64_t left_out = MIN(skip, part.bytes), length = MIN(part.bytes - left_out, bytes - added);
    add(list, start + part.offset + left_out, length);
    skip -= left_out;
    added += length;
  }
  return added;
}

GArray *view_map(const struct view *view, int64_t from, int64_t bytes)
{
  GArray *list = g_array_new(FALSE, FALSE, sizeof(struct segment));
  if (view->bytes == 0)
    return list;
  if (is_plain(view)) {
    add(list, view->displacement + view->segment[0].offset + from, bytes);
    return list;
  }
  while (bytes > 0) {
    int64_t tile = from / view->bytes;
    int64_t added =
        add_tile(view, list, view->displacement + tile * view->extent, from % view->bytes, bytes);
    from += added;
    bytes -= added;
  }
  return list;
}

int64_t view_place(const struct view *view, int64_t at)
{
  GArray *list = view_map(view, at, 1);
  int64_t place =
      list->len > 0 ? g_array_index(list, struct segment, 0).offset : view->displacement;
  g_array_unref(list);
  return place;
}

int64_t view_seen(const struct view *view, int64_t size)
{
  if (size <= view->displacement || view->bytes == 0)
    return 0;
  int64_t tiles = (size - view->displacement) / MAX(view->extent, 1);
  int64_t start = view->displacement + tiles * view->extent, seen = tiles * view->bytes;
  for (int i = 0; i < view->segments; i++) {
    int64_t from = start + view->segment[i].offset;
    seen += CLAMP(size - from, 0, view->segment[i].bytes);
  }
  return seen;
}

/* ---- elements of predefined types ---- */

static int64_t elements_of_members(MPI_Datatype type, const struct contents *of, int64_t bytes)
{
  int64_t elements = 0;
  if (!has_members(of)) /* all of one type */
    return type_elements(of->type[0], MIN(bytes, type_bytes(type)));
  for (int i = 0; i < of->types; i++) {
    int64_t part = MIN(bytes, (int64_t)of->integer[1 + i] * type_bytes(of->type[i]));
    elements += type_elements(of->type[i], part);
    bytes -= part;
  }
  return elements;
}

int64_t type_elements(MPI_Datatype type, int64_t bytes)
{
  struct contents of = contents_of(type);
  int64_t size = type_bytes(type), elements = 0;
  if (size > 0 && of.combiner == MPI_COMBINER_NAMED)
    elements = bytes / size;
  else if (size > 0)
    elements = bytes / size * elements_of_members(type, &of, size) +
               elements_of_members(type, &of, bytes % size);
  free_contents(&of);
  return elements;
}
