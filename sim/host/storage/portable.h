/* Reads and writes the image of a rank at the application level as the bytes that lie on storage.
 * They have the byte order of the node that wrote them, and any other node can read them.
 *
 *     at    bytes
 *     0     4       1, which shows the byte order
 *     4     4       the place: 1 a checkpoint's, 2 a barrier, 3 the end
 *     8     4       1: MPI_Finalize has been called
 *     12    4       number of the communicator of that barrier
 *     16    8       receives of the program so far; its iteration
 *     24    12      the counts of regions, positions and communicators
 *     36    4       0
 *     40    16      two doubles that the program has set, by recline_image_bytes() and by
 *                   recline_iteration_bytes()
 *     56    8       bytes of the whole image
 *     64            all regions by id, then all positions, then all communicators:
 *
 *     a region              16 bytes: id, type (-1: none), bytes (8); then its bytes. For a part of
 *                           a distributed array, 256 times its dimensions is added to the type, and
 *                           for each dimension 3 numbers of 8 bytes (whole, first, part) are ahead
 *                           of its bytes
 *     a position            4 bytes, the outermost position first
 *     a communicator        32 bytes: number, parent, colour, key, size, rank, calls, flags (1:
 *                           freed, 2: of a group); then 4 bytes for each member, except for the
 *                           first two communicators: all ranks, and the rank alone
 *
 * Items of regions have the byte order of the rest; their type is given. Bytes of no type
 * (recline_protect()) cannot be read in another byte order. */
#ifndef RECLINE_PORTABLE_H
#define RECLINE_PORTABLE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/box.h"

/* Lists the types of items that recline.h has, and bytes without a type. */
enum item {
  ITEM_NONE = -1,
  ITEM_BYTE,
  ITEM_INT16,
  ITEM_INT32,
  ITEM_INT64,
  ITEM_FLOAT,
  ITEM_DOUBLE,
  ITEM_LONG_DOUBLE,
  ITEMS
};

/* Says where a part lies in a distributed array, in items. The last dimension is contiguous. */
enum { SHAPE_DIMENSIONS = BOX_DIMENSIONS };
struct shape {
  int dimensions; /* 0: the memory is no such part */
  int64_t whole[SHAPE_DIMENSIONS], first[SHAPE_DIMENSIONS], part[SHAPE_DIMENSIONS];
};

struct region {
  int id;
  enum item item;
  struct shape shape;
  size_t bytes;
  char *memory; /* the program's memory; for an image that was read, memory in the image */
};

struct saved_comm {
  int number, parent, colour, key, size, rank, calls;
  bool freed, hidden; /* hidden: of a group, by which other communicators are made */
  int *member;
};

struct heap_files;
struct saved {
  uint32_t place;
  bool finalized;
  uint32_t receives, iteration;
  double image_bytes, iteration_bytes;
  int barrier;      /* its communicator */
  GArray *regions;  /* struct region */
  GArray *position; /* int */
  GArray *comms;    /* struct saved_comm; the world and self first, freed ones last, in the order of
                       mpi_state.freed */
  struct heap_files *files; /* of the host, not stored */
  GByteArray *bytes;
  bool turned; /* the bytes have another byte order than this process */
};

/* PORTABLE_HEADER_BYTES is the size of the header of an image, ahead of its regions. */
enum { PORTABLE_HEADER_BYTES = 64 };

/* Returns the bytes that a region takes in an image, with its data. */
uint64_t portable_region_bytes(const struct region *);

/* Returns whether both are the same part of arrays of the same extents, or neither is a part. */
bool portable_same_shape(const struct shape *, const struct shape *);

bool portable_is_type(enum item); /* or ITEM_NONE */
size_t portable_item_bytes(enum item);

/* Returns an empty image, which the caller frees by portable_free(). */
struct saved *portable_new(void);
void portable_free(struct saved *); /* without its files */

/* Returns the bytes of an image, in the byte order of this process or, if `turned`, in the other
 * one. The caller frees them.
 */
GByteArray *portable_write(const struct saved *, bool turned);

/* Returns the image that the bytes hold, and takes the bytes over; `ranks` and `rank` belong to the
 * program. Returns NULL, and frees the bytes, if they are no image; `why` (static) says why. */
struct saved *portable_read(GByteArray *bytes, int ranks, int rank, const char **why);

/* Converts items of a region of an image that was read to the byte order of this process. */
void portable_copy(void *to, const struct saved *, const struct region *);

#endif
