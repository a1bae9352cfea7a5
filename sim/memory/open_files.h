/* Files that programs have open. streams.c and descriptors.c, which replace calls of libc, report
 * them to open_files.c, which puts them back. Inside librecline_heap.so, in libc mode. */
#ifndef RECLINE_OPEN_FILES_H
#define RECLINE_OPEN_FILES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct arena;
struct output;

struct open_file {
  FILE *stream; /* NULL: a descriptor only */
  int descriptor;
  const struct arena *owner;
  char *buffer;    /* of the stream */
  unsigned images; /* number of images that hold it */
  bool closed;     /* by the program */
  bool written;
  off_t kept;            /* bytes that were there at the newest image, or when it was opened */
  struct output *output; /* its writes are outputs (output_files.h); NULL: they are not */
  struct open_file *next;
};

/* Adds a file that a program of `owner` has opened. Leaves errno alone. NULL: no memory. */
struct open_file *open_add(const struct arena *owner, FILE *stream, int descriptor);

/* Returns NULL if it is not a program's, or closed. */
struct open_file *open_stream(const FILE *);
struct open_file *open_descriptor(int descriptor);

/* Returns the first of all files, closed ones included. */
struct open_file *open_first(void);

/* The program closes it; returns as fclose or close do. The file stays as long as an image holds
 * it. */
int open_close(struct open_file *);

#endif
