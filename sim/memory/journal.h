/* The contents of files before programs changed them, so that a rollback can undo changes. Inside
 * librecline_heap.so, in libc mode. */
#ifndef RECLINE_JOURNAL_H
#define RECLINE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;

/* The program is about to open `path` with these flags (O_RDWR, O_TRUNC, O_CREAT, ...). */
void journal_opening(const struct arena *, const char *path, int flags);

/* The program has made the file `path`, and no other file can have had this name. */
void journal_created(const struct arena *, const char *path);

/* The program writes to the file: notes it as a writer, the only one or one of several. */
void journal_writing(const struct arena *, int descriptor);

/* The program is about to write over old contents, or may do so at any time. */
void journal_overwriting(const struct arena *, int descriptor);

/* The name is about to belong to another file or folder, or to none; the file that has it now ends
 * or gets another name. */
void journal_replacing(const struct arena *, const char *path, bool ends);

/* The file is about to be closed, and ends if it has no name any more. */
void journal_closing(int descriptor);

/* An image is taken. Returns its place in the journal: later entries are undone with it. */
uint64_t journal_mark(const struct arena *);
/* To be called next for each file that is open for writing. Returns its length. */
off_t journal_keep(const struct arena *, int descriptor);

void journal_undo(const struct arena *, uint64_t mark);
void journal_forget(const struct arena *, uint64_t mark); /* there is no older image */

#endif
