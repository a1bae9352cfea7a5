/* Collectives: every one is made of messages, which the protocol sees like any other or, if it
 * handles collectives by themselves, does not see at all (collectives.h). The algorithms are those
 * that SMPI chooses by default, so that a program takes the time here that it takes under plain
 * SMPI. Buffers that live across a wait lie in the arena. */
#include "sim/mpi/collectives.h"
#include "sim/mpi/comm.h"
#include "sim/mpi/datatype.h"
#include "sim/mpi/p2p.h"
#include "sim/mpi/wrap.h"

#include <string.h>

enum {
  STEP_BYTES = 3000,      /* blocks of that size are exchanged step by step */
  SHARES_BYTES = 64 << 20 /* of a reduction that are received at once */
};

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
  call_pack(r, buffer, count, type);
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
  call_pack(r, buffer, count, type);
  done(r, p2p_send(r, buffer, count, type, to, call_tag(r, tag), comm, kind_of(r) | P2P_BLOCKING));
}

/* Room for the requests of one round; finished together, in this order. */
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

/* All report to rank 0, which then tells all; so do words, which may travel for both. */
static int barrier(struct rank *r, struct comm *comm)
{
  if (r->mpi->call.inside && r->mpi->call.combined)
    return MPI_SUCCESS;
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

/* into = into op after */
static void combine_after(void *into, void *after, int count, MPI_Datatype type, MPI_Op op)
{
  elements_combine(into, after, count, type, op);
  elements_copy(after, count, type, into, count, type);
}

/* The shares of ranks first .. end-1 are on their way here, or `own` is here already (`me`), and
 * are combined with `sum` in the order of the ranks, which every operation allows: sum = sum op
 * share. So many are posted at once as memory allows. */
static void combine_shares(struct rank *r, void *sum, const void *own, int me, int end, int tag,
                           int count, MPI_Datatype type, MPI_Op op, struct comm *comm)
{
  MPI_Aint stride = count * elements_extent(type);
  int room = (int)CLAMP(SHARES_BYTES / MAX(stride, 1), 1, MAX(end, 1));
  void *memory;
  char *shares = elements_new(r, (MPI_Aint)room * count, type, &memory);
  for (int first = 0; first < end; first += room) {
    int number = MIN(room, end - first);
    struct request **requests = rank_alloc(r, (size_t)number * sizeof *requests);
    for (int i = 0; i < number; i++)
      if (first + i != me)
        requests[i] = post(r, shares + i * stride, count, type, first + i, tag, comm);
    for (int i = 0; i < number; i++) {
      void *share = shares + i * stride;
      if (first + i == me)
        elements_copy(own, count, type, share, count, type);
      else
        done(r, requests[i]);
      if (first + i == 0)
        elements_copy(share, count, type, sum, count, type);
      else
        combine_after(sum, share, count, type, op);
    }
    rank_free(requests);
  }
  rank_free(memory);
}

/* All ranks send to the root. */
static int reduce(struct rank *r, const void *out, void *in, int count, MPI_Datatype type,
                  MPI_Op op, int root, struct comm *comm)
{
  const void *own = out == MPI_IN_PLACE ? in : out;
  if (comm->rank != root) {
    send(r, own, count, type, root, TAG_REDUCE, comm);
    return MPI_SUCCESS;
  }
  void *memory;
  void *sum = elements_new(r, count, type, &memory);
  combine_shares(r, sum, own, root, comm->size, TAG_REDUCE, count, type, op, comm);
  elements_copy(sum, count, type, in, count, type);
  rank_free(memory);
  return MPI_SUCCESS;
}

static int allreduce(struct rank *r, const void *out, void *in, int count, MPI_Datatype type,
                     MPI_Op op, struct comm *comm)
{
  reduce(r, out, in, count, type, op, 0, comm);
  return broadcast(r, in, count, type, 0, comm);
}

/* Each rank sends to all ranks above. `exclusive`: the own share is left out. */
static int scan(struct rank *r, const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
                struct comm *comm, bool exclusive)
{
  int me = comm->rank, above = comm->size - me - 1;
  const void *own = out == MPI_IN_PLACE ? in : out;
  void *memory;
  void *sum = elements_new(r, count, type, &memory);
  struct request **told = round_of(r, above);
  for (int i = 0; i < above; i++)
    told[i] = put(r, own, count, type, me + 1 + i, TAG_SCAN, comm);
  combine_shares(r, sum, own, me, me + !exclusive, TAG_SCAN, count, type, op, comm);
  finish_round(r, told, above);
  if (!exclusive || me > 0)
    elements_copy(sum, count, type, in, count, type);
  rank_free(memory);
  return MPI_SUCCESS;
}

/* ---- gather, scatter, all to all ---- */

static int gather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                  struct blocks in, int root, struct comm *comm)
{
  if (comm->rank != root) {
    send(r, out, out_count, out_type, root, TAG_GATHER, comm);
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

static int scatter(struct rank *r, struct blocks out, void *in, int in_count, MPI_Datatype in_type,
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

/* All ranks send to all at once. */
static int allgather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
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

/* A copy of the first `size` blocks, as bytes one behind the other. */
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

/* In step k each rank sends to rank + k and receives from rank - k; `at_once`: without waiting
 * between the steps. */
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

/* Large equal blocks go step by step. */
static bool in_steps(const struct blocks *in)
{
  return !in->counts && (int64_t)type_bytes(in->type) * in->count >= STEP_BYTES;
}

static int alltoall(struct rank *r, struct blocks out, struct blocks in, struct comm *comm)
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

/* Reduces everything to rank 0 and scatters it in blocks. */
static int reduce_scatter(struct rank *r, const void *out, void *in, const int *counts, int count,
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
  reduce(r, out == MPI_IN_PLACE ? in : out, sum, total, type, op, 0, comm);
  struct blocks blocks = {
      .buffer = sum, .counts = counts, .displacements = starts, .count = count, .type = type};
  scatter(r, blocks, in, block_count(&blocks, comm->rank), type, 0, comm);
  rank_free(memory);
  rank_free(starts);
  return MPI_SUCCESS;
}

/* ---- the calls ---- */

/* A call on `comm`: RUN, with `c` set, where this rank takes part. The other words are fields of
 * the site. */
#define COLLECTIVE_CALL(NAME, ARGUMENTS, FLOW, RUN, ...)                                           \
  int MPI_##NAME(PARAMETERS_##NAME ARGUMENTS)                                                      \
  {                                                                                                \
    struct comm *c;                                                                                \
    WRAP((c = comm_of(r, comm),                                                                    \
          call_begin(r, (struct call_site){.comm = c, .flow = (FLOW), __VA_ARGS__})                \
              ? ((void)(RUN), call_end(r))                                                         \
              : MPI_SUCCESS),                                                                      \
         PMPI_##NAME ARGUMENTS);                                                                   \
  }

/* The length of what a rank gives; counts mean nothing where it gives nothing. */
static uint32_t given(bool gives, int count, MPI_Datatype type)
{
  return gives ? (uint32_t)type_bytes(type) * (uint32_t)count : 0;
}

static int sum_of(const int *counts, int number)
{
  int sum = 0;
  for (int i = 0; i < number; i++)
    sum += counts[i];
  return sum;
}

static int largest_of(const int *counts, int number)
{
  int largest = 0;
  for (int i = 0; i < number; i++)
    largest = MAX(largest, counts[i]);
  return largest;
}

/* The same for what a rank sends, or in place has where it receives. */
static uint32_t shared(const void *out, int out_count, MPI_Datatype out_type, int in_count,
                       MPI_Datatype in_type)
{
  return out == MPI_IN_PLACE ? given(true, in_count, in_type) : given(true, out_count, out_type);
}

int collective_allgather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                         void *in, int in_count, MPI_Datatype in_type, struct comm *comm)
{
  struct blocks blocks = EQUAL(in, in_count, in_type);
  struct call_site site = {.comm = comm,
                           .flow = RCL_FLOW_ALL,
                           .result = blocks,
                           .blocks = comm->size,
                           .bytes = shared(out, out_count, out_type, in_count, in_type)};
  site.largest = site.bytes;
  if (!call_begin(r, site))
    return MPI_SUCCESS;
  allgather(r, out, out_count, out_type, blocks, comm);
  return call_end(r);
}

COLLECTIVE_CALL(Barrier, (comm), RCL_FLOW_BARRIER, barrier(r, c), .bytes = 0)

COLLECTIVE_CALL(Bcast, (buffer, count, type, root, comm), RCL_FLOW_FROM_ROOT,
                broadcast(r, buffer, count, type, root, c), .root = root,
                .bytes = given(c->rank == root, count, type), .largest = given(true, count, type),
                .result = EQUAL(buffer, count, type), .blocks = 1)

COLLECTIVE_CALL(Reduce, (out, in, count, type, op, root, comm), RCL_FLOW_TO_ROOT,
                reduce(r, out, in, count, type, op, root, c), .root = root,
                .bytes = given(true, count, type), .largest = given(true, count, type),
                .result = EQUAL(in, count, type), .blocks = 1)

COLLECTIVE_CALL(Allreduce, (out, in, count, type, op, comm), RCL_FLOW_ALL,
                allreduce(r, out, in, count, type, op, c), .bytes = given(true, count, type),
                .largest = given(true, count, type), .result = EQUAL(in, count, type), .blocks = 1)

COLLECTIVE_CALL(Scan, (out, in, count, type, op, comm), RCL_FLOW_ALL,
                scan(r, out, in, count, type, op, c, false), .partial = true,
                .bytes = given(true, count, type), .result = EQUAL(in, count, type), .blocks = 1)

COLLECTIVE_CALL(Exscan, (out, in, count, type, op, comm), RCL_FLOW_ALL,
                scan(r, out, in, count, type, op, c, true), .partial = true,
                .bytes = given(true, count, type), .result = EQUAL(in, count, type),
                .blocks = c->rank > 0)

COLLECTIVE_CALL(Gather, (out, out_count, out_type, in, in_count, in_type, root, comm),
                RCL_FLOW_TO_ROOT,
                gather(r, out, out_count, out_type, EQUAL(in, in_count, in_type), root, c),
                .root = root, .bytes = shared(out, out_count, out_type, in_count, in_type),
                .largest = shared(out, out_count, out_type, in_count, in_type),
                .result = EQUAL(in, in_count, in_type), .blocks = c->size)

COLLECTIVE_CALL(Gatherv, (out, out_count, out_type, in, in_counts, starts, in_type, root, comm),
                RCL_FLOW_TO_ROOT,
                gather(r, out, out_count, out_type, UNEQUAL(in, in_counts, starts, in_type), root,
                       c),
                .root = root, .bytes = given(out != MPI_IN_PLACE, out_count, out_type),
                .result = UNEQUAL(in, in_counts, starts, in_type), .blocks = c->size)

COLLECTIVE_CALL(Scatter, (out, out_count, out_type, in, in_count, in_type, root, comm),
                RCL_FLOW_FROM_ROOT,
                scatter(r, EQUAL(out, out_count, out_type), in, in_count, in_type, root, c),
                .root = root, .bytes = given(c->rank == root, out_count * c->size, out_type),
                .largest = c->rank == root ? given(true, out_count, out_type)
                                           : given(true, in_count, in_type),
                .result = EQUAL(in, in_count, in_type), .blocks = 1)

COLLECTIVE_CALL(Scatterv, (out, out_counts, starts, out_type, in, in_count, in_type, root, comm),
                RCL_FLOW_FROM_ROOT,
                scatter(r, UNEQUAL(out, out_counts, starts, out_type), in, in_count, in_type, root,
                        c),
                .root = root,
                .bytes = c->rank == root ? given(true, sum_of(out_counts, c->size), out_type) : 0,
                .result = EQUAL(in, in_count, in_type), .blocks = 1)

WRAP_CALL(Allgather, (out, out_count, out_type, in, in_count, in_type, comm),
          collective_allgather(r, out, out_count, out_type, in, in_count, in_type,
                               comm_of(r, comm)))

COLLECTIVE_CALL(Allgatherv, (out, out_count, out_type, in, in_counts, starts, in_type, comm),
                RCL_FLOW_ALL,
                allgather(r, out, out_count, out_type, UNEQUAL(in, in_counts, starts, in_type), c),
                .bytes = shared(out, out_count, out_type, in_counts[c->rank], in_type),
                .largest = given(true, largest_of(in_counts, c->size), in_type),
                .result = UNEQUAL(in, in_counts, starts, in_type), .blocks = c->size)

COLLECTIVE_CALL(Alltoall, (out, out_count, out_type, in, in_count, in_type, comm), RCL_FLOW_ALL,
                alltoall(r, EQUAL(out, out_count, out_type), EQUAL(in, in_count, in_type), c),
                .bytes = shared(out, out_count * c->size, out_type, in_count * c->size, in_type),
                .largest = given(true, in_count, in_type), .result = EQUAL(in, in_count, in_type),
                .blocks = c->size)

COLLECTIVE_CALL(Alltoallv,
                (out, out_counts, out_starts, out_type, in, in_counts, in_starts, in_type, comm),
                RCL_FLOW_ALL,
                alltoall(r, UNEQUAL(out, out_counts, out_starts, out_type),
                         UNEQUAL(in, in_counts, in_starts, in_type), c),
                .bytes = given(true, sum_of(in_counts, c->size), in_type),
                .result = UNEQUAL(in, in_counts, in_starts, in_type), .blocks = c->size)

static uint32_t bytes_of(const struct blocks *blocks, int number)
{
  uint32_t bytes = 0;
  for (int i = 0; i < number; i++)
    bytes += (uint32_t)block_bytes(blocks, i);
  return bytes;
}

COLLECTIVE_CALL(Alltoallw,
                (out, out_counts, out_starts, out_types, in, in_counts, in_starts, in_types, comm),
                RCL_FLOW_ALL,
                alltoall(r, TYPED(out, out_counts, out_starts, out_types),
                         TYPED(in, in_counts, in_starts, in_types), c),
                .bytes = bytes_of(&TYPED(in, in_counts, in_starts, in_types), c->size),
                .result = TYPED(in, in_counts, in_starts, in_types), .blocks = c->size)

COLLECTIVE_CALL(Reduce_scatter_block, (out, in, count, type, op, comm), RCL_FLOW_ALL,
                reduce_scatter(r, out, in, NULL, count, type, op, c),
                .bytes = given(true, count * c->size, type),
                .largest = given(true, count * c->size, type), .result = EQUAL(in, count, type),
                .blocks = 1)

COLLECTIVE_CALL(Reduce_scatter, (out, in, counts, type, op, comm), RCL_FLOW_ALL,
                reduce_scatter(r, out, in, counts, 0, type, op, c),
                .bytes = given(true, sum_of(counts, c->size), type),
                .largest = given(true, sum_of(counts, c->size), type),
                .result = EQUAL(in, counts[c->rank], type), .blocks = 1)
