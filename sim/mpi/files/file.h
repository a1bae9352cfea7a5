/* Describes files of MPI-IO, as a rank has them open. All of this lies in the arena, so that a
 * rollback puts handles, views and pointers back. The contents of files are with file_store.h. */
#ifndef RECLINE_FILE_H
#define RECLINE_FILE_H

#include "sim/host/rank/rank.h"
#include "sim/mpi/files/file_store.h"
#include "sim/mpi/files/file_view.h"

struct file {
  struct comm *comm; /* its own communicator, of the members that opened it */
  char *path;
  int amode;
  bool closed; /* closed, or it could not be opened; stays in the list, because the rank has reached
                  a version of it */
  struct standing standing;
  MPI_Info info;         /* MPI_INFO_NULL: none */
  MPI_Errhandler errors; /* NULL: errors are returned */
  struct view view;
  int64_t position, shared; /* in etypes */
  bool split;               /* between the two calls of a collective access */
  MPI_Status status;        /* of that access */
  int fortran;              /* its integer in Fortran, 0: none yet */
  struct file *next;
};

static inline MPI_File file_handle(struct file *file)
{
  return (MPI_File)(void *)file;
}

/* Returns the file of the program's handle. Ends the run if the handle names no file. */
static inline struct file *file_of(struct rank *r, MPI_File handle)
{
  struct file *file = (struct file *)(void *)handle;
  if (handle == MPI_FILE_NULL || heap_owner(file) != r->index || file->closed)
    die(DIE_INPUT, "rank %d: not a file", r->index);
  return file;
}

/* Returns the result of a call on the file (NULL: on none) that meets this error, or ends the
 * run. */
int file_error(struct rank *, struct file *, int error);

/* Calls the program's error handler of files. */
void errors_call_of_files(struct rank *, MPI_Errhandler, MPI_File, int error);

/* Returns MPI's error class for a value of errno. */
int file_class(int error);

/* Call these before and after a collective call. A call in which all members of a file wait for
 * each other synchronizes the file.
 */
void files_before_call(struct rank *, const struct call_site *);
void files_after_call(struct rank *, const struct call_site *);

/* Synchronizes the file by a collective call in which each member gives the number `own`. `told`
 * (NULL: not wanted) gets the numbers of all members, and lies in the arena. After an MPI error no
 * version has ended. */
int file_synchronize(struct rank *, struct file *, int64_t own, int64_t *told);

/* The next functions serve the shared pointer, which is counted in etypes. file_shared() returns
 * its value at the moment when all members had come to the rank's collective call;
 * file_move_shared() moves it for that call. file_take_shared() takes `etypes` etypes for one rank,
 * and ends the run if that could not be rolled back. */
int64_t file_shared(const struct file *);
void file_move_shared(struct file *, int64_t to);
int64_t file_take_shared(struct rank *, struct file *, int64_t etypes);

/* Begins MPI-IO. Call it once. */
void files_begin(bool keeps); /* `keeps` as in store_begin() */

/* Puts the rank's files back. Call it when the rank has gone back. */
void files_restored(struct rank *);

#endif
