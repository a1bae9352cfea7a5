#include <mpi.h>
#include <x86intrin.h>

/* Sends the cycle counter of the machine that simulates. Its value is neither simulated nor a
 * choice that a protocol can log. */
int main(int argc, char **argv)
{
  int rank;
  unsigned long long cycles = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 100; i++) {
    if (rank == 0) {
      cycles = __rdtsc();
      MPI_Send(&cycles, 1, MPI_UNSIGNED_LONG_LONG, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Recv(&cycles, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  return MPI_Finalize();
}
