/* Keeps the files that programs have open. streams.c and descriptors.c, which replace calls of
 * libc, report files to open_files.c, which restores them. These files work inside
 * librecline_heap.so, in libc mode. */
#ifndef RECLINE_OPEN_FILES_H
#define RECLINE_OPEN_FILES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct arena;
struct output;

struct open_file {
  FILE *stream; /* the stream, or NULL if there is only a descriptor */
  int descriptor;
  const struct arena *owner;
  char *buffer;    /* buffer of the stream */
  unsigned images; /* number of images that hold the open file */
  bool closed;     /* the program has closed the file */
  bool written;
  off_t kept;            /* length of the file at the newest image, or when it was opened */
  struct output *output; /* for a file whose writes are outputs (output_files.h), else NULL */
  struct open_file *next;
};

/* Adds a file that the program of `owner` has opened. Leaves errno as it is. Returns NULL if there
 * is no memory. */
struct open_file *open_add(const struct arena *owner, FILE *stream, int descriptor);

/* Both functions return the open file, or NULL if no program has it open. */
struct open_file *open_stream(const FILE *);
struct open_file *open_descriptor(int descriptor);

/* Returns the first file of the list of open files, which also has closed files that images
 * hold. */
struct open_file *open_first(void);

/* Closes the file for the program. Returns what fclose() or close() return. The file stays as long
 * as an image holds it. */
int open_close(struct open_file *);

#endif
