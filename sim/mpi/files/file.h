/* Describes files of MPI-IO, as a rank has them open. These descriptions lie in the arena, so that
 * a rollback puts handles, views and pointers back. file_store.h keeps the contents of files. */
#ifndef RECLINE_FILE_H
#define RECLINE_FILE_H

#include "sim/host/rank/rank.h"
#include "sim/mpi/files/file_store.h"
#include "sim/mpi/files/file_view.h"

struct file {
  struct comm *comm; /* the file's own communicator, of the members that opened it */
  char *path;
  int amode;
  /* the file was closed or could not be opened; it stays in the list, because the rank has
   * reached a version of it */
  bool closed;
  struct standing standing;
  MPI_Info info;         /* hints, or MPI_INFO_NULL if there are none */
  MPI_Errhandler errors; /* handler of errors, or NULL if errors are returned */
  struct view view;
  int64_t position, shared; /* individual and shared pointer, in etypes */
  bool split;               /* true between the two calls of a split collective access */
  MPI_Status status;        /* status of the split access */
  int fortran;              /* integer of the file in Fortran, or 0 if the file has none yet */
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

/* Returns the result of a call on the file that meets this error, or ends the run. `file` is NULL
 * for a call that concerns no file. */
int file_error(struct rank *, struct file *, int error);

/* Calls the program's error handler of files. */
void errors_call_of_files(struct rank *, MPI_Errhandler, MPI_File, int error);

/* Returns MPI's error class for a value of errno. */
int file_class(int error);

/* files_before_call() must be called before a collective call, files_after_call() after it. A
 * collective call in which all members of a file wait for each other synchronizes the file. */
void files_before_call(struct rank *, const struct call_site *);
void files_after_call(struct rank *, const struct call_site *);

/* Synchronizes the file by a collective call in which each member gives the number `own`. `told`
 * gets the numbers of all members; it lies in the arena, or is NULL if the caller does not need
 * them. After an MPI error no version has ended. */
int file_synchronize(struct rank *, struct file *, int64_t own, int64_t *told);

/* The next functions serve the shared pointer, which is counted in etypes. file_shared() returns
 * the value of the pointer at the moment when all members had come to the rank's collective call;
 * file_move_shared() moves the pointer for that call. file_take_shared() takes `etypes` etypes for
 * one rank, and ends the run if a rollback could not undo that. */
int64_t file_shared(const struct file *);
void file_move_shared(struct file *, int64_t to);
int64_t file_take_shared(struct rank *, struct file *, int64_t etypes);

/* Begins MPI-IO. Call it once. */
void files_begin(bool keeps); /* `keeps` as in store_begin() */

/* Puts the rank's files back. Call it when the rank has gone back. */
void files_restored(struct rank *);

#endif
