/* What programs share that call a part of MPI in rounds: who a rank is, what it expects, how it
 * ends. The program defines PROGRAM, its name, before this. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Globals: rolled back with everything else. */
static int rank, ranks, next, previous, round_number, failures;

static inline void expect(bool right, const char *what)
{
  if (right)
    return;
  failures++;
  fprintf(stderr, PROGRAM ": rank %d, round %d: %s\n", rank, round_number, what);
}

/* Number `i` of those that `from` has in this round. */
static inline int value(int from, int i)
{
  return 10000 * round_number + 100 * from + i;
}

/* Another time on each rank. */
static inline void compute(double seconds)
{
  smpi_execute_benched(seconds * (1 + (rank * 7 + round_number) % ranks));
}

/* The first argument: how many rounds. */
static inline int begin(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks;
  previous = (rank + ranks - 1) % ranks;
  return argc > 1 ? atoi(argv[1]) : 1;
}

/* Returns what main() returns. */
static inline int end(int rounds)
{
  int all;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d rounds, %d failures, %s\n", rounds, all, all ? "FAIL" : "PASS");
  MPI_Finalize();
  return all != 0;
}
