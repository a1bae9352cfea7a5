/* Defines the Fortran calls that take functions of the program. These functions get addresses of
 * values that C passes directly. */
#include "sim/mpi/fortran/fortran.h"
#include "sim/mpi/layer/comm.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

/* Holds the Fortran functions of a key. They take addresses of values. The values are as wide as an
 * address, so that functions for MPI_Keyval_create, which take integers, work, too. */
struct functions {
  void (*copy)(int *comm, int *key, MPI_Aint *extra, MPI_Aint *value, MPI_Aint *made, int *flag,
               int *error); /* copies a value; NULL if values are copied unchanged */
  /* deletes a value, or NULL if nothing has to be done */
  void (*destroy)(int *comm, int *key, MPI_Aint *value, MPI_Aint *extra, int *error);
  MPI_Aint extra;
};

/* The next four functions run in program mode of the heap, as the program's own functions do. */
static int copy_attribute(int holder, int key, void *extra, void *value, void *made, int *flag)
{
  struct functions *functions = extra;
  MPI_Aint before = *(MPI_Aint *)value, after = before;
  int error = MPI_SUCCESS;
  *flag = 1;
  if (functions->copy)
    functions->copy(&holder, &key, &functions->extra, &before, &after, flag, &error);
  if (*flag) {
    MPI_Aint *kept = malloc(sizeof *kept);
    *kept = after;
    memcpy(made, &kept, sizeof kept);
  }
  return error;
}

static int delete_attribute(int holder, int key, void *value, void *extra)
{
  struct functions *functions = extra;
  MPI_Aint before = *(MPI_Aint *)value;
  int error = MPI_SUCCESS;
  if (functions->destroy)
    functions->destroy(&holder, &key, &before, &functions->extra, &error);
  if (error == MPI_SUCCESS)
    free(value);
  return error;
}

#define FUNCTIONS_OF(TYPE, NAME, NUMBER)                                                           \
  static int copy_of_##NAME(TYPE holder, int key, void *extra, void *value, void *made, int *flag) \
  {                                                                                                \
    return copy_attribute(NUMBER(holder), key, extra, value, made, flag);                          \
  }                                                                                                \
                                                                                                   \
  static int delete_of_##NAME(TYPE holder, int key, void *value, void *extra)                      \
  {                                                                                                \
    return delete_attribute(NUMBER(holder), key, value, extra);                                    \
  }

FUNCTIONS_OF(MPI_Comm, comm, MPI_Comm_c2f)
FUNCTIONS_OF(MPI_Datatype, type, PMPI_Type_c2f)
FUNCTIONS_OF(MPI_Win, window, MPI_Win_c2f)

/* In SMPI's mpif.h, MPI_COMM_NULL_COPY_FN is the integer 0, and MPI_COMM_DUP_FN is the integer 1.
 * For these, returns the integer. Any other argument is a function, which is stored into the
 * function pointer at `function`. */
static int function_of(void *argument, void *function)
{
  int what = fortran_int(argument);
  if (what != 0 && what != 1)
    memcpy(function, &argument, sizeof argument);
  return what;
}

/* Returns the functions of a key. `*copies` says whether its attributes are copied at all. */
static struct functions *functions_of(struct rank *r, void *copy, void *destroy, MPI_Aint extra,
                                      bool *copies)
{
  struct functions *functions = rank_alloc(r, sizeof *functions);
  functions->extra = extra;
  *copies = function_of(copy, &functions->copy) != 0;
  function_of(destroy, &functions->destroy);
  return functions;
}

#define KEYVAL_CALL(name, in_c, kind, no_copy, extra_of)                                           \
  FORTRAN_CALL(name, (void *copy, void *destroy, int *key, void *extra, int *error),               \
               (copy, destroy, key, extra, error), bool copies;                                    \
               struct functions *functions =                                                       \
                   functions_of(r, copy, destroy, extra_of(extra), &copies);                       \
               *error = in_c(copies ? copy_of_##kind : no_copy, delete_of_##kind, key, functions))

KEYVAL_CALL(mpi_comm_create_keyval_, MPI_Comm_create_keyval, comm, MPI_COMM_NULL_COPY_FN,
            fortran_aint)
KEYVAL_CALL(mpi_keyval_create_, MPI_Comm_create_keyval, comm, MPI_COMM_NULL_COPY_FN, fortran_int)
KEYVAL_CALL(mpi_type_create_keyval_, MPI_Type_create_keyval, type, MPI_TYPE_NULL_COPY_FN,
            fortran_aint)
KEYVAL_CALL(mpi_win_create_keyval_, MPI_Win_create_keyval, window, MPI_WIN_NULL_COPY_FN,
            fortran_aint)

/* ---- generalized requests ---- */

struct general_functions {
  void (*query)(MPI_Aint *extra, MPI_Status *status, int *error);
  void (*free)(MPI_Aint *extra, int *error);
  void (*cancel)(MPI_Aint *extra, int *complete, int *error);
  MPI_Aint extra;
};

static int query_general(void *extra, MPI_Status *status)
{
  struct general_functions *functions = extra;
  int error = MPI_SUCCESS;
  functions->query(&functions->extra, status, &error);
  return error;
}

static int free_general(void *extra)
{
  struct general_functions *functions = extra;
  int error = MPI_SUCCESS;
  functions->free(&functions->extra, &error);
  free(functions);
  return error;
}

static int cancel_general(void *extra, int complete)
{
  struct general_functions *functions = extra;
  int error = MPI_SUCCESS;
  functions->cancel(&functions->extra, &complete, &error);
  return error;
}

static int start_general(struct rank *r, const void *query, const void *release, const void *cancel,
                         const void *extra, int *request)
{
  struct general_functions *functions = rank_alloc(r, sizeof *functions);
  MPI_Request handle;
  memcpy(&functions->query, &query, sizeof query);
  memcpy(&functions->free, &release, sizeof release);
  memcpy(&functions->cancel, &cancel, sizeof cancel);
  functions->extra = fortran_aint(extra);
  int error = MPI_Grequest_start(query_general, free_general, cancel_general, functions, &handle);
  fortran_put_request(r, request, NULL, handle);
  return error;
}

FORTRAN_CALL(mpi_grequest_start_,
             (void *query, void *release, void *cancel, void *extra, int *request, int *error),
             (query, release, cancel, extra, request, error),
             *error = start_general(r, query, release, cancel, extra, request))

/* ---- error handlers ---- */

/* Defines a call that makes error handlers, for files or windows. SMPI does not have that call in
 * Fortran. */
#define CREATE_ERRHANDLER_CALL(name, holder)                                                       \
  void name(void *function, int *handler, int *error)                                              \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    struct rank *r = rank_self();                                                                  \
    MPI_Errhandler made;                                                                           \
    if (!r)                                                                                        \
      fortran_lacks(__func__);                                                                     \
    *error = errors_create_fortran(holder, function, &made);                                       \
    fortran_put_errhandler(r, handler, NULL, made);                                                \
    wrap_leave(mode, r);                                                                           \
  }

CREATE_ERRHANDLER_CALL(mpi_file_create_errhandler_, ERRORS_OF_FILES)
CREATE_ERRHANDLER_CALL(mpi_win_create_errhandler_, ERRORS_OF_WINDOWS)

FORTRAN_CALL(mpi_comm_create_errhandler_, (void *function, int *handler, int *error),
             (function, handler, error), MPI_Errhandler made;
             *error = errors_create_fortran(ERRORS_OF_COMMS, function, &made);
             fortran_put_errhandler(r, handler, NULL, made))

void mpi_errhandler_create_(void *function, int *handler, int *error)
{
  mpi_comm_create_errhandler_(function, handler, error);
}
