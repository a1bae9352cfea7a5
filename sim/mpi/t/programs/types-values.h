/* Helps programs that compare results of MPI with right values. Every MPI library must pass these
 * programs. */
#ifndef TYPES_VALUES_H
#define TYPES_VALUES_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, ranks, checks, wrong;

/* Prints a value that is not right, and counts it. */
static void value(const char *what, const char *which, long long found, long long right)
{
  checks++;
  if (found == right)
    return;
  wrong++;
  printf("rank %d: %s: %s is %lld, expected %lld\n", rank, what, which, found, right);
}

static void begin(int *argc, char ***argv)
{
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static int end(const char *what)
{
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s: %s, %s\n", what, checks > 50 ? "many values" : "few values",
           all ? "WRONG" : "all are right");
  MPI_Finalize();
  return all != 0;
}

#endif
