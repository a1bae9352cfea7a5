/* Communicators: what the wrappers of several kinds of calls share. */
#ifndef RECLINE_COMM_H
#define RECLINE_COMM_H

#include "sim/host/rank.h"

/* The program's handle of a communicator that is not the world. */
MPI_Comm comm_handle(struct comm *);

/* The communicator of a handle of the program's; ends the run when it is none. */
struct comm *comm_of(struct rank *, MPI_Comm);

/* One with room for so many members. */
struct comm *comm_new(struct rank *, int size);

/* Rank of the program of a member of a group. */
int rank_in_group(MPI_Group, int member);

/* MPI_Comm_split, with the error handler of `parent`. An error: nothing was made. */
int comm_split(struct rank *, struct comm *parent, int colour, int key, MPI_Comm *made);

/* The program has no handle of it any more. */
void comm_release(struct rank *, struct comm *);

/* What a call on the communicator (NULL: on none) returns for this error: ends the run, or has
 * called the program's handler, as the communicator says. */
int comm_error(struct rank *, struct comm *, int error);

/* Ends the run: the call of that name is one by which a program repairs itself, and it cannot. */
_Noreturn void repair_refuse(const char *name);

/* MPI_Comm_create_errhandler for a Fortran subroutine (comm, code). */
int errors_create_fortran(void *function, MPI_Errhandler *);

/* By the functions of their keys: when a communicator is duplicated (the first error that one of
 * them returns, or MPI_SUCCESS), and when it ends. */
int comm_copy_attributes(struct rank *, MPI_Comm from, MPI_Comm to);
void comm_delete_attributes(struct rank *, MPI_Comm);

#endif
