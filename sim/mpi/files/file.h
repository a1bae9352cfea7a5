/* Files of MPI-IO, as a rank has them open. All of it lies in the arena, so that a rollback puts
 * handles, views and pointers back; what is in the files is file_store.h's. */
#ifndef RECLINE_FILE_H
#define RECLINE_FILE_H

#include "sim/host/rank/rank.h"
#include "sim/mpi/files/file_store.h"
#include "sim/mpi/files/file_view.h"

struct file {
  struct comm *comm; /* its own, of those that opened it */
  char *path;
  int amode;
  bool closed; /* or it could not be opened: stays in the list, for what the rank has reached */
  struct standing standing;
  MPI_Info info;         /* MPI_INFO_NULL: none */
  MPI_Errhandler errors; /* NULL: they are returned */
  struct view view;
  int64_t position, shared; /* in etypes */
  bool split;               /* between the two calls of a collective access */
  MPI_Status status;        /* of that one */
  int fortran;              /* its integer in Fortran, 0: none yet */
  struct file *next;
};

static inline MPI_File file_handle(struct file *file)
{
  return (MPI_File)(void *)file;
}

/* The file of a handle of the program's; ends the run when it is none. */
static inline struct file *file_of(struct rank *r, MPI_File handle)
{
  struct file *file = (struct file *)(void *)handle;
  if (handle == MPI_FILE_NULL || heap_owner(file) != r->index || file->closed)
    die(DIE_INPUT, "rank %d: not a file", r->index);
  return file;
}

/* Returns what a call on the file (NULL: on none) returns for this error, or ends the run. */
int file_error(struct rank *, struct file *, int error);

/* Calls the program's error handler, one of files. */
void errors_call_of_files(struct rank *, MPI_Errhandler, MPI_File, int error);

/* Returns MPI's error class for a value of errno. */
int file_class(int error);

/* Around a collective call: one by which all members of a file wait for each other synchronizes it.
 */
void files_before_call(struct rank *, const struct call_site *);
void files_after_call(struct rank *, const struct call_site *);

/* Such a call, in which each member says one number; `told` (NULL: not wanted) has room for all of
 * them, in the arena. An MPI error: no version has ended. */
int file_synchronize(struct rank *, struct file *, int64_t own, int64_t *told);

/* The shared pointer, in etypes: as it was when all members had come to the collective call that
 * the rank is in, and moved by that call; and taken by one of them, which ends the run where that
 * cannot be rolled back. */
int64_t file_shared(const struct file *);
void file_move_shared(struct file *, int64_t to);
int64_t file_take_shared(struct rank *, struct file *, int64_t etypes);

/* Once. */
void files_begin(bool keeps); /* store_begin() */

/* The rank has gone back: so have its files. */
void files_restored(struct rank *);

#endif
