/* Makes and calls error handlers of communicators, files and windows. The handlers are SMPI's
 * objects. The layer remembers the function of each handler and calls it itself, because SMPI does
 * not know the program's communicators. */
#include "sim/host/rank/faults.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/result/run_end.h"
#include "sim/mpi/files/file.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/windows/window.h"

#include <string.h>

struct function {
  enum errors_holder holder;
  MPI_Comm_errhandler_fn *in_c;
  MPI_File_errhandler_function *of_files;
  MPI_Win_errhandler_function *of_windows;
  void (*in_fortran)(int *handle, int *error); /* takes a handle of Fortran, which is an integer */
};

static GHashTable *functions; /* MPI_Errhandler -> struct function, of all ranks */

/* ---- making ---- */

static int keep(int result, struct function function, MPI_Errhandler handler)
{
  if (!functions)
    functions = g_hash_table_new(NULL, NULL);
  g_hash_table_insert(functions, handler, g_memdup2(&function, sizeof function));
  return result;
}

/* Makes an error handler that SMPI knows but never calls. */
static int make(struct function function, MPI_Errhandler *handler)
{
  int result = PMPI_Comm_create_errhandler(function.in_c, handler);
  return keep(result, function, *handler);
}

static int create_of_files(MPI_File_errhandler_function *function, MPI_Errhandler *handler)
{
  int result = PMPI_File_create_errhandler(function, handler);
  return keep(result, (struct function){.holder = ERRORS_OF_FILES, .of_files = function}, *handler);
}

LOOK_UP_CALL(File_create_errhandler, (function, handler), create_of_files(function, handler))

static int create_of_windows(MPI_Win_errhandler_function *function, MPI_Errhandler *handler)
{
  int result = PMPI_Win_create_errhandler(function, handler);
  return keep(result, (struct function){.holder = ERRORS_OF_WINDOWS, .of_windows = function},
              *handler);
}

LOOK_UP_CALL(Win_create_errhandler, (function, handler), create_of_windows(function, handler))

static int create(MPI_Comm_errhandler_fn *function, MPI_Errhandler *handler)
{
  return make((struct function){.in_c = function}, handler);
}

int errors_create_fortran(enum errors_holder holder, void *function, MPI_Errhandler *handler)
{
  struct function made = {.holder = holder};
  memcpy(&made.in_fortran, &function, sizeof function);
  return make(made, handler);
}

LOOK_UP_CALL(Comm_create_errhandler, (function, handler), create(function, handler))
LOOK_UP_CALL(Errhandler_create, (function, handler), create(function, handler))

/* Under the layer, error handlers are never freed, for the reason for which types are not
 * (type_reuse.h). */
LOOK_UP_CALL(Errhandler_free, (handler), (*handler = MPI_ERRHANDLER_NULL, (void)r, MPI_SUCCESS))

/* ---- of a communicator ---- */

static int set_handler(struct comm *comm, MPI_Errhandler handler)
{
  comm->errors = handler == MPI_ERRORS_ARE_FATAL ? NULL : handler;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Comm_set_errhandler, (comm, handler), set_handler(comm_of(r, comm), handler))
LOOK_UP_CALL(Errhandler_set, (comm, handler), set_handler(comm_of(r, comm), handler))

static int get_handler(const struct comm *comm, MPI_Errhandler *handler)
{
  *handler = comm->errors ? comm->errors : MPI_ERRORS_ARE_FATAL;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Comm_get_errhandler, (comm, handler), get_handler(comm_of(r, comm), handler))
LOOK_UP_CALL(Errhandler_get, (comm, handler), get_handler(comm_of(r, comm), handler))

/* ---- calling ---- */

static void call_handler(struct rank *r, struct comm *comm, int error)
{
  MPI_Comm handle = comm == &r->mpi->world ? MPI_COMM_WORLD : comm_handle(comm);
  const struct function *function = g_hash_table_lookup(functions, comm->errors);
  if (!function || function->holder == ERRORS_OF_FILES ||
      (function->holder == ERRORS_OF_WINDOWS && !comm->window))
    die(DIE_INPUT, "rank %d: not an error handler of communicators", r->index);
  MPI_Win window = window_handle(comm->window);
  int number = !function->in_fortran                   ? 0
               : function->holder == ERRORS_OF_WINDOWS ? MPI_Win_c2f(window)
                                                       : MPI_Comm_c2f(handle);
  /* the rank computes from here on, because the function may leave by a jump */
  rank_switch(r, ACTIVITY_COMPUTE);
  layer_leave(r->arena);
  if (function->in_fortran)
    function->in_fortran(&number, &error);
  else if (function->of_windows)
    function->of_windows(&window, &error);
  else
    function->in_c(&handle, &error);
  layer_enter();
  rank_switch(r, ACTIVITY_MPI);
}

/* Calls the error handler. Like call_handler(), allows for a function that leaves by a jump. */
void errors_call_of_files(struct rank *r, MPI_Errhandler errors, MPI_File file, int error)
{
  const struct function *function = functions ? g_hash_table_lookup(functions, errors) : NULL;
  if (!function || function->holder != ERRORS_OF_FILES)
    die(DIE_INPUT, "rank %d: not an error handler of files", r->index);
  int number = function->in_fortran ? MPI_File_c2f(file) : 0;
  rank_switch(r, ACTIVITY_COMPUTE);
  layer_leave(r->arena);
  if (function->in_fortran)
    function->in_fortran(&number, &error);
  else
    function->of_files(&file, &error);
  layer_enter();
  rank_switch(r, ACTIVITY_MPI);
}

int comm_error(struct rank *r, struct comm *comm, int error)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  struct comm *whose = comm ? comm : &r->mpi->world;
  if (error == MPI_SUCCESS || (r->mpi->call.inside && fault_text(error)))
    return error;
  if (!whose->errors) {
    error_string(r, error, text, &length);
    if (layer.result.audit_violations || fault_text(error) || shadow_global()->incarnation)
      run_stop(RUN_LOST, text); /* the error is in the recovery, not in the program */
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

WRAP_CALL(Comm_call_errhandler, (comm, error), raise_error(r, comm_of(r, comm), error))
