/* Collectives: every one is made of messages that go through the protocol like any other. The
 * algorithms are the textbook ones; buffers that live across a wait lie in the arena. */
#include "collectives.h"
#include "p2p.h"
#include "wrap.h"

#include <string.h>

enum {
  TAG_BARRIER,
  TAG_BCAST,
  TAG_REDUCE,
  TAG_GATHER,
  TAG_SCATTER,
  TAG_ALLGATHER,
  TAG_ALLTOALL,
  TAG_SCAN
};

/* ---- pieces ---- */

static struct request *post(struct rank *r, void *buffer, int count, MPI_Datatype type, int from,
                            int tag, struct comm *comm)
{
  return p2p_receive(r, buffer, count, type, from, tag, comm, P2P_COLLECTIVE);
}

static struct request *put(struct rank *r, const void *buffer, int count, MPI_Datatype type, int to,
                           int tag, struct comm *comm)
{
  return p2p_send(r, buffer, count, type, to, tag, comm, P2P_COLLECTIVE);
}

static void done(struct rank *r, struct request *request)
{
  p2p_finish(r, request, MPI_STATUS_IGNORE);
}

static void receive(struct rank *r, void *buffer, int count, MPI_Datatype type, int from, int tag,
                    struct comm *comm)
{
  done(r, post(r, buffer, count, type, from, tag, comm));
}

static void send(struct rank *r, const void *buffer, int count, MPI_Datatype type, int to, int tag,
                 struct comm *comm)
{
  done(r, p2p_send(r, buffer, count, type, to, tag, comm, P2P_COLLECTIVE | P2P_BLOCKING));
}

static MPI_Aint extent_of(MPI_Datatype type)
{
  MPI_Aint low, extent;
  PMPI_Type_get_extent(type, &low, &extent);
  return extent;
}

static char *at(const void *buffer, MPI_Aint index, MPI_Datatype type)
{
  return (char *)(uintptr_t)buffer + index * extent_of(type);
}

/* Copies within the rank, between types. */
static void copy(struct rank *r, const void *from, int from_count, MPI_Datatype from_type, void *to,
                 int to_count, MPI_Datatype to_type)
{
  (void)r;
  int size = 0, in = 0, out = 0, to_size = 0;
  PMPI_Type_size(from_type, &size);
  PMPI_Type_size(to_type, &to_size);
  int bytes = size * from_count;
  if (bytes == 0 || to_size == 0)
    return;
  char *packed = g_malloc((gsize)bytes);
  PMPI_Pack(from, from_count, from_type, packed, bytes, &in, MPI_COMM_WORLD);
  PMPI_Unpack(packed, bytes, &out, to, MIN(to_count, bytes / to_size), to_type, MPI_COMM_WORLD);
  g_free(packed);
}

/* A buffer for `count` elements. `*memory` is to be freed; the elements begin at the result. */
static void *elements(struct rank *r, int count, MPI_Datatype type, void **memory)
{
  MPI_Aint low, extent;
  PMPI_Type_get_true_extent(type, &low, &extent);
  MPI_Aint stride = extent_of(type);
  *memory = face_alloc(r, (size_t)(extent + (count > 1 ? (count - 1) * stride : 0)));
  return (char *)*memory - low;
}

/* ---- barrier, broadcast ---- */

/* Dissemination: in round k everybody hears of the 2^k ranks before it. */
int collective_barrier(struct rank *r, struct comm *comm)
{
  for (int distance = 1; distance < comm->size; distance *= 2) {
    int from = (comm->rank - distance + comm->size) % comm->size;
    int to = (comm->rank + distance) % comm->size;
    struct request *heard = post(r, NULL, 0, MPI_BYTE, from, TAG_BARRIER, comm);
    done(r, put(r, NULL, 0, MPI_BYTE, to, TAG_BARRIER, comm));
    done(r, heard);
  }
  return MPI_SUCCESS;
}

/* Binomial tree over ranks counted from the root. */
static int broadcast(struct rank *r, void *buffer, int count, MPI_Datatype type, int root,
                     struct comm *comm)
{
  int place = (comm->rank - root + comm->size) % comm->size, bit = 1;
  for (; bit < comm->size; bit *= 2)
    if (place & bit) {
      receive(r, buffer, count, type, (place - bit + root) % comm->size, TAG_BCAST, comm);
      break;
    }
  for (bit /= 2; bit > 0; bit /= 2)
    if (place + bit < comm->size)
      send(r, buffer, count, type, (place + bit + root) % comm->size, TAG_BCAST, comm);
  return MPI_SUCCESS;
}

/* ---- reductions ---- */

/* into = before op into, where `before` comes from lower ranks. */
static void combine(const void *before, void *into, int count, MPI_Datatype type, MPI_Op op)
{
  PMPI_Reduce_local(before, into, count, type, op);
}

/* into = into op after */
static void combine_after(struct rank *r, void *into, void *after, int count, MPI_Datatype type,
                          MPI_Op op)
{
  combine(into, after, count, type, op);
  copy(r, after, count, type, into, count, type);
}

/* Binomial tree rooted at rank 0, which keeps the order of the ranks for every operation; the
 * result then goes to the root. */
static int reduce(struct rank *r, const void *out, void *in, int count, MPI_Datatype type,
                  MPI_Op op, int root, struct comm *comm)
{
  void *own_memory, *other_memory;
  void *own = elements(r, count, type, &own_memory);
  void *other = elements(r, count, type, &other_memory);
  copy(r, out == MPI_IN_PLACE ? in : out, count, type, own, count, type);
  int bit = 1;
  for (; bit < comm->size && !(comm->rank & bit); bit *= 2)
    if (comm->rank + bit < comm->size) {
      receive(r, other, count, type, comm->rank + bit, TAG_REDUCE, comm);
      combine_after(r, own, other, count, type, op);
    }
  if (comm->rank != 0)
    send(r, own, count, type, comm->rank - bit, TAG_REDUCE, comm);
  else if (root != 0)
    send(r, own, count, type, root, TAG_REDUCE, comm);
  if (comm->rank == root && root != 0)
    receive(r, in, count, type, 0, TAG_REDUCE, comm);
  else if (comm->rank == root)
    copy(r, own, count, type, in, count, type);
  face_free(own_memory);
  face_free(other_memory);
  return MPI_SUCCESS;
}

static int allreduce(struct rank *r, const void *out, void *in, int count, MPI_Datatype type,
                     MPI_Op op, struct comm *comm)
{
  reduce(r, out, in, count, type, op, 0, comm);
  return broadcast(r, in, count, type, 0, comm);
}

/* A chain: rank i hears of 0 .. i-1 and tells i+1. `exclusive`: its own share is left out. */
static int scan(struct rank *r, const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
                struct comm *comm, bool exclusive)
{
  void *memory, *before_memory;
  void *sum = elements(r, count, type, &memory);
  void *before = elements(r, count, type, &before_memory);
  copy(r, out == MPI_IN_PLACE ? in : out, count, type, sum, count, type);
  if (comm->rank > 0) {
    receive(r, before, count, type, comm->rank - 1, TAG_SCAN, comm);
    combine(before, sum, count, type, op);
  }
  if (comm->rank + 1 < comm->size)
    send(r, sum, count, type, comm->rank + 1, TAG_SCAN, comm);
  if (!exclusive)
    copy(r, sum, count, type, in, count, type);
  else if (comm->rank > 0)
    copy(r, before, count, type, in, count, type);
  face_free(memory);
  face_free(before_memory);
  return MPI_SUCCESS;
}

/* ---- gather, scatter, everybody to everybody ---- */

/* Where block `i` lies: equal blocks, or by counts and displacements. */
struct blocks {
  void *buffer;
  const int *counts, *displacements; /* NULL: equal blocks of `count` */
  int count;
  MPI_Datatype type;
};

static int block_count(const struct blocks *blocks, int i)
{
  return blocks->counts ? blocks->counts[i] : blocks->count;
}

static void *block_at(const struct blocks *blocks, int i)
{
  MPI_Aint index = blocks->displacements ? blocks->displacements[i] : (MPI_Aint)i * blocks->count;
  return at(blocks->buffer, index, blocks->type);
}

static int gather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                  struct blocks in, int root, struct comm *comm)
{
  if (comm->rank != root) {
    send(r, out, out_count, out_type, root, TAG_GATHER, comm);
    return MPI_SUCCESS;
  }
  if (out != MPI_IN_PLACE)
    copy(r, out, out_count, out_type, block_at(&in, root), block_count(&in, root), in.type);
  struct request **requests = face_alloc(r, (size_t)comm->size * sizeof *requests);
  for (int i = 0; i < comm->size; i++)
    if (i != root)
      requests[i] = post(r, block_at(&in, i), block_count(&in, i), in.type, i, TAG_GATHER, comm);
  for (int i = 0; i < comm->size; i++)
    if (i != root)
      done(r, requests[i]);
  face_free(requests);
  return MPI_SUCCESS;
}

static int scatter(struct rank *r, struct blocks out, void *in, int in_count, MPI_Datatype in_type,
                   int root, struct comm *comm)
{
  if (comm->rank != root) {
    receive(r, in, in_count, in_type, root, TAG_SCATTER, comm);
    return MPI_SUCCESS;
  }
  for (int i = 0; i < comm->size; i++)
    if (i != root)
      send(r, block_at(&out, i), block_count(&out, i), out.type, i, TAG_SCATTER, comm);
  if (in != MPI_IN_PLACE)
    copy(r, block_at(&out, root), block_count(&out, root), out.type, in, in_count, in_type);
  return MPI_SUCCESS;
}

/* A ring: in each of size - 1 steps every rank passes on the block it got last. */
static int allgather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                     struct blocks in, struct comm *comm)
{
  int size = comm->size, me = comm->rank;
  if (out != MPI_IN_PLACE)
    copy(r, out, out_count, out_type, block_at(&in, me), block_count(&in, me), in.type);
  for (int step = 0; step + 1 < size; step++) {
    int passed = (me - step + size) % size, got = (me - step - 1 + size) % size;
    struct request *receive = post(r, block_at(&in, got), block_count(&in, got), in.type,
                                   (me - 1 + size) % size, TAG_ALLGATHER, comm);
    done(r, put(r, block_at(&in, passed), block_count(&in, passed), in.type, (me + 1) % size,
                TAG_ALLGATHER, comm));
    done(r, receive);
  }
  return MPI_SUCCESS;
}

int collective_allgather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                         void *in, int in_count, MPI_Datatype in_type, struct comm *comm)
{
  return allgather(r, out, out_count, out_type,
                   (struct blocks){.buffer = in, .count = in_count, .type = in_type}, comm);
}

static void *block_copy(struct rank *r, const struct blocks *blocks, int size, void **memory)
{
  MPI_Aint end = 0;
  for (int i = 0; i < size; i++) {
    MPI_Aint start = blocks->displacements ? blocks->displacements[i] : (MPI_Aint)i * blocks->count;
    end = MAX(end, start + block_count(blocks, i));
  }
  void *copied = elements(r, (int)end, blocks->type, memory);
  copy(r, blocks->buffer, (int)end, blocks->type, copied, (int)end, blocks->type);
  return copied;
}

/* Pairwise: in step k everybody sends to the rank k further and receives from the rank k before. */
static int alltoall(struct rank *r, struct blocks out, struct blocks in, struct comm *comm)
{
  int size = comm->size, me = comm->rank;
  void *memory = NULL;
  if (out.buffer == MPI_IN_PLACE) {
    out = in;
    out.buffer = block_copy(r, &in, size, &memory);
  }
  copy(r, block_at(&out, me), block_count(&out, me), out.type, block_at(&in, me),
       block_count(&in, me), in.type);
  for (int step = 1; step < size; step++) {
    int to = (me + step) % size, from = (me - step + size) % size;
    struct request *receive =
        post(r, block_at(&in, from), block_count(&in, from), in.type, from, TAG_ALLTOALL, comm);
    done(r, put(r, block_at(&out, to), block_count(&out, to), out.type, to, TAG_ALLTOALL, comm));
    done(r, receive);
  }
  if (memory)
    face_free(memory);
  return MPI_SUCCESS;
}

/* Reduces everything to rank 0 and scatters it in blocks. */
static int reduce_scatter(struct rank *r, const void *out, void *in, const int *counts, int count,
                          MPI_Datatype type, MPI_Op op, struct comm *comm)
{
  int total = 0;
  int *starts = face_alloc(r, (size_t)comm->size * sizeof *starts);
  for (int i = 0; i < comm->size; i++) {
    starts[i] = total;
    total += counts ? counts[i] : count;
  }
  void *memory;
  void *sum = elements(r, total, type, &memory);
  reduce(r, out == MPI_IN_PLACE ? in : out, sum, total, type, op, 0, comm);
  struct blocks blocks = {
      .buffer = sum, .counts = counts, .displacements = starts, .count = count, .type = type};
  scatter(r, blocks, in, block_count(&blocks, comm->rank), type, 0, comm);
  face_free(memory);
  face_free(starts);
  return MPI_SUCCESS;
}

/* ---- the calls ---- */

#define EQUAL(BUFFER, COUNT, TYPE)                                                                 \
  (struct blocks)                                                                                  \
  {                                                                                                \
    .buffer = (void *)(uintptr_t)(BUFFER), .count = (COUNT), .type = (TYPE)                        \
  }
#define UNEQUAL(BUFFER, COUNTS, STARTS, TYPE)                                                      \
  (struct blocks)                                                                                  \
  {                                                                                                \
    .buffer = (void *)(uintptr_t)(BUFFER), .counts = (COUNTS), .displacements = (STARTS),          \
    .type = (TYPE)                                                                                 \
  }

int MPI_Barrier(MPI_Comm comm)
{
  WRAP(collective_barrier(r, comm_of(r, comm)), PMPI_Barrier(comm));
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  WRAP(broadcast(r, buffer, count, type, root, comm_of(r, comm)),
       PMPI_Bcast(buffer, count, type, root, comm));
}

int MPI_Reduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
  WRAP(reduce(r, out, in, count, type, op, root, comm_of(r, comm)),
       PMPI_Reduce(out, in, count, type, op, root, comm));
}

int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  WRAP(allreduce(r, out, in, count, type, op, comm_of(r, comm)),
       PMPI_Allreduce(out, in, count, type, op, comm));
}

int MPI_Scan(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  WRAP(scan(r, out, in, count, type, op, comm_of(r, comm), false),
       PMPI_Scan(out, in, count, type, op, comm));
}

int MPI_Exscan(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  WRAP(scan(r, out, in, count, type, op, comm_of(r, comm), true),
       PMPI_Exscan(out, in, count, type, op, comm));
}

int MPI_Gather(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
               MPI_Datatype in_type, int root, MPI_Comm comm)
{
  WRAP(gather(r, out, out_count, out_type, EQUAL(in, in_count, in_type), root, comm_of(r, comm)),
       PMPI_Gather(out, out_count, out_type, in, in_count, in_type, root, comm));
}

int MPI_Gatherv(const void *out, int out_count, MPI_Datatype out_type, void *in,
                const int *in_counts, const int *starts, MPI_Datatype in_type, int root,
                MPI_Comm comm)
{
  WRAP(gather(r, out, out_count, out_type, UNEQUAL(in, in_counts, starts, in_type), root,
              comm_of(r, comm)),
       PMPI_Gatherv(out, out_count, out_type, in, in_counts, starts, in_type, root, comm));
}

int MPI_Scatter(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                MPI_Datatype in_type, int root, MPI_Comm comm)
{
  WRAP(scatter(r, EQUAL(out, out_count, out_type), in, in_count, in_type, root, comm_of(r, comm)),
       PMPI_Scatter(out, out_count, out_type, in, in_count, in_type, root, comm));
}

int MPI_Scatterv(const void *out, const int *out_counts, const int *starts, MPI_Datatype out_type,
                 void *in, int in_count, MPI_Datatype in_type, int root, MPI_Comm comm)
{
  WRAP(scatter(r, UNEQUAL(out, out_counts, starts, out_type), in, in_count, in_type, root,
               comm_of(r, comm)),
       PMPI_Scatterv(out, out_counts, starts, out_type, in, in_count, in_type, root, comm));
}

int MPI_Allgather(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm)
{
  WRAP(allgather(r, out, out_count, out_type, EQUAL(in, in_count, in_type), comm_of(r, comm)),
       PMPI_Allgather(out, out_count, out_type, in, in_count, in_type, comm));
}

int MPI_Allgatherv(const void *out, int out_count, MPI_Datatype out_type, void *in,
                   const int *in_counts, const int *starts, MPI_Datatype in_type, MPI_Comm comm)
{
  WRAP(allgather(r, out, out_count, out_type, UNEQUAL(in, in_counts, starts, in_type),
                 comm_of(r, comm)),
       PMPI_Allgatherv(out, out_count, out_type, in, in_counts, starts, in_type, comm));
}

int MPI_Alltoall(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                 MPI_Datatype in_type, MPI_Comm comm)
{
  WRAP(alltoall(r, EQUAL(out, out_count, out_type), EQUAL(in, in_count, in_type), comm_of(r, comm)),
       PMPI_Alltoall(out, out_count, out_type, in, in_count, in_type, comm));
}

int MPI_Alltoallv(const void *out, const int *out_counts, const int *out_starts,
                  MPI_Datatype out_type, void *in, const int *in_counts, const int *in_starts,
                  MPI_Datatype in_type, MPI_Comm comm)
{
  WRAP(alltoall(r, UNEQUAL(out, out_counts, out_starts, out_type),
                UNEQUAL(in, in_counts, in_starts, in_type), comm_of(r, comm)),
       PMPI_Alltoallv(out, out_counts, out_starts, out_type, in, in_counts, in_starts, in_type,
                      comm));
}

int MPI_Reduce_scatter_block(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
  WRAP(reduce_scatter(r, out, in, NULL, count, type, op, comm_of(r, comm)),
       PMPI_Reduce_scatter_block(out, in, count, type, op, comm));
}

int MPI_Reduce_scatter(const void *out, void *in, const int *counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm)
{
  WRAP(reduce_scatter(r, out, in, counts, 0, type, op, comm_of(r, comm)),
       PMPI_Reduce_scatter(out, in, counts, type, op, comm));
}
