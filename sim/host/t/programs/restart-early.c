/* A program with checkpoints at the application level. Rank 2 passes a broadcast on to rank 3. Rank
 * 2 computes after its safe point, and all other ranks compute before theirs. A request for a
 * checkpoint comes during these computations. So rank 2 is captured after the broadcast, and all
 * others before it. */
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdio.h>

enum { STEPS = 12, LATE = 2 };

static struct {
  int step, pad;
  double sum;
} state;

int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  recline_protect_items(1, &state.step, 1, RECLINE_INT32);
  recline_protect_items(2, &state.sum, 1, RECLINE_DOUBLE);
  recline_restore();
  for (; state.step < STEPS; state.step++) {
    double told = state.sum + rank + 1.0;
    if (rank != LATE)
      smpi_execute_flops(7e5); /* 10 ms */
    recline_potential_checkpoint();
    if (rank == LATE)
      smpi_execute_flops(7e5); /* 10 ms */
    MPI_Bcast(&told, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    state.sum += 0.5 * told;
  }
  printf("rank %d: %a\n", rank, state.sum);
  MPI_Finalize();
  return 0;
}
