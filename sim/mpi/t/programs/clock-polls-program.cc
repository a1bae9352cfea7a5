/* Polls for messages and reads std::chrono between polls; the next message depends on the times
 * that were read. */
#include <mpi.h>

#include <chrono>
#include <cstdio>

int main(int argc, char **argv)
{
  int rank, ranks;
  double sum = 0.0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round < 6; round++) {
    MPI_Request request;
    double in;
    MPI_Irecv(&in, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &request);
    if (rank == round % ranks)
      smpi_execute_flops(2e5);
    MPI_Send(&sum, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
    for (int flag = 0; !flag;) {
      auto steady = std::chrono::steady_clock::now().time_since_epoch();
      auto wall = std::chrono::system_clock::now().time_since_epoch();
      sum += std::chrono::duration<double>(steady).count() +
             std::chrono::duration<double>(wall).count();
      if (steady.count() / 100 % 3 == 0)
        smpi_execute_flops(1e4);
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    sum += in;
  }
  std::printf("%d: done\n", rank);
  MPI_Finalize();
}
