/* What files were before programs changed them, so that a rollback can undo it. Inside
 * librecline_heap.so, in libc mode. */
#ifndef RECLINE_JOURNAL_H
#define RECLINE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;

/* The program is about to open `path` with these flags (O_RDWR, O_TRUNC, O_CREAT, ...). */
void journal_opening(const struct arena *, const char *path, int flags);

/* It has made the file `path`, and nothing else can have had this name. */
void journal_created(const struct arena *, const char *path);

/* It writes to the file, and so is the only one to do so, or not. */
void journal_writing(const struct arena *, int descriptor);

/* It is about to write over what was there already, or may do so at any time. */
void journal_overwriting(const struct arena *, int descriptor);

/* The name is about to become that of another file or folder, or of none; what has it now ends, or
 * gets another name. */
void journal_replacing(const struct arena *, const char *path, bool ends);

/* It is about to be closed, and ends if it has no name any more. */
void journal_closing(int descriptor);

/* An image is taken. Returns where it stands in the journal: what comes later is undone with it. */
uint64_t journal_mark(const struct arena *);
/* Then, for each file that is open for writing. Returns its length. */
off_t journal_keep(const struct arena *, int descriptor);

void journal_undo(const struct arena *, uint64_t mark);
void journal_forget(const struct arena *, uint64_t mark); /* there is no older image */

#endif
