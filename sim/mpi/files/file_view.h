/* Places of the data of types, and views of files: the places in the file of the bytes that a rank
 * sees one after the other. */
#ifndef RECLINE_FILE_VIEW_H
#define RECLINE_FILE_VIEW_H

#include "sim/host/rank/rank.h"
#include "sim/mpi/files/file_store.h"

/* Tiles of `extent` bytes from `displacement` on; a rank sees the segments of each. In the arena.
 */
struct view {
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  int etype_bytes;
  int64_t extent, bytes; /* bytes of a tile; bytes seen of it */
  struct segment *segment;
  int segments;
};

/* Returns the places of the data of that many elements of a type, in their order: struct segment,
 * for g_array_unref(). */
GArray *type_segments(MPI_Datatype, int count);

/* The view before one is set: bytes, from the beginning. */
void view_default(struct rank *, struct view *);

/* Returns an MPI error if the view stays as it is. */
int view_set(struct rank *, struct view *, MPI_Offset displacement, MPI_Datatype etype,
             MPI_Datatype filetype);

/* Returns the places of that many seen bytes, from seen byte `from` on: struct segment, for
 * g_array_unref(). */
GArray *view_map(const struct view *, int64_t from, int64_t bytes);

/* The first returns the place in the file of seen byte `at`; the second, how many bytes are seen of
 * a file of that size. */
int64_t view_place(const struct view *, int64_t at);
int64_t view_seen(const struct view *, int64_t size);

#endif
