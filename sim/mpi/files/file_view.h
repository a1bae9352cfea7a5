/* Computes where the data of a type lie in memory, and where in a file the bytes lie that a rank
 * sees through its view. */
#ifndef RECLINE_FILE_VIEW_H
#define RECLINE_FILE_VIEW_H

#include "sim/host/rank/rank.h"
#include "sim/mpi/files/file_store.h"

/* Describes a view: tiles of `extent` bytes from `displacement` on. A rank sees the segments of
 * each tile. The view lies in the arena.
 */
struct view {
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  int etype_bytes;
  int64_t extent, bytes; /* size of a tile, and how many of its bytes are seen, in bytes */
  struct segment *segment;
  int segments;
};

/* Returns the places of the data of `count` elements of a type, in their order (struct segment).
 * The caller frees them by g_array_unref(). */
GArray *type_segments(MPI_Datatype, int count);

/* Sets the view of a file for which the program has set none: bytes, from the beginning. */
void view_default(struct rank *, struct view *);

/* Sets the view. Returns MPI_SUCCESS, or an MPI error; after an error the view is as before. */
int view_set(struct rank *, struct view *, MPI_Offset displacement, MPI_Datatype etype,
             MPI_Datatype filetype);

/* Returns the places of `bytes` seen bytes, from seen byte `from` on (struct segment). The caller
 * frees them by g_array_unref(). */
GArray *view_map(const struct view *, int64_t from, int64_t bytes);

/* view_place() returns the place in the file of seen byte `at`. view_seen() returns how many bytes
 * of a file of `size` bytes are seen. */
int64_t view_place(const struct view *, int64_t at);
int64_t view_seen(const struct view *, int64_t size);

#endif
