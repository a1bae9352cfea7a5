/* Prints numbers with the decimal comma of its locale, and sends messages of many sizes. */
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  int rank, ranks;
  char *bytes = calloc(1, 1 << 20);
  if (!bytes || !setlocale(LC_ALL, ""))
    return 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int size = 1; size <= 1 << 20; size *= 4) {
    MPI_Sendrecv_replace(bytes, size, MPI_CHAR, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks,
                         0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
      printf("%.2f kB\n", size / 1e3);
  }
  MPI_Finalize();
  free(bytes);
  return 0;
}
