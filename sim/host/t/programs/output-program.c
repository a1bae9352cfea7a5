/* Makes outputs in three ways: by stdio, by write(2), and by recline_output(). */
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  int rank, ranks, sent = 0, received;
  char line[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  printf("rank %d begins\n", rank);
  for (int i = 0; i < 12; i++) {
    smpi_execute_flops(1e6); /* 14 ms */
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % ranks, 0, &received, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent = received + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d prints %d\n", rank, sent - 1);
    if (i % 4 == 0) {
      fflush(stdout);
      int length = snprintf(line, sizeof line, "rank %d writes %d\n", rank, i);
      if (write(STDOUT_FILENO, line, (size_t)length) != length)
        return 1;
    }
    if (i % 5 == 0) {
      snprintf(line, sizeof line, "rank %d tells %d\n", rank, i);
      recline_output(line, strlen(line));
    }
  }
  MPI_Finalize();
  printf("rank %d ends\n", rank);
  return 0;
}
