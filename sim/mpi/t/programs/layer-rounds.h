/* Helps programs that call a part of MPI in rounds: it has the number of each rank, the check of
 * results, and the beginning and the end of such a program. The program defines PROGRAM, its name,
 * before it includes this file. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* These globals are part of the image, so a rollback restores them like all other memory. */
static int rank, ranks, next, previous, round_number, failures;

static inline void expect(bool right, const char *what)
{
  if (right)
    return;
  failures++;
  fprintf(stderr, PROGRAM ": rank %d, round %d: %s\n", rank, round_number, what);
}

/* Returns value number `i` of rank `from` in this round. */
static inline int value(int from, int i)
{
  return 10000 * round_number + 100 * from + i;
}

/* Computes for a time that depends on the rank and on the round. */
static inline void compute(double seconds)
{
  smpi_execute_benched(seconds * (1 + (rank * 7 + round_number) % ranks));
}

/* Begins MPI. Returns the number of rounds: the first argument, or 1 if there is none. */
static inline int begin(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks;
  previous = (rank + ranks - 1) % ranks;
  return argc > 1 ? atoi(argv[1]) : 1;
}

/* Prints the result and ends MPI. Returns the exit code of the program. */
static inline int end(int rounds)
{
  int all;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d rounds, %d failures, %s\n", rounds, all, all ? "FAIL" : "PASS");
  MPI_Finalize();
  return all != 0;
}
