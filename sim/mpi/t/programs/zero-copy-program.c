/* Tests messages that are larger than every eager threshold. Their senders use the buffer for
 * something else as soon as MPI allows. A send may end after its receiver looks at the message, or
 * earlier: the tests have all orders. All
 * calls are in a loop, so that crashes and checkpoints fall everywhere, and every result is
 * checked. Usage: zero-copy-program ROUNDS. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* number of ints in a message, and a value that spoils a buffer */
enum { BIG = 20000, SPOILT = -1 };

static int rank, ranks, next, previous, round_number, failures;
static int *out, *in;

static void fill(int *buffer, int value)
{
  for (int i = 0; i < BIG; i++)
    buffer[i] = value + i;
}

static void spoil(int *buffer)
{
  for (int i = 0; i < BIG; i++)
    buffer[i] = SPOILT;
}

static void expect(const int *buffer, int count, int value, const char *what)
{
  for (int i = 0; i < count; i++)
    if (buffer[i] != value + i) {
      failures++;
      fprintf(stderr, "zero-copy-program: rank %d, round %d: %s: [%d] is %d, expected %d\n", rank,
              round_number, what, i, buffer[i], value + i);
      return;
    }
}

/* Returns the first int that rank `from` sends in this round as message `what`. */
static int value(int from, int what)
{
  return 1000000 * round_number + 100000 * what + 1000 * from;
}

static void compute(double milliseconds)
{
  smpi_execute_flops(1e6 * milliseconds);
}

static void begin(int what)
{
  fill(out, value(rank, what));
  spoil(in);
}

/* Tests a receive that is posted early. Its rank then computes: the envelope comes and the send
 * completes long before the rank looks. */
static void test_late_look(void)
{
  MPI_Request receive;
  begin(1);
  if (rank % 2 == 0) {
    MPI_Irecv(in, BIG, MPI_INT, next, 1, MPI_COMM_WORLD, &receive);
    compute(4);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    expect(in, BIG, value(next, 1), "a late look");
  } else {
    compute(0.5);
    MPI_Send(out, BIG, MPI_INT, previous, 1, MPI_COMM_WORLD);
    spoil(out);
    compute(1);
  }
}

/* Tests a receive that is posted long after the send, or before it. Both ranks look at the data as
 * soon as they can. */
static void test_order(bool send_first)
{
  MPI_Request requests[2];
  begin(2);
  if (send_first)
    MPI_Isend(out, BIG, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[0]);
  else
    MPI_Irecv(in, BIG, MPI_INT, previous, 2, MPI_COMM_WORLD, &requests[1]);
  compute(0.1 * (rank + 1));
  if (send_first)
    MPI_Irecv(in, BIG, MPI_INT, previous, 2, MPI_COMM_WORLD, &requests[1]);
  else
    MPI_Isend(out, BIG, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[0]);
  int done = 0, index;
  while (done < 2) {
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    if (index == 0)
      spoil(out);
    else
      expect(in, BIG, value(previous, 2), "a receive or a send, whichever completes first");
    done++;
  }
}

/* Tests that a receive from any source finds a large message behind a small one with another
 * tag. */
static void test_unexpected(void)
{
  int small = rank, got = -1, flag = 0;
  MPI_Request request;
  begin(3);
  MPI_Send(&small, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
  MPI_Isend(out, BIG, MPI_INT, next, 4, MPI_COMM_WORLD, &request);
  compute(1);
  while (!flag)
    MPI_Iprobe(previous, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Recv(in, BIG, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  spoil(out);
  expect(in, BIG, value(previous, 3), "unexpected");
  MPI_Recv(&got, 1, MPI_INT, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(&got, 1, previous, "the small message, received last");
}

/* Tests a send whose request is freed at once. An answer tells the sender that the message was
 * received. */
static void test_freed(void)
{
  int answer = 0;
  MPI_Request request;
  begin(4);
  if (rank % 2 == 0) {
    MPI_Isend(out, BIG, MPI_INT, next, 5, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(&answer, 1, MPI_INT, next, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    spoil(out);
  } else {
    compute(0.3);
    MPI_Recv(in, BIG, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&answer, 1, MPI_INT, previous, 6, MPI_COMM_WORLD);
    compute(1);
    expect(in, BIG, value(previous, 4), "freed");
  }
}

/* Tests calls in which received data overwrite the data that are sent. */
static void test_in_place(void)
{
  fill(out, value(rank, 5));
  MPI_Sendrecv_replace(out, BIG, MPI_INT, next, 7, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(out, BIG, value(previous, 5), "replaced");
  int *blocks = malloc(sizeof(int) * BIG * (size_t)ranks);
  for (int i = 0; i < ranks; i++)
    fill(blocks + i * BIG, value(rank, 6) + i);
  MPI_Request request;
  MPI_Ialltoall(MPI_IN_PLACE, BIG, MPI_INT, blocks, BIG, MPI_INT, MPI_COMM_WORLD, &request);
  compute(0.2 * rank);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks; i++)
    expect(blocks + i * BIG, BIG, value(i, 6) + rank, "all to all in place");
  fill(blocks, value(rank, 7));
  MPI_Iallreduce(MPI_IN_PLACE, blocks, BIG, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(blocks, BIG, value(ranks - 1, 7), "a reduction in place");
  free(blocks);
}

/* Tests other sends. A buffered send is complete at once, so that all ranks can send before any
 * receives. A synchronous send completes after its receive has begun. A persistent send is used
 * again. */
static void test_modes(void)
{
  int bytes = BIG * (int)sizeof *out + MPI_BSEND_OVERHEAD;
  void *room = malloc((size_t)bytes);
  MPI_Buffer_attach(room, bytes);
  begin(8);
  MPI_Bsend(out, BIG, MPI_INT, next, 8, MPI_COMM_WORLD);
  spoil(out);
  MPI_Recv(in, BIG, MPI_INT, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(in, BIG, value(previous, 8), "buffered");
  MPI_Buffer_detach(&room, &bytes);
  free(room);
  MPI_Request requests[2];
  MPI_Send_init(out, BIG, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[0]);
  for (int i = 0; i < 2; i++) {
    begin(9 + i);
    MPI_Start(&requests[0]);
    MPI_Irecv(in, BIG, MPI_INT, previous, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1 - i], MPI_STATUS_IGNORE);
    spoil(out);
    expect(in, BIG, value(previous, 9 + i), "persistent");
  }
  MPI_Request_free(&requests[0]);
  begin(11);
  MPI_Issend(out, BIG, MPI_INT, next, 10, MPI_COMM_WORLD, &requests[0]);
  compute(0.1 * rank);
  MPI_Recv(in, BIG, MPI_INT, previous, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  spoil(out);
  expect(in, BIG, value(previous, 11), "synchronous");
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks;
  previous = (rank + ranks - 1) % ranks;
  out = malloc(BIG * sizeof *out);
  in = malloc(BIG * sizeof *in);
  for (round_number = 1; round_number <= rounds; round_number++) {
    test_late_look();
    test_order(true);
    test_order(false);
    test_unexpected();
    test_freed();
    test_in_place();
    test_modes();
  }
  int total = 0;
  MPI_Reduce(&failures, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d rounds, %d failures, %s\n", rounds, total, total == 0 ? "PASS" : "FAIL");
  free(out);
  free(in);
  MPI_Finalize();
  return total != 0;
}
