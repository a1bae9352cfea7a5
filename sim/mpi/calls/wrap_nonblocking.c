/* Defines nonblocking collectives. Persistent collectives start as nonblocking ones, too. As in
 * SMPI, each collective is one round of messages, from each rank with data to each rank that needs
 * these data. All messages begin at the call. Reductions combine their operands when the request is
 * completed. On an intercommunicator, data go from each group to the other group, and a rank does
 * not exchange data with itself.
 *
 * Under every protocol, even under one that handles collectives, the messages are treated like
 * those of point-to-point calls, on the hidden half of the communicator. There are two reasons.
 * First, a recovery line can lie between the beginning and the end of a nonblocking call. The call
 * is on both sides of such a line, but each message is clearly late, early or intra-epoch. Second,
 * protocols count the sends of a program in their order, so no send may wait until other ranks have
 * come to the call.
 *
 * All messages have one tag. Two calls on a communicator begin in the same order everywhere, and in
 * each call a pair of ranks exchanges at most one message each way. So MPI's order keeps the calls
 * apart. Each persistent collective has a tag of its own. */
#include "include/mpi/values.h"
#include "sim/mpi/calls/nonblocking.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/datatype.h"
#include "sim/mpi/types/op.h"

/* ---- pieces ---- */

/* peers_of() returns the number of ranks with which this rank may exchange data. own_place()
 * returns the index of this rank among those ranks, or -1 if it is none of them. */
static int peers_of(const struct comm *comm)
{
  return comm_peers(comm)->size;
}

static int own_place(const struct comm *comm)
{
  return comm->remote ? -1 : comm->rank;
}

/* Returns a request with room for its messages. It is `whole`, a persistent request that starts, or
 * a new request if `whole` is NULL.
 */
static struct request *begin(struct rank *r, const struct comm *comm, struct request *whole)
{
  if (whole) {
    p2p_make_room(r, whole, 2 * peers_of(comm));
    return whole;
  }
  whole = p2p_whole(r, 2 * peers_of(comm));
  whole->tag = TAG_NONBLOCKING;
  return whole;
}

/* Returns whether this rank is the root. On an intercommunicator, the other ranks of the root's
 * group pass MPI_PROC_NULL as root, and so exchange nothing. */
static bool is_root(const struct comm *comm, int root)
{
  return comm->remote ? root == MPI_ROOT : root == comm->rank;
}

static void give(struct rank *r, struct request *whole, const void *buffer, int count,
                 MPI_Datatype type, int to, struct comm *comm, unsigned flags)
{
  flags |= P2P_COLLECTIVE;
  if (to != own_place(comm))
    p2p_add(whole, p2p_send(r, buffer, count, type, to, whole->tag, comm, flags));
}

static void give_all(struct rank *r, struct request *whole, const void *buffer, int count,
                     MPI_Datatype type, struct comm *comm)
{
  for (int i = 0; i < peers_of(comm); i++)
    give(r, whole, buffer, count, type, i, comm, 0);
}

static void take(struct rank *r, struct request *whole, void *buffer, int count, MPI_Datatype type,
                 int from, struct comm *comm)
{
  if (from != own_place(comm))
    p2p_add(whole, p2p_receive(r, buffer, count, type, from, whole->tag, comm, P2P_COLLECTIVE));
}

/* Block i goes to rank i, or comes from rank i. */
static void give_blocks(struct rank *r, struct request *whole, const struct blocks *out,
                        struct comm *comm, unsigned flags)
{
  for (int i = 0; i < peers_of(comm); i++)
    give(r, whole, block_at(out, i), block_count(out, i), block_type(out, i), i, comm, flags);
}

static void take_blocks(struct rank *r, struct request *whole, const struct blocks *in,
                        struct comm *comm)
{
  for (int i = 0; i < peers_of(comm); i++)
    take(r, whole, block_at(in, i), block_count(in, i), block_type(in, i), i, comm);
}

/* ---- movement ---- */

/* In each of these functions, sends come first, because in a call in place their buffer is also the
 * receive buffer. */

struct request *nonblocking_barrier(struct rank *r, struct comm *comm, struct request *whole)
{
  whole = begin(r, comm, whole);
  struct blocks nothing = EQUAL(NULL, 0, MPI_BYTE);
  give_blocks(r, whole, &nothing, comm, 0);
  take_blocks(r, whole, &nothing, comm);
  return whole;
}

struct request *nonblocking_broadcast(struct rank *r, void *buffer, int count, MPI_Datatype type,
                                      int root, struct comm *comm, struct request *whole)
{
  whole = begin(r, comm, whole);
  if (is_root(comm, root))
    give_all(r, whole, buffer, count, type, comm);
  else
    take(r, whole, buffer, count, type, root, comm);
  return whole;
}

struct request *nonblocking_gather(struct rank *r, const void *out, int count, MPI_Datatype type,
                                   struct blocks in, int root, struct comm *comm,
                                   struct request *whole)
{
  whole = begin(r, comm, whole);
  if (!is_root(comm, root)) {
    give(r, whole, out, count, type, root, comm, 0);
    return whole;
  }
  if (!comm->remote && out != MPI_IN_PLACE)
    elements_copy(out, count, type, block_at(&in, root), block_count(&in, root), in.type);
  take_blocks(r, whole, &in, comm);
  return whole;
}

struct request *nonblocking_scatter(struct rank *r, struct blocks out, void *in, int count,
                                    MPI_Datatype type, int root, struct comm *comm,
                                    struct request *whole)
{
  whole = begin(r, comm, whole);
  if (!is_root(comm, root)) {
    take(r, whole, in, count, type, root, comm);
    return whole;
  }
  give_blocks(r, whole, &out, comm, 0);
  if (!comm->remote && in != MPI_IN_PLACE)
    elements_copy(block_at(&out, root), block_count(&out, root), out.type, in, count, type);
  return whole;
}

struct request *nonblocking_allgather(struct rank *r, const void *out, int count, MPI_Datatype type,
                                      struct blocks in, struct comm *comm, struct request *whole)
{
  whole = begin(r, comm, whole);
  int me = own_place(comm);
  if (me >= 0 && out != MPI_IN_PLACE)
    elements_copy(out, count, type, block_at(&in, me), block_count(&in, me), in.type);
  if (me >= 0)
    give_all(r, whole, block_at(&in, me), block_count(&in, me), in.type, comm);
  else
    give_all(r, whole, out, count, type, comm);
  take_blocks(r, whole, &in, comm);
  return whole;
}

struct request *nonblocking_alltoall(struct rank *r, struct blocks out, struct blocks in,
                                     struct comm *comm, struct request *whole)
{
  whole = begin(r, comm, whole);
  int me = own_place(comm);
  unsigned flags = out.buffer == MPI_IN_PLACE ? P2P_REUSED : 0;
  if (out.buffer == MPI_IN_PLACE)
    out = in;
  else if (me >= 0)
    elements_copy(block_at(&out, me), block_count(&out, me), block_type(&out, me),
                  block_at(&in, me), block_count(&in, me), block_type(&in, me));
  give_blocks(r, whole, &out, comm, flags);
  take_blocks(r, whole, &in, comm);
  return whole;
}

/* ---- reductions ---- */

/* Holds the contributions of several ranks, in rank order, and the address for the result. */
struct sum {
  void *memory;
  struct blocks shares;
  int number;
  void *result;
  int from, count; /* the range of elements that is wanted */
  MPI_Op op;
};

static struct sum *new_sum(struct rank *r, int number, void *result, int count, MPI_Datatype type,
                           MPI_Op op)
{
  struct sum *sum = rank_alloc(r, sizeof *sum);
  void *room = elements_new(r, (MPI_Aint)number * count, type, &sum->memory);
  sum->shares = EQUAL(room, count, type);
  sum->number = number;
  sum->result = result;
  sum->count = count;
  sum->op = op;
  return sum;
}

static void combine(struct rank *r, void *rest)
{
  (void)r;
  struct sum *sum = rest;
  int count = sum->shares.count, last = sum->number - 1;
  MPI_Datatype type = sum->shares.type;
  for (int i = 1; i <= last; i++)
    elements_combine(block_at(&sum->shares, i - 1), block_at(&sum->shares, i), count, type,
                     sum->op);
  if (last >= 0)
    elements_copy((char *)block_at(&sum->shares, last) + sum->from * elements_extent(type),
                  sum->count, type, sum->result, sum->count, type);
  rank_free(sum->memory);
}

/* Receives the contributions of all ranks below `number`. The rank's own contribution is at
 * `own`. */
static void take_shares(struct rank *r, struct request *whole, struct sum *sum, const void *own,
                        struct comm *comm)
{
  int count = sum->shares.count;
  MPI_Datatype type = sum->shares.type;
  for (int i = 0; i < sum->number; i++) {
    if (i == own_place(comm))
      elements_copy(own, count, type, block_at(&sum->shares, i), count, type);
    else
      take(r, whole, block_at(&sum->shares, i), count, type, i, comm);
  }
  p2p_conclude_with(whole, combine, sum);
}

struct request *nonblocking_reduce(struct rank *r, const void *out, void *in, int count,
                                   MPI_Datatype type, MPI_Op op, int root, struct comm *comm,
                                   struct request *whole)
{
  whole = begin(r, comm, whole);
  const void *own = out == MPI_IN_PLACE ? in : out;
  if (is_root(comm, root))
    take_shares(r, whole, new_sum(r, peers_of(comm), in, count, type, op), own, comm);
  else
    give(r, whole, own, count, type, root, comm, 0);
  return whole;
}

struct request *nonblocking_allreduce(struct rank *r, const void *out, void *in, int count,
                                      MPI_Datatype type, MPI_Op op, struct comm *comm,
                                      struct request *whole)
{
  whole = begin(r, comm, whole);
  const void *own = out == MPI_IN_PLACE ? in : out;
  give_all(r, whole, own, count, type, comm);
  take_shares(r, whole, new_sum(r, peers_of(comm), in, count, type, op), own, comm);
  return whole;
}

/* Each rank sends its data to all higher ranks. With `exclusive`, the rank's own contribution is
 * left out. */
struct request *nonblocking_scan(struct rank *r, const void *out, void *in, int count,
                                 MPI_Datatype type, MPI_Op op, struct comm *comm, bool exclusive,
                                 struct request *whole)
{
  whole = begin(r, comm, whole);
  const void *own = out == MPI_IN_PLACE ? in : out;
  for (int i = comm->rank + 1; i < comm->size; i++)
    give(r, whole, own, count, type, i, comm, 0);
  int below = comm->rank + (exclusive ? 0 : 1);
  take_shares(r, whole, new_sum(r, below, in, count, type, op), own, comm);
  return whole;
}

/* On an intercommunicator, each rank sends all its data, because it does not know the counts of the
 * remote ranks. */
struct request *nonblocking_reduce_scatter(struct rank *r, const void *out, void *in,
                                           const int *counts, int count, MPI_Datatype type,
                                           MPI_Op op, struct comm *comm, struct request *whole)
{
  whole = begin(r, comm, whole);
  struct blocks blocks = EQUAL(out == MPI_IN_PLACE ? in : out, count, type);
  const void *own = blocks.buffer;
  int start = 0, own_start = 0;
  for (int i = 0; i < comm->size; i++) {
    int length = counts ? counts[i] : count;
    const void *block = (char *)blocks.buffer + start * elements_extent(type);
    if (i == comm->rank) {
      own = block;
      own_start = start;
    }
    if (!comm->remote)
      give(r, whole, block, length, type, i, comm, 0);
    start += length;
  }
  int length = counts ? counts[comm->rank] : count, shared = comm->remote ? start : length;
  if (comm->remote)
    give_all(r, whole, blocks.buffer, shared, type, comm);
  struct sum *sum = new_sum(r, peers_of(comm), in, shared, type, op);
  sum->from = comm->remote ? own_start : 0;
  sum->count = length;
  take_shares(r, whole, sum, own, comm);
  return whole;
}

/* ---- the calls ---- */

WRAP_CALL(Ibarrier, (comm, request), began(nonblocking_barrier(r, comm_of(r, comm), NULL), request))
WRAP_CALL(Ibcast, (buffer, count, type, root, comm, request),
          began(nonblocking_broadcast(r, buffer, count, type, root, comm_of(r, comm), NULL),
                request))
WRAP_CALL(Igather, (out, out_count, out_type, in, in_count, in_type, root, comm, request),
          began(nonblocking_gather(r, out, out_count, out_type, EQUAL(in, in_count, in_type), root,
                                   comm_of(r, comm), NULL),
                request))
WRAP_CALL(Igatherv, (out, out_count, out_type, in, in_counts, starts, in_type, root, comm, request),
          began(nonblocking_gather(r, out, out_count, out_type,
                                   UNEQUAL(in, in_counts, starts, in_type), root, comm_of(r, comm),
                                   NULL),
                request))
WRAP_CALL(Iscatter, (out, out_count, out_type, in, in_count, in_type, root, comm, request),
          began(nonblocking_scatter(r, EQUAL(out, out_count, out_type), in, in_count, in_type, root,
                                    comm_of(r, comm), NULL),
                request))
WRAP_CALL(Iscatterv,
          (out, out_counts, starts, out_type, in, in_count, in_type, root, comm, request),
          began(nonblocking_scatter(r, UNEQUAL(out, out_counts, starts, out_type), in, in_count,
                                    in_type, root, comm_of(r, comm), NULL),
                request))
WRAP_CALL(Iallgather, (out, out_count, out_type, in, in_count, in_type, comm, request),
          began(nonblocking_allgather(r, out, out_count, out_type, EQUAL(in, in_count, in_type),
                                      comm_of(r, comm), NULL),
                request))
WRAP_CALL(Iallgatherv, (out, out_count, out_type, in, in_counts, starts, in_type, comm, request),
          began(nonblocking_allgather(r, out, out_count, out_type,
                                      UNEQUAL(in, in_counts, starts, in_type), comm_of(r, comm),
                                      NULL),
                request))
WRAP_CALL(Ialltoall, (out, out_count, out_type, in, in_count, in_type, comm, request),
          began(nonblocking_alltoall(r, EQUAL(out, out_count, out_type),
                                     EQUAL(in, in_count, in_type), comm_of(r, comm), NULL),
                request))
WRAP_CALL(Ialltoallv,
          (out, out_counts, out_starts, out_type, in, in_counts, in_starts, in_type, comm, request),
          began(nonblocking_alltoall(r, UNEQUAL(out, out_counts, out_starts, out_type),
                                     UNEQUAL(in, in_counts, in_starts, in_type), comm_of(r, comm),
                                     NULL),
                request))
WRAP_CALL(
    Ialltoallw,
    (out, out_counts, out_starts, out_types, in, in_counts, in_starts, in_types, comm, request),
    began(nonblocking_alltoall(r, TYPED(out, out_counts, out_starts, out_types),
                               TYPED(in, in_counts, in_starts, in_types), comm_of(r, comm), NULL),
          request))
/* Defines a nonblocking reduction of elements of `type` by `op`. */
#define REDUCTION_CALL(NAME, ARGUMENTS, ...)                                                       \
  WRAP_CALL(NAME, ARGUMENTS,                                                                       \
            op_allowed(op, type) ? (__VA_ARGS__) : comm_error(r, comm_of(r, comm), MPI_ERR_OP))

REDUCTION_CALL(Ireduce, (out, in, count, type, op, root, comm, request),
               began(nonblocking_reduce(r, out, in, count, type, op, root, comm_of(r, comm), NULL),
                     request))
REDUCTION_CALL(Iallreduce, (out, in, count, type, op, comm, request),
               began(nonblocking_allreduce(r, out, in, count, type, op, comm_of(r, comm), NULL),
                     request))
REDUCTION_CALL(Iscan, (out, in, count, type, op, comm, request),
               began(nonblocking_scan(r, out, in, count, type, op, comm_within(r, comm), false,
                                      NULL),
                     request))
REDUCTION_CALL(
    Iexscan, (out, in, count, type, op, comm, request),
    began(nonblocking_scan(r, out, in, count, type, op, comm_within(r, comm), true, NULL), request))
REDUCTION_CALL(Ireduce_scatter, (out, in, counts, type, op, comm, request),
               began(nonblocking_reduce_scatter(r, out, in, counts, 0, type, op, comm_of(r, comm),
                                                NULL),
                     request))
REDUCTION_CALL(Ireduce_scatter_block, (out, in, count, type, op, comm, request),
               began(nonblocking_reduce_scatter(r, out, in, NULL, count, type, op, comm_of(r, comm),
                                                NULL),
                     request))
