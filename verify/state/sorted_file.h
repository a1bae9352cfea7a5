/* Writes and reads files of distinct states in order, compressed by common prefixes.
 *
 * A state is written as the numbers of its components, one after the other, most significant bit
 * first, each in as many bits as the packing gives it. So states have the order of their numbers,
 * which stays the same when a packing is widened. Behind a state comes its tag, which does not
 * count in the order.
 *
 *     block:  bytes | entries | entry entry ...      entry:  tag | bytes shared | the other bytes
 *
 * The first entry of a block shares nothing. The place and the first state of each block are in
 * memory, so a block is read only if something is looked for in it.
 */
#ifndef RECLINE_SORTED_FILE_H
#define RECLINE_SORTED_FILE_H

#include "verify/state/packing.h"

enum { SORTED_BYTES_MOST = PACKING_WORDS * 4 }; /* bytes of a state, without its tag */

struct sorted_file {
  char *name; /* name of the file, or NULL if there is no file */
  int file;
  uint32_t bytes; /* bytes of a state, without its tag */
  uint64_t states, end;
  uint64_t *place; /* place of each block */
  uint8_t *first;  /* first state of each block */
  uint32_t blocks, room, firsts_room;
};

/* sorted_bytes() returns the number of bytes of a state in that packing. sorted_encode() writes a
 * state as bytes, followed by its tag. sorted_decode() reads state and tag back. */
uint32_t sorted_bytes(const struct packing *);
void sorted_encode(const struct packing *, const uint32_t *state, uint8_t *to);
void sorted_decode(const struct packing *, const uint8_t *from, uint32_t *state);

/* These functions write states, with their tags, in order. A file of that name is overwritten. If
 * the file cannot be made or written, the functions return NULL or false with errno set, and remove
 * the file. `name` is copied. */
struct sorted_writer;
/* returns NULL if it failed */
struct sorted_writer *sorted_create(const char *name, uint32_t bytes);
void sorted_put(struct sorted_writer *, const uint8_t *state);
bool sorted_finish(struct sorted_writer *, struct sorted_file *);

/* Opens an existing file, whose number of states and end are known from a save. Returns false if
 * the file is missing or is another file. */
bool sorted_open(struct sorted_file *, const char *name, uint32_t bytes, uint64_t states,
                 uint64_t end);
void sorted_close(struct sorted_file *, bool remove); /* also clears the structure */

/* Returns the bytes of memory that the places and first states of blocks take. */
uint64_t sorted_index_bytes(const struct sorted_file *);

/* Reads a file in order. Several readers may read one file at a time. */
struct sorted_reader;
struct sorted_reader *sorted_reader_new(const struct sorted_file *);
void sorted_reader_free(struct sorted_reader *);

/* Returns the next state with its tag, or NULL if there is none. Ends the process if the file
 * cannot be read. */
const uint8_t *sorted_next(struct sorted_reader *);

/* Returns the first state, from the present one on, that is not less than `state`, or NULL if there
 * is none. */
const uint8_t *sorted_seek(struct sorted_reader *, const uint8_t *state);

#endif
