/* Defines the MPI calls that programs make. They come in front of the calls of the MPI library, and
 * pass messages between processes through the protocol. If the environment names no folder for
 * checkpoints, they only call the library.
 *
 * A send is complete when its bytes are copied. The handle of a receive that is under way is a
 * generalized request. Data are packed when they are sent. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/real_calls.h"
#include "mpi/real_host.h"
#include "protocols/protocol.h"

/* Describes a receive under way. */
struct pending {
  MPI_Request handle;
  struct real_receive *receive;
  void *to;
  int count;
  MPI_Datatype type;
};

static struct pending *pending;
static uint32_t pending_count, pending_room;

static bool is_ours(MPI_Comm comm)
{
  if (real_is_on() && comm != MPI_COMM_WORLD)
    real_refuse("communication on another communicator", "MPI_COMM_WORLD");
  return real_is_on();
}

/* ---- data ---- */

static size_t packed_size(int count, MPI_Datatype type)
{
  int size;
  PMPI_Type_size(type, &size);
  return (size_t)count * (size_t)size;
}

/* Returns the packed data, and sets *size to their number of bytes. The caller frees the data. */
static void *pack(const void *from, int count, MPI_Datatype type, size_t *size)
{
  enum real_activity before = real_switch(REAL_MPI);
  int position = 0, room;
  PMPI_Pack_size(count, type, MPI_COMM_WORLD, &room);
  void *bytes = memory_grow(NULL, (size_t)room + 1);
  PMPI_Pack(from, count, type, bytes, room, &position, MPI_COMM_WORLD);
  *size = (size_t)position;
  real_switch(before);
  return bytes;
}

static void unpack(const void *bytes, size_t size, void *to, int count, MPI_Datatype type)
{
  enum real_activity before = real_switch(REAL_MPI);
  int position = 0;
  PMPI_Unpack(bytes, (int)size, &position, to, count, type, MPI_COMM_WORLD);
  real_switch(before);
}

static int set_status(MPI_Status *status, int source, int tag, size_t size)
{
  if (status == MPI_STATUS_IGNORE)
    return MPI_SUCCESS;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  status->MPI_ERROR = MPI_SUCCESS;
  PMPI_Status_set_cancelled(status, 0);
  return PMPI_Status_set_elements(status, MPI_BYTE, (int)size);
}

static void give(struct real_receive *receive, void *to, int count, MPI_Datatype type,
                 MPI_Status *status)
{
  int source, tag, one;
  size_t size;
  void *bytes = real_take(receive, &size, &source, &tag);
  if (size > packed_size(count, type))
    real_refuse("a receive with less room than the message has", "as much, or more");
  PMPI_Type_size(type, &one);
  unpack(bytes, size, to, one ? (int)(size / (size_t)one) : 0, type);
  free(bytes);
  set_status(status, source, tag, size);
}

static int rank_of(int peer)
{
  return peer == MPI_ANY_SOURCE ? RCL_ANY : peer;
}

static int tag_of(int tag)
{
  return tag == MPI_ANY_TAG ? RCL_ANY : tag;
}

/* ---- point to point ---- */

int MPI_Send(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  if (!is_ours(comm))
    return PMPI_Send(from, count, type, to, tag, comm);
  if (to == MPI_PROC_NULL)
    return MPI_SUCCESS;
  size_t size;
  void *bytes = pack(from, count, type, &size);
  real_send(to, tag, REAL_WORLD, bytes, size);
  free(bytes);
  return MPI_SUCCESS;
}

int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  if (!is_ours(comm))
    return PMPI_Isend(from, count, type, to, tag, comm, request);
  *request = MPI_REQUEST_NULL;
  return MPI_Send(from, count, type, to, tag, comm);
}

int MPI_Recv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
  if (!is_ours(comm))
    return PMPI_Recv(to, count, type, from, tag, comm, status);
  if (from == MPI_PROC_NULL)
    return set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  struct real_receive *receive = real_post(rank_of(from), tag_of(tag), REAL_WORLD);
  real_wait(receive);
  give(receive, to, count, type, status);
  return MPI_SUCCESS;
}

static int query(void *ctx, MPI_Status *status)
{
  (void)ctx;
  return set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

static int release(void *ctx)
{
  (void)ctx;
  return MPI_SUCCESS;
}

static int cancel(void *ctx, int complete)
{
  (void)ctx;
  if (!complete)
    real_refuse("MPI_Cancel", "a receive that is waited for");
  return MPI_SUCCESS;
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  if (!is_ours(comm))
    return PMPI_Irecv(to, count, type, from, tag, comm, request);
  *request = MPI_REQUEST_NULL;
  if (from == MPI_PROC_NULL)
    return MPI_SUCCESS;
  pending = memory_room(pending, pending_count, &pending_room, sizeof *pending);
  struct pending *new = &pending[pending_count++];
  *new = (struct pending){.to = to, .count = count, .type = type};
  PMPI_Grequest_start(query, release, cancel, NULL, &new->handle);
  *request = new->handle;
  new->receive = real_post(rank_of(from), tag_of(tag), REAL_WORLD);
  return MPI_SUCCESS;
}

static struct pending *pending_of(MPI_Request request)
{
  for (uint32_t i = 0; i < pending_count; i++)
    if (pending[i].handle == request)
      return &pending[i];
  return NULL;
}

/* Completes the receive. */
static int finish(struct pending *p, MPI_Request *request, MPI_Status *status)
{
  struct pending was = *p;
  memmove(p, p + 1, (size_t)(pending + pending_count - p - 1) * sizeof *p);
  pending_count--;
  give(was.receive, was.to, was.count, was.type, status);
  PMPI_Grequest_complete(was.handle);
  return PMPI_Wait(request, MPI_STATUS_IGNORE);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
  struct pending *p = pending_of(*request);
  if (!p)
    return PMPI_Wait(request, status);
  real_wait(p->receive);
  return finish(p, request, status);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
  struct pending *p = pending_of(*request);
  if (!p)
    return PMPI_Test(request, flag, status);
  *flag = real_test(p->receive);
  return *flag ? finish(p, request, status) : MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
  for (int i = 0; i < count; i++)
    MPI_Wait(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
  return MPI_SUCCESS;
}

int MPI_Sendrecv(const void *from, int count, MPI_Datatype type, int to, int tag, void *in,
                 int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
  if (!is_ours(comm))
    return PMPI_Sendrecv(from, count, type, to, tag, in, in_count, in_type, source, in_tag, comm,
                         status);
  MPI_Send(from, count, type, to, tag, comm);
  return MPI_Recv(in, in_count, in_type, source, in_tag, comm, status);
}

/* ---- collectives ---- */

int MPI_Barrier(MPI_Comm comm)
{
  if (!is_ours(comm))
    return PMPI_Barrier(comm);
  real_calls_check_place();
  real_barrier();
  return MPI_SUCCESS;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  if (!is_ours(comm))
    return PMPI_Bcast(data, count, type, root, comm);
  size_t size;
  void *bytes = pack(data, count, type, &size);
  real_broadcast(root, bytes, size);
  unpack(bytes, size, data, count, type);
  free(bytes);
  return MPI_SUCCESS;
}

static int ranks(void)
{
  int size;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

static int own_rank(void)
{
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/* Puts the contributions of all processes, `count` items each, into `to`, by rank. */
static void unpack_all(const char *all, size_t size, void *to, int count, MPI_Datatype type)
{
  MPI_Aint low, extent;
  PMPI_Type_get_extent(type, &low, &extent);
  for (int i = 0; i < ranks(); i++)
    unpack(all + (size_t)i * size, size, (char *)to + i * count * extent, count, type);
}

static void *gather(int root, const void *from, int count, MPI_Datatype type, size_t *size)
{
  void *bytes = pack(from, count, type, size);
  void *all = memory_grow(NULL, (size_t)ranks() * *size + 1);
  real_gather(root, bytes, *size, all);
  free(bytes);
  return all;
}

int MPI_Gather(const void *from, int count, MPI_Datatype type, void *to, int to_count,
               MPI_Datatype to_type, int root, MPI_Comm comm)
{
  if (!is_ours(comm))
    return PMPI_Gather(from, count, type, to, to_count, to_type, root, comm);
  if (from == MPI_IN_PLACE)
    real_refuse("MPI_Gather in place", "two buffers");
  size_t size;
  void *all = gather(root, from, count, type, &size);
  if (own_rank() == root)
    unpack_all(all, size, to, to_count, to_type);
  free(all);
  return MPI_SUCCESS;
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm)
{
  if (!is_ours(comm))
    return PMPI_Allgather(from, count, type, to, to_count, to_type, comm);
  if (from == MPI_IN_PLACE)
    real_refuse("MPI_Allgather in place", "two buffers");
  size_t size;
  void *all = gather(0, from, count, type, &size);
  real_broadcast(0, all, (size_t)ranks() * size);
  unpack_all(all, size, to, to_count, to_type);
  free(all);
  return MPI_SUCCESS;
}

/* Always reduces in the order of ranks, so that results have the same digits in each run. */
int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
  if (!is_ours(comm))
    return PMPI_Reduce(from, to, count, type, op, root, comm);
  size_t size;
  const void *data = from == MPI_IN_PLACE ? to : from;
  char *all = gather(root, data, count, type, &size);
  int last = ranks() - 1;
  if (own_rank() == root)
    unpack(all + (size_t)last * size, size, to, count, type);
  MPI_Aint low, extent;
  PMPI_Type_get_true_extent(type, &low, &extent);
  char *one = memory_grow(NULL, (size_t)count * (size_t)extent + 1);
  for (int i = last - 1; i >= 0 && own_rank() == root; i--) {
    unpack(all + (size_t)i * size, size, one, count, type);
    PMPI_Reduce_local(one, to, count, type, op);
  }
  free(one);
  free(all);
  return MPI_SUCCESS;
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
  if (!is_ours(comm))
    return PMPI_Allreduce(from, to, count, type, op, comm);
  MPI_Reduce(from == MPI_IN_PLACE ? to : from, to, count, type, op, 0, comm);
  return MPI_Bcast(to, count, type, 0, comm);
}

/* Each process reduces all blocks, and takes its own block. */
int MPI_Reduce_scatter_block(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
  if (!is_ours(comm))
    return PMPI_Reduce_scatter_block(from, to, count, type, op, comm);
  MPI_Aint low, extent;
  PMPI_Type_get_extent(type, &low, &extent);
  size_t block = (size_t)count * (size_t)extent, size;
  char *all = memory_grow(NULL, (size_t)ranks() * block + 1);
  MPI_Allreduce(from == MPI_IN_PLACE ? to : from, all, count * ranks(), type, op, comm);
  void *own = pack(all + (size_t)own_rank() * block, count, type, &size);
  unpack(own, size, to, count, type);
  free(own);
  free(all);
  return MPI_SUCCESS;
}

/* ---- beginning and end ---- */

void real_calls_check_place(void)
{
  if (pending_count)
    real_refuse("a place for checkpoints while a receive is pending", "MPI_Wait before it");
}

static int begin(int result)
{
  real_check_environment();
  struct real_options options = real_options_of_environment();
  if (options.folder)
    real_begin(MPI_COMM_WORLD, &options);
  return result;
}

int MPI_Init(int *argc, char ***argv)
{
  return begin(PMPI_Init(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  return begin(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Finalize(void)
{
  if (real_is_on()) {
    real_calls_check_place();
    real_end(false);
  }
  free(pending);
  pending = NULL;
  pending_count = pending_room = 0;
  return PMPI_Finalize();
}
