/* Defines Cartesian topologies: communicators with a grid. The grid lies in the arena. Ranks are
 * never reordered. The last dimension varies fastest. */
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"

#include <string.h>

struct grid {
  int dimensions;
  int *size, *periodic;
};

static struct grid *new_grid(struct rank *r, int dimensions)
{
  struct grid *grid = rank_alloc(r, sizeof *grid);
  grid->dimensions = dimensions;
  grid->size = rank_alloc(r, (size_t)dimensions * sizeof *grid->size);
  grid->periodic = rank_alloc(r, (size_t)dimensions * sizeof *grid->periodic);
  return grid;
}

static int product(int count, const int *sizes)
{
  int all = 1;
  for (int i = 0; i < count; i++)
    all *= sizes[i];
  return all;
}

/* Returns the difference between the ranks of two processes that are neighbours in `dimension`. */
static int stride(const struct grid *grid, int dimension)
{
  return product(grid->dimensions - dimension - 1, grid->size + dimension + 1);
}

static int coordinate(const struct grid *grid, int rank, int dimension)
{
  return rank / stride(grid, dimension) % grid->size[dimension];
}

static const struct grid *grid_of(struct rank *r, MPI_Comm comm)
{
  const struct grid *grid = comm_of(r, comm)->topology.grid;
  if (!grid)
    die(DIE_INPUT, "rank %d: the communicator has no Cartesian topology", r->index);
  return grid;
}

/* Returns the coordinate, modulo the size of the dimension if the dimension is periodic. Returns -1
 * if the coordinate lies outside of the grid. */
static int inside(const struct grid *grid, int dimension, int value)
{
  int size = grid->size[dimension];
  if (grid->periodic[dimension])
    return (value % size + size) % size;
  return value >= 0 && value < size ? value : -1;
}

static int neighbour(const struct grid *grid, int rank, int dimension, int distance)
{
  int here = coordinate(grid, rank, dimension);
  int there = inside(grid, dimension, here + distance);
  return there < 0 ? MPI_PROC_NULL : rank + (there - here) * stride(grid, dimension);
}

/* ---- how large ---- */

/* Writes `nodes` as a product of `count` factors of at most `most`, so that the largest factor is
 * as small as possible. Returns that factor, or 0 if there is no such product. */
static int largest_factor(int nodes, int count, int most)
{
  if (count == 0)
    return nodes == 1;
  for (int first = 1; first <= MIN(nodes, most); first++)
    if (nodes % first == 0 && largest_factor(nodes / first, count - 1, first))
      return first;
  return 0;
}

/* Makes factors as close to each other as possible, larger ones first (MPI 3.1, section 7.5.2). */
static int choose_sizes(int nodes, int count, int *sizes)
{
  int free = 0;
  for (int i = 0; i < count; i++) {
    if (sizes[i] < 0 || (sizes[i] > 0 && nodes % sizes[i] != 0))
      return MPI_ERR_DIMS;
    free += sizes[i] == 0;
    nodes /= MAX(sizes[i], 1);
  }
  if (nodes < 1 || (free == 0 && nodes != 1))
    return MPI_ERR_DIMS;
  for (int i = 0; i < count; i++)
    if (sizes[i] == 0) {
      sizes[i] = largest_factor(nodes, free--, nodes);
      nodes /= sizes[i];
    }
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Dims_create, (nodes, count, sizes),
             ((void)r, nodes < 1 || count < 0 ? MPI_ERR_ARG : choose_sizes(nodes, count, sizes)))

/* ---- making ---- */

/* Sets the two neighbours in each dimension, the previous and the next. */
static void give_grid(struct rank *r, MPI_Comm handle, struct grid *grid)
{
  struct comm *comm = comm_of(r, handle);
  struct neighbours both = {.count = 2 * grid->dimensions};
  both.rank = rank_alloc(r, (size_t)both.count * sizeof *both.rank);
  for (int i = 0; i < grid->dimensions; i++) {
    both.rank[2 * i] = neighbour(grid, comm->rank, i, -1);
    both.rank[2 * i + 1] = neighbour(grid, comm->rank, i, 1);
  }
  comm->topology = (struct topology){.kind = MPI_CART, .grid = grid, .from = both, .to = both};
}

static int create(struct rank *r, struct comm *parent, int dimensions, const int *sizes,
                  const int *periodic, MPI_Comm *made)
{
  int nodes = product(dimensions, sizes);
  if (nodes < 1 || nodes > parent->size)
    return MPI_ERR_DIMS;
  int error = comm_split(r, parent, parent->rank < nodes ? 0 : MPI_UNDEFINED, parent->rank, made);
  if (*made == MPI_COMM_NULL)
    return error;
  struct grid *grid = new_grid(r, dimensions);
  memcpy(grid->size, sizes, (size_t)dimensions * sizeof *sizes);
  memcpy(grid->periodic, periodic, (size_t)dimensions * sizeof *periodic);
  give_grid(r, *made, grid);
  return MPI_SUCCESS;
}

WRAP_CALL(Cart_create, (comm, dimensions, sizes, periodic, reorder, made),
          create(r, comm_within(r, comm), dimensions, sizes, periodic, made))

/* Makes a communicator of the ranks that agree in all dropped dimensions. If all dimensions are
 * dropped, each rank is alone. */
static int sub(struct rank *r, MPI_Comm handle, const int *remain, MPI_Comm *made)
{
  struct comm *comm = comm_of(r, handle);
  const struct grid *grid = grid_of(r, handle);
  int colour = 0, kept = 0;
  for (int i = 0; i < grid->dimensions; i++) {
    if (remain[i])
      kept++;
    else
      colour = colour * grid->size[i] + coordinate(grid, comm->rank, i);
  }
  struct grid *part = new_grid(r, kept);
  for (int i = 0, to = 0; i < grid->dimensions; i++)
    if (remain[i]) {
      part->size[to] = grid->size[i];
      part->periodic[to++] = grid->periodic[i];
    }
  int error = comm_split(r, comm, colour, comm->rank, made);
  if (*made != MPI_COMM_NULL)
    give_grid(r, *made, part);
  return error;
}

WRAP_CALL(Cart_sub, (comm, remain, made), sub(r, comm, remain, made))

/* ---- looking up ---- */

static int tell_coordinates(const struct grid *grid, int rank, int most, int *coordinates)
{
  for (int i = 0; i < grid->dimensions && i < most; i++)
    coordinates[i] = coordinate(grid, rank, i);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Cart_coords, (comm, rank, most, coordinates),
             tell_coordinates(grid_of(r, comm), rank, most, coordinates))

static int get(struct rank *r, MPI_Comm comm, int most, int *sizes, int *periodic, int *coordinates)
{
  const struct grid *grid = grid_of(r, comm);
  for (int i = 0; i < grid->dimensions && i < most; i++) {
    sizes[i] = grid->size[i];
    periodic[i] = grid->periodic[i];
  }
  return tell_coordinates(grid, comm_of(r, comm)->rank, most, coordinates);
}

LOOK_UP_CALL(Cart_get, (comm, most, sizes, periodic, coordinates),
             get(r, comm, most, sizes, periodic, coordinates))

static int dimensions_of(struct rank *r, MPI_Comm comm, int *dimensions)
{
  *dimensions = grid_of(r, comm)->dimensions;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Cartdim_get, (comm, dimensions), dimensions_of(r, comm, dimensions))

static int rank_at(const struct grid *grid, const int *coordinates, int *rank)
{
  int found = 0;
  for (int i = 0; i < grid->dimensions; i++) {
    int value = inside(grid, i, coordinates[i]);
    if (value < 0)
      return MPI_ERR_ARG;
    found = found * grid->size[i] + value;
  }
  *rank = found;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Cart_rank, (comm, coordinates, rank), rank_at(grid_of(r, comm), coordinates, rank))

static int shift(struct rank *r, MPI_Comm comm, int dimension, int distance, int *from, int *to)
{
  const struct grid *grid = grid_of(r, comm);
  if (dimension < 0 || dimension >= grid->dimensions)
    return MPI_ERR_ARG;
  *from = neighbour(grid, comm_of(r, comm)->rank, dimension, -distance);
  *to = neighbour(grid, comm_of(r, comm)->rank, dimension, distance);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Cart_shift, (comm, dimension, distance, from, to),
             shift(r, comm, dimension, distance, from, to))

static int map(const struct comm *comm, int dimensions, const int *sizes, int *rank)
{
  *rank = comm->rank < product(dimensions, sizes) ? comm->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Cart_map, (comm, dimensions, sizes, periodic, rank),
             map(comm_of(r, comm), dimensions, sizes, rank))

static int test(const struct comm *comm, int *kind)
{
  *kind = comm->topology.kind ? (int)comm->topology.kind : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Topo_test, (comm, kind), test(comm_of(r, comm), kind))
