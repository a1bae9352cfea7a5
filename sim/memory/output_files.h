/* Files whose writes are outputs (heap.h): the program writes into memory instead, and what it has
 * written is collected there. Inside librecline_heap.so, in libc mode. */
#ifndef RECLINE_OUTPUT_FILES_H
#define RECLINE_OUTPUT_FILES_H

#include <stdbool.h>
#include <sys/types.h>

struct arena;
struct open_file;
struct output;         /* of an open file */
struct output_lengths; /* of all files of an arena that are outputs */

/* Returns whether `path` names one, for the program of an arena. NULL: no. */
bool output_is(const struct arena *, const char *path);

/* How many are open: a call of MPI costs nothing where there are none. */
extern unsigned outputs_open;

/* As open() does and returns. `mode` is that of the file when an output makes it. */
int output_file_open(const struct arena *, const char *path, int flags, mode_t mode);
/* The same, for who adds it to the open files. NULL, with errno: it cannot be opened. */
struct output *output_new(const struct arena *, const char *path, int flags, mode_t mode,
                          int *descriptor);
/* It is closed. NULL is allowed. */
void output_free(struct output *);

const char *output_path(const struct output *); /* absolute */

/* Tells what the program has written to it since the last time, perhaps because it `closes` it. */
void output_file_collect(const struct open_file *, bool closes);

/* The program does something else with `path`, an output, than to write at its end: the run ends
 * with one line, in which `what` follows the rank ("reads"). */
_Noreturn void output_refuse(const struct arena *, const char *what, const char *path);
/* The same for a descriptor, if it is that of one. */
void output_refuse_descriptor(const struct arena *, const char *what, int descriptor);

/* An image is taken: as much has been collected of the file; and a rollback to it. */
off_t output_taken(const struct output *);
void output_restore(struct output *, off_t taken);

/* Returns how long the files are, as the program knows. NULL: it has none, or there is no memory.
 */
struct output_lengths *output_lengths_save(const struct arena *);
void output_lengths_restore(const struct arena *, const struct output_lengths *);

#endif
