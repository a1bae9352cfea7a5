#include "sim/mpi/files/file_view.h"

#include "sim/host/rank/buffers.h"
#include "sim/mpi/types/datatype.h"

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

static void add_run(void *list, MPI_Aint at, MPI_Count bytes)
{
  add(list, at, bytes);
}

GArray *type_segments(MPI_Datatype type, int count)
{
  GArray *list = g_array_new(FALSE, FALSE, sizeof(struct segment));
  typemap_walk(typemap_of(type), 0, count, add_run, list);
  return list;
}

/* Keeps the segments of a view in the rank's arena. */
static void keep_segments(struct rank *r, struct view *view)
{
  GArray *list = type_segments(view->filetype, 1);
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

/* ---- from bytes seen to places in the file ---- */

/* Returns whether the rank sees all bytes, because the tiles have no gaps. */
static bool is_plain(const struct view *view)
{
  return view->segments == 1 && view->extent == view->bytes;
}

/* Adds the seen parts of the tile that begins at `start`, from its seen byte `skip` on. Returns the
 * number of bytes of these parts. */
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
