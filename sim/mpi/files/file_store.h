/* Keeps the writes of ranks by MPI-IO, and decides what each rank sees of them.
 *
 * MPI promises that a rank sees what it has written itself, and what another rank has written once
 * both ranks have made a call that synchronizes the file. So a file has *versions*. An *opening* of
 * a file (one MPI_File_open, of all members of a communicator) begins with version 0, and each call
 * that synchronizes the file ends a version and begins the next one. A rank sees only the version
 * that it has reached and its own later changes, whatever the progress of other ranks. So the bytes
 * that a rank reads follow from its own calls and from messages that the protocol sees. They are
 * the same when the rank reads again after a rollback, alone or with others.
 *
 *     change     bytes that a rank writes, a new size, or that a file is made or deleted. Change N
 *                of a rank lies between versions V - 1 and V. N and V name the change, also when
 *                the rank makes it once more
 *     pending    the change waits for the first rank that reaches version V
 *     applied    that rank has made the change in the file itself, and the change holds what was
 *                there before. Each file has a stack of applied changes, so that older versions
 *                can be read, and put back
 *
 * When all ranks that had reached version V have gone back, the change is undone, because no rank
 * has seen it. The store lies in libc's memory, once for the process; the version that a rank has
 * reached is in its arena (file.h). */
#ifndef RECLINE_FILE_STORE_H
#define RECLINE_FILE_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* Describes a run of bytes in a file. Lists of segments are in the order of the data. */
struct segment {
  int64_t offset, bytes;
};

/* Begins the store. It must be called once. If `keeps`, a rank that goes back alone repeats its
 * steps and must see the same bytes, even in files that no rank has open. */
void store_begin(bool keeps);

/* Says how far a rank has come with an opening. `opening` is the same number at all members. */
struct standing {
  int64_t opening;
  int rank;    /* number of the rank in the program */
  int version; /* version of the opening that the rank has reached */
  int changes; /* number of changes that the rank has made so far */
};

enum store_mode { STORE_MAKE = 1, STORE_NEW = 2, STORE_READ = 4, STORE_WRITE = 8 };

/* Carries out the opening with that number if this rank is the first to call. Afterwards the rank
 * has reached version 0. `modes` is a set of enum store_mode. Returns 0 or a value of errno.
 */
int store_open(int64_t opening, int rank, const char *path, unsigned modes);

/* Deletes a file. MPI_File_delete is an opening of its own, and the rank has then reached its
 * version 1. Returns what store_open() returns. */
int store_delete(int64_t opening, int rank, const char *path);

/* store_truncate() gives any file a new size; this is an opening of its own, like store_delete().
 * store_knows() returns whether the store knows the file with that name. */
int store_truncate(int64_t opening, int rank, const char *path, int64_t size);
bool store_knows(const char *path);

/* A rank has looked for a file of that name; it was its look `number`, counted from 0. `error` is
 * the value of errno, or 0 if the file exists. Notes this, and returns the value that the rank is
 * told. A look that is repeated after a rollback gets its earlier value if ranks go back alone, or
 * if the file exists now, because others may not have gone back yet. */
int store_look(int rank, int number, const char *path, int error);

/* Opens the file of that name for a rank that reads it by other means than MPI-IO. Call it only if
 * ranks go back alone. `number` counts such openings of the rank, from 0. The rank finds the same
 * bytes as before a rollback, whatever others have written since. Returns what heap_reads() returns
 * (heap.h). */
int store_read_again(int rank, int number, const char *path, int flags);

/* The next functions add the next change of a rank. Data are copied. */
void store_write(struct standing *, const struct segment *, int count, const void *data);
void store_resize(struct standing *, int64_t size, bool may_cut);
void store_end(struct standing *); /* adds that the file is deleted */

/* store_settle() must be called before a synchronizing call begins, store_advance() when all
 * members have come to that call. */
void store_settle(const struct standing *);
void store_advance(struct standing *);

/* Reads the bytes that the rank sees, up to the end of the file, with zeros where nothing was
 * written. Returns the number of bytes of the segments before the end, or -1 with errno set if the
 * file cannot be read. */
int64_t store_read(const struct standing *, const struct segment *, int count, void *data);
int64_t store_size(const struct standing *);

/* The next functions serve a pointer that the members share, in runs in which no rank ever goes
 * back. store_pointer() returns the pointer as it was when the first member reached this version.
 * store_pointer_move() moves the pointer, for the first member that calls at this version.
 * store_pointer_take() returns the pointer and moves it on by `count` etypes.
 */
int64_t store_pointer(const struct standing *);
void store_pointer_move(const struct standing *, int64_t to);
int64_t store_pointer_take(const struct standing *, int64_t count);

/* The next functions serve a rank that has gone back. store_forget() forgets the openings of the
 * rank, and store_hold() names an opening that the rank still has. store_unwind() undoes changes
 * that no rank has reached. */
void store_forget(int rank);
void store_hold(const struct standing *);
void store_unwind(void);

#endif
