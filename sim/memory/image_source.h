/* Describes where the memory of a rank lies; image_source.c finds it, and image.c reads it. */
#ifndef RECLINE_IMAGE_SOURCE_H
#define RECLINE_IMAGE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

enum {
  /* largest number of ranges of program memory; linkers make two or three */
  SEGMENTS = 8,
  SCRATCH_BYTES = 1 << 16 /* size of the stack on which image_restore() copies; the stack must have
                             room for the lazy binding of memcpy, and for a signal */
};

struct range {
  char *start;
  size_t bytes;
  /* pages of the range are zeros until they are touched, and again after they are given back */
  bool zeros;
  bool whole; /* pages of zeros in the range count for the size of an image */
};

struct image_source {
  struct range stack;
  struct range segments[SEGMENTS];
  int segment_count;
  struct arena *arena;
  char *scratch;        /* the stack on which image_restore runs */
  struct image *newest; /* the newest image of this source; older images follow */
};

#endif
