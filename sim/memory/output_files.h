/* Files whose writes are outputs (heap.h): the program writes into memory instead, and its bytes
 * are collected there. Inside librecline_heap.so, in libc mode. */
#ifndef RECLINE_OUTPUT_FILES_H
#define RECLINE_OUTPUT_FILES_H

#include <stdbool.h>
#include <sys/types.h>

struct arena;
struct open_file;
struct output;         /* of an open file */
struct output_lengths; /* of all files of an arena that are outputs */

/* Returns whether `path` names an output, for the program of an arena; false without an arena. */
bool output_is(const struct arena *, const char *path);

/* The number of open outputs: without any, a call of MPI costs nothing. */
extern unsigned outputs_open;

/* Does and returns what open() does. `mode` is used when an output makes the file. */
int output_file_open(const struct arena *, const char *path, int flags, mode_t mode);
/* The same, for a caller that adds it to the open files. NULL, with errno: it cannot be opened. */
struct output *output_new(const struct arena *, const char *path, int flags, mode_t mode,
                          int *descriptor);
/* Closes it. NULL is allowed. */
void output_free(struct output *);

const char *output_path(const struct output *); /* absolute */

/* Reports what the program has written to it since the last time, perhaps because it `closes` it.
 */
void output_file_collect(const struct open_file *, bool closes);

/* The program does something else with `path`, an output, than append to it: ends the run with one
 * line, in which `what` follows the rank ("reads"). */
_Noreturn void output_refuse(const struct arena *, const char *what, const char *path);
/* The same for a descriptor, if it belongs to an output. */
void output_refuse_descriptor(const struct arena *, const char *what, int descriptor);

/* The first is called when an image is taken, and returns how much of the file has been collected;
 * the second at a rollback to it. */
off_t output_taken(const struct output *);
void output_restore(struct output *, off_t taken);

/* Returns the lengths of the files as the program sees them. NULL: it has none, or there is no
 * memory.
 */
struct output_lengths *output_lengths_save(const struct arena *);
void output_lengths_restore(const struct arena *, const struct output_lengths *);

#endif
