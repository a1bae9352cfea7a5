/* Writes files that appear whole or not at all, and makes private folders. A file that a process
 * still writes, or a folder that it still uses, is called `.recline-tmp-NUMBER` and locked (flock),
 * so that output_sweep() removes only what killed processes have left. A file system without locks
 * is not swept.
 *
 * A function that returns false, NULL or a negative number sets errno and leaves no file behind.
 */
#ifndef RECLINE_OUTPUT_H
#define RECLINE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* OUTPUT_CANNOT is the message for such an error, with a file (%s) and a reason (%s). */
#define OUTPUT_CANNOT_PART ": cannot be written: "
#define OUTPUT_CANNOT "%s" OUTPUT_CANNOT_PART "%s, expected a folder with room"

struct output;

/* Begins to write `file`, in whose folder the temporary file will be. */
struct output *output_open(const char *file);

/* Returns the stream for the content; errors may be left to output_close(). */
FILE *output_stream(struct output *);

/* Replaces `file` by what was written. With `sync`, content and name are on the disk before the
 * call returns. Returns false if that failed. Then `file` is as before, with one exception: if only
 * writing the name to the disk failed, `file` is replaced, but a failure of the machine may undo
 * that. */
bool output_close(struct output *, bool sync);

/* Writes a whole file in one call. */
bool output_write(const char *file, const void *bytes, size_t size);

/* Makes a folder in `base` that only this user may enter. Sets `path` to its path, which the caller
 * frees, and returns a descriptor of the folder, which exec closes. The folder stays locked until
 * the descriptor and its copies are closed. */
int output_folder(const char *base, char **path);

/* Removes a file, or a folder with all below it, as far as possible. */
void output_remove(const char *path);

/* Removes what killed processes of this user have left in a folder. */
void output_sweep(const char *folder);

#endif
