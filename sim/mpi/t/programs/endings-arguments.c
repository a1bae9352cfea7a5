#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; rank == 0 && i < argc; i++)
    printf("argument %d: %s\n", i, argv[i]);
  MPI_Finalize();
  return 0;
}
