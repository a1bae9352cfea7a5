#include "sim/mpi/fortran/fortran.h"
#include "include/mpi/mpi-4.h"
#include "include/mpi/values.h"
#include "sim/mpi/files/file.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/windows/window.h"

#include <dlfcn.h>
#include <string.h>

enum { COMM_WORLD = 0, COMM_SELF = -2, NO_HANDLE = -1 }; /* the numbers that SMPI's mpif.h uses */

/* The addresses of these variables stand for named constants of MPI, beside SMPI's own variables
 * (modules.awk). */
const int mpi_unweighted_, mpi_weights_empty_, mpi_errcodes_ignore_, mpi_argv_null_,
    mpi_argvs_null_;

/* mpi-4.h declares the variables for the two constants of ignored statuses. */
extern const int mpi_bottom_, mpi_in_place_;

void fortran_next(const char *name, void *function, size_t size)
{
  void *symbol = dlsym(RTLD_NEXT, name);
  if (!symbol)
    die(DIE_BREACH, "there is no %s behind the layer", name);
  memcpy(function, &symbol, size); /* ISO C knows no conversion to a function pointer */
}

int fortran_lacks(const char *name)
{
  die(DIE_INPUT, "SMPI has no %s in Fortran", name);
}

void *fortran_buffer(void *argument)
{
  if (argument == &mpi_bottom_)
    return MPI_BOTTOM;
  return argument == &mpi_in_place_ ? MPI_IN_PLACE : argument;
}

MPI_Status *fortran_status(void *argument)
{
  if (argument == &mpi_status_ignore_ || argument == &mpi_statuses_ignore_)
    return MPI_STATUS_IGNORE;
  return argument;
}

int *fortran_weights(void *argument)
{
  if (argument == &mpi_unweighted_)
    return MPI_UNWEIGHTED;
  return argument == &mpi_weights_empty_ ? MPI_WEIGHTS_EMPTY : argument;
}

/* ---- numbers of what SMPI's mpif.h lacks ---- */

/* a function of SMPI that no header declares */
void smpi_init_fortran_types(void) __attribute__((weak));

static struct {
  /* name of the first handle whose number differs from the number in mpif.h, or NULL if there is
   * none */
  const char *name;
  int number, found;
} wrong;

static void expect_number(const char *name, int number, int found)
{
  if (found == number || wrong.name)
    return;
  wrong.name = name;
  wrong.number = number;
  wrong.found = found;
}

#define FORTRAN_TYPE(NAME, NUMBER) expect_number(#NAME, NUMBER, PMPI_Type_c2f(NAME));
#define FORTRAN_OP(NAME, NUMBER) expect_number(#NAME, NUMBER, PMPI_Op_c2f(NAME));

/* SMPI gives a handle the next free number when SMPI is asked for the handle's number. */
void fortran_begin(void)
{
  static bool begun;
  if (begun)
    return;
  begun = true;
  if (smpi_init_fortran_types)
    smpi_init_fortran_types();
#include "fortran_numbers.h"
}

/* Returns the number. Ends the run if SMPI uses a different number than programs do. */
static int right_number(int number)
{
  if (wrong.name && number >= wrong.number)
    die(DIE_BREACH, "%s has the number %d in Fortran, expected %d", wrong.name, wrong.found,
        wrong.number);
  return number;
}

/* ---- tables in the MPI state ---- */

static void grow(struct rank *r, struct handles *handles)
{
  int capacity = handles->capacity ? 2 * handles->capacity : 16;
  struct handle *slot = rank_alloc(r, (size_t)capacity * sizeof *slot);
  if (handles->slot) {
    memcpy(slot, handles->slot, (size_t)handles->count * sizeof *slot);
    rank_free(handles->slot);
  }
  handles->slot = slot;
  handles->capacity = capacity;
}

static int add(struct rank *r, struct handles *handles, void *item)
{
  int number = handles->free;
  if (number) {
    handles->free = handles->slot[number - 1].next;
  } else {
    if (handles->count == handles->capacity)
      grow(r, handles);
    number = ++handles->count;
  }
  handles->slot[number - 1].item = item;
  return number;
}

static void *look_up(const struct handles *handles, int number)
{
  return number > 0 && number <= handles->count ? handles->slot[number - 1].item : NULL;
}

static void drop(struct handles *handles, int number)
{
  if (!look_up(handles, number))
    return;
  handles->slot[number - 1] = (struct handle){.next = handles->free};
  handles->free = number;
}

/* ---- texts ---- */

char *fortran_text(const char *argument, size_t length)
{
  return g_strstrip(g_strndup(argument, length));
}

void fortran_put_text(char *argument, size_t length, const char *text)
{
  memset(argument, ' ', length);
  memcpy(argument, text, MIN(strlen(text), length));
}

/* ---- communicators and requests ---- */

static MPI_Comm comm_from(struct rank *r, int number)
{
  if (number == COMM_WORLD)
    return MPI_COMM_WORLD;
  if (number == COMM_SELF)
    return (MPI_Comm)(void *)&r->mpi->self;
  return (MPI_Comm)look_up(&r->mpi->fortran_comms, number);
}

static int comm_number(struct rank *r, MPI_Comm handle)
{
  if (handle == MPI_COMM_NULL)
    return NO_HANDLE;
  struct comm *comm = comm_of(r, handle);
  if (comm == &r->mpi->world)
    return COMM_WORLD;
  if (comm == &r->mpi->self)
    return COMM_SELF;
  if (!comm->fortran)
    comm->fortran = add(r, &r->mpi->fortran_comms, comm);
  return comm->fortran;
}

MPI_Comm fortran_get_comm(struct rank *r, const void *argument)
{
  return comm_from(r, fortran_int(argument));
}

void fortran_put_comm(struct rank *r, void *argument, MPI_Comm before, MPI_Comm after)
{
  if (before && !after)
    drop(&r->mpi->fortran_comms, fortran_int(argument));
  *(int *)argument = comm_number(r, after);
}

static int request_number(struct rank *r, MPI_Request handle)
{
  struct request *request = request_of(handle);
  if (!request)
    return NO_HANDLE;
  if (!request->fortran)
    request->fortran = add(r, &r->mpi->fortran_requests, request);
  return request->fortran;
}

MPI_Request fortran_get_request(struct rank *r, const void *argument)
{
  int number = fortran_int(argument);
  MPI_Request request = (MPI_Request)look_up(&r->mpi->fortran_requests, number);
  if (!request && number != NO_HANDLE)
    die(DIE_INPUT, "rank %d: %d is not a request", r->index, number);
  return request;
}

void fortran_put_request(struct rank *r, void *argument, MPI_Request before, MPI_Request after)
{
  if (before && !after)
    drop(&r->mpi->fortran_requests, fortran_int(argument));
  *(int *)argument = request_number(r, after);
}

/* ---- messages, which are receives ---- */

MPI_Message MPI_Message_f2c(MPI_Fint number)
{
  LOOK_UP((MPI_Message)fortran_get_request(r, &number), PMPI_Message_f2c(number));
}

MPI_Message fortran_get_message(struct rank *r, const void *argument)
{
  return (MPI_Message)fortran_get_request(r, argument);
}

void fortran_put_message(struct rank *r, void *argument, MPI_Message before, MPI_Message after)
{
  (void)before; /* the receive forgets its number in Fortran */
  *(int *)argument = request_number(r, (MPI_Request)after);
}

LOOK_UP_CALL(Message_c2f, (message), request_number(r, (MPI_Request)message))

void fortran_forget_message(struct rank *r, struct request *message)
{
  if (message->fortran)
    drop(&r->mpi->fortran_requests, message->fortran);
}

/* ---- files: 0 is none ---- */

MPI_File fortran_get_file(struct rank *r, const void *argument)
{
  return (MPI_File)look_up(&r->mpi->fortran_files, fortran_int(argument));
}

static int file_number(struct rank *r, MPI_File handle)
{
  if (handle == MPI_FILE_NULL)
    return 0;
  struct file *file = file_of(r, handle);
  if (!file->fortran)
    file->fortran = add(r, &r->mpi->fortran_files, file);
  return file->fortran;
}

void fortran_put_file(struct rank *r, void *argument, MPI_File before, MPI_File after)
{
  if (before && !after)
    drop(&r->mpi->fortran_files, fortran_int(argument));
  *(int *)argument = file_number(r, after);
}

MPI_File MPI_File_f2c(MPI_Fint number)
{
  LOOK_UP(fortran_get_file(r, &number), PMPI_File_f2c(number));
}

LOOK_UP_CALL(File_c2f, (file), file_number(r, file))

/* ---- windows ---- */

MPI_Win fortran_get_window(struct rank *r, const void *argument)
{
  return (MPI_Win)look_up(&r->mpi->fortran_windows, fortran_int(argument));
}

static int window_number(struct rank *r, MPI_Win handle)
{
  if (handle == MPI_WIN_NULL)
    return NO_HANDLE;
  struct window *window = window_of(r, handle);
  if (!window->fortran)
    window->fortran = add(r, &r->mpi->fortran_windows, window);
  return window->fortran;
}

void fortran_put_window(struct rank *r, void *argument, MPI_Win before, MPI_Win after)
{
  if (before && !after)
    drop(&r->mpi->fortran_windows, fortran_int(argument));
  *(int *)argument = window_number(r, after);
}

MPI_Win MPI_Win_f2c(MPI_Fint number)
{
  LOOK_UP(fortran_get_window(r, &number), PMPI_Win_f2c(number));
}

LOOK_UP_CALL(Win_c2f, (window), window_number(r, window))

/* ---- sessions: 0 is none ---- */

MPI_Session fortran_get_session(struct rank *r, const void *argument)
{
  return r ? look_up(&r->mpi->fortran_sessions, fortran_int(argument)) : NULL;
}

void fortran_put_session(struct rank *r, void *argument, MPI_Session before, MPI_Session after)
{
  if (before && !after)
    drop(&r->mpi->fortran_sessions, fortran_int(argument));
  *(int *)argument = after ? add(r, &r->mpi->fortran_sessions, after) : 0;
}

/* ---- other handles in C ---- */

MPI_Comm MPI_Comm_f2c(MPI_Fint number)
{
  LOOK_UP(comm_from(r, number), PMPI_Comm_f2c(number));
}

LOOK_UP_CALL(Comm_c2f, (comm), comm_number(r, comm))

MPI_Request MPI_Request_f2c(MPI_Fint number)
{
  LOOK_UP(fortran_get_request(r, &number), PMPI_Request_f2c(number));
}

LOOK_UP_CALL(Request_c2f, (request), request_number(r, request))

/* ---- SMPI's own ---- */

#define SMPI_HANDLE(TYPE, NAME, FROM, NUMBER, NOTHING)                                             \
  TYPE fortran_get_##NAME(struct rank *r, const void *argument)                                    \
  {                                                                                                \
    (void)r;                                                                                       \
    return fortran_int(argument) == NO_HANDLE ? NOTHING : FROM(fortran_int(argument));             \
  }                                                                                                \
                                                                                                   \
  void fortran_put_##NAME(struct rank *r, void *argument, TYPE before, TYPE after)                 \
  {                                                                                                \
    (void)r;                                                                                       \
    (void)before;                                                                                  \
    *(int *)argument = !after || after == NOTHING ? NO_HANDLE : NUMBER(after);                     \
  }

enum { INFO_ENV = -2 }; /* the number that recline's mpif.h uses */

static MPI_Info info_from(int number)
{
  return number == INFO_ENV ? MPI_INFO_ENV : PMPI_Info_f2c(number);
}

static MPI_Datatype type_from(int number)
{
  return PMPI_Type_f2c(right_number(number));
}

static MPI_Op op_from(int number)
{
  return PMPI_Op_f2c(right_number(number));
}

SMPI_HANDLE(MPI_Datatype, type, type_from, PMPI_Type_c2f, MPI_DATATYPE_NULL)
SMPI_HANDLE(MPI_Op, op, op_from, PMPI_Op_c2f, MPI_OP_NULL)
SMPI_HANDLE(MPI_Group, group, PMPI_Group_f2c, PMPI_Group_c2f, MPI_GROUP_NULL)
SMPI_HANDLE(MPI_Info, info, info_from, PMPI_Info_c2f, MPI_INFO_NULL)
SMPI_HANDLE(MPI_Errhandler, errhandler, PMPI_Errhandler_f2c, PMPI_Errhandler_c2f,
            MPI_ERRHANDLER_NULL)

/* ---- several requests ---- */

MPI_Request *fortran_get_requests(struct rank *r, const int *count, const int *requests)
{
  MPI_Request *handles = rank_alloc(r, (size_t)*count * sizeof(MPI_Request));
  for (int i = 0; i < *count; i++)
    handles[i] = fortran_get_request(r, &requests[i]);
  return handles;
}

/* Converts requests back to numbers, and forgets completed requests. */
void fortran_put_requests(struct rank *r, const int *count, int *requests, MPI_Request *handles)
{
  for (int i = 0; i < *count; i++) {
    MPI_Request before = fortran_get_request(r, &requests[i]);
    if (before != handles[i])
      fortran_put_request(r, &requests[i], before, handles[i]);
  }
  rank_free(handles);
}

/* Increases each index by one, because Fortran counts from 1. */
void fortran_count_from_one(int *indices, int count)
{
  for (int i = 0; i < count; i++)
    if (indices[i] != MPI_UNDEFINED)
      indices[i]++;
}

/* ---- a type for each block ---- */

/* In a call in place, this rank's data have neither counts nor types. */
MPI_Datatype *fortran_get_types(struct rank *r, const void *comm, void *buffer, const int *numbers)
{
  int size = comm_peers(comm_of(r, fortran_get_comm(r, comm)))->size;
  MPI_Datatype *types = rank_alloc(r, (size_t)size * sizeof(MPI_Datatype));
  for (int i = 0; fortran_buffer(buffer) != MPI_IN_PLACE && i < size; i++)
    types[i] = fortran_get_type(r, &numbers[i]);
  return types;
}

MPI_Datatype *fortran_get_neighbours_types(struct rank *r, const void *comm, bool sent,
                                           const int *numbers)
{
  const struct topology *topology = &comm_of(r, fortran_get_comm(r, comm))->topology;
  int count = sent ? topology->to.count : topology->from.count;
  MPI_Datatype *types = rank_alloc(r, ((size_t)count + 1) * sizeof(MPI_Datatype));
  for (int i = 0; i < count; i++)
    types[i] = fortran_get_type(r, &numbers[i]);
  return types;
}
