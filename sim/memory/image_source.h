/* Describes where the memory of a rank lies; image_source.c finds it, and image.c reads it. */
#ifndef RECLINE_IMAGE_SOURCE_H
#define RECLINE_IMAGE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

enum {
  SEGMENTS = 8,           /* ranges of program memory; linkers make two or three */
  SCRATCH_BYTES = 1 << 16 /* size of the stack on which the copying runs; it must have room for the
                             lazy binding of memcpy, and for a signal */
};

struct range {
  char *start;
  size_t bytes;
  bool zeros; /* its pages are zeros until they are touched, and again after they are given back */
  bool whole; /* zeros in it count for the size of an image */
};

struct image_source {
  struct range stack;
  struct range segments[SEGMENTS];
  int segment_count;
  struct arena *arena;
  char *scratch;        /* the stack on which image_restore runs */
  struct image *newest; /* the newest image of this source; the others follow */
};

#endif
