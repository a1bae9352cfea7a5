/* Declares functions on communicators. The wrappers of several kinds of calls share them. */
#ifndef RECLINE_COMM_H
#define RECLINE_COMM_H

#include "sim/host/rank/rank.h"

/* Returns the program's handle of a communicator that is not the world. */
MPI_Comm comm_handle(struct comm *);

/* Returns the communicator of the program's handle. Ends the run if the handle names none. */
struct comm *comm_of(struct rank *, MPI_Comm);

/* Does the same for calls that do not exist for intercommunicators, and ends the run if the handle
 * names one. */
struct comm *comm_within(struct rank *, MPI_Comm);

/* Returns whether a handle of the program is an intercommunicator; false if the layer is off. */
bool comm_is_between(MPI_Comm);

/* Makes the intercommunicator of the two groups that form `both`. The first group is the first
 * `first` members. */
struct comm *comm_between(struct rank *, struct comm *both, int first);
int comm_first_group(const struct comm *between); /* number of members of the first group */

/* Makes a communicator with room for `size` members. */
struct comm *comm_new(struct rank *, int size);

/* Returns an internal communicator of the `size` members of `parent` that are listed in `member`.
 * Over it, they agree on new communicators. Returns NULL if this rank is not among them. The
 * communicator is kept for later calls with the same members, so that its calls are numbered. Takes
 * ownership of `member`. */
struct comm *comm_of_members(struct rank *, struct comm *parent, int *member, int size);

/* rank_in_group() returns the rank in the program of a member of a group. ranks_in_group() writes
 * the ranks of the group's first `count` members. */
int rank_in_group(MPI_Group, int member);
void ranks_in_group(MPI_Group, int count, int *ranks);

/* Does what MPI_Comm_split does, with the error handler of `parent`. After an error no communicator
 * is made. For an intercommunicator each of the two groups is split; a colour without members in
 * one group gives MPI_COMM_NULL. */
int comm_split(struct rank *, struct comm *parent, int colour, int key, MPI_Comm *made);

/* Call it when the program has no handle of the communicator any more. */
void comm_release(struct rank *, struct comm *);

/* Returns the result of a call on the communicator that meets this error; NULL stands for a call on
 * no communicator. The communicator decides whether the error ends the run or calls the program's
 * handler first. */
int comm_error(struct rank *, struct comm *, int error);

/* Does what MPI_Error_string does. */
int error_string(const struct rank *, int code, char *text, int *length);

/* Ends the run, because the call of that name serves programs that repair themselves, and this run
 * does not allow such programs. */
_Noreturn void repair_refuse(const char *name);

/* Makes an error handler from a Fortran subroutine with the parameters (handle, code), for
 * communicators, files or windows. Returns MPI_SUCCESS or a class of errors. */
enum errors_holder { ERRORS_OF_COMMS, ERRORS_OF_FILES, ERRORS_OF_WINDOWS };
int errors_create_fortran(enum errors_holder, void *function, MPI_Errhandler *);

/* Both functions call the functions of the attributes' keys: comm_copy_attributes() when a
 * communicator is duplicated, comm_delete_attributes() when it ends. comm_copy_attributes() returns
 * the first error of a function, or MPI_SUCCESS. */
int comm_copy_attributes(struct rank *, MPI_Comm from, MPI_Comm to);
void comm_delete_attributes(struct rank *, MPI_Comm);

#endif
