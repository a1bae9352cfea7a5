/* Reads numbers from the standard input of rank 0, by calls of C or, with an argument, by read(),
 * and broadcasts them. At the end rank 0 prints how many numbers it has read, and a checksum.
 * input.t runs this program. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool by_descriptor(char *line, size_t size)
{
  size_t used = 0;
  while (used + 1 < size && read(STDIN_FILENO, &line[used], 1) == 1 && line[used] != '\n')
    used++;
  line[used] = '\0';
  return used > 0;
}

int main(int argc, char **argv)
{
  int rank;
  long number, numbers = 0, sum = 0;
  char line[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  do {
    number = -1;
    if (rank == 0 &&
        (argc > 1 ? by_descriptor(line, sizeof line) : fgets(line, sizeof line, stdin) != NULL))
      number = strtol(line, NULL, 10);
    MPI_Bcast(&number, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* the reader does not run ahead */
    sum = number < 0 ? sum : (3 * sum + number) % 1000003;
    numbers += number >= 0;
  } while (number >= 0);
  if (rank == 0)
    printf("%ld numbers, %ld\n", numbers, sum);
  return MPI_Finalize();
}
