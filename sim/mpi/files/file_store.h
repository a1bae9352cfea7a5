/* What ranks write by MPI-IO, and what each of them sees of it.
 *
 * MPI promises that a rank sees what it has written itself, and what others have written once both
 * have made a call that synchronizes the file. So a file has *versions*: an *opening* of it (one
 * MPI_File_open, of all members of a communicator) begins with version 0, and each call that
 * synchronizes it ends one more. A rank sees the version that it has reached, and what it has
 * changed since; no more, at whatever time other ranks get on. What it reads therefore follows from
 * its own calls and from messages that the protocol sees, and is the same when it reads it again
 * after a rollback, alone or with others.
 *
 *     change     bytes that a rank writes, a new size, a file that is made or deleted. Number N of
 *                a rank, between versions V - 1 and V: that pair names it, also when the rank makes
 *                it once more
 *     pending    it waits for version V
 *     applied    by the first rank that reaches V it was made in the file itself, and holds what
 *                was there before: a stack for each file, so that older versions can be read, and
 *                put back
 *
 * What no rank has seen is put back as soon as all ranks that had come that far have gone back.
 * All of this lies in libc's memory, once for the process; what a rank has reached is in its arena
 * (file.h). */
#ifndef RECLINE_FILE_STORE_H
#define RECLINE_FILE_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a file: where, and how many. Lists of them are in the order of the data. */
struct segment {
  int64_t offset, bytes;
};

/* Once. `keeps`: a rank that goes back alone does the same again, and has to see the same, of files
 * too that nobody has open any more. */
void store_begin(bool keeps);

/* What a rank has reached. `opening` is the same number at all members. */
struct standing {
  int64_t opening;
  int rank;    /* of the program */
  int version; /* of the opening */
  int changes; /* that it has made so far */
};

enum store_mode { STORE_MAKE = 1, STORE_NEW = 2, STORE_READ = 4, STORE_WRITE = 8 };

/* The opening with that number, carried out by the first rank that comes: afterwards this one has
 * reached version 0. `modes` are those above. Returns 0 or a value of errno. */
int store_open(int64_t opening, int rank, const char *path, unsigned modes);

/* MPI_File_delete, an opening of its own, of which the rank has reached version 1. As store_open()
 * returns. */
int store_delete(int64_t opening, int rank, const char *path);

/* The same for a new size, of any file; whether the file with that name is one of the store's. */
int store_truncate(int64_t opening, int rank, const char *path, int64_t size);
bool store_knows(const char *path);

/* Look `number` (from 0) of a rank for a file of that name finds this value of errno; 0: there is
 * one. Returns the value that the rank is told: that of the same look before a rollback if the file
 * is there now, as others may not have gone back yet; where ranks go back alone, in any case. */
int store_look(int rank, int number, const char *path, int error);

/* Reading `number` (from 0) of a rank by other means opens the file of that name, where ranks go
 * back alone: it finds what it found before a rollback, whatever others have written since. Returns
 * as heap_reads (heap.h). */
int store_read_again(int rank, int number, const char *path, int flags);

/* Changes, the next one of that rank, which then has made one more. Data are copied. */
void store_write(struct standing *, const struct segment *, int count, const void *data);
void store_resize(struct standing *, int64_t size, bool may_cut);
void store_end(struct standing *); /* the file is deleted */

/* A synchronizing call: before it begins, and when all members have come to it. */
void store_settle(const struct standing *);
void store_advance(struct standing *);

/* Returns what the rank sees: up to the end of the file, with zeros where nothing was written.
 * Returns how many bytes of the segments lie before the end, -1 with errno: the file cannot be
 * read. */
int64_t store_read(const struct standing *, const struct segment *, int count, void *data);
int64_t store_size(const struct standing *);

/* A pointer that the members share, for where no rank ever goes back: as it was when the first of
 * them reached its version, moved by the first at each version, taken for so many. */
int64_t store_pointer(const struct standing *);
void store_pointer_move(const struct standing *, int64_t to);
int64_t store_pointer_take(const struct standing *, int64_t count);

/* The rank has gone back: no opening is known of it but those that store_hold() names then.
 * store_unwind() puts back what no rank has reached. */
void store_forget(int rank);
void store_hold(const struct standing *);
void store_unwind(void);

#endif
