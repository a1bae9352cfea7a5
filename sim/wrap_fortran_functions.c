/* The Fortran calls that take functions of the program, which want addresses of what C passes as it
 * is. */
#include "comm.h"
#include "fortran.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

/* The functions of a key, which in Fortran take addresses: of values that are as wide as an
 * address, so that functions of MPI_Keyval_create, which take integers, find them there as well. */
struct functions {
  void (*copy)(int *comm, int *key, MPI_Aint *extra, MPI_Aint *value, MPI_Aint *made, int *flag,
               int *error); /* NULL: as it is */
  void (*destroy)(int *comm, int *key, MPI_Aint *value, MPI_Aint *extra, int *error); /* or NULL */
  MPI_Aint extra;
};

/* These two are called as the program's functions are: with its heap. */
static int copy_attribute(MPI_Comm comm, int key, void *extra, void *value, void *made, int *flag)
{
  struct functions *functions = extra;
  MPI_Aint before = *(int *)value, after = before;
  int number = MPI_Comm_c2f(comm), error = MPI_SUCCESS;
  *flag = 1;
  if (functions->copy)
    functions->copy(&number, &key, &functions->extra, &before, &after, flag, &error);
  if (*flag) {
    int *kept = malloc(sizeof *kept);
    *kept = (int)after;
    memcpy(made, &kept, sizeof kept);
  }
  return error;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
  struct functions *functions = extra;
  MPI_Aint before = *(int *)value;
  int number = MPI_Comm_c2f(comm), error = MPI_SUCCESS;
  if (functions->destroy)
    functions->destroy(&number, &key, &before, &functions->extra, &error);
  if (error == MPI_SUCCESS)
    free(value);
  return error;
}

/* In SMPI's mpif.h MPI_COMM_NULL_COPY_FN is the integer 0 and MPI_COMM_DUP_FN is 1; others are
 * functions, stored into the function pointer at `function`. */
static int function_of(void *argument, void *function)
{
  int what = fortran_int(argument);
  if (what != 0 && what != 1)
    memcpy(function, &argument, sizeof argument);
  return what;
}

static void create_keyval(struct rank *r, void *copy, void *destroy, int *key, MPI_Aint extra,
                          int *error)
{
  struct functions *functions = face_alloc(r, sizeof *functions);
  functions->extra = extra;
  bool copies = function_of(copy, &functions->copy) != 0;
  function_of(destroy, &functions->destroy);
  *error = MPI_Comm_create_keyval(copies ? copy_attribute : MPI_COMM_NULL_COPY_FN, delete_attribute,
                                  key, functions);
}

void mpi_comm_create_keyval_(void *copy, void *destroy, int *key, void *extra, int *error)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    create_keyval(r, copy, destroy, key, fortran_aint(extra), error);
  } else {
    NEXT(mpi_comm_create_keyval_, void *, void *, int *, void *, int *);
    next_(copy, destroy, key, extra, error);
  }
  layer_leave(mode);
}

void mpi_keyval_create_(void *copy, void *destroy, int *key, void *extra, int *error)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    create_keyval(r, copy, destroy, key, fortran_int(extra), error);
  } else {
    NEXT(mpi_keyval_create_, void *, void *, int *, void *, int *);
    next_(copy, destroy, key, extra, error);
  }
  layer_leave(mode);
}

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

void mpi_grequest_start_(void *query, void *release, void *cancel, void *extra, int *request,
                         int *error)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    struct general_functions *functions = face_alloc(r, sizeof *functions);
    MPI_Request handle;
    memcpy(&functions->query, &query, sizeof query);
    memcpy(&functions->free, &release, sizeof release);
    memcpy(&functions->cancel, &cancel, sizeof cancel);
    functions->extra = fortran_aint(extra);
    *error = MPI_Grequest_start(query_general, free_general, cancel_general, functions, &handle);
    fortran_put_request(r, request, NULL, handle);
  } else {
    NEXT(mpi_grequest_start_, void *, void *, void *, void *, int *, int *);
    next_(query, release, cancel, extra, request, error);
  }
  layer_leave(mode);
}

/* ---- error handlers ---- */

void mpi_comm_create_errhandler_(void *function, int *handler, int *error)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    MPI_Errhandler made;
    *error = errors_create_fortran(function, &made);
    fortran_put_errhandler(r, handler, NULL, made);
  } else {
    NEXT(mpi_comm_create_errhandler_, void *, int *, int *);
    next_(function, handler, error);
  }
  layer_leave(mode);
}

void mpi_errhandler_create_(void *function, int *handler, int *error)
{
  mpi_comm_create_errhandler_(function, handler, error);
}
