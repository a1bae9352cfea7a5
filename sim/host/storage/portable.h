/* Reads and writes the image of a rank at the application level as the bytes that lie on storage.
 * The bytes have the byte order of the node that wrote them, and any other node can read them.
 *
 *     at    bytes
 *     0     4       the number 1, which shows the byte order
 *     4     4       the place: 1 a call that allows a checkpoint, 2 a barrier, 3 the end
 *     8     4       1 if MPI_Finalize has been called, else 0
 *     12    4       number of the communicator of that barrier
 *     16    8       number of receives of the program so far; its iteration
 *     24    12      the numbers of regions, positions and communicators
 *     36    4       0
 *     40    16      two doubles that the program has set, by recline_image_bytes() and by
 *                   recline_iteration_bytes()
 *     56    8       size of the whole image in bytes
 *     64            all regions by id, then all positions, then all communicators:
 *
 *     a region              16 bytes: id, type (-1 for none), size (8); then its bytes. For a part
 *                           of a distributed array, 256 times the number of dimensions is added to
 *                           the type, and for each dimension 3 numbers of 8 bytes (whole, first,
 *                           part) stand before the region's bytes
 *     a position            4 bytes, the outermost position first
 *     a communicator        32 bytes: number, parent, colour, key, size, rank, calls, flags (1:
 *                           freed, 2: of a group); then 4 bytes for each member, except for the
 *                           first two communicators: all ranks, and the rank alone
 *
 * Items of regions have the same byte order as the rest of the image, and their type is given.
 * Bytes without a type (recline_protect()) cannot be read in another byte order. */
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
  int dimensions; /* number of dimensions, or 0 if the memory is no part of an array */
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
  /* hidden: the communicator of a group, by which other communicators are made */
  bool freed, hidden;
  int *member;
};

struct heap_files;
struct saved {
  uint32_t place;
  bool finalized;
  uint32_t receives, iteration;
  double image_bytes, iteration_bytes;
  int barrier;      /* communicator of the barrier that is the place */
  GArray *regions;  /* struct region */
  GArray *position; /* int */
  /* struct saved_comm: MPI_COMM_WORLD and MPI_COMM_SELF first, freed communicators last, in the
   * order of mpi_state.freed */
  GArray *comms;
  struct heap_files *files; /* files of the simulating machine, which are not stored */
  GByteArray *bytes;
  bool turned; /* the bytes have another byte order than this process */
};

/* PORTABLE_HEADER_BYTES is the size of the header of an image, ahead of its regions. */
enum { PORTABLE_HEADER_BYTES = 64 };

/* Returns the number of bytes that a region takes in an image, including its data. */
uint64_t portable_region_bytes(const struct region *);

/* Returns whether two shapes are the same part of arrays with the same extents, or neither is a
 * part of an array. */
bool portable_same_shape(const struct shape *, const struct shape *);

bool portable_is_type(enum item); /* returns whether this is a type of recline.h or ITEM_NONE */
size_t portable_item_bytes(enum item);

/* Returns an empty image, which the caller frees by portable_free(). */
struct saved *portable_new(void);
void portable_free(struct saved *); /* does not free its files */

/* Returns the bytes of an image, in the byte order of this process or, if `turned`, in the other
 * byte order. The caller frees the bytes.
 */
GByteArray *portable_write(const struct saved *, bool turned);

/* Returns the image that the bytes hold, and takes ownership of the bytes. The program has `ranks`
 * ranks, and the image belongs to `rank`. If the bytes are no image, frees them and returns NULL;
 * then `why`, a static text, says what is wrong. */
struct saved *portable_read(GByteArray *bytes, int ranks, int rank, const char **why);

/* Converts items of a region of an image that was read to the byte order of this process. */
void portable_copy(void *to, const struct saved *, const struct region *);

#endif
