/* Polls for a message until it comes. Usage: poll-cost HOW POLLS. HOW is `test` or `iprobe`; or
 * `test-clock` or `iprobe-clock`, which also read the clock at each poll. In each of ten rounds,
 * rank 0 polls for a message of rank 1. In all rounds together it polls about POLLS times. It
 * prints how often it has polled. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
  enum { ROUNDS = 10 };
  int rank, word = 7;
  long polls = 0, each = argc > 2 ? atol(argv[2]) / ROUNDS : 0;
  double told = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int tests = argc > 1 && !strncmp(argv[1], "test", 4),
      clocks = argc > 1 && strstr(argv[1], "clock");
  for (int i = 0; i < ROUNDS; i++) {
    int here = 0;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      smpi_execute_flops(70.0 * (double)each); /* 1 us for each poll, on clan.xml */
      MPI_Send(&word, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    } else if (rank == 0) {
      if (tests)
        MPI_Irecv(&word, 1, MPI_INT, 1, i, MPI_COMM_WORLD, &request);
      for (; !here; polls++) {
        if (clocks)
          told += MPI_Wtime();
        smpi_execute_flops(70);
        if (tests)
          MPI_Test(&request, &here, MPI_STATUS_IGNORE);
        else
          MPI_Iprobe(1, i, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
      }
      if (!tests)
        MPI_Recv(&word, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  if (rank == 0)
    printf("polls %ld\n", polls);
  MPI_Finalize();
  return told < 0;
}
