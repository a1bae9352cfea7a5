/* What a rank says, in pieces: bytes for the standard output, or for the end of a file, in order.
 * They lie one behind the other in a run of bytes, each with a head. */
#ifndef RECLINE_OUTPUT_BYTES_H
#define RECLINE_OUTPUT_BYTES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "world/script/content.h"

enum { PIECE_STDOUT = 0 }; /* as a file */

/* The number of a file, from 1, the same for all ranks. `mode` is that of a new file. */
uint32_t pieces_file(const char *path, unsigned mode);

/* Adds one. `begins`: the file is truncated before; without bytes it is made, if it is not there.
 */
void pieces_add(GByteArray *, uint32_t file, bool begins, const void *bytes, size_t size);

/* The same with as few pieces as can be: it does not depend on how often a rank was asked what it
 * has said. With their content, and how many bytes they say. */
GBytes *pieces_joined(const void *pieces, size_t size, struct content *, size_t *bytes);

/* Writes them, in one call of write() each. `to` is the descriptor of the standard output. */
void pieces_write(const void *pieces, size_t size, int to);

#endif
