/* Where the memory of a rank lies: made by image_source.c, read by image.c. */
#ifndef RECLINE_IMAGE_SOURCE_H
#define RECLINE_IMAGE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

enum {
  SEGMENTS = 8,           /* ranges of program memory; linkers make two or three */
  SCRATCH_BYTES = 1 << 16 /* stack to copy from: binding memcpy lazily and a signal fit in */
};

struct range {
  char *start;
  size_t bytes;
  bool zeros; /* its pages are zeros until they are touched, and when they are given back */
  bool whole; /* zeros in it count as well */
};

struct image_source {
  struct range stack;
  struct range segments[SEGMENTS];
  int segment_count;
  struct arena *arena;
  char *scratch;        /* the stack that image_restore copies from */
  struct image *newest; /* images that were captured here and still exist */
};

#endif
