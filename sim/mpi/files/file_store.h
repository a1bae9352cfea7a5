/* Keeps the writes of ranks by MPI-IO, and decides what each rank sees of them.
 *
 * MPI promises that a rank sees what it has written itself, and what others have written once both
 * have made a call that synchronizes the file. So a file has *versions*: an *opening* of it (one
 * MPI_File_open, of all members of a communicator) begins with version 0, and each call that
 * synchronizes it ends one more. A rank sees the version that it has reached and its own changes
 * since, and nothing else, whatever the progress of other ranks. So the bytes that it reads follow
 * from its own calls and from messages that the protocol sees, and are the same when it reads again
 * after a rollback, alone or with others.
 *
 *     change     bytes that a rank writes, a new size, a file that is made or deleted. Change N of
 *                a rank lies between versions V - 1 and V. N and V name it, also when the rank
 *                makes it once more
 *     pending    the change waits for the first rank that reaches V
 *     applied    that rank has made the change in the file itself, and the change holds what was
 *                there before. Each file has a stack of applied changes, so that older versions
 *                can be read, and put back
 *
 * A change that no rank has seen is undone as soon as all ranks that had come that far have gone
 * back. All of this lies in libc's memory, once for the process; the version that a rank has
 * reached is in its arena (file.h). */
#ifndef RECLINE_FILE_STORE_H
#define RECLINE_FILE_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* Describes a run of bytes in a file. Lists of segments have the order of the data. */
struct segment {
  int64_t offset, bytes;
};

/* Begins the store. Call it once. With `keeps`, a rank that goes back alone repeats its steps and
 * must see the same bytes, even in files that no rank has open. */
void store_begin(bool keeps);

/* Says what a rank has reached. `opening` is the same number at all members. */
struct standing {
  int64_t opening;
  int rank;    /* of the program */
  int version; /* of the opening */
  int changes; /* changes that it has made so far */
};

enum store_mode { STORE_MAKE = 1, STORE_NEW = 2, STORE_READ = 4, STORE_WRITE = 8 };

/* Carries out the opening with that number if this rank is the first that comes. Afterwards the
 * rank has reached version 0. `modes` is a set of enum store_mode. Returns 0 or a value of errno.
 */
int store_open(int64_t opening, int rank, const char *path, unsigned modes);

/* Deletes a file. MPI_File_delete is an opening of its own, of which the rank has then reached
 * version 1. Returns what store_open() returns. */
int store_delete(int64_t opening, int rank, const char *path);

/* store_truncate() gives any file a new size, as an opening of its own, like store_delete().
 * store_knows() returns whether the store knows the file with that name. */
int store_truncate(int64_t opening, int rank, const char *path, int64_t size);
bool store_knows(const char *path);

/* Notes that look `number` (from 0) of a rank for a file of that name has found this value of
 * errno, or 0 if the file exists. Returns the value that the rank is told. A look that is repeated
 * after a rollback gets its earlier value if ranks go back alone, or if the file exists now,
 * because others may not have gone back yet. */
int store_look(int rank, int number, const char *path, int error);

/* Opens the file of that name for a rank that reads it by other means than MPI-IO. Call it only if
 * ranks go back alone. `number` counts such openings of the rank, from 0. The rank finds the same
 * bytes as before a rollback, whatever others have written since. Returns as heap_reads does
 * (heap.h). */
int store_read_again(int rank, int number, const char *path, int flags);

/* The next functions add the next change of that rank. Data are copied. */
void store_write(struct standing *, const struct segment *, int count, const void *data);
void store_resize(struct standing *, int64_t size, bool may_cut);
void store_end(struct standing *); /* the file is deleted */

/* Call store_settle() before a synchronizing call begins, and store_advance() when all members have
 * come to it. */
void store_settle(const struct standing *);
void store_advance(struct standing *);

/* Reads the bytes that the rank sees, up to the end of the file, with zeros where nothing was
 * written. Returns the number of bytes of the segments before the end; -1 with errno: the file
 * cannot be read. */
int64_t store_read(const struct standing *, const struct segment *, int count, void *data);
int64_t store_size(const struct standing *);

/* The next functions serve a pointer that the members share, in runs in which no rank ever goes
 * back. store_pointer() returns it as it was when the first member reached this version.
 * store_pointer_move() moves it, for the first member that calls at this version.
 * store_pointer_take() returns it and moves it on by `count` etypes.
 */
int64_t store_pointer(const struct standing *);
void store_pointer_move(const struct standing *, int64_t to);
int64_t store_pointer_take(const struct standing *, int64_t count);

/* The next functions serve a rank that has gone back. store_forget() forgets its openings, and
 * store_hold() names an opening that it still has. store_unwind() undoes changes that no rank has
 * reached. */
void store_forget(int rank);
void store_hold(const struct standing *);
void store_unwind(void);

#endif
