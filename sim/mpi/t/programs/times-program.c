/* Prints how long each MPI call takes each rank, by the clock of MPI, for messages of 1, 4, 16, ...
 * bytes. times.t compares what the layer and plain SMPI say.
 *
 * Usage: times LARGEST-BYTES [CALL|all [SECONDS]]
 * SECONDS is a pause after each call, in which the call ends on all ranks. Without a pause, the
 * first ranks to finish the call enter a barrier. Its messages can slow down the call's messages.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static char *out, *in;

static void ping_pong(int bytes)
{
  if (rank == 0) {
    MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

/* Exchanges messages with both neighbours. The higher a rank, the later it posts its receives. */
static void halo(int bytes)
{
  MPI_Request request[4];
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Isend(out, bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &request[0]);
  MPI_Isend(out, bytes, MPI_BYTE, left, 3, MPI_COMM_WORLD, &request[1]);
  smpi_execute(1e-4 * rank);
  MPI_Irecv(in, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &request[2]);
  MPI_Irecv(in + bytes, bytes, MPI_BYTE, right, 3, MPI_COMM_WORLD, &request[3]);
  MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

static void synchronous(int bytes)
{
  if (rank % 2 == 0 && rank + 1 < ranks)
    MPI_Ssend(out, bytes, MPI_BYTE, rank + 1, 4, MPI_COMM_WORLD);
  else if (rank % 2 == 1)
    MPI_Recv(in, bytes, MPI_BYTE, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void sendrecv(int bytes)
{
  MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % ranks, 5, in, bytes, MPI_BYTE,
               (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void persistent(int bytes)
{
  MPI_Request request[2];
  MPI_Recv_init(in, bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 6, MPI_COMM_WORLD, &request[0]);
  MPI_Send_init(out, bytes, MPI_BYTE, (rank + 1) % ranks, 6, MPI_COMM_WORLD, &request[1]);
  MPI_Startall(2, request);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  MPI_Request_free(&request[0]);
  MPI_Request_free(&request[1]);
}

static void barrier(int bytes)
{
  (void)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int bytes)
{
  MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void bcast_from_last(int bytes)
{
  MPI_Bcast(out, bytes, MPI_BYTE, ranks - 1, MPI_COMM_WORLD);
}

static void reduce(int bytes)
{
  MPI_Reduce(out, in, bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
}

static void allreduce(int bytes)
{
  MPI_Allreduce(out, in, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static void gather(int bytes)
{
  MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatter(int bytes)
{
  MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allgather(int bytes)
{
  MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int counts[1024], starts[1024];

static void equal_counts(int bytes)
{
  for (int i = 0; i < ranks; i++) {
    counts[i] = bytes;
    starts[i] = i * bytes;
  }
}

static void gatherv(int bytes)
{
  equal_counts(bytes);
  MPI_Gatherv(out, bytes, MPI_BYTE, in, counts, starts, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatterv(int bytes)
{
  equal_counts(bytes);
  MPI_Scatterv(in, counts, starts, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allgatherv(int bytes)
{
  equal_counts(bytes);
  MPI_Allgatherv(out, bytes, MPI_BYTE, in, counts, starts, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(int bytes)
{
  MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoallv(int bytes)
{
  equal_counts(bytes);
  MPI_Alltoallv(out, counts, starts, MPI_BYTE, in, counts, starts, MPI_BYTE, MPI_COMM_WORLD);
}

static void reduce_scatter(int bytes)
{
  equal_counts(bytes);
  MPI_Reduce_scatter(out, in, counts, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static void scan(int bytes)
{
  MPI_Scan(out, in, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static void exscan(int bytes)
{
  MPI_Exscan(out, in, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

#define CALL(NAME)                                                                                 \
  {                                                                                                \
#NAME, NAME                                                                                    \
  }
static const struct {
  const char *name;
  void (*make)(int bytes);
} call[] = {CALL(ping_pong),  CALL(halo),      CALL(synchronous),    CALL(sendrecv),
            CALL(persistent), CALL(barrier),   CALL(bcast),          CALL(bcast_from_last),
            CALL(reduce),     CALL(allreduce), CALL(gather),         CALL(scatter),
            CALL(allgather),  CALL(gatherv),   CALL(scatterv),       CALL(allgatherv),
            CALL(alltoall),   CALL(alltoallv), CALL(reduce_scatter), CALL(scan),
            CALL(exscan)};

enum { CALLS = sizeof call / sizeof *call, SIZES = 32 };

int main(int argc, char **argv)
{
  static double through[CALLS][SIZES];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int largest = atoi(argv[1]), sizes = 0;
  const char *only = argc > 2 && strcmp(argv[2], "all") != 0 ? argv[2] : NULL;
  const double pause = argc > 3 ? atof(argv[3]) : 0.0;
  out = calloc((size_t)ranks, (size_t)largest);
  in = calloc((size_t)ranks, (size_t)largest);
  for (int bytes = 1; bytes <= largest; bytes *= 4, sizes++)
    for (int i = 0; i < CALLS; i++) {
      if (only && strcmp(only, call[i].name) != 0)
        continue;
      double before = MPI_Wtime();
      call[i].make(bytes);
      through[i][sizes] = MPI_Wtime() - before;
      if (pause > 0.0)
        smpi_execute(pause);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  double *all = malloc(sizeof through * (size_t)ranks);
  MPI_Gather(through, sizeof through, MPI_BYTE, all, sizeof through, MPI_BYTE, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < CALLS; i++)
    for (int k = 0; k < sizes && (!only || !strcmp(only, call[i].name)); k++) {
      printf("%s %d", call[i].name, 1 << 2 * k);
      for (int r = 0; r < ranks; r++)
        printf(" %.17g", all[(size_t)r * CALLS * SIZES + (size_t)i * SIZES + (size_t)k]);
      printf("\n");
    }
  free(all);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
