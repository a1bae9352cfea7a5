/* Defines collective calls. Each call runs the algorithm that the platform or --cfg selects. If
 * call_is_selected() returns false (collectives.h), it runs an algorithm of recline instead. */
#include "sim/mpi/collectives/algorithms.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/collectives/own_collectives.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/datatype.h"
#include "sim/mpi/types/op.h"

/* ---- the calls ---- */

/* Returns whether all members must combine in rank order, or in memory that has room for elements
 * whose data reach out of their extent. */
static bool is_ordered(MPI_Op op, MPI_Datatype type)
{
  int commutes = true;
  PMPI_Op_commutative(op, &commutes);
  return !commutes || !elements_stay_within(type);
}

/* Defines the call MPI_NAME. It evaluates the last argument, in which `c` is the communicator. On
 * an intercommunicator, it makes the nonblocking call MPI_BEGIN and waits. */
#define BARE(...) __VA_ARGS__
#define COLLECTIVE_CALL(NAME, ARGUMENTS, BEGIN, ...)                                               \
  int MPI_##NAME(PARAMETERS_##NAME ARGUMENTS)                                                      \
  {                                                                                                \
    struct comm *c;                                                                                \
    if (comm_is_between(comm)) {                                                                   \
      MPI_Request request_ = MPI_REQUEST_NULL;                                                     \
      int error_ = MPI_##BEGIN(BARE ARGUMENTS, &request_);                                         \
      return error_ ? error_ : MPI_Wait(&request_, MPI_STATUS_IGNORE);                             \
    }                                                                                              \
    RECORD(NAME, ARGUMENTS);                                                                       \
    WRAP((c = comm_of(r, comm), __VA_ARGS__), PMPI_##NAME ARGUMENTS);                              \
  }

/* If this rank takes part in the call, calls SELECTED or OWN. The other arguments are fields of the
 * call. */
#define TAKE_PART(SELECTED, OWN, ...)                                                              \
  ((void)(call_begin(r, (struct call_site){.comm = c, __VA_ARGS__}) &&                             \
          (call_is_selected(r) ? (SELECTED) : (OWN))),                                             \
   comm_error(r, c, call_end(r)))

#define SELECTED_CALL(NAME, ARGUMENTS, BEGIN, FLOW, SELECTED, OWN, ...)                            \
  COLLECTIVE_CALL(NAME, ARGUMENTS, BEGIN, TAKE_PART(SELECTED, OWN, .flow = (FLOW), __VA_ARGS__))

/* Defines the same for a reduction of elements of `type` by `op`. */
#define REDUCTION_CALL(NAME, ARGUMENTS, BEGIN, FLOW, SELECTED, OWN, ...)                           \
  COLLECTIVE_CALL(NAME, ARGUMENTS, BEGIN,                                                          \
                  !op_allowed(op, type) ? comm_error(r, c, MPI_ERR_OP)                             \
                                        : TAKE_PART(SELECTED, OWN, .flow = (FLOW),                 \
                                                    .ordered = is_ordered(op, type), __VA_ARGS__))

static int reduce_local(const void *before, void *into, int count, MPI_Datatype type, MPI_Op op)
{
  if (!op_allowed(op, type))
    return MPI_ERR_OP;
  elements_combine(before, into, count, type, op);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Reduce_local, (before, into, count, type, op),
             ((void)r, reduce_local(before, into, count, type, op)))

/* Returns the number of bytes of a rank's contribution. If the rank makes no contribution, `count`
 * means nothing. */
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

/* Returns the number of bytes that a rank sends or, if the call is in place, has in its receive
 * buffer. */
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
                           .equal = true,
                           .bytes = shared(out, out_count, out_type, in_count, in_type)};
  site.largest = site.bytes;
  bool takes_part = call_begin(r, site);
  if (takes_part && call_is_selected(r))
    algorithm_allgather(r, out, out_count, out_type, in, in_count, in_type, comm);
  else if (takes_part)
    own_allgather(r, out, out_count, out_type, blocks, comm);
  return call_end(r);
}

int collective_broadcast(struct rank *r, void *buffer, int count, MPI_Datatype type, int root,
                         struct comm *comm)
{
  struct call_site site = {.comm = comm,
                           .flow = RCL_FLOW_FROM_ROOT,
                           .root = root,
                           .result = EQUAL(buffer, count, type),
                           .blocks = 1,
                           .equal = true,
                           .bytes = given(comm->rank == root, count, type),
                           .largest = given(true, count, type)};
  bool takes_part = call_begin(r, site);
  if (takes_part && call_is_selected(r))
    algorithm_bcast(r, buffer, count, type, root, comm);
  else if (takes_part)
    own_broadcast(r, buffer, count, type, root, comm);
  return call_end(r);
}

int collective_alltoall(struct rank *r, struct blocks out, struct blocks in, struct comm *comm)
{
  uint32_t bytes = given(true, in.count * comm->size, in.type);
  struct call_site site = {.comm = comm,
                           .flow = RCL_FLOW_ALL,
                           .result = in,
                           .blocks = comm->size,
                           .equal = true,
                           .bytes = bytes,
                           .largest = given(true, in.count, in.type)};
  bool takes_part = call_begin(r, site);
  if (takes_part && call_is_selected(r))
    algorithm_alltoall(r, out.buffer, out.count, out.type, in.buffer, in.count, in.type, comm);
  else if (takes_part)
    own_alltoall(r, out, in, comm);
  return call_end(r);
}

SELECTED_CALL(Barrier, (comm), Ibarrier, RCL_FLOW_BARRIER, algorithm_barrier(r, c),
              own_barrier(r, c), .bytes = 0)

static int broadcast(struct rank *r, void *buffer, int count, MPI_Datatype type, int root,
                     struct comm *comm)
{
  return comm_error(r, comm, collective_broadcast(r, buffer, count, type, root, comm));
}

COLLECTIVE_CALL(Bcast, (buffer, count, type, root, comm), Ibcast,
                broadcast(r, buffer, count, type, root, c))

REDUCTION_CALL(Reduce, (out, in, count, type, op, root, comm), Ireduce, RCL_FLOW_TO_ROOT,
               algorithm_reduce(r, out, in, count, type, op, root, c),
               own_reduce(r, out, in, count, type, op, root, c), .root = root, .equal = true,
               .bytes = given(true, count, type), .largest = given(true, count, type),
               .result = EQUAL(in, count, type), .blocks = 1)

REDUCTION_CALL(Allreduce, (out, in, count, type, op, comm), Iallreduce, RCL_FLOW_ALL,
               algorithm_allreduce(r, out, in, count, type, op, c),
               own_allreduce(r, out, in, count, type, op, c), .equal = true,
               .bytes = given(true, count, type), .largest = given(true, count, type),
               .result = EQUAL(in, count, type), .blocks = 1)

REDUCTION_CALL(Scan, (out, in, count, type, op, comm), Iscan, RCL_FLOW_ALL,
               algorithm_scan(r, out, in, count, type, op, c),
               own_scan(r, out, in, count, type, op, c, false), .partial = true,
               .bytes = given(true, count, type), .result = EQUAL(in, count, type), .blocks = 1)

REDUCTION_CALL(Exscan, (out, in, count, type, op, comm), Iexscan, RCL_FLOW_ALL,
               algorithm_exscan(r, out, in, count, type, op, c),
               own_scan(r, out, in, count, type, op, c, true), .partial = true,
               .bytes = given(true, count, type), .result = EQUAL(in, count, type),
               .blocks = c->rank > 0)

SELECTED_CALL(Gather, (out, out_count, out_type, in, in_count, in_type, root, comm), Igather,
              RCL_FLOW_TO_ROOT,
              algorithm_gather(r, out, out_count, out_type, in, in_count, in_type, root, c),
              own_gather(r, out, out_count, out_type, EQUAL(in, in_count, in_type), root, c),
              .root = root, .equal = true,
              .bytes = shared(out, out_count, out_type, in_count, in_type),
              .largest = shared(out, out_count, out_type, in_count, in_type),
              .result = EQUAL(in, in_count, in_type), .blocks = c->size)

SELECTED_CALL(Gatherv, (out, out_count, out_type, in, in_counts, starts, in_type, root, comm),
              Igatherv, RCL_FLOW_TO_ROOT,
              algorithm_gatherv(r, out, out_count, out_type, in, in_counts, starts, in_type, root,
                                c),
              own_gather(r, out, out_count, out_type, UNEQUAL(in, in_counts, starts, in_type), root,
                         c),
              .root = root, .bytes = given(out != MPI_IN_PLACE, out_count, out_type),
              .result = UNEQUAL(in, in_counts, starts, in_type), .blocks = c->size)

SELECTED_CALL(Scatter, (out, out_count, out_type, in, in_count, in_type, root, comm), Iscatter,
              RCL_FLOW_FROM_ROOT,
              algorithm_scatter(r, out, out_count, out_type, in, in_count, in_type, root, c),
              own_scatter(r, EQUAL(out, out_count, out_type), in, in_count, in_type, root, c),
              .root = root, .equal = true,
              .bytes = given(c->rank == root, out_count * c->size, out_type),
              .largest = c->rank == root ? given(true, out_count, out_type)
                                         : given(true, in_count, in_type),
              .result = EQUAL(in, in_count, in_type), .blocks = 1)

/* Returns the number of bytes of all blocks if this rank is the root, which gives the blocks. */
static uint32_t all_given(const struct comm *comm, int root, const int *counts, MPI_Datatype type)
{
  return comm->rank == root ? given(true, sum_of(counts, comm->size), type) : 0;
}

SELECTED_CALL(Scatterv, (out, out_counts, starts, out_type, in, in_count, in_type, root, comm),
              Iscatterv, RCL_FLOW_FROM_ROOT,
              algorithm_scatterv(r, out, out_counts, starts, out_type, in, in_count, in_type, root,
                                 c),
              own_scatter(r, UNEQUAL(out, out_counts, starts, out_type), in, in_count, in_type,
                          root, c),
              .root = root, .bytes = all_given(c, root, out_counts, out_type),
              .result = EQUAL(in, in_count, in_type), .blocks = 1)

static int allgather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                     void *in, int in_count, MPI_Datatype in_type, struct comm *comm)
{
  return comm_error(r, comm,
                    collective_allgather(r, out, out_count, out_type, in, in_count, in_type, comm));
}

COLLECTIVE_CALL(Allgather, (out, out_count, out_type, in, in_count, in_type, comm), Iallgather,
                allgather(r, out, out_count, out_type, in, in_count, in_type, c))

SELECTED_CALL(Allgatherv, (out, out_count, out_type, in, in_counts, starts, in_type, comm),
              Iallgatherv, RCL_FLOW_ALL,
              algorithm_allgatherv(r, out, out_count, out_type, in, in_counts, starts, in_type, c),
              own_allgather(r, out, out_count, out_type, UNEQUAL(in, in_counts, starts, in_type),
                            c),
              .bytes = shared(out, out_count, out_type, in_counts[c->rank], in_type),
              .largest = given(true, largest_of(in_counts, c->size), in_type),
              .result = UNEQUAL(in, in_counts, starts, in_type), .blocks = c->size)

SELECTED_CALL(Alltoall, (out, out_count, out_type, in, in_count, in_type, comm), Ialltoall,
              RCL_FLOW_ALL,
              algorithm_alltoall(r, out, out_count, out_type, in, in_count, in_type, c),
              own_alltoall(r, EQUAL(out, out_count, out_type), EQUAL(in, in_count, in_type), c),
              .equal = true,
              .bytes = shared(out, out_count * c->size, out_type, in_count * c->size, in_type),
              .largest = given(true, in_count, in_type), .result = EQUAL(in, in_count, in_type),
              .blocks = c->size)

SELECTED_CALL(Alltoallv,
              (out, out_counts, out_starts, out_type, in, in_counts, in_starts, in_type, comm),
              Ialltoallv, RCL_FLOW_ALL,
              algorithm_alltoallv(r, out, out_counts, out_starts, out_type, in, in_counts,
                                  in_starts, in_type, c),
              own_alltoall(r, UNEQUAL(out, out_counts, out_starts, out_type),
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

SELECTED_CALL(Alltoallw,
              (out, out_counts, out_starts, out_types, in, in_counts, in_starts, in_types, comm),
              Ialltoallw, RCL_FLOW_ALL,
              own_alltoall(r, TYPED(out, out_counts, out_starts, out_types),
                           TYPED(in, in_counts, in_starts, in_types), c),
              own_alltoall(r, TYPED(out, out_counts, out_starts, out_types),
                           TYPED(in, in_counts, in_starts, in_types), c),
              .bytes = bytes_of(&TYPED(in, in_counts, in_starts, in_types), c->size),
              .result = TYPED(in, in_counts, in_starts, in_types), .blocks = c->size)

static int reduce_scatter_block(struct rank *r, const void *out, void *in, int count,
                                MPI_Datatype type, MPI_Op op, struct comm *comm)
{
  int *counts = rank_alloc(r, (size_t)comm->size * sizeof *counts);
  for (int i = 0; i < comm->size; i++)
    counts[i] = count;
  algorithm_reduce_scatter(r, out, in, counts, type, op, comm);
  rank_free(counts);
  return MPI_SUCCESS;
}

REDUCTION_CALL(Reduce_scatter_block, (out, in, count, type, op, comm), Ireduce_scatter_block,
               RCL_FLOW_ALL, reduce_scatter_block(r, out, in, count, type, op, c),
               own_reduce_scatter(r, out, in, NULL, count, type, op, c), .equal = true,
               .bytes = given(true, count * c->size, type),
               .largest = given(true, count * c->size, type), .result = EQUAL(in, count, type),
               .blocks = 1)

REDUCTION_CALL(Reduce_scatter, (out, in, counts, type, op, comm), Ireduce_scatter, RCL_FLOW_ALL,
               algorithm_reduce_scatter(r, out, in, counts, type, op, c),
               own_reduce_scatter(r, out, in, counts, 0, type, op, c),
               .bytes = given(true, sum_of(counts, c->size), type),
               .largest = given(true, sum_of(counts, c->size), type),
               .result = EQUAL(in, counts[c->rank], type), .blocks = 1)
