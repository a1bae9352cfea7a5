/* Represents the output of a rank as pieces: bytes for the standard output, or bytes for the end of
 * a file. The pieces lie one after the other in memory, in the order of output, each with a
 * head. */
#ifndef RECLINE_OUTPUT_BYTES_H
#define RECLINE_OUTPUT_BYTES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "world/script/content.h"

enum { PIECE_STDOUT = 0 }; /* the number that stands for the standard output in place of a file */

/* Returns the number of a file, which counts from 1 and is the same for all ranks. `mode` is used
 * when the file is made. */
uint32_t pieces_file(const char *path, unsigned mode);

/* Adds a piece. If `begins`, the file is truncated before the bytes are written. A piece without
 * bytes makes the file if the file does not exist. */
void pieces_add(GByteArray *, uint32_t file, bool begins, const void *bytes, size_t size);

/* Returns the same bytes in as few pieces as possible, so that the pieces do not depend on how
 * often the rank was asked. Sets `content` to their content and `bytes` to the number of output
 * bytes. */
GBytes *pieces_joined(const void *pieces, size_t size, struct content *, size_t *bytes);

/* Writes the pieces, each with one call of write(). `to` is the descriptor of the standard output.
 */
void pieces_write(const void *pieces, size_t size, int to);

#endif
