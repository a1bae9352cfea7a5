/* The Fortran calls that are not regular; wrappers.awk writes the others. Outside of a run under a
 * protocol each is SMPI's own. An array that is in use across a wait lies in the arena. */
#include "sim/cc/recline.h"
#include "sim/mpi/fortran.h"
#include "sim/mpi/init.h"

#include <string.h>

/* ---- beginning and end ---- */

void mpi_init_(int *error)
{
  layer_enter();
  layer_need_simulator();
  NEXT(mpi_init_, int *);
  next_(error);
  layer_leave(layer_init(__builtin_return_address(0)));
}

void mpi_init_thread_(int *required, int *provided, int *error)
{
  layer_enter();
  layer_need_simulator();
  NEXT(mpi_init_thread_, int *, int *, int *);
  next_(required, provided, error);
  struct arena *arena = layer_init(__builtin_return_address(0));
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
  NEXT(mpi_finalize_, int *);
  next_(error);
}

/* ---- several requests ---- */

static MPI_Request *get_requests(struct rank *r, int count, const int *requests)
{
  MPI_Request *handles = rank_alloc(r, (size_t)count * sizeof(MPI_Request));
  for (int i = 0; i < count; i++)
    handles[i] = fortran_get_request(r, &requests[i]);
  return handles;
}

/* Completed requests are no more. */
static void put_requests(struct rank *r, int count, int *requests, MPI_Request *handles)
{
  for (int i = 0; i < count; i++) {
    MPI_Request before = fortran_get_request(r, &requests[i]);
    if (before != handles[i])
      fortran_put_request(r, &requests[i], before, handles[i]);
  }
  rank_free(handles);
}

/* Calls SMPI's NAME, or CALL with `handles` set; results become Fortran's by TRANSLATE. */
#define SEVERAL(NAME, TYPES, ARGUMENTS, CALL, TRANSLATE)                                           \
  struct arena *mode = layer_enter();                                                              \
  struct rank *r = rank_self();                                                                    \
  if (r) {                                                                                         \
    MPI_Request *handles = get_requests(r, *count, requests);                                      \
    *error = CALL;                                                                                 \
    put_requests(r, *count, requests, handles);                                                    \
    TRANSLATE;                                                                                     \
  } else {                                                                                         \
    NEXT(NAME, TYPES);                                                                             \
    next_ ARGUMENTS;                                                                               \
  }                                                                                                \
  layer_leave(mode)
#define LIST(...) __VA_ARGS__

/* Fortran counts from 1. */
static void count_from_one(int *indices, int count)
{
  for (int i = 0; i < count; i++)
    if (indices[i] != MPI_UNDEFINED)
      indices[i]++;
}

void mpi_startall_(int *count, int *requests, int *error)
{
  SEVERAL(mpi_startall_, LIST(int *, int *, int *), (count, requests, error),
          MPI_Startall(*count, handles), );
}

void mpi_waitall_(int *count, int *requests, void *statuses, int *error)
{
  SEVERAL(mpi_waitall_, LIST(int *, int *, void *, int *), (count, requests, statuses, error),
          MPI_Waitall(*count, handles, fortran_status(statuses)), );
}

void mpi_testall_(int *count, int *requests, int *flag, void *statuses, int *error)
{
  SEVERAL(mpi_testall_, LIST(int *, int *, int *, void *, int *),
          (count, requests, flag, statuses, error),
          MPI_Testall(*count, handles, flag, fortran_status(statuses)), );
}

void mpi_waitany_(int *count, int *requests, int *index, void *status, int *error)
{
  SEVERAL(mpi_waitany_, LIST(int *, int *, int *, void *, int *),
          (count, requests, index, status, error),
          MPI_Waitany(*count, handles, index, fortran_status(status)), count_from_one(index, 1));
}

void mpi_testany_(int *count, int *requests, int *index, int *flag, void *status, int *error)
{
  SEVERAL(mpi_testany_, LIST(int *, int *, int *, int *, void *, int *),
          (count, requests, index, flag, status, error),
          MPI_Testany(*count, handles, index, flag, fortran_status(status)),
          count_from_one(index, 1));
}

void mpi_waitsome_(int *count, int *requests, int *taken, int *indices, void *statuses, int *error)
{
  SEVERAL(mpi_waitsome_, LIST(int *, int *, int *, int *, void *, int *),
          (count, requests, taken, indices, statuses, error),
          MPI_Waitsome(*count, handles, taken, indices, fortran_status(statuses)),
          count_from_one(indices, *taken));
}

void mpi_testsome_(int *count, int *requests, int *taken, int *indices, void *statuses, int *error)
{
  SEVERAL(mpi_testsome_, LIST(int *, int *, int *, int *, void *, int *),
          (count, requests, taken, indices, statuses, error),
          MPI_Testsome(*count, handles, taken, indices, fortran_status(statuses)),
          count_from_one(indices, *taken));
}

/* ---- a type for each block ---- */

static MPI_Datatype *get_types(struct rank *r, const int *comm, const int *numbers)
{
  int size;
  MPI_Comm_size(fortran_get_comm(r, comm), &size);
  MPI_Datatype *types = rank_alloc(r, (size_t)size * sizeof(MPI_Datatype));
  for (int i = 0; numbers && i < size; i++)
    types[i] = fortran_get_type(r, &numbers[i]);
  return types;
}

/* In place, what this rank gives has neither counts nor types. */
static const int *unless_in_place(void *out, const int *argument)
{
  return fortran_buffer(out) == MPI_IN_PLACE ? NULL : argument;
}

void mpi_alltoallw_(void *out, int *out_counts, int *out_starts, int *out_types, void *in,
                    int *in_counts, int *in_starts, int *in_types, int *comm, int *error)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    MPI_Datatype *gives = get_types(r, comm, unless_in_place(out, out_types));
    MPI_Datatype *gets = get_types(r, comm, in_types);
    *error = MPI_Alltoallw(fortran_buffer(out), out_counts, out_starts, gives, fortran_buffer(in),
                           in_counts, in_starts, gets, fortran_get_comm(r, comm));
    rank_free(gives);
    rank_free(gets);
  } else {
    NEXT(mpi_alltoallw_, void *, int *, int *, int *, void *, int *, int *, int *, int *, int *);
    next_(out, out_counts, out_starts, out_types, in, in_counts, in_starts, in_types, comm, error);
  }
  layer_leave(mode);
}

void mpi_ialltoallw_(void *out, int *out_counts, int *out_starts, int *out_types, void *in,
                     int *in_counts, int *in_starts, int *in_types, int *comm, int *request,
                     int *error)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    MPI_Datatype *gives = get_types(r, comm, unless_in_place(out, out_types));
    MPI_Datatype *gets = get_types(r, comm, in_types);
    MPI_Request handle = MPI_REQUEST_NULL;
    *error = MPI_Ialltoallw(fortran_buffer(out), out_counts, out_starts, gives, fortran_buffer(in),
                            in_counts, in_starts, gets, fortran_get_comm(r, comm), &handle);
    fortran_put_request(r, request, NULL, handle);
    rank_free(gives);
    rank_free(gets);
  } else {
    NEXT(mpi_ialltoallw_, void *, int *, int *, int *, void *, int *, int *, int *, int *, int *,
         int *);
    next_(out, out_counts, out_starts, out_types, in, in_counts, in_starts, in_types, comm, request,
          error);
  }
  layer_leave(mode);
}

/* ---- attributes: C gives the address of the value, Fortran gets the value ---- */

#define GET_ATTRIBUTE_CALL(name, in_c, get_handle)                                                 \
  void name(int *holder, int *key, int *value, int *flag, int *error)                              \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    struct rank *r = rank_self();                                                                  \
    if (r) {                                                                                       \
      int *where = NULL;                                                                           \
      *error = in_c(get_handle(r, holder), *key, &where, flag);                                    \
      if (*flag && where)                                                                          \
        *value = *where;                                                                           \
    } else {                                                                                       \
      NEXT(name, int *, int *, int *, int *, int *);                                               \
      next_(holder, key, value, flag, error);                                                      \
    }                                                                                              \
    layer_leave(mode);                                                                             \
  }

/* So it is the address of a copy that is set. */
#define SET_ATTRIBUTE_CALL(name, in_c, get_handle)                                                 \
  void name(int *holder, int *key, int *value, int *error)                                         \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    struct rank *r = rank_self();                                                                  \
    if (r) {                                                                                       \
      int *kept = rank_alloc(r, sizeof *kept);                                                     \
      *kept = *value;                                                                              \
      *error = in_c(get_handle(r, holder), *key, kept);                                            \
    } else {                                                                                       \
      NEXT(name, int *, int *, int *, int *);                                                      \
      next_(holder, key, value, error);                                                            \
    }                                                                                              \
    layer_leave(mode);                                                                             \
  }

GET_ATTRIBUTE_CALL(mpi_comm_get_attr_, MPI_Comm_get_attr, fortran_get_comm)
SET_ATTRIBUTE_CALL(mpi_comm_set_attr_, MPI_Comm_set_attr, fortran_get_comm)
GET_ATTRIBUTE_CALL(mpi_type_get_attr_, MPI_Type_get_attr, fortran_get_type)
SET_ATTRIBUTE_CALL(mpi_type_set_attr_, MPI_Type_set_attr, fortran_get_type)

/* Their names in MPI 1. */
void mpi_attr_get_(int *comm, int *key, int *value, int *flag, int *error)
{
  mpi_comm_get_attr_(comm, key, value, flag, error);
}

void mpi_attr_put_(int *comm, int *key, int *value, int *error)
{
  mpi_comm_set_attr_(comm, key, value, error);
}

/* ---- others ---- */

/* Names: in Fortran they end with blanks. */
void mpi_comm_set_name_(int *comm, char *name, int *error, size_t length)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    char *copy = fortran_text(name, length);
    *error = MPI_Comm_set_name(fortran_get_comm(r, comm), copy);
    g_free(copy);
  } else {
    NEXT(mpi_comm_set_name_, int *, char *, int *, size_t);
    next_(comm, name, error, length);
  }
  layer_leave(mode);
}

void mpi_comm_get_name_(int *comm, char *name, int *length, int *error, size_t size)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    char found[MPI_MAX_OBJECT_NAME];
    *error = MPI_Comm_get_name(fortran_get_comm(r, comm), found, length);
    *length = MIN(*length, (int)size);
    fortran_put_text(name, size, found);
  } else {
    NEXT(mpi_comm_get_name_, int *, char *, int *, int *, size_t);
    next_(comm, name, length, error, size);
  }
  layer_leave(mode);
}

/* Kinds of topologies count from 1 in SMPI's C and from 0 in its Fortran. */
void mpi_topo_test_(int *comm, int *kind, int *error)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    *error = MPI_Topo_test(fortran_get_comm(r, comm), kind);
    *kind = *kind == MPI_UNDEFINED ? *kind : *kind - 1;
  } else {
    NEXT(mpi_topo_test_, int *, int *, int *);
    next_(comm, kind, error);
  }
  layer_leave(mode);
}

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

void smpi_trace_set_call_location_(const char *file, const int *line)
{
  struct arena *mode = layer_enter();
  smpi_trace_set_call_location(file, *line);
  layer_leave(mode);
}

void smpi_trace_set_call_location__(const char *file, const int *line)
{
  smpi_trace_set_call_location_(file, line);
}

/* recline.h */
void recline_potential_checkpoint_(void)
{
  recline_potential_checkpoint();
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

int recline_choose_(const int *count)
{
  return recline_choose(*count);
}
