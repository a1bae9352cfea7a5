/* Handles files whose writes are outputs (heap.h): the program writes into memory instead, where
 * the bytes are collected. This module works inside librecline_heap.so, in libc mode. */
#ifndef RECLINE_OUTPUT_FILES_H
#define RECLINE_OUTPUT_FILES_H

#include <stdbool.h>
#include <sys/types.h>

struct arena;
struct open_file;
struct output;         /* an open file */
struct output_lengths; /* the lengths of all files whose writes are outputs, of an arena */

/* Returns whether writes to `path` are outputs for the program of an arena. Returns false if the
 * arena is NULL. */
bool output_is(const struct arena *, const char *path);

/* outputs_open is the number of open files whose writes are outputs. If it is 0, a call of MPI has
 * nothing to collect. */
extern unsigned outputs_open;

/* Does what open() does, and returns the descriptor. `mode` is used if an output makes the file. */
int output_file_open(const struct arena *, const char *path, int flags, mode_t mode);
/* Opens such a file for a caller that adds it to the open files. Returns NULL with errno if it
 * cannot be opened. */
struct output *output_new(const struct arena *, const char *path, int flags, mode_t mode,
                          int *descriptor);
/* Closes the file. NULL is allowed. */
void output_free(struct output *);

const char *output_path(const struct output *); /* absolute */

/* Reports what the program has written to the file since the last call; if `closes`, it closes the
 * file now. */
void output_file_collect(const struct open_file *, bool closes);

/* Ends the run because the program does something else than append to `path`. The line has the rank
 * and then `what` ("reads"). */
_Noreturn void output_refuse(const struct arena *, const char *what, const char *path);
/* Does the same for a descriptor, if it belongs to an output. */
void output_refuse_descriptor(const struct arena *, const char *what, int descriptor);

/* output_taken() returns, for an image, how many bytes of the file were collected. At a rollback to
 * the image, output_restore() sets the number back. */
off_t output_taken(const struct output *);
void output_restore(struct output *, off_t taken);

/* Returns the lengths of the files as the program sees them, or NULL if it has no such files or if
 * there is no memory. */
struct output_lengths *output_lengths_save(const struct arena *);
void output_lengths_restore(const struct arena *, const struct output_lengths *);

#endif
