/* Conversions between the arguments of Fortran and of C, shared by the generated wrappers of the
 * Fortran calls and wrap_fortran.c.
 *
 * Fortran passes addresses. Handles are integers: SMPI has a table for its own types, operations,
 * groups, infos and error handlers; communicators, requests, files and windows are the layer's, and
 * their tables lie in the MPI state of the rank, so that they roll back with the program that holds
 * the integers.
 */
#ifndef RECLINE_FORTRAN_H
#define RECLINE_FORTRAN_H

#include "include/mpi/mpi-4.h"
#include "sim/host/rank/rank.h"
#include "sim/mpi/layer/wrap.h"

/* Stores SMPI's function of that name into the function pointer at `function`. */
void fortran_next(const char *name, void *function, size_t size);

/* Declares next_: SMPI's NAME, of the type of the layer's. */
#define NEXT(NAME)                                                                                 \
  __typeof__(NAME) *next_;                                                                         \
  fortran_next(#NAME, &next_, sizeof next_)

/* Defines NAME: LAYERED with `r` set when the layer is on, SMPI's own when it is not. */
#define FORTRAN_CALL(NAME, PARAMETERS, ARGUMENTS, LAYERED)                                         \
  void NAME PARAMETERS                                                                             \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    struct rank *r = rank_self();                                                                  \
    if (r) {                                                                                       \
      LAYERED;                                                                                     \
    } else {                                                                                       \
      NEXT(NAME);                                                                                  \
      next_ ARGUMENTS;                                                                             \
    }                                                                                              \
    wrap_leave(mode, r);                                                                           \
  }

/* Ends the run: outside of a run under a protocol there is no such call. */
_Noreturn int fortran_lacks(const char *name);

/* Arguments that are read. */
static inline int fortran_int(const void *argument)
{
  return *(const int *)argument;
}

static inline MPI_Aint fortran_aint(const void *argument)
{
  return *(const MPI_Aint *)argument;
}

static inline MPI_Count fortran_count(const void *argument)
{
  return *(const MPI_Count *)argument;
}

static inline MPI_Offset fortran_offset(const void *argument)
{
  return *(const MPI_Offset *)argument;
}

/* The names MPI_BOTTOM, MPI_IN_PLACE and MPI_STATUS_IGNORE are variables of SMPI, and are
 * recognized by their address. */
void *fortran_buffer(void *argument);
MPI_Status *fortran_status(void *argument);

/* Returns weights of a graph, where MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are meant by address. */
int *fortran_weights(void *argument);

/* Gives the types and operations that SMPI has no numbers for the numbers of mpif.h. For the first
 * caller of a simulation, with the heap of the simulator and before anything else has a number. */
void fortran_begin(void);

/* Texts, which end with blanks: the first returns a C copy, for g_free(); the second copies back,
 * cut at `length` bytes. */
char *fortran_text(const char *argument, size_t length);
void fortran_put_text(char *argument, size_t length, const char *text);

/* Handles: the first returns the handle of an integer; the second stores the integer of a handle at
 * `argument`. `before` is the handle that the integer stood for until now, or NULL. */
#define FORTRAN_HANDLE(TYPE, NAME)                                                                 \
  TYPE fortran_get_##NAME(struct rank *, const void *argument);                                    \
  void fortran_put_##NAME(struct rank *, void *argument, TYPE before, TYPE after);

FORTRAN_HANDLE(MPI_Comm, comm)
FORTRAN_HANDLE(MPI_Request, request)
FORTRAN_HANDLE(MPI_Message, message)
FORTRAN_HANDLE(MPI_File, file)
FORTRAN_HANDLE(MPI_Win, window)
FORTRAN_HANDLE(MPI_Session, session)
FORTRAN_HANDLE(MPI_Datatype, type)
FORTRAN_HANDLE(MPI_Op, op)
FORTRAN_HANDLE(MPI_Group, group)
FORTRAN_HANDLE(MPI_Info, info)
FORTRAN_HANDLE(MPI_Errhandler, errhandler)

/* Several requests, in the arena; and back, which frees them: integers of complete requests become
 * null. */
MPI_Request *fortran_get_requests(struct rank *, const int *count, const int *requests);
void fortran_put_requests(struct rank *, const int *count, int *requests, MPI_Request *handles);

/* Forgets the integer of a message, if it has one. */
void fortran_forget_message(struct rank *, struct request *message);

/* Returns a type for each rank of `comm`, which the caller frees with rank_free(); `buffer` has the
 * blocks.
 */
MPI_Datatype *fortran_get_types(struct rank *, const void *comm, void *buffer, const int *numbers);

/* The same for each neighbour of the rank: one that it sends to, or receives from. */
MPI_Datatype *fortran_get_neighbours_types(struct rank *, const void *comm, bool sent,
                                           const int *numbers);

/* Turns C's indices into Fortran's, which count from 1. */
void fortran_count_from_one(int *indices, int count);

#endif
