/* Defines the Fortran calls that are not regular. wrappers.awk writes the regular ones. Outside of
 * a run under a protocol, each call calls SMPI's own function. An array that is in use across a
 * wait lies in the arena. */
#include "include/recline.h"
#include "sim/mpi/calls/init.h"
#include "sim/mpi/fortran/fortran.h"

#include <simgrid/version.h>
#include <string.h>

/* ---- beginning and end ---- */

void mpi_init_(int *error)
{
  *error = MPI_SUCCESS;
  if (layer_joins_world())
    return;
  layer_enter();
  layer_need_simulator();
  fortran_begin();
  NEXT(mpi_init_);
  next_(error);
  layer_leave(layer_init());
}

void mpi_init_thread_(int *required, int *provided, int *error)
{
  *error = MPI_SUCCESS;
  if (layer_joins_world()) {
    *provided = layer_thread_level(*required);
    return;
  }
  layer_enter();
  layer_need_simulator();
  fortran_begin();
  NEXT(mpi_init_thread_);
  next_(required, provided, error);
  struct arena *arena = layer_init();
  if (arena)
    *provided = layer_thread_level(*required);
  layer_leave(arena);
}

void mpi_query_thread_(int *provided, int *error)
{
  *error = MPI_Query_thread(provided);
}

void mpi_finalize_(int *error)
{
  if (rank_self()) {
    *error = MPI_Finalize();
    return;
  }
  NEXT(mpi_finalize_);
  next_(error);
}

/* ---- attributes: C gives the address of the value, Fortran gets the value ---- */

#define GET_ATTRIBUTE_CALL(name, in_c, get_handle)                                                 \
  FORTRAN_CALL(name, (int *holder, int *key, int *value, int *flag, int *error),                   \
               (holder, key, value, flag, error), int *where = NULL;                               \
               *error = in_c(get_handle(r, holder), *key, &where, flag);                           \
               if (*flag && where) *value = *where)

/* Returns the address of a copy of the value. That address becomes the attribute. The copy is as
 * wide as the values of module mpi_f08 (wrap_f08.c). */
static MPI_Aint *kept(struct rank *r, int value)
{
  MPI_Aint *copy = rank_alloc(r, sizeof *copy);
  *copy = value;
  return copy;
}

#define SET_ATTRIBUTE_CALL(name, in_c, get_handle)                                                 \
  FORTRAN_CALL(name, (int *holder, int *key, int *value, int *error), (holder, key, value, error), \
               *error = in_c(get_handle(r, holder), *key, kept(r, *value)))

GET_ATTRIBUTE_CALL(mpi_comm_get_attr_, MPI_Comm_get_attr, fortran_get_comm)
SET_ATTRIBUTE_CALL(mpi_comm_set_attr_, MPI_Comm_set_attr, fortran_get_comm)
GET_ATTRIBUTE_CALL(mpi_type_get_attr_, MPI_Type_get_attr, fortran_get_type)
SET_ATTRIBUTE_CALL(mpi_type_set_attr_, MPI_Type_set_attr, fortran_get_type)
SET_ATTRIBUTE_CALL(mpi_win_set_attr_, MPI_Win_set_attr, fortran_get_window)

/* MPI 1 has these names for two of the calls above. */
void mpi_attr_get_(int *comm, int *key, int *value, int *flag, int *error)
{
  mpi_comm_get_attr_(comm, key, value, flag, error);
}

void mpi_attr_put_(int *comm, int *key, int *value, int *error)
{
  mpi_comm_set_attr_(comm, key, value, error);
}

/* ---- others ---- */

/* Sets a name, which ends with blanks in Fortran. */
static int set_name(struct rank *r, const int *comm, const char *name, size_t length)
{
  char *copy = fortran_text(name, length);
  int error = MPI_Comm_set_name(fortran_get_comm(r, comm), copy);
  g_free(copy);
  return error;
}

static int create_struct(struct rank *r, int count, const int *lengths, const MPI_Aint *places,
                         const int *types, int *made)
{
  MPI_Datatype *handles = rank_alloc(r, (size_t)count * sizeof *handles), type;
  for (int i = 0; i < count; i++)
    handles[i] = fortran_get_type(r, &types[i]);
  int error = MPI_Type_create_struct(count, lengths, places, handles, &type);
  if (error == MPI_SUCCESS)
    fortran_put_type(r, made, NULL, type);
  rank_free(handles);
  return error;
}

FORTRAN_CALL(mpi_type_create_struct_,
             (int *count, int *lengths, MPI_Aint *places, int *types, int *made, int *error),
             (count, lengths, places, types, made, error),
             *error = create_struct(r, *count, lengths, places, types, made))

FORTRAN_CALL(mpi_comm_set_name_, (int *comm, char *name, int *error, size_t length),
             (comm, name, error, length), *error = set_name(r, comm, name, length))

static int get_name(struct rank *r, const int *comm, char *name, int *length, size_t size)
{
  char found[MPI_MAX_OBJECT_NAME];
  int error = MPI_Comm_get_name(fortran_get_comm(r, comm), found, length);
  *length = MIN(*length, (int)size);
  fortran_put_text(name, size, found);
  return error;
}

FORTRAN_CALL(mpi_comm_get_name_, (int *comm, char *name, int *length, int *error, size_t size),
             (comm, name, length, error, size), *error = get_name(r, comm, name, length, size))

static int add_error_string(const int *code, const char *text, size_t length)
{
  g_autofree char *copy = fortran_text(text, length);
  return MPI_Add_error_string(*code, copy);
}

FORTRAN_CALL(mpi_add_error_string_, (int *code, char *text, int *error, size_t length),
             (code, text, error, length), ((void)r, *error = add_error_string(code, text, length)))

static int get_error_string(const int *code, char *text, int *length, size_t size)
{
  char found[MPI_MAX_ERROR_STRING];
  int error = MPI_Error_string(*code, found, length);
  *length = MIN(*length, (int)size);
  fortran_put_text(text, size, found);
  return error;
}

FORTRAN_CALL(mpi_error_string_, (int *code, char *text, int *length, int *error, size_t size),
             (code, text, length, error, size),
             ((void)r, *error = get_error_string(code, text, length, size)))

/* Fills the bytes behind a name with blanks, also with SMPI alone, because SMPI leaves these bytes
 * unchanged. */
static void put_name(char *text, size_t room, int *length, const char *name)
{
  *length = MIN(*length, (int)room);
  fortran_put_text(text, room, name);
}

void mpi_get_processor_name_(char *text, int *length, int *error, size_t room)
{
  char name[MPI_MAX_PROCESSOR_NAME];
  *error = MPI_Get_processor_name(name, length);
  put_name(text, room, length, name);
}

void mpi_get_library_version_(char *text, int *length, int *error, size_t room)
{
  char name[MPI_MAX_LIBRARY_VERSION_STRING];
  *error = MPI_Get_library_version(name, length);
  put_name(text, room, length, name);
}

void mpi_type_get_name_(const int *type, char *text, int *length, int *error, size_t room)
{
  char name[MPI_MAX_OBJECT_NAME];
  *error = MPI_Type_get_name(PMPI_Type_f2c(*type), name, length);
  put_name(text, room, length, name);
}

/* Kinds of topologies count from 1 in SMPI's C and from 0 in its Fortran. */
FORTRAN_CALL(mpi_topo_test_, (int *comm, int *kind, int *error), (comm, kind, error),
             *error = MPI_Topo_test(fortran_get_comm(r, comm), kind);
             *kind = *kind == MPI_UNDEFINED ? *kind : *kind - 1)

void mpi_pcontrol_(int *level, int *error)
{
  *error = MPI_Pcontrol(*level);
}

double mpi_wtime_(void)
{
  return MPI_Wtime();
}

double mpi_wtick_(void)
{
  return MPI_Wtick();
}

void smpi_execute_flops_(const double *flops)
{
  smpi_execute_flops(*flops);
}

void smpi_execute_flops_benched_(const double *flops)
{
  smpi_execute_flops_benched(*flops);
}

void smpi_execute_(const double *seconds)
{
  smpi_execute(*seconds);
}

void smpi_execute_benched_(const double *seconds)
{
  smpi_execute_benched(*seconds);
}

/* The function of SimGrid 4 has one more parameter, the name of the call. */
#if SIMGRID_VERSION_MAJOR >= 4
#define CALL , const char *call
#define CALL_PASSED , call
#else
#define CALL
#define CALL_PASSED
#endif

void smpi_trace_set_call_location_(const char *file, const int *line CALL)
{
  struct arena *mode = layer_enter();
  smpi_trace_set_call_location(file, *line CALL_PASSED);
  layer_leave(mode);
}

void smpi_trace_set_call_location__(const char *file, const int *line CALL)
{
  smpi_trace_set_call_location_(file, line CALL_PASSED);
}

/* Converts a size for the calls of recline.h. */
static size_t fortran_size(long long bytes)
{
  return bytes > 0 ? (size_t)bytes : 0;
}

void recline_potential_checkpoint_(void)
{
  recline_potential_checkpoint();
}

void recline_request_checkpoint_(void)
{
  recline_request_checkpoint();
}

void recline_iteration_(const int *iteration)
{
  recline_iteration((unsigned)*iteration);
}

void recline_iteration_bytes_(const long long *bytes)
{
  recline_iteration_bytes(*bytes > 0 ? (unsigned long long)*bytes : 0);
}

void recline_image_bytes_(const long long *bytes)
{
  recline_image_bytes(*bytes > 0 ? (unsigned long long)*bytes : 0);
}

void recline_output_(const char *text, size_t length)
{
  recline_output(text, length);
}

int recline_choose_(const int *count)
{
  return recline_choose(*count);
}

void recline_protect_(const int *id, void *address, const long long *bytes)
{
  recline_protect(*id, address, fortran_size(*bytes));
}

void recline_protect_items_(const int *id, void *address, const long long *count, const int *item)
{
  recline_protect_items(*id, address, fortran_size(*count), (enum recline_item) * item);
}

/* Reverses the order of the dimensions, because in Fortran the first dimension is contiguous.
 * Places count from 1 in Fortran. */
void recline_protect_distributed_(const int *id, void *address, const int *item,
                                  const int *dimensions, const long long whole[],
                                  const long long first[], const long long part[])
{
  enum { DIMENSIONS = 3 };
  long long turned[3][DIMENSIONS] = {{0}};
  for (int d = 0; d < *dimensions && d < DIMENSIONS; d++) {
    int of = *dimensions - 1 - d;
    turned[0][d] = of < DIMENSIONS ? whole[of] : 0;
    turned[1][d] = of < DIMENSIONS ? first[of] - 1 : 0;
    turned[2][d] = of < DIMENSIONS ? part[of] : 0;
  }
  recline_protect_distributed(*id, address, (enum recline_item) * item, *dimensions, turned[0],
                              turned[1], turned[2]);
}

void recline_unprotect_(const int *id)
{
  recline_unprotect(*id);
}

int recline_restarts_(void)
{
  return (int)recline_restarts();
}

long long recline_protected_bytes_(const int *id)
{
  return (long long)recline_protected_bytes(*id);
}

int recline_restore_(void)
{
  return (int)recline_restore();
}

void recline_push_(const int *position)
{
  recline_push(*position);
}

void recline_pop_(void)
{
  recline_pop();
}

int recline_resume_(void)
{
  return recline_resume();
}
