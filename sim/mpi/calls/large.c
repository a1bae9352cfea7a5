#include "sim/mpi/calls/large.h"

#include "include/mpi/values.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"

int large_count(const char *call, MPI_Count count)
{
  if (count > INT32_MAX || count < INT32_MIN)
    die(DIE_INPUT, "%s of %lld, expected at most %d: SMPI counts by int", call, count, INT32_MAX);
  return (int)count;
}

int *large_counts(const char *call, const MPI_Count *counts, int length)
{
  int *list = length > 0 ? malloc((size_t)length * sizeof *list) : NULL;
  for (int i = 0; i < length; i++)
    list[i] = large_count(call, counts[i]);
  return list;
}

int *large_places(const char *call, const MPI_Aint *places, int length)
{
  int *list = length > 0 ? malloc((size_t)length * sizeof *list) : NULL;
  for (int i = 0; i < length; i++)
    list[i] = large_count(call, places[i]);
  return list;
}

MPI_Aint *large_addresses(const char *call, const MPI_Count *addresses, int length)
{
  (void)call; /* no number is refused, because each number is an address */
  MPI_Aint *list = length > 0 ? malloc((size_t)length * sizeof *list) : NULL;
  for (int i = 0; i < length; i++)
    list[i] = (MPI_Aint)addresses[i];
  return list;
}

int large_members(MPI_Comm comm)
{
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

int large_blocks(MPI_Comm comm)
{
  int size = 0;
  if (!comm_is_between(comm))
    return large_members(comm);
  MPI_Comm_remote_size(comm, &size);
  return size;
}

int large_blocks_of_root(MPI_Comm comm, int root)
{
  int rank = 0;
  if (comm_is_between(comm))
    return root == MPI_ROOT ? large_blocks(comm) : 0;
  MPI_Comm_rank(comm, &rank);
  return rank == root ? large_members(comm) : 0;
}

int large_neighbours(MPI_Comm comm, bool sent)
{
  struct rank *r = rank_self();
  if (!r)
    return 0;
  const struct topology *topology = &comm_of(r, comm)->topology;
  return sent ? topology->to.count : topology->from.count;
}
