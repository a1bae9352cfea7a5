/* Prints a line and writes to a file, both before its data are put back and in each step. */
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  int rank, step = 0;
  char name[32];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "log.restarts.%d", rank);
  FILE *file = fopen(name, "w");
  fprintf(file, "rank %d begins\n", rank);
  printf("rank %d begins\n", rank);
  recline_protect_items(1, &step, 1, RECLINE_INT32);
  recline_restore();
  for (; step < 12; step++) {
    recline_potential_checkpoint();
    smpi_execute_flops(1e6); /* 14 ms */
    MPI_Barrier(MPI_COMM_WORLD);
    fprintf(file, "rank %d, step %d\n", rank, step);
    printf("rank %d, step %d\n", rank, step);
  }
  MPI_Finalize();
  fclose(file);
  return 0;
}
