/* Calls of MPI 4 (include/mpi/mpi-4.h), with results that can be told to be right, in a loop, so
 * that crashes and checkpoints fall everywhere. Compiled as C and as C++. For 5 ranks. Usage:
 * layer-mpi4 ROUNDS. */
#define PROGRAM "layer-mpi4"
#include "layer-rounds.h"

/* ---- both at once ---- */

/* Beyond the size that is sent at once, in every other round. */
enum { MANY = 20000 };

static int out[MANY], in[MANY];

static int count_of_round(void)
{
  return round_number % 2 ? 3 : MANY;
}

static void fill(int *list, int from, int count)
{
  for (int i = 0; i < count; i++)
    list[i] = value(from, i);
}

static bool are_from(const int *list, int from, int count)
{
  bool right = true;
  for (int i = 0; i < count; i++)
    right &= list[i] == value(from, i);
  return right;
}

static void test_exchange(void)
{
  int count = count_of_round(), got;
  MPI_Request request;
  MPI_Status status;
  fill(out, rank, count);
  MPI_Isendrecv(out, count, MPI_INT, next, 1, in, MANY, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                &request);
  compute(1e-5);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &got);
  expect(request == MPI_REQUEST_NULL && are_from(in, previous, count), "isendrecv");
  expect(status.MPI_SOURCE == previous && status.MPI_TAG == 1 && got == count,
         "isendrecv: the status is that of the receive");
  MPI_Isendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                &request);
  MPI_Wait(&request, &status);
  expect(status.MPI_SOURCE == MPI_PROC_NULL, "isendrecv with nobody");
}

static void test_exchange_in_place(void)
{
  int count = count_of_round(), done = 0;
  MPI_Request request;
  MPI_Status status;
  fill(in, rank, count);
  MPI_Isendrecv_replace(in, count, MPI_INT, previous, 2, next, 2, MPI_COMM_WORLD, &request);
  while (!done)
    MPI_Test(&request, &done, &status);
  expect(are_from(in, next, count) && status.MPI_SOURCE == next, "isendrecv_replace");
}

int main(int argc, char **argv)
{
  static void (*const tests[])(void) = {test_exchange, test_exchange_in_place};
  int rounds = begin(argc, argv);
  for (round_number = 1; round_number <= rounds; round_number++) {
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
      tests[i]();
      compute(1e-4);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  round_number = rounds;
  return end(rounds);
}
