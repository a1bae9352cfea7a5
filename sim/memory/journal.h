/* Keeps the contents that files had before programs changed them, so that a rollback can undo
 * changes. This module works inside librecline_heap.so, in libc mode. */
#ifndef RECLINE_JOURNAL_H
#define RECLINE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;

/* Notes that the program is about to open `path` with these flags (O_RDWR, O_TRUNC, O_CREAT,
 * ...). */
void journal_opening(const struct arena *, const char *path, int flags);

/* Notes that the program has made the file `path`, and that no other file had this name. */
void journal_created(const struct arena *, const char *path);

/* Notes that the program writes to the file, as perhaps other programs do, too. */
void journal_writing(const struct arena *, int descriptor);

/* Notes that the program is about to write over old contents, or may do so at any time. */
void journal_overwriting(const struct arena *, int descriptor);

/* Notes that the name `path` is about to belong to another file or folder, or to none. If `ends`,
 * the file that has the name now loses it for good; otherwise that file gets another name. */
void journal_replacing(const struct arena *, const char *path, bool ends);

/* Notes that the file is about to be closed. If the file has no name any more, it then ceases to
 * exist. */
void journal_closing(int descriptor);

/* Notes that an image is taken. Returns the place of the image in the journal; a rollback to the
 * image undoes all later entries. */
uint64_t journal_mark(const struct arena *);
/* Notes a file that is open for writing, right after journal_mark(). Returns its length. */
off_t journal_keep(const struct arena *, int descriptor);

void journal_undo(const struct arena *, uint64_t mark);
/* Forgets entries before `mark`. It must be called only when no image before `mark` exists. */
void journal_forget(const struct arena *, uint64_t mark);

#endif
