/* Waits. Usage: watch never|long. `never` waits for a message that is never sent, `long` for
 * messages that take long. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  enum { BYTES = 60000, LAPS = 5 };
  static char bytes[BYTES];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && !strcmp(argv[1], "never"))
    MPI_Recv(bytes, BYTES, MPI_CHAR, rank ^ 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int lap = 0; lap < LAPS; lap++)
    for (int sender = 0; sender < 2; sender++)
      if (rank == sender)
        MPI_Send(bytes, BYTES, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD);
      else
        MPI_Recv(bytes, BYTES, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
