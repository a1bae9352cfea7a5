/* Converts between the arguments of Fortran and of C, for the generated wrappers of the Fortran
 * calls and for wrap_fortran.c.
 *
 * Fortran passes addresses, and its handles are integers. SMPI has tables for its own types,
 * operations, groups, infos and error handlers. The layer has tables for its communicators,
 * requests, files and windows. The layer's tables lie in the MPI state of the rank, so that they
 * roll back with the program that holds the integers. */
#ifndef RECLINE_FORTRAN_H
#define RECLINE_FORTRAN_H

#include "include/mpi/mpi-4.h"
#include "sim/host/rank/rank.h"
#include "sim/mpi/layer/wrap.h"

/* Stores SMPI's function of that name into the function pointer at `function`. */
void fortran_next(const char *name, void *function, size_t size);

/* Declares next_, SMPI's function NAME, with the type of the layer's function. */
#define NEXT(NAME)                                                                                 \
  __typeof__(NAME) *next_;                                                                         \
  fortran_next(#NAME, &next_, sizeof next_)

/* Defines function NAME. If the layer is on, the function does LAYERED, with `r` set; if not, it
 * calls SMPI's function. */
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

/* Ends the run, because SMPI has no such call and the layer is off. */
_Noreturn int fortran_lacks(const char *name);

/* The next functions read arguments. */
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

/* Both functions return the C argument. MPI_BOTTOM, MPI_IN_PLACE and MPI_STATUS_IGNORE are
 * variables of SMPI, recognized by their addresses. */
void *fortran_buffer(void *argument);
MPI_Status *fortran_status(void *argument);

/* Returns weights of a graph. MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are recognized by their
 * addresses. */
int *fortran_weights(void *argument);

/* Gives types and operations the numbers of mpif.h if SMPI has none for them. Only the first call
 * in a simulation does so. It must be made with the heap of the simulator, before any other handle
 * has a number. */
void fortran_begin(void);

/* Both functions convert texts, which Fortran fills with blanks at the end. fortran_text() returns
 * a C copy, which the caller frees by g_free(); fortran_put_text() copies a C text back, cut at
 * `length` bytes. */
char *fortran_text(const char *argument, size_t length);
void fortran_put_text(char *argument, size_t length, const char *text);

/* Declares the conversions of handles: fortran_get_NAME() returns the handle of an integer;
 * fortran_put_NAME() stores the integer of the handle `after` at `argument`. `before` is the handle
 * that the integer stood for until now, or NULL. */
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

/* fortran_get_requests() returns an array of requests in the arena. fortran_put_requests() converts
 * the array back and frees it; integers of complete requests become null. */
MPI_Request *fortran_get_requests(struct rank *, const int *count, const int *requests);
void fortran_put_requests(struct rank *, const int *count, int *requests, MPI_Request *handles);

/* Forgets the integer of a message, if it has one. */
void fortran_forget_message(struct rank *, struct request *message);

/* Returns an array with a type for each rank of `comm`, which the caller frees with rank_free().
 * `buffer` has the blocks.
 */
MPI_Datatype *fortran_get_types(struct rank *, const void *comm, void *buffer, const int *numbers);

/* Returns the same for each neighbour to which the rank sends (`sent`) or from which it receives.
 */
MPI_Datatype *fortran_get_neighbours_types(struct rank *, const void *comm, bool sent,
                                           const int *numbers);

/* Turns C's indices into Fortran's, which count from 1. */
void fortran_count_from_one(int *indices, int count);

#endif
