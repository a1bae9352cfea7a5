/* Where the data of types lie, and views of files: where in the file the bytes lie that a rank sees
 * one behind the other. */
#ifndef RECLINE_FILE_VIEW_H
#define RECLINE_FILE_VIEW_H

#include "sim/host/rank/rank.h"
#include "sim/mpi/files/file_store.h"

/* Tiles of `extent` bytes from `displacement` on; of each, the segments are seen. In the arena. */
struct view {
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  int etype_bytes;
  int64_t extent, bytes; /* of a tile; that are seen of it */
  struct segment *segment;
  int segments;
};

/* Returns where the data of so many elements of a type lie, in their order: struct segment, for
 * g_array_unref(). */
GArray *type_segments(MPI_Datatype, int count);

/* Without one: bytes, from the beginning. */
void view_default(struct rank *, struct view *);

/* An MPI error: it is left as it is. */
int view_set(struct rank *, struct view *, MPI_Offset displacement, MPI_Datatype etype,
             MPI_Datatype filetype);

/* So many bytes of what is seen, from byte `from` on: struct segment, for g_array_unref(). */
GArray *view_map(const struct view *, int64_t from, int64_t bytes);

/* The byte of the file where byte `at` of what is seen lies; how many bytes are seen of a file of
 * that size. */
int64_t view_place(const struct view *, int64_t at);
int64_t view_seen(const struct view *, int64_t size);

#endif
