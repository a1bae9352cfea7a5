/* Defines persistent collectives (MPI 4). MPI_Start begins the nonblocking call (nonblocking.h)
 * with the arguments that the call NAME_init has left in the request.
 *
 * Ranks make these requests in the same order, but may start the requests in any order. So each
 * request has a tag of its own, which follows from its number on its communicator. These tags are
 * below zero. Other collectives have tags above zero. */
#include "include/mpi/mpi-4.h"
#include "sim/mpi/calls/nonblocking.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/op.h"

#include <string.h>

/* TAG_PERSISTENT is the first of these tags. Partitioned messages have the negative tags above
 * TAG_PERSISTENT. */
enum { TAG_PERSISTENT = -(1 << 30) - 2 };

/* ---- the arguments ---- */

struct collective {
  struct recipe recipe;
  struct blocks out, in;
  int root;
  MPI_Op op;
};

static const struct collective *of(const struct request *whole)
{
  return (const struct collective *)(const void *)whole->whole.recipe;
}

static const void *kept(struct rank *r, const void *array, int count, size_t size)
{
  if (!array || count == 0)
    return NULL;
  return memcpy(rank_alloc(r, (size_t)count * size), array, (size_t)count * size);
}

/* Copies the arrays of `count` blocks, because the arrays of a call from Fortran end with that
 * call. If there are 0 blocks, the arrays mean nothing and may be missing. */
static struct blocks keep(struct rank *r, struct blocks blocks, int count)
{
  blocks.counts = kept(r, blocks.counts, count, sizeof *blocks.counts);
  blocks.displacements = kept(r, blocks.displacements, count, sizeof *blocks.displacements);
  blocks.types = kept(r, blocks.types, count, sizeof *blocks.types);
  blocks.places = kept(r, blocks.places, count, sizeof *blocks.places);
  return blocks;
}

static void drop(const struct blocks *blocks)
{
  rank_free((void *)(uintptr_t)blocks->counts);
  rank_free((void *)(uintptr_t)blocks->displacements);
  rank_free((void *)(uintptr_t)blocks->types);
  rank_free((void *)(uintptr_t)blocks->places);
}

static void end(struct recipe *recipe)
{
  const struct collective *collective = (const struct collective *)(const void *)recipe;
  drop(&collective->out);
  drop(&collective->in);
}

/* Makes the request of a collective that `begin` starts. The arrays of its blocks have `out_count`
 * and `in_count` entries. */
static struct request *prepare(struct rank *r, struct comm *comm,
                               void (*begin)(struct rank *, struct request *),
                               struct collective what, int out_count, int in_count)
{
  struct collective *collective = rank_alloc(r, sizeof *collective);
  *collective = what;
  collective->recipe = (struct recipe){begin, end};
  collective->out = keep(r, what.out, what.out.buffer == MPI_IN_PLACE ? 0 : out_count);
  collective->in = keep(r, what.in, in_count);
  struct request *whole = p2p_persistent(r, comm, &collective->recipe);
  whole->tag = TAG_PERSISTENT - comm->persistent++;
  return whole;
}

/* Returns how many blocks the root has, or 0 if this rank is not the root. */
static int blocks_of_root(const struct comm *comm, int root)
{
  bool is_root = comm->remote ? root == MPI_ROOT : root == comm->rank;
  return is_root ? comm_peers(comm)->size : 0;
}

/* ---- MPI_Start ---- */

static void begin_barrier(struct rank *r, struct request *whole)
{
  nonblocking_barrier(r, whole->comm, whole);
}

static void begin_broadcast(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_broadcast(r, c->in.buffer, c->in.count, c->in.type, c->root, whole->comm, whole);
}

static void begin_gather(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_gather(r, c->out.buffer, c->out.count, c->out.type, c->in, c->root, whole->comm,
                     whole);
}

static void begin_scatter(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_scatter(r, c->out, c->in.buffer, c->in.count, c->in.type, c->root, whole->comm,
                      whole);
}

static void begin_allgather(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_allgather(r, c->out.buffer, c->out.count, c->out.type, c->in, whole->comm, whole);
}

static void begin_alltoall(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_alltoall(r, c->out, c->in, whole->comm, whole);
}

static void begin_neighbours(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_neighbours(r, c->out, c->in, whole->comm, whole);
}

static void begin_reduce(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_reduce(r, c->out.buffer, c->in.buffer, c->in.count, c->in.type, c->op, c->root,
                     whole->comm, whole);
}

static void begin_allreduce(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_allreduce(r, c->out.buffer, c->in.buffer, c->in.count, c->in.type, c->op, whole->comm,
                        whole);
}

static void begin_reduce_scatter(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_reduce_scatter(r, c->out.buffer, c->in.buffer, c->in.counts, c->in.count, c->in.type,
                             c->op, whole->comm, whole);
}

static void begin_scan(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_scan(r, c->out.buffer, c->in.buffer, c->in.count, c->in.type, c->op, whole->comm,
                   false, whole);
}

static void begin_exclusive_scan(struct rank *r, struct request *whole)
{
  const struct collective *c = of(whole);
  nonblocking_scan(r, c->out.buffer, c->in.buffer, c->in.count, c->in.type, c->op, whole->comm,
                   true, whole);
}

/* ---- the calls ---- */

/* Returns the number of ranks with which this rank may exchange data on a communicator. */
static int peers(struct rank *r, MPI_Comm comm)
{
  return comm_peers(comm_of(r, comm))->size;
}

static int neighbours_to(struct rank *r, MPI_Comm comm)
{
  return comm_of(r, comm)->topology.to.count;
}

static int neighbours_from(struct rank *r, MPI_Comm comm)
{
  return comm_of(r, comm)->topology.from.count;
}

/* Defines the call MPI_NAME for a collective that BEGIN starts. The arrays of its blocks have
 * OUT_COUNT and IN_COUNT entries. The other arguments are fields of the collective. */
#define INIT_CALL(NAME, ARGUMENTS, BEGIN, OUT_COUNT, IN_COUNT, ...)                                \
  NEW_CALL(NAME, ARGUMENTS,                                                                        \
           began(prepare(r, comm_of(r, comm), BEGIN, (struct collective){__VA_ARGS__}, OUT_COUNT,  \
                         IN_COUNT),                                                                \
                 request))

/* Defines the same for a reduction of elements of `type` by `op`, on a communicator that COMM_OF
 * allows. */
#define REDUCTION_CALL(NAME, ARGUMENTS, COMM_OF, BEGIN, IN_COUNT, ...)                             \
  NEW_CALL(NAME, ARGUMENTS,                                                                        \
           op_allowed(op, type)                                                                    \
               ? began(prepare(r, COMM_OF(r, comm), BEGIN,                                         \
                               (struct collective){                                                \
                                   .out.buffer = (void *)(uintptr_t)out, .op = op, __VA_ARGS__},   \
                               0, IN_COUNT),                                                       \
                       request)                                                                    \
               : comm_error(r, comm_of(r, comm), MPI_ERR_OP))

INIT_CALL(Barrier_init, (comm, info, request), begin_barrier, 0, 0, .root = 0)
INIT_CALL(Bcast_init, (buffer, count, type, root, comm, info, request), begin_broadcast, 0, 0,
          .in = EQUAL(buffer, count, type), .root = root)
INIT_CALL(Gather_init, (out, out_count, out_type, in, in_count, in_type, root, comm, info, request),
          begin_gather, 0, 0, .out = EQUAL(out, out_count, out_type),
          .in = EQUAL(in, in_count, in_type), .root = root)
INIT_CALL(Gatherv_init,
          (out, out_count, out_type, in, in_counts, starts, in_type, root, comm, info, request),
          begin_gather, 0, blocks_of_root(comm_of(r, comm), root),
          .out = EQUAL(out, out_count, out_type), .in = UNEQUAL(in, in_counts, starts, in_type),
          .root = root)
INIT_CALL(Scatter_init,
          (out, out_count, out_type, in, in_count, in_type, root, comm, info, request),
          begin_scatter, 0, 0, .out = EQUAL(out, out_count, out_type),
          .in = EQUAL(in, in_count, in_type), .root = root)
INIT_CALL(Scatterv_init,
          (out, out_counts, starts, out_type, in, in_count, in_type, root, comm, info, request),
          begin_scatter, blocks_of_root(comm_of(r, comm), root), 0,
          .out = UNEQUAL(out, out_counts, starts, out_type), .in = EQUAL(in, in_count, in_type),
          .root = root)
INIT_CALL(Allgather_init, (out, out_count, out_type, in, in_count, in_type, comm, info, request),
          begin_allgather, 0, 0, .out = EQUAL(out, out_count, out_type),
          .in = EQUAL(in, in_count, in_type))
INIT_CALL(Allgatherv_init,
          (out, out_count, out_type, in, in_counts, starts, in_type, comm, info, request),
          begin_allgather, 0, peers(r, comm), .out = EQUAL(out, out_count, out_type),
          .in = UNEQUAL(in, in_counts, starts, in_type))
INIT_CALL(Alltoall_init, (out, out_count, out_type, in, in_count, in_type, comm, info, request),
          begin_alltoall, 0, 0, .out = EQUAL(out, out_count, out_type),
          .in = EQUAL(in, in_count, in_type))
INIT_CALL(Alltoallv_init,
          (out, out_counts, out_starts, out_type, in, in_counts, in_starts, in_type, comm, info,
           request),
          begin_alltoall, peers(r, comm), peers(r, comm),
          .out = UNEQUAL(out, out_counts, out_starts, out_type),
          .in = UNEQUAL(in, in_counts, in_starts, in_type))
INIT_CALL(Alltoallw_init,
          (out, out_counts, out_starts, out_types, in, in_counts, in_starts, in_types, comm, info,
           request),
          begin_alltoall, peers(r, comm), peers(r, comm),
          .out = TYPED(out, out_counts, out_starts, out_types),
          .in = TYPED(in, in_counts, in_starts, in_types))

REDUCTION_CALL(Reduce_init, (out, in, count, type, op, root, comm, info, request), comm_of,
               begin_reduce, 0, .in = EQUAL(in, count, type), .root = root)
REDUCTION_CALL(Allreduce_init, (out, in, count, type, op, comm, info, request), comm_of,
               begin_allreduce, 0, .in = EQUAL(in, count, type))
REDUCTION_CALL(Reduce_scatter_init, (out, in, counts, type, op, comm, info, request), comm_of,
               begin_reduce_scatter, comm_of(r, comm)->size, .in = UNEQUAL(in, counts, NULL, type))
REDUCTION_CALL(Reduce_scatter_block_init, (out, in, count, type, op, comm, info, request), comm_of,
               begin_reduce_scatter, 0, .in = EQUAL(in, count, type))
REDUCTION_CALL(Scan_init, (out, in, count, type, op, comm, info, request), comm_within, begin_scan,
               0, .in = EQUAL(in, count, type))
REDUCTION_CALL(Exscan_init, (out, in, count, type, op, comm, info, request), comm_within,
               begin_exclusive_scan, 0, .in = EQUAL(in, count, type))

/* ---- neighbours ---- */

/* Returns blocks that are the same for all neighbours. */
static struct blocks same(const void *buffer, int count, MPI_Datatype type)
{
  struct blocks blocks = EQUAL(buffer, count, type);
  blocks.repeated = true;
  return blocks;
}

static struct blocks far(const void *buffer, const int *counts, const MPI_Aint *places,
                         const MPI_Datatype *types)
{
  struct blocks blocks = TYPED(buffer, counts, NULL, types);
  blocks.places = places;
  return blocks;
}

INIT_CALL(Neighbor_allgather_init,
          (out, out_count, out_type, in, in_count, in_type, comm, info, request), begin_neighbours,
          0, 0, .out = same(out, out_count, out_type), .in = EQUAL(in, in_count, in_type))
INIT_CALL(Neighbor_allgatherv_init,
          (out, out_count, out_type, in, in_counts, starts, in_type, comm, info, request),
          begin_neighbours, 0, neighbours_from(r, comm), .out = same(out, out_count, out_type),
          .in = UNEQUAL(in, in_counts, starts, in_type))
INIT_CALL(Neighbor_alltoall_init,
          (out, out_count, out_type, in, in_count, in_type, comm, info, request), begin_neighbours,
          0, 0, .out = EQUAL(out, out_count, out_type), .in = EQUAL(in, in_count, in_type))
INIT_CALL(Neighbor_alltoallv_init,
          (out, out_counts, out_starts, out_type, in, in_counts, in_starts, in_type, comm, info,
           request),
          begin_neighbours, neighbours_to(r, comm), neighbours_from(r, comm),
          .out = UNEQUAL(out, out_counts, out_starts, out_type),
          .in = UNEQUAL(in, in_counts, in_starts, in_type))
INIT_CALL(Neighbor_alltoallw_init,
          (out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, comm, info,
           request),
          begin_neighbours, neighbours_to(r, comm), neighbours_from(r, comm),
          .out = far(out, out_counts, out_places, out_types),
          .in = far(in, in_counts, in_places, in_types))
