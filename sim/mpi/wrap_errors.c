/* Error handlers of communicators. The handlers are SMPI's objects; the layer remembers their
 * functions and calls them itself, as the program's communicators mean nothing to SMPI. */
#include "sim/host/end.h"
#include "sim/host/shadow.h"
#include "sim/mpi/comm.h"
#include "sim/mpi/wrap.h"

#include <string.h>

/* In Fortran it takes the integer of the communicator. */
struct function {
  MPI_Comm_errhandler_fn *in_c;
  void (*in_fortran)(int *comm, int *error);
};

static GHashTable *functions; /* MPI_Errhandler -> struct function, of all ranks */

/* ---- making ---- */

/* SMPI never calls it. */
static int make(struct function function, MPI_Errhandler *handler)
{
  int result = PMPI_Comm_create_errhandler(function.in_c, handler);
  if (!functions)
    functions = g_hash_table_new(NULL, NULL);
  g_hash_table_insert(functions, *handler, g_memdup2(&function, sizeof function));
  return result;
}

static int create(MPI_Comm_errhandler_fn *function, MPI_Errhandler *handler)
{
  return make((struct function){.in_c = function}, handler);
}

int errors_create_fortran(void *function, MPI_Errhandler *handler)
{
  struct function made = {.in_c = NULL};
  memcpy(&made.in_fortran, &function, sizeof function);
  return make(made, handler);
}

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_fn *function, MPI_Errhandler *handler)
{
  LOOK_UP(((void)r, create(function, handler)), PMPI_Comm_create_errhandler(function, handler));
}

int MPI_Errhandler_create(MPI_Comm_errhandler_fn *function, MPI_Errhandler *handler)
{
  LOOK_UP(((void)r, create(function, handler)), PMPI_Errhandler_create(function, handler));
}

/* As types, they are never freed under the layer. */
int MPI_Errhandler_free(MPI_Errhandler *handler)
{
  LOOK_UP((*handler = MPI_ERRHANDLER_NULL, (void)r, MPI_SUCCESS), PMPI_Errhandler_free(handler));
}

/* ---- of a communicator ---- */

static int set_handler(struct comm *comm, MPI_Errhandler handler)
{
  comm->errors = handler == MPI_ERRORS_ARE_FATAL ? NULL : handler;
  return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
  LOOK_UP(set_handler(comm_of(r, comm), handler), PMPI_Comm_set_errhandler(comm, handler));
}

int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler)
{
  LOOK_UP(set_handler(comm_of(r, comm), handler), PMPI_Errhandler_set(comm, handler));
}

static int get_handler(const struct comm *comm, MPI_Errhandler *handler)
{
  *handler = comm->errors ? comm->errors : MPI_ERRORS_ARE_FATAL;
  return MPI_SUCCESS;
}

int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handler)
{
  LOOK_UP(get_handler(comm_of(r, comm), handler), PMPI_Comm_get_errhandler(comm, handler));
}

int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler)
{
  LOOK_UP(get_handler(comm_of(r, comm), handler), PMPI_Errhandler_get(comm, handler));
}

/* ---- calling ---- */

static void call_handler(struct rank *r, struct comm *comm, int error)
{
  MPI_Comm handle = comm == &r->mpi->world ? MPI_COMM_WORLD : comm_handle(comm);
  const struct function *function = g_hash_table_lookup(functions, comm->errors);
  if (!function)
    die(DIE_INPUT, "rank %d: not an error handler of communicators", r->index);
  int number = function->in_fortran ? MPI_Comm_c2f(handle) : 0;
  heap_enter(r->arena);
  if (function->in_fortran)
    function->in_fortran(&number, &error);
  else
    function->in_c(&handle, &error);
  heap_leave();
}

int comm_error(struct rank *r, struct comm *comm, int error)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  struct comm *whose = comm ? comm : &r->mpi->world;
  if (error == MPI_SUCCESS)
    return error;
  if (!whose->errors) {
    PMPI_Error_string(error, text, &length);
    if (layer.result.audit_violations || shadow_global()->incarnation)
      run_stop(RUN_LOST, text); /* what is wrong is the recovery, not the program */
    die(DIE_INPUT, "rank %d: %s", r->index, text);
  }
  if (whose->errors != MPI_ERRORS_RETURN)
    call_handler(r, whose, error);
  return error;
}

static int raise_error(struct rank *r, struct comm *comm, int error)
{
  comm_error(r, comm, error);
  return MPI_SUCCESS;
}

int MPI_Comm_call_errhandler(MPI_Comm comm, int error)
{
  WRAP(raise_error(r, comm_of(r, comm), error), PMPI_Comm_call_errhandler(comm, error));
}
