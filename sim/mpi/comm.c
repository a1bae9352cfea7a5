#include "sim/mpi/comm.h"

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

int rank_in_group(MPI_Group group, int i)
{
  MPI_Group world;
  int rank = MPI_UNDEFINED;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, 1, &i, world, &rank);
  return rank;
}
