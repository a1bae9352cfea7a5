/* Represents the output of a rank as pieces: bytes for the standard output, or for the end of a
 * file, in order. Pieces lie one after the other in a run of bytes, each with a head. */
#ifndef RECLINE_OUTPUT_BYTES_H
#define RECLINE_OUTPUT_BYTES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "world/script/content.h"

enum { PIECE_STDOUT = 0 }; /* as the number of a file */

/* Returns the number of a file, from 1, the same for all ranks. `mode` is used when the file is
 * made. */
uint32_t pieces_file(const char *path, unsigned mode);

/* Adds a piece. `begins`: the file is truncated before the bytes are written. A piece without bytes
 * makes the file, if it does not exist. */
void pieces_add(GByteArray *, uint32_t file, bool begins, const void *bytes, size_t size);

/* Returns the same bytes in as few pieces as possible, so that the pieces do not depend on how
 * often the rank was asked. Sets their content, and the number of output bytes. */
GBytes *pieces_joined(const void *pieces, size_t size, struct content *, size_t *bytes);

/* Writes the pieces, each with one call of write(). `to` is the descriptor of the standard output.
 */
void pieces_write(const void *pieces, size_t size, int to);

#endif
