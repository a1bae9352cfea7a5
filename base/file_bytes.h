/* Writes bytes to a stream and reads them back, in the machine's own byte order. With 0 bytes the
 * pointer may be NULL. */
#ifndef RECLINE_FILE_BYTES_H
#define RECLINE_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the bytes. Errors show when the stream is closed (output_close()). */
static inline void file_put(FILE *file, const void *bytes, size_t size)
{
  if (size)
    fwrite(bytes, size, 1, file);
}

/* Reads `size` bytes. Returns false if the stream ends before that. */
static inline bool file_get(FILE *file, void *bytes, size_t size)
{
  return !size || fread(bytes, size, 1, file) == 1;
}

#endif
