#include "suite.h"

#include <mpi.h>
#include <stdio.h>

/* Computes the finalizer of splitmix64. */
uint64_t suite_hash(uint64_t key)
{
  key += 0x9e3779b97f4a7c15u;
  key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
  key = (key ^ key >> 27) * 0x94d049bb133111ebu;
  return key ^ key >> 31;
}

int suite_verdict(const char *name, long wrong)
{
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0)
    printf("%s: %ld wrong, verification: %s\n", name, wrong, wrong == 0 ? "PASS" : "FAIL");
  return wrong == 0 ? 0 : 1;
}
