/* Tests that synchronous sends end when a receive takes their message, whatever a protocol does
 * with it. In an exchange the ranks do not know from whom they get messages, so they use
 * synchronous sends and a nonblocking barrier. In another test the receive is posted late. Usage:
 * synchronous-program BYTES. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 12, SENDS = 3, MOST = 64 };

static int rank, ranks, ints, wrong;

/* Returns the time of a clock that all ranks share, under Open MPI, too. */
static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Sends messages at random. Returns how many messages have come when the barrier ends. No message
 * must be under way at that time. */
static int exchange(int round, int sent_to[MOST])
{
  static unsigned draw;
  MPI_Request sends[SENDS], barrier = MPI_REQUEST_NULL;
  int *out = calloc((size_t)(SENDS * ints), sizeof *out), *in = calloc((size_t)ints, sizeof *in);
  int come = 0, all = 0, sent = 0, flag;
  draw += (unsigned)(rank + 1);
  for (int i = 0; i < SENDS; i++) {
    draw = draw * 1103515245 + 12345;
    int peer = (int)(draw >> 16) % ranks;
    out[i * ints] = rank;
    sent_to[peer]++;
    MPI_Issend(out + i * ints, ints, MPI_INT, peer, round, MPI_COMM_WORLD, &sends[i]);
  }
  while (!all) {
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &flag, &status);
    if (flag) {
      MPI_Recv(in, ints, MPI_INT, status.MPI_SOURCE, round, MPI_COMM_WORLD, &status);
      wrong += in[0] != status.MPI_SOURCE;
      come++;
    } else if (rank == 1) {
      usleep((useconds_t)(50 * (round % 4)));
    }
    if (sent) {
      MPI_Test(&barrier, &all, MPI_STATUS_IGNORE);
    } else {
      MPI_Testall(SENDS, sends, &sent, MPI_STATUSES_IGNORE);
      if (sent)
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    }
  }
  free(out);
  free(in);
  return come;
}

static void test_exchange(void)
{
  for (int round = 0; round < ROUNDS; round++) {
    int expected, sent_to[MOST] = {0}, come = exchange(round, sent_to);
    MPI_Reduce_scatter_block(sent_to, &expected, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (come == expected)
      continue;
    wrong++;
    printf("rank %d, round %d: %d messages have come, expected %d\n", rank, round, come, expected);
  }
}

/* Tests that a synchronous send does not end before its receive begins, `wait` seconds later. */
static void test_late_receive(double wait)
{
  int *block = calloc((size_t)ints, sizeof *block), flag = 0;
  double begun = 0, ended = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Request send;
    MPI_Issend(block, ints, MPI_INT, 1, 90, MPI_COMM_WORLD, &send);
    while (!flag)
      MPI_Test(&send, &flag, MPI_STATUS_IGNORE);
    ended = now();
    MPI_Recv(&begun, 1, MPI_DOUBLE, 1, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ssend(block, ints, MPI_INT, 1, 92, MPI_COMM_WORLD);
    if (ended < begun)
      wrong++, printf("a send ended %g s before its receive began\n", begun - ended);
  } else if (rank == 1) {
    for (double until = now() + wait; now() < until;)
      MPI_Iprobe(0, 93, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    begun = now();
    MPI_Recv(block, ints, MPI_INT, 0, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&begun, 1, MPI_DOUBLE, 0, 91, MPI_COMM_WORLD);
    MPI_Recv(block, ints, MPI_INT, 0, 92, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(block);
}

int main(int argc, char **argv)
{
  int all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ints = argc > 1 ? atoi(argv[1]) / (int)sizeof(int) : 1;
  test_exchange();
  test_late_receive(2e-3);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    puts(all ? "WRONG" : "all are right");
  MPI_Finalize();
  return all != 0;
}
