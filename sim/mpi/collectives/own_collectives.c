/* Runs collectives as messages of the layer in cases that SMPI's algorithms cannot handle
 * (call_is_selected(), wrap_collectives.c). These are: a protocol that puts words on the messages
 * of a call, operations that do not commute, and communicators of one rank. own_reduce() is also
 * used when an algorithm of SMPI begins a nonblocking reduction. Buffers that live across a wait
 * lie in the arena. */
#include "sim/mpi/collectives/own_collectives.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/types/datatype.h"

#include <string.h>

enum { STEP_BYTES = 3000 }; /* number of bytes from which on blocks are exchanged step by step */

/* ---- pieces ---- */

static unsigned kind_of(const struct rank *r)
{
  return r->mpi->call.inside ? P2P_BYPASS : P2P_COLLECTIVE;
}

static struct request *post(struct rank *r, void *buffer, int count, MPI_Datatype type, int from,
                            int tag, struct comm *comm)
{
  return p2p_receive(r, buffer, count, type, from, call_tag(r, tag), comm, kind_of(r));
}

static struct request *put(struct rank *r, const void *buffer, int count, MPI_Datatype type, int to,
                           int tag, struct comm *comm)
{
  return p2p_send(r, buffer, count, type, to, call_tag(r, tag), comm, kind_of(r));
}

/* Block i comes from rank i. */
static struct request *post_block(struct rank *r, const struct blocks *in, int i, int tag,
                                  struct comm *comm)
{
  return post(r, block_at(in, i), block_count(in, i), block_type(in, i), i, tag, comm);
}

/* Block i goes to rank i. */
static struct request *put_block(struct rank *r, const struct blocks *out, int i, int tag,
                                 struct comm *comm)
{
  return put(r, block_at(out, i), block_count(out, i), block_type(out, i), i, tag, comm);
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
  done(r, p2p_send(r, buffer, count, type, to, call_tag(r, tag), comm, kind_of(r) | P2P_BLOCKING));
}

/* Makes room for the requests of one round. They are finished together, in the order in which they
 * stand there. */
static struct request **round_of(struct rank *r, int count)
{
  return rank_alloc(r, (size_t)count * sizeof(struct request *));
}

static void finish_round(struct rank *r, struct request **requests, int count)
{
  for (int i = 0; i < count; i++)
    if (requests[i])
      done(r, requests[i]);
  rank_free(requests);
}

/* ---- barrier, broadcast ---- */

/* All ranks report to rank 0, which then tells all ranks. */
int own_barrier(struct rank *r, struct comm *comm)
{
  if (comm->rank != 0) {
    send(r, NULL, 0, MPI_BYTE, 0, TAG_BARRIER, comm);
    receive(r, NULL, 0, MPI_BYTE, 0, TAG_BARRIER, comm);
    return MPI_SUCCESS;
  }
  struct request **heard = round_of(r, comm->size);
  for (int i = 1; i < comm->size; i++)
    heard[i] = post(r, NULL, 0, MPI_BYTE, i, TAG_BARRIER, comm);
  finish_round(r, heard, comm->size);
  struct request **told = round_of(r, comm->size);
  for (int i = 1; i < comm->size; i++)
    told[i] = put(r, NULL, 0, MPI_BYTE, i, TAG_BARRIER, comm);
  finish_round(r, told, comm->size);
  return MPI_SUCCESS;
}

/* Broadcasts along a binomial tree over ranks that are counted from the root. */
int own_broadcast(struct rank *r, void *buffer, int count, MPI_Datatype type, int root,
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

/* Receives the contributions of the ranks below `end`, apart from `own`, which is the contribution
 * of rank `me` itself. Combines the contributions in rank order, which every operation allows: each
 * contribution becomes the sum of all contributions up to it. All receives are posted at once, as
 * in SMPI. Returns the last sum, which lies in *memory. The caller frees *memory. */
static const void *combine_shares(struct rank *r, const void *own, int me, int end, int tag,
                                  int count, MPI_Datatype type, MPI_Op op, struct comm *comm,
                                  void **memory)
{
  MPI_Aint stride = count * elements_extent(type);
  char *shares = elements_new(r, (MPI_Aint)end * count, type, memory);
  struct request **requests = round_of(r, end);
  for (int i = 0; i < end; i++)
    if (i != me)
      requests[i] = post(r, shares + i * stride, count, type, i, tag, comm);
  for (int i = 0; i < end; i++) {
    void *share = shares + i * stride;
    if (i == me)
      elements_copy(own, count, type, share, count, type);
    else
      done(r, requests[i]);
    if (i > 0)
      elements_combine(shares + (i - 1) * stride, share, count, type, op);
  }
  rank_free(requests);
  return end > 0 ? shares + (end - 1) * stride : NULL;
}

/* All ranks send their data to the root. */
int own_reduce(struct rank *r, const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
               int root, struct comm *comm)
{
  const void *own = out == MPI_IN_PLACE ? in : out;
  if (comm->rank != root) {
    done(r, put(r, own, count, type, root, TAG_REDUCE, comm));
    return MPI_SUCCESS;
  }
  void *memory;
  const void *sum =
      combine_shares(r, own, root, comm->size, TAG_REDUCE, count, type, op, comm, &memory);
  elements_copy(sum, count, type, in, count, type);
  rank_free(memory);
  return MPI_SUCCESS;
}

int own_allreduce(struct rank *r, const void *out, void *in, int count, MPI_Datatype type,
                  MPI_Op op, struct comm *comm)
{
  own_reduce(r, out, in, count, type, op, 0, comm);
  return own_broadcast(r, in, count, type, 0, comm);
}

/* Each rank sends its data to all higher ranks. With `exclusive`, the rank's own contribution is
 * left out. */
int own_scan(struct rank *r, const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
             struct comm *comm, bool exclusive)
{
  int me = comm->rank, above = comm->size - me - 1;
  const void *own = out == MPI_IN_PLACE ? in : out;
  void *memory;
  struct request **told = round_of(r, above);
  for (int i = 0; i < above; i++)
    told[i] = put(r, own, count, type, me + 1 + i, TAG_SCAN, comm);
  const void *sum =
      combine_shares(r, own, me, me + !exclusive, TAG_SCAN, count, type, op, comm, &memory);
  finish_round(r, told, above);
  if (sum)
    elements_copy(sum, count, type, in, count, type);
  rank_free(memory);
  return MPI_SUCCESS;
}

/* ---- gather, scatter, all to all ---- */

int own_gather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
               struct blocks in, int root, struct comm *comm)
{
  if (comm->rank != root) {
    done(r, put(r, out, out_count, out_type, root, TAG_GATHER, comm));
    return MPI_SUCCESS;
  }
  if (out != MPI_IN_PLACE)
    elements_copy(out, out_count, out_type, block_at(&in, root), block_count(&in, root), in.type);
  struct request **requests = round_of(r, comm->size);
  for (int i = 0; i < comm->size; i++)
    if (i != root)
      requests[i] = post_block(r, &in, i, TAG_GATHER, comm);
  finish_round(r, requests, comm->size);
  return MPI_SUCCESS;
}

int own_scatter(struct rank *r, struct blocks out, void *in, int in_count, MPI_Datatype in_type,
                int root, struct comm *comm)
{
  if (comm->rank != root) {
    receive(r, in, in_count, in_type, root, TAG_SCATTER, comm);
    return MPI_SUCCESS;
  }
  struct request **requests = round_of(r, comm->size);
  for (int i = 0; i < comm->size; i++)
    if (i != root)
      requests[i] = put_block(r, &out, i, TAG_SCATTER, comm);
  finish_round(r, requests, comm->size);
  if (in != MPI_IN_PLACE)
    elements_copy(block_at(&out, root), block_count(&out, root), out.type, in, in_count, in_type);
  return MPI_SUCCESS;
}

/* Each rank sends its data to all ranks at once. */
int own_allgather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                  struct blocks in, struct comm *comm)
{
  int size = comm->size, me = comm->rank;
  void *own = block_at(&in, me);
  if (out != MPI_IN_PLACE)
    elements_copy(out, out_count, out_type, own, block_count(&in, me), in.type);
  struct request **requests = round_of(r, 2 * size);
  for (int i = 0; i < size; i++)
    if (i != me)
      requests[i] = post_block(r, &in, i, TAG_ALLGATHER, comm);
  for (int i = 0; i < size; i++)
    if (i != me)
      requests[size + i] = put(r, own, block_count(&in, me), in.type, i, TAG_ALLGATHER, comm);
  finish_round(r, requests, 2 * size);
  return MPI_SUCCESS;
}

/* Returns a copy of the first `size` blocks, as packed bytes. */
static struct blocks copy_of(struct rank *r, const struct blocks *blocks, int size, void **memory)
{
  struct payload *packed = blocks_pack(blocks, size);
  int *counts = rank_alloc(r, 2 * (size_t)size * sizeof *counts + packed->size);
  int *starts = counts + size;
  struct blocks copied = {
      .buffer = starts + size, .counts = counts, .displacements = starts, .type = MPI_BYTE};
  for (int i = 0; i < size; i++) {
    counts[i] = block_bytes(blocks, i);
    starts[i] = i == 0 ? 0 : starts[i - 1] + counts[i - 1];
  }
  memcpy(copied.buffer, packed->bytes, packed->size);
  payload_drop(packed);
  *memory = counts;
  return copied;
}

/* In step k, each rank sends to rank + k and receives from rank - k. With `at_once`, the ranks do
 * not wait between steps. */
static void swap_blocks(struct rank *r, struct blocks out, struct blocks in, struct comm *comm,
                        bool at_once)
{
  int size = comm->size, me = comm->rank, round = at_once ? size - 1 : 1;
  for (int first = 1; first < size; first += round) {
    struct request **requests = round_of(r, 2 * round);
    for (int i = 0; i < round; i++) {
      int from = (me - first - i + size) % size;
      requests[i] = post_block(r, &in, from, TAG_ALLTOALL, comm);
    }
    for (int i = 0; i < round; i++) {
      int to = (me + first + i) % size;
      requests[round + i] = put_block(r, &out, to, TAG_ALLTOALL, comm);
    }
    finish_round(r, requests, 2 * round);
  }
}

/* Returns whether the blocks are equal and large, and so are exchanged step by step. */
static bool in_steps(const struct blocks *in)
{
  return !in->counts && (int64_t)type_bytes(in->type) * in->count >= STEP_BYTES;
}

int own_alltoall(struct rank *r, struct blocks out, struct blocks in, struct comm *comm)
{
  int me = comm->rank;
  void *memory = NULL;
  if (out.buffer == MPI_IN_PLACE) {
    out = copy_of(r, &in, comm->size, &memory);
  }
  elements_copy(block_at(&out, me), block_count(&out, me), block_type(&out, me), block_at(&in, me),
                block_count(&in, me), block_type(&in, me));
  swap_blocks(r, out, in, comm, !in_steps(&in));
  if (memory)
    rank_free(memory);
  return MPI_SUCCESS;
}

/* Reduces all data to rank 0, which scatters the result in blocks. */
int own_reduce_scatter(struct rank *r, const void *out, void *in, const int *counts, int count,
                       MPI_Datatype type, MPI_Op op, struct comm *comm)
{
  int total = 0;
  int *starts = rank_alloc(r, (size_t)comm->size * sizeof *starts);
  for (int i = 0; i < comm->size; i++) {
    starts[i] = total;
    total += counts ? counts[i] : count;
  }
  void *memory;
  void *sum = elements_new(r, total, type, &memory);
  own_reduce(r, out == MPI_IN_PLACE ? in : out, sum, total, type, op, 0, comm);
  struct blocks blocks = {
      .buffer = sum, .counts = counts, .displacements = starts, .count = count, .type = type};
  own_scatter(r, blocks, in, block_count(&blocks, comm->rank), type, 0, comm);
  rank_free(memory);
  rank_free(starts);
  return MPI_SUCCESS;
}
