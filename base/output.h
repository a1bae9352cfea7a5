/* Files that appear whole or not at all, and private folders. While they are written they have
 * names of their own, `.recline-tmp-NUMBER`, which their process keeps locked (flock):
 * output_sweep() removes those that killed processes have left, and no others. Where a file system
 * knows no locks, nothing is swept.
 *
 * What returns false, NULL or a negative number leaves the reason in errno and no file behind.
 */
#ifndef RECLINE_OUTPUT_H
#define RECLINE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The message for such an error: a file (%s) and a reason (%s). */
#define OUTPUT_CANNOT_PART ": cannot be written: "
#define OUTPUT_CANNOT "%s" OUTPUT_CANNOT_PART "%s, expected a folder with room"

struct output;

/* Begins to write `file`, in whose folder the temporary file will be. */
struct output *output_open(const char *file);

/* Returns where its content goes; errors may be left to output_close(). */
FILE *output_stream(struct output *);

/* Ends the writing: `file` is replaced by what was written; with `sync`, content and name are on
 * the disk itself. Returns false if something could not be written: then `file` is as before, or
 * only its new name may be lost if the machine fails. */
bool output_close(struct output *, bool sync);

/* Writes a whole file in one call. */
bool output_write(const char *file, const void *bytes, size_t size);

/* Makes a folder in `base` that only this user may enter, and gives its path (the caller frees it)
 * and a descriptor, closed on exec. The folder is locked until that and its copies are closed. */
int output_folder(const char *base, char **path);

/* Removes a folder and all below it, or a file, as far as that is possible. */
void output_remove(const char *path);

/* Removes what killed processes of this user have left in a folder. */
void output_sweep(const char *folder);

#endif
