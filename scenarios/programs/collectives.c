/* collectives: measures the time of a collective operation by the size of a rank's message.
 *
 *     collectives bcast|gather|allgather|barrier LEAST MOST REPEATS
 *
 * The size grows from LEAST bytes to MOST by factors of four. For each size the program does the
 * operation REPEATS times, each time behind a barrier, as in the measurements of Bronevetsky et al.
 * (ICS 2003, section 6). Rank 0 prints "us_SIZE: microseconds", the mean time of an operation at
 * the slowest rank, and whether all data arrived where they should.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, wrong;
static char *own, *all;

static void call(char operation, int bytes)
{
  switch (operation) {
  case 'c':
    MPI_Bcast(own, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    break;
  case 'g':
    MPI_Gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    break;
  case 'a':
    MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
    break;
  default:
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* Returns the byte that rank `of` contributes to repetition `repeat`. */
static char stamp(int of, int bytes, int repeat)
{
  return (char)(of * 5 + bytes % 7 + repeat + 1);
}

static void check(char operation, int bytes, int repeat)
{
  if (operation == 'c')
    wrong += own[bytes - 1] != stamp(0, bytes, repeat);
  for (int of = 0; of < ranks && (operation == 'a' || (operation == 'g' && rank == 0)); of++)
    wrong += all[(size_t)of * (size_t)bytes + (size_t)bytes - 1] != stamp(of, bytes, repeat);
}

static void measure(char operation, int bytes, int repeats)
{
  double sum = 0.0;
  for (int repeat = 0; repeat < repeats; repeat++) {
    double took, slowest;
    memset(own, stamp(rank, bytes, repeat), (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    took = -MPI_Wtime();
    call(operation, bytes);
    took += MPI_Wtime();
    check(operation, bytes, repeat);
    MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    sum += slowest;
  }
  if (rank == 0)
    printf("us_%d: %.6f\n", bytes, 1e6 * sum / repeats);
}

int main(int argc, char **argv)
{
  int total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int least = argc == 5 ? atoi(argv[2]) : 0, most = argc == 5 ? atoi(argv[3]) : 0;
  int repeats = argc == 5 ? atoi(argv[4]) : 0;
  if (least < 1 || most < least || repeats < 1) {
    if (rank == 0)
      fprintf(stderr, "collectives: expected bcast|gather|allgather|barrier LEAST MOST REPEATS\n");
    MPI_Finalize();
    return 64;
  }
  char operation = argv[1][0] == 'b' && argv[1][1] == 'c' ? 'c' : argv[1][0];
  own = malloc((size_t)most);
  all = operation == 'a' || (operation == 'g' && rank == 0) ? malloc((size_t)most * (size_t)ranks)
                                                            : NULL;
  for (int bytes = least; bytes <= most; bytes *= 4)
    measure(operation, bytes, repeats);
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("verification: %s\n", total ? "FAIL" : "PASS");
  free(own);
  free(all);
  MPI_Finalize();
  return total ? 1 : 0;
}
