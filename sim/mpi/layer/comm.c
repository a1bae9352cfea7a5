#include "sim/mpi/layer/comm.h"

MPI_Comm comm_handle(struct comm *comm)
{
  return (MPI_Comm)(void *)comm;
}

struct comm *comm_of(struct rank *r, MPI_Comm handle)
{
  if (handle == MPI_COMM_WORLD)
    return &r->mpi->world;
  struct comm *comm = (struct comm *)(void *)handle;
  if (handle == MPI_COMM_NULL || heap_owner(comm) != r->index || comm->freed)
    die(DIE_INPUT, "rank %d: not a communicator", r->index);
  return comm;
}

struct comm *comm_within(struct rank *r, MPI_Comm handle)
{
  struct comm *comm = comm_of(r, handle);
  if (comm->remote)
    die(DIE_INPUT, "rank %d: %s on an intercommunicator, expected an intracommunicator", r->index,
        layer.call);
  return comm;
}

bool comm_is_between(MPI_Comm handle)
{
  struct rank *r = handle == MPI_COMM_WORLD || handle == MPI_COMM_NULL ? NULL : rank_self();
  const struct comm *comm = (const struct comm *)(const void *)handle;
  return r && heap_owner(comm) == r->index && comm->remote;
}

/* Returns a group of `size` members of `both`, from member `from` on. */
static struct comm group_of(const struct comm *both, int from, int size)
{
  bool is_in = both->rank >= from && both->rank < from + size;
  return (struct comm){.number = both->number,
                       .size = size,
                       .rank = is_in ? both->rank - from : MPI_UNDEFINED,
                       .member = both->member + from,
                       .errors = both->errors};
}

struct comm *comm_between(struct rank *r, struct comm *both, int first)
{
  struct comm *comm = rank_alloc(r, sizeof *comm), *remote = rank_alloc(r, sizeof *remote);
  bool in_first = both->rank < first;
  struct comm before = group_of(both, 0, first), behind = group_of(both, first, both->size - first);
  *comm = in_first ? before : behind;
  *remote = in_first ? behind : before;
  comm->remote = remote;
  comm->both = both;
  return comm;
}

int comm_first_group(const struct comm *between)
{
  return between->member == between->both->member ? between->size : between->remote->size;
}

int rank_in_group(MPI_Group group, int i)
{
  MPI_Group world;
  int rank = MPI_UNDEFINED;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, 1, &i, world, &rank);
  return rank;
}

void ranks_in_group(MPI_Group group, int count, int *ranks)
{
  MPI_Group world;
  g_autofree int *place = g_new(int, (gsize)count + 1);
  for (int i = 0; i < count; i++)
    place[i] = i;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, count, place, world, ranks);
  PMPI_Group_free(&world);
}
