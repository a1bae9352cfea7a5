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

int rank_in_group(MPI_Group group, int i)
{
  MPI_Group world;
  int rank = MPI_UNDEFINED;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, 1, &i, world, &rank);
  return rank;
}
