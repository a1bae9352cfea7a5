/* Keeps states on disk that the visited set held when memory was short.
 *
 * No state is looked up on disk while a level is expanded. When memory is short, and at the end of
 * each level, the visited set is emptied: its states are put in order and looked for in the files,
 * in one pass through the files. New states are the states to expand, and go to a file of their
 * own. A file with many more states than are looked for has a filter in memory, so that few blocks
 * of the file are read. Files of similar size are merged when there are many. A thread of its own
 * writes and merges while the search goes on.
 *
 * Sources: Stern and Dill, Using magnetic disk instead of main memory in the Murphi verifier (CAV
 * 1998): duplicates are found late, all at once; O'Neil et al., The log-structured merge-tree (Acta
 * Informatica 1996).
 */
#ifndef RECLINE_ARCHIVE_H
#define RECLINE_ARCHIVE_H

#include "verify/state/filter.h"
#include "verify/state/sorted_file.h"
#include "verify/state/visited.h"

enum { ARCHIVE_FILES = 8 }; /* largest number of files between passes */

struct archive_entry {
  struct sorted_file file;
  struct filter filter; /* filter of the file's states, which may be empty */
  uint32_t number;      /* number in the file's name */
  bool saved;           /* a save names the file, which stays until the next save */
};

struct archive {
  char *prefix;                  /* prefix of the names of files */
  const struct packing *packing; /* packing of the states in files, which the caller owns */
  struct archive_entry entry[ARCHIVE_FILES + 1];
  uint32_t entries;
  uint64_t states;
  uint64_t filters_most; /* number of bytes that all filters together may take */
  /* Number of states in the last pass through the files, or 0 if there were no files. */
  uint64_t looked_for;
  uint64_t numbers; /* numbers of existing files, as bits */
  uint64_t stale;   /* numbers of files that only the last save names, as bits */
  /* States that are being written, with files and filters of their own, or NULL if there are
   * none. */
  struct storing *storing;
};

/* Makes an archive without files. Filters take at most `filters_most` bytes. If no bytes are left
 * for the filter of a file, each state is looked for in that file. `prefix` is copied. */
struct archive *archive_new(const char *prefix, const struct packing *, uint64_t filters_most);

/* Removes all files that no save names. */
void archive_free(struct archive *);

uint64_t
/* returns the bytes of memory that filters and beginnings of blocks take */
archive_bytes(const struct archive *);

/* Moves all states of `visited` into the archive, by `threads` threads. Calls back, in order, for
 * the states that were not in the archive yet. With more than one thread, another thread writes
 * these states while the caller goes on. Returns false, with errno set, if a file cannot be made,
 * earlier states cannot be written, or there is no memory to sort states. */
bool archive_take(struct archive *, struct visited *, unsigned threads,
                  void fresh(void *data, const uint32_t *state), void *data);

/* Waits until all states are on disk. Returns false, with errno set, if they cannot be written.
 * Must be called before archive_each() and archive_save(). */
bool archive_settle(struct archive *);

/* Writes all states again in a packing whose fields are as wide or wider. Returns false, with errno
 * set, if they cannot be written.
 */
bool archive_widen(struct archive *, const struct packing *);

/* Calls back for all states with that tag, or for all states if `tag` is 0, in the archive's
 * packing. */
void archive_each(const struct archive *, uint32_t tag,
                  void state(void *data, const uint32_t *state), void *data);

/* Holds the data that are needed to open a file again. */
struct archive_saved {
  uint64_t number, states, end;
};

/* Writes the data of every file into saved[ARCHIVE_FILES]. Returns their number. The files stay
 * until archive_was_saved() says that the next save is complete, or archive_forget_saves() says
 * that there will be no further save. */
uint32_t archive_save(const struct archive *, struct archive_saved *);
void archive_was_saved(struct archive *);
void archive_forget_saves(struct archive *);

/* Opens the files of a save. Returns false if a file is missing or is another file. */
bool archive_open(struct archive *, const struct archive_saved *, uint32_t count);

/* Removes files with the archive's prefix that the archive does not know, because an earlier search
 * has left them.
 */
void archive_sweep(struct archive *);

#endif
