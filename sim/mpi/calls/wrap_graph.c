/* Defines graph topologies: communicators with neighbours. The neighbours lie in the arena. Ranks
 * are never reordered. SMPI itself has none of these calls. */
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"

#include <string.h>

/* Describes a graph as MPI_Graph_create does: the neighbours of rank i end before
 * edge[index[i]]. */
struct graph {
  int nodes;
  int *index, *edge;
};

static int *copy_of(struct rank *r, const int *values, int count)
{
  int *copied = rank_alloc(r, (size_t)count * sizeof *copied);
  if (count > 0)
    memcpy(copied, values, (size_t)count * sizeof *copied);
  return copied;
}

/* Copies values, as many as fit. */
static void tell(int *where, const int *values, int count, int room)
{
  if (MIN(count, room) > 0)
    memcpy(where, values, (size_t)MIN(count, room) * sizeof *where);
}

/* ---- graphs that all ranks know ---- */

static const struct graph *graph_of(struct rank *r, MPI_Comm comm)
{
  const struct graph *graph = comm_of(r, comm)->topology.graph;
  if (!graph)
    die(DIE_INPUT, "rank %d: the communicator has no graph topology", r->index);
  return graph;
}

static int edges(const struct graph *graph)
{
  return graph->nodes > 0 ? graph->index[graph->nodes - 1] : 0;
}

static struct neighbours neighbours_of(const struct graph *graph, int rank)
{
  int first = rank > 0 ? graph->index[rank - 1] : 0;
  return (struct neighbours){.count = graph->index[rank] - first, .rank = graph->edge + first};
}

static int create(struct rank *r, struct comm *parent, int nodes, const int *index, const int *edge,
                  MPI_Comm *made)
{
  if (nodes < 0 || nodes > parent->size)
    return MPI_ERR_ARG;
  int error = comm_split(r, parent, parent->rank < nodes ? 0 : MPI_UNDEFINED, parent->rank, made);
  if (*made == MPI_COMM_NULL)
    return error;
  struct comm *comm = comm_of(r, *made);
  struct graph *graph = rank_alloc(r, sizeof *graph);
  graph->nodes = nodes;
  graph->index = copy_of(r, index, nodes);
  graph->edge = copy_of(r, edge, index[nodes - 1]);
  struct neighbours both = neighbours_of(graph, comm->rank);
  comm->topology = (struct topology){.kind = MPI_GRAPH, .graph = graph, .from = both, .to = both};
  return MPI_SUCCESS;
}

WRAP_CALL(Graph_create, (comm, nodes, index, edge, reorder, made),
          create(r, comm_within(r, comm), nodes, index, edge, made))

static int tell_size(const struct graph *graph, int *nodes, int *edge_count)
{
  *nodes = graph->nodes;
  *edge_count = edges(graph);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Graphdims_get, (comm, nodes, edge_count),
             tell_size(graph_of(r, comm), nodes, edge_count))

static int tell_graph(const struct graph *graph, int most_nodes, int most_edges, int *index,
                      int *edge)
{
  tell(index, graph->index, graph->nodes, most_nodes);
  tell(edge, graph->edge, edges(graph), most_edges);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Graph_get, (comm, most_nodes, most_edges, index, edge),
             tell_graph(graph_of(r, comm), most_nodes, most_edges, index, edge))

static int count_neighbours(const struct graph *graph, int rank, int *count)
{
  if (rank < 0 || rank >= graph->nodes)
    return MPI_ERR_RANK;
  *count = neighbours_of(graph, rank).count;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Graph_neighbors_count, (comm, rank, count),
             count_neighbours(graph_of(r, comm), rank, count))

static int tell_neighbours(const struct graph *graph, int rank, int most, int *neighbours)
{
  if (rank < 0 || rank >= graph->nodes)
    return MPI_ERR_RANK;
  struct neighbours found = neighbours_of(graph, rank);
  tell(neighbours, found.rank, found.count, most);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Graph_neighbors, (comm, rank, most, neighbours),
             tell_neighbours(graph_of(r, comm), rank, most, neighbours))

static int map(const struct comm *comm, int nodes, int *rank)
{
  *rank = comm->rank < nodes ? comm->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Graph_map, (comm, nodes, index, edge, rank), map(comm_of(r, comm), nodes, rank))

/* ---- graphs of which each rank knows its own part ---- */

/* Copies an argument that may be MPI_UNWEIGHTED or MPI_WEIGHTS_EMPTY. */
static int *weights_of(struct rank *r, const int *weights, int count)
{
  if (weights == MPI_UNWEIGHTED)
    return NULL;
  return copy_of(r, weights, weights == MPI_WEIGHTS_EMPTY ? 0 : count);
}

static int create_adjacent(struct rank *r, struct comm *parent, int in, const int *sources,
                           const int *in_weights, int out, const int *destinations,
                           const int *out_weights, MPI_Comm *made)
{
  int error = comm_split(r, parent, 0, parent->rank, made);
  if (error)
    return error;
  comm_of(r, *made)->topology = (struct topology){
      .kind = MPI_DIST_GRAPH,
      .from = {in, copy_of(r, sources, in), weights_of(r, in_weights, in)},
      .to = {out, copy_of(r, destinations, out), weights_of(r, out_weights, out)}};
  return MPI_SUCCESS;
}

WRAP_CALL(Dist_graph_create_adjacent,
          (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, made),
          create_adjacent(r, comm_within(r, comm), in, sources, in_weights, out, destinations,
                          out_weights, made))

struct edge {
  int from, to, weight;
  bool weighted;
};

/* Returns the edges that this rank gives, followed by edges without an origin, so that there are
 * `room` edges in all. */
static struct edge *own_edges(struct rank *r, int room, int sources, const int *source,
                              const int *degrees, const int *destinations, const int *weights)
{
  struct edge *edge = rank_alloc(r, (size_t)room * sizeof *edge);
  int count = 0;
  bool weighted = weights != MPI_UNWEIGHTED;
  for (int i = 0; i < sources; i++)
    for (int k = 0; k < degrees[i]; k++, count++)
      edge[count] =
          (struct edge){source[i], destinations[count], weighted ? weights[count] : 0, weighted};
  for (; count < room; count++)
    edge[count].from = MPI_PROC_NULL;
  return edge;
}

/* Returns the edges that lead to `rank`, or the edges that lead from it. */
static struct neighbours chosen(struct rank *r, const struct edge *edge, int count, int rank,
                                bool to, bool weighted)
{
  struct neighbours found = {0};
  for (int i = 0; i < count; i++)
    found.count += edge[i].from != MPI_PROC_NULL && (to ? edge[i].to : edge[i].from) == rank;
  found.rank = rank_alloc(r, (size_t)found.count * sizeof *found.rank);
  found.weight = weighted ? rank_alloc(r, (size_t)found.count * sizeof *found.weight) : NULL;
  for (int i = 0, k = 0; i < count; i++) {
    if (edge[i].from == MPI_PROC_NULL || (to ? edge[i].to : edge[i].from) != rank)
      continue;
    if (weighted)
      found.weight[k] = edge[i].weight;
    found.rank[k++] = to ? edge[i].from : edge[i].to;
  }
  return found;
}

/* Returns whether the graph has weights. MPI_UNWEIGHTED is NULL in SMPI, and ranks without edges
 * may pass NULL as well. So the edges decide. If there are no edges, this rank's argument
 * decides. */
static bool are_weighted(const struct edge *edge, int count, bool own)
{
  for (int i = 0; i < count; i++)
    if (edge[i].from != MPI_PROC_NULL)
      return edge[i].weighted;
  return own;
}

/* Makes a communicator of a distributed graph. All ranks exchange the same number of edges, which
 * is the largest number of edges that a rank gives. */
static int create_distributed(struct rank *r, struct comm *parent, int sources, const int *source,
                              const int *degrees, const int *destinations, const int *weights,
                              MPI_Comm *made)
{
  int *counts = rank_alloc(r, (size_t)parent->size * sizeof *counts);
  int *own = rank_alloc(r, sizeof *own), room = 0;
  for (int i = 0; i < sources; i++)
    *own += degrees[i];
  int error = collective_allgather(r, own, 1, MPI_INT, counts, 1, MPI_INT, parent);
  if (error)
    return comm_error(r, parent, error);
  for (int i = 0; i < parent->size; i++)
    room = MAX(room, counts[i]);
  struct edge *mine = own_edges(r, room, sources, source, degrees, destinations, weights);
  struct edge *all = rank_alloc(r, (size_t)room * (size_t)parent->size * sizeof *all);
  int bytes = room * (int)sizeof *all, rank = parent->rank, count = room * parent->size;
  collective_allgather(r, mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, parent);
  error = comm_split(r, parent, 0, rank, made);
  if (error)
    return error;
  bool weighted = are_weighted(all, count, weights != MPI_UNWEIGHTED);
  comm_of(r, *made)->topology =
      (struct topology){.kind = MPI_DIST_GRAPH,
                        .from = chosen(r, all, count, rank, true, weighted),
                        .to = chosen(r, all, count, rank, false, weighted)};
  rank_free(counts);
  rank_free(own);
  rank_free(mine);
  rank_free(all);
  return MPI_SUCCESS;
}

WRAP_CALL(Dist_graph_create,
          (comm, sources, source, degrees, destinations, weights, info, reorder, made),
          create_distributed(r, comm_within(r, comm), sources, source, degrees, destinations,
                             weights, made))

static const struct topology *distributed(struct rank *r, MPI_Comm comm)
{
  const struct topology *topology = &comm_of(r, comm)->topology;
  if (topology->kind != MPI_DIST_GRAPH)
    die(DIE_INPUT, "rank %d: the communicator has no distributed graph topology", r->index);
  return topology;
}

static int count_both(const struct topology *topology, int *in, int *out, int *weighted)
{
  *in = topology->from.count;
  *out = topology->to.count;
  *weighted = topology->from.weight || topology->to.weight;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Dist_graph_neighbors_count, (comm, in, out, weighted),
             count_both(distributed(r, comm), in, out, weighted))

static void tell_one_side(const struct neighbours *neighbours, int most, int *ranks, int *weights)
{
  tell(ranks, neighbours->rank, neighbours->count, most);
  if (neighbours->weight && weights != MPI_UNWEIGHTED)
    tell(weights, neighbours->weight, neighbours->count, most);
}

static int tell_both(const struct topology *topology, int most_in, int *sources, int *in_weights,
                     int most_out, int *destinations, int *out_weights)
{
  tell_one_side(&topology->from, most_in, sources, in_weights);
  tell_one_side(&topology->to, most_out, destinations, out_weights);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Dist_graph_neighbors,
             (comm, most_in, sources, in_weights, most_out, destinations, out_weights),
             tell_both(distributed(r, comm), most_in, sources, in_weights, most_out, destinations,
                       out_weights))
