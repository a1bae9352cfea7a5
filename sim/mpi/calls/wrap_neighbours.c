/* Defines neighbourhood collectives. Like a nonblocking collective, each is one round of messages
 * from and to the neighbours (wrap_nonblocking.c says why). A blocking call makes the nonblocking
 * call and waits. SMPI itself has none of these calls. */
#include "sim/mpi/calls/nonblocking.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/windows/window_passive.h"

static const struct topology *topology_of(struct rank *r, const struct comm *comm)
{
  if (!comm->topology.kind)
    die(DIE_INPUT, "rank %d: the communicator has no topology", r->index);
  return &comm->topology;
}

/* Two ranks can be neighbours more than once. If so, the first message that one rank sends is the
 * first message that the other rank receives. But in a grid, a message that a rank sends to its
 * previous neighbour comes to that neighbour from its next neighbour. */
struct request *nonblocking_neighbours(struct rank *r, struct blocks out, struct blocks in,
                                       struct comm *comm, struct request *whole)
{
  const struct topology *topology = topology_of(r, comm);
  const struct neighbours *to = &topology->to, *from = &topology->from;
  int tag = whole ? whole->tag : TAG_NEIGHBOURS;
  if (whole)
    p2p_make_room(r, whole, to->count + from->count);
  else
    whole = p2p_whole(r, to->count + from->count);
  for (int i = 0; i < to->count; i++)
    p2p_add(whole, p2p_send(r, block_at(&out, i), block_count(&out, i), block_type(&out, i),
                            to->rank[i], tag, comm, P2P_COLLECTIVE));
  for (int k = 0; k < from->count; k++) {
    int i = topology->grid ? k ^ 1 : k;
    p2p_add(whole, p2p_receive(r, block_at(&in, i), block_count(&in, i), block_type(&in, i),
                               from->rank[i], tag, comm, P2P_COLLECTIVE));
  }
  return whole;
}

/* Returns blocks that are the same for all neighbours. */
static struct blocks same(const void *buffer, int count, MPI_Datatype type)
{
  return (struct blocks){
      .buffer = (void *)(uintptr_t)buffer, .count = count, .type = type, .repeated = true};
}

static struct blocks far(const void *buffer, const int *counts, const MPI_Aint *places,
                         const MPI_Datatype *types)
{
  return (struct blocks){
      .buffer = (void *)(uintptr_t)buffer, .counts = counts, .places = places, .types = types};
}

/* ---- the calls ---- */

/* Defines the calls Neighbor_NAME and Ineighbor_NAME. OUT and IN are expressions of the arguments
 * for the blocks that are sent and for the blocks that are received. */
#define NEIGHBOUR_CALL(NAME, OUT, IN, ...)                                                         \
  WRAP_CALL(                                                                                       \
      Neighbor_##NAME, (__VA_ARGS__, comm),                                                        \
      comm_error(r, comm_of(r, comm),                                                              \
                 window_finish(r, nonblocking_neighbours(r, OUT, IN, comm_of(r, comm), NULL),      \
                               MPI_STATUS_IGNORE)))                                                \
  WRAP_CALL(Ineighbor_##NAME, (__VA_ARGS__, comm, request),                                        \
            began(nonblocking_neighbours(r, OUT, IN, comm_of(r, comm), NULL), request))

NEIGHBOUR_CALL(allgather, same(out, out_count, out_type), EQUAL(in, in_count, in_type), out,
               out_count, out_type, in, in_count, in_type)
NEIGHBOUR_CALL(allgatherv, same(out, out_count, out_type), UNEQUAL(in, in_counts, starts, in_type),
               out, out_count, out_type, in, in_counts, starts, in_type)
NEIGHBOUR_CALL(alltoall, EQUAL(out, out_count, out_type), EQUAL(in, in_count, in_type), out,
               out_count, out_type, in, in_count, in_type)
NEIGHBOUR_CALL(alltoallv, UNEQUAL(out, out_counts, out_starts, out_type),
               UNEQUAL(in, in_counts, in_starts, in_type), out, out_counts, out_starts, out_type,
               in, in_counts, in_starts, in_type)
NEIGHBOUR_CALL(alltoallw, far(out, out_counts, out_places, out_types),
               far(in, in_counts, in_places, in_types), out, out_counts, out_places, out_types, in,
               in_counts, in_places, in_types)
