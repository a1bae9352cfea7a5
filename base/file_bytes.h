/* Bytes to a stream and back, as they are in memory; none need no memory. */
#ifndef RECLINE_FILE_BYTES_H
#define RECLINE_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Errors are for whoever closes the stream to look for (output_close()). */
static inline void file_put(FILE *file, const void *bytes, size_t size)
{
  if (size)
    fwrite(bytes, size, 1, file);
}

/* False: there are not so many. */
static inline bool file_get(FILE *file, void *bytes, size_t size)
{
  return !size || fread(bytes, size, 1, file) == 1;
}

#endif
