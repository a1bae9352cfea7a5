/* Does one thing that a program must not do at the application level. The argument says which.
 * Some of these things are done only after a restart; the test then crashes a rank. */
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  int rank, step = 0, token = 0;
  double x[100] = {0};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char *wrong = argc > 1 ? argv[1] : "";
  int again = recline_restarts() != RECLINE_NO_RESTART;
#define WRONG(NAME) (!strcmp(wrong, NAME))

  recline_protect(1, &step, sizeof step);
  if (WRONG("twice"))
    recline_protect(1, &token, sizeof token);
  if (WRONG("unknown"))
    recline_unprotect(9);
  if (WRONG("pop"))
    recline_pop();
  if (again && WRONG("missing"))
    goto steps;
  if (again && WRONG("type"))
    recline_protect_items(2, x, 100, RECLINE_INT64);
  else
    recline_protect_items(2, x, again && WRONG("small") ? 99 : 100, RECLINE_DOUBLE);
  if (again && WRONG("other"))
    recline_protect(3, &token, sizeof token);
  if (again && WRONG("talk"))
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &token, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  if (again && WRONG("barrier"))
    MPI_Barrier(MPI_COMM_WORLD);
  if (again && WRONG("split"))
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (again && WRONG("end"))
    goto end;
  if (again && WRONG("position"))
    recline_push(3);
steps:
  for (; step < 40; step++) {
    if (WRONG("pending"))
      MPI_Irecv(&token, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &request);
    recline_potential_checkpoint();
    if (WRONG("pending")) {
      MPI_Send(&rank, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &token, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    smpi_execute_flops(2e5);
  }
  printf("rank %d: %d\n", rank, step);
end:
  MPI_Finalize();
  return 0;
}
