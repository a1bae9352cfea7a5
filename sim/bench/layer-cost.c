/* Repeats one kind of communication many times, for sim/bench/layer-cost.sh.
 *
 *     layer-cost allreduce|bcast|alltoall|pingpong BYTES STEPS
 *
 * Each step is a collective of BYTES (in alltoall, BYTES for each rank), or a message of BYTES from
 * each rank 2 n to rank 2 n + 1 and a message back. The program does not compute, so its time is
 * the cost of MPI.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void step(const char *kind, unsigned char *out, unsigned char *in, int bytes, int rank)
{
  int peer = rank ^ 1;
  if (!strcmp(kind, "allreduce")) {
    MPI_Allreduce(out, in, bytes, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
  } else if (!strcmp(kind, "bcast")) {
    MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  } else if (!strcmp(kind, "alltoall")) {
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
  } else if (rank & 1) {
    MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD);
  } else {
    MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int bytes = argc == 4 ? atoi(argv[2]) : 0, steps = argc == 4 ? atoi(argv[3]) : 0;
  unsigned char *out = calloc((size_t)ranks, (size_t)bytes + 1);
  unsigned char *in = calloc((size_t)ranks, (size_t)bytes + 1);
  for (int i = 0; i < steps && out && in; i++)
    step(argv[1], out, in, bytes, rank);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
