/* Tests messages, collectives and communicators. All calls are in a loop, so that crashes and
 * checkpoints fall everywhere, and every result is checked. Usage: layer-mpi ROUNDS. The exit code
 * is 0 if all results are right. */
#define PROGRAM "layer-mpi"
#include "layer-rounds.h"

enum { BIG = 40000 }; /* BIG ints are beyond every eager threshold */

/* ---- point to point ---- */

static void test_blocking(void)
{
  int out = 100 * rank + round_number, in = -1, count = -1;
  MPI_Status status;
  if (rank % 2 == 0) {
    MPI_Send(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &status);
  } else {
    MPI_Recv(&in, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &status);
    MPI_Ssend(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
  }
  MPI_Get_count(&status, MPI_INT, &count);
  expect(in == 100 * previous + round_number, "blocking: value");
  expect(status.MPI_SOURCE == previous && status.MPI_TAG == 5 && count == 1, "blocking: status");
}

static void test_large(void)
{
  int *out = (int *)malloc(BIG * sizeof *out), *in = (int *)malloc(BIG * sizeof *in);
  for (int i = 0; i < BIG; i++)
    out[i] = rank * 7 + i * round_number;
  MPI_Request requests[2];
  MPI_Irecv(in, BIG, MPI_INT, previous, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, BIG, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[1]);
  smpi_execute_flops(1e5);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  bool right = requests[0] == MPI_REQUEST_NULL;
  for (int i = 0; i < BIG; i++)
    right &= in[i] == previous * 7 + i * round_number;
  expect(right, "large");
  MPI_Sendrecv(out, BIG, MPI_INT, next, 7, in, BIG, MPI_INT, previous, 7, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect(in[1] == previous * 7 + round_number, "large: sendrecv");
  MPI_Sendrecv_replace(out, BIG, MPI_INT, next, 8, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(out[1] == previous * 7 + round_number, "large: sendrecv_replace");
  free(out);
  free(in);
}

/* Tests a small message that follows a large one of the same envelope. A third message, with
 * another tag, is received before both. */
static void test_order(void)
{
  int *first = (int *)calloc(BIG, sizeof *first), second = 2, third = 3;
  MPI_Request requests[3];
  first[0] = 1;
  MPI_Isend(first, BIG, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&second, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&third, 1, MPI_INT, next, 10, MPI_COMM_WORLD, &requests[2]);
  int *in = (int *)calloc(BIG, sizeof *in), small = 0;
  MPI_Recv(&small, 1, MPI_INT, previous, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(small == 3, "order: other tag first");
  MPI_Recv(in, BIG, MPI_INT, previous, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(in[0] == 1, "order: large one first");
  MPI_Recv(&small, 1, MPI_INT, previous, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(small == 2, "order: small one second");
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  free(first);
  free(in);
}

static void test_wildcards(void)
{
  int out = rank + 1;
  MPI_Request request;
  MPI_Isend(&out, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    int sum = 0, seen = 0;
    for (int i = 0; i < ranks; i++) {
      int in;
      MPI_Status status;
      MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &status);
      sum += in;
      seen += in == status.MPI_SOURCE + 1;
    }
    expect(sum == ranks * (ranks + 1) / 2, "wildcards: sum");
    expect(seen == ranks, "wildcards: source");
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test_probes(void)
{
  int out[3] = {rank, round_number, 7}, in[3] = {0}, flag = 0, count = 0;
  MPI_Status status;
  MPI_Send(out, 3, MPI_INT, next, 12, MPI_COMM_WORLD);
  MPI_Probe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(status.MPI_SOURCE == previous && count == 3, "probe");
  MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(in[0] == previous && in[1] == round_number, "probe: receive");
  MPI_Send(out, 1, MPI_INT, next, 13, MPI_COMM_WORLD);
  while (!flag)
    MPI_Iprobe(previous, 13, MPI_COMM_WORLD, &flag, &status);
  MPI_Recv(in, 1, MPI_INT, previous, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(in[0] == previous, "iprobe");
}

/* Tests two messages that are matched in the order of sending. The messages stay matched during
 * other messages and computation; then the second message is received first. */
static void test_matched_probes(void)
{
  enum { BIG = 20000 }; /* BIG ints are beyond every eager threshold */
  static int out[BIG], in[BIG];
  int flag = 0, count = 0, small = 0, numbers[2] = {rank, round_number};
  MPI_Message first, second, none;
  MPI_Request request[2];
  MPI_Status status;
  for (int i = 0; i < BIG; i++)
    out[i] = rank + i, in[i] = -1;
  MPI_Isend(out, BIG, MPI_INT, next, 14, MPI_COMM_WORLD, &request[0]);
  MPI_Isend(numbers, 2, MPI_INT, next, 15, MPI_COMM_WORLD, &request[1]);
  MPI_Mprobe(MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, &first, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(status.MPI_SOURCE == previous && status.MPI_TAG == 14 && count == BIG, "mprobe");
  while (!flag)
    MPI_Improbe(previous, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &second, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(status.MPI_SOURCE == previous && status.MPI_TAG == 15 && count == 2, "improbe");
  expect(MPI_Message_f2c(MPI_Message_c2f(second)) == second, "message_f2c");
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  out[0] = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, next, 14, &small, 1, MPI_INT, previous, 14, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect(small == previous, "a matched message is not received by another call");
  smpi_execute_benched(1e-4);
  MPI_Imrecv(numbers, 2, MPI_INT, &second, &request[0]);
  MPI_Wait(&request[0], &status);
  expect(second == MPI_MESSAGE_NULL && status.MPI_SOURCE == previous && status.MPI_TAG == 15 &&
             numbers[0] == previous && numbers[1] == round_number,
         "imrecv");
  MPI_Mrecv(in, BIG, MPI_INT, &first, &status);
  expect(first == MPI_MESSAGE_NULL && in[0] == previous && in[BIG - 1] == previous + BIG - 1,
         "mrecv");
  MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &none, &status);
  expect(flag && status.MPI_SOURCE == MPI_PROC_NULL, "improbe of no process");
  MPI_Mrecv(in, 1, MPI_INT, &none, &status);
  expect(status.MPI_SOURCE == MPI_PROC_NULL && in[0] == previous, "mrecv of no message");
}

static void test_completion(void)
{
  enum { N = 4 };
  int in[N], out[N], done = 0, index, flag = 0, indices[N], some;
  MPI_Request receives[N], sends[N];
  MPI_Status statuses[N], status;
  for (int i = 0; i < N; i++) {
    out[i] = rank * 10 + i;
    MPI_Irecv(&in[i], 1, MPI_INT, previous, 20 + i, MPI_COMM_WORLD, &receives[i]);
  }
  for (int i = N - 1; i >= 0; i--)
    MPI_Isend(&out[i], 1, MPI_INT, next, 20 + i, MPI_COMM_WORLD, &sends[i]);
  MPI_Waitany(N, receives, &index, &status);
  expect(index >= 0 && status.MPI_TAG == 20 + index, "waitany");
  done++;
  while (!flag)
    MPI_Testany(N, receives, &index, &flag, &status);
  expect(status.MPI_TAG == 20 + index, "testany");
  done++;
  while (done < N) {
    MPI_Waitsome(N, receives, &some, indices, statuses);
    done += some;
  }
  MPI_Waitany(N, receives, &index, &status);
  expect(index == MPI_UNDEFINED, "waitany of nothing");
  for (int i = 0; i < N; i++)
    expect(in[i] == previous * 10 + i, "completion: value");
  flag = 0;
  while (!flag)
    MPI_Testall(N, sends, &flag, MPI_STATUSES_IGNORE);
  MPI_Irecv(&in[0], 1, MPI_INT, previous, 30, MPI_COMM_WORLD, &receives[0]);
  MPI_Send(&out[0], 1, MPI_INT, next, 30, MPI_COMM_WORLD);
  flag = 0;
  while (!flag)
    MPI_Test(&receives[0], &flag, &status);
  expect(in[0] == previous * 10 && status.MPI_SOURCE == previous, "test");
}

static void test_persistent(void)
{
  int out = 0, in = 0;
  MPI_Request requests[2];
  MPI_Send_init(&out, 1, MPI_INT, next, 31, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, previous, 31, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 3; i++) {
    out = rank + i;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(in == previous + i, "persistent");
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void test_nobody(void)
{
  int in = 42;
  MPI_Status status;
  MPI_Send(&in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  expect(in == 42 && status.MPI_SOURCE == MPI_PROC_NULL, "nobody");
}

static void test_types(void)
{
  int out[12], in[12] = {0};
  for (int i = 0; i < 12; i++)
    out[i] = rank * 100 + i;
  MPI_Datatype column;
  MPI_Type_vector(3, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Request request;
  MPI_Irecv(in, 1, column, previous, 32, MPI_COMM_WORLD, &request);
  MPI_Send(out, 1, column, next, 32, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(in[0] == previous * 100 && in[4] == previous * 100 + 4 && in[8] == previous * 100 + 8,
         "types: column");
  expect(in[1] == 0 && in[5] == 0, "types: gaps");
  MPI_Type_free(&column);
}

/* ---- collectives ---- */

/* Multiplies 2 x 2 matrices modulo a prime, which does not commute. */
static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
  (void)type;
  const long *a = (const long *)in;
  long *b = (long *)inout;
  for (int i = 0; i + 3 < *count; i += 4, a += 4, b += 4) {
    long c[4] = {(a[0] * b[0] + a[1] * b[2]) % 9973, (a[0] * b[1] + a[1] * b[3]) % 9973,
                 (a[2] * b[0] + a[3] * b[2]) % 9973, (a[2] * b[1] + a[3] * b[3]) % 9973};
    memcpy(b, c, sizeof c);
  }
}

static void matrix_of(int of, long *m)
{
  m[0] = of + 2;
  m[1] = 1 + round_number;
  m[2] = 3;
  m[3] = of + 5;
}

static void test_reductions(void)
{
  int own = rank + 1, sum = 0, root = round_number % ranks;
  MPI_Reduce(&own, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  if (rank == root)
    expect(sum == ranks * (ranks + 1) / 2, "reduce");
  sum = own;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  expect(sum == ranks, "allreduce in place");
  MPI_Scan(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == (rank + 1) * (rank + 2) / 2, "scan");
  sum = 0;
  MPI_Exscan(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(rank == 0 || sum == rank * (rank + 1) / 2, "exscan");
  MPI_Op op;
  long mine[4], product[4], expected[4], factor[4];
  int four = 4;
  matrix_of(rank, mine);
  MPI_Op_create(multiply, 0, &op);
  MPI_Allreduce(mine, product, 4, MPI_LONG, op, MPI_COMM_WORLD);
  matrix_of(ranks - 1, expected);
  for (int i = ranks - 2; i >= 0; i--) {
    matrix_of(i, factor);
    multiply(factor, expected, &four, NULL);
  }
  expect(memcmp(product, expected, sizeof product) == 0, "allreduce in order");
  MPI_Op_free(&op);
  int *blocks = (int *)malloc((size_t)ranks * sizeof *blocks), part = 0;
  for (int i = 0; i < ranks; i++)
    blocks[i] = rank * i;
  MPI_Reduce_scatter_block(blocks, &part, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(part == rank * ranks * (ranks - 1) / 2, "reduce_scatter_block");
  free(blocks);
}

static void test_movement(void)
{
  int root = round_number % ranks, value = rank == root ? 99 + round_number : 0;
  MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
  expect(value == 99 + round_number, "bcast");
  int *all = (int *)malloc((size_t)ranks * 2 * sizeof *all),
      *other = (int *)malloc((size_t)ranks * 2 * sizeof *all);
  int *counts = (int *)malloc((size_t)ranks * sizeof *counts),
      *starts = (int *)malloc((size_t)ranks * sizeof *starts);
  bool right = true;
  int own[2] = {rank, rank * rank};
  MPI_Gather(own, 2, MPI_INT, all, 2, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < ranks && rank == root; i++)
    right &= all[2 * i] == i && all[2 * i + 1] == i * i;
  expect(right, "gather");
  MPI_Allgather(own, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    right &= all[2 * i] == i && all[2 * i + 1] == i * i;
  expect(right, "allgather");
  own[0] = own[1] = -1;
  MPI_Scatter(all, 2, MPI_INT, own, 2, MPI_INT, root, MPI_COMM_WORLD);
  expect(own[0] == rank && own[1] == rank * rank, "scatter");
  for (int i = 0; i < ranks; i++) {
    counts[i] = 1 + i % 2;
    starts[i] = i == 0 ? 0 : starts[i - 1] + counts[i - 1];
  }
  MPI_Allgatherv(own, counts[rank], MPI_INT, other, counts, starts, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    right &= other[starts[i]] == i && (counts[i] == 1 || other[starts[i] + 1] == i * i);
  expect(right, "allgatherv");
  for (int i = 0; i < ranks; i++)
    all[i] = 1000 * rank + i;
  MPI_Alltoall(all, 1, MPI_INT, other, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    right &= other[i] == 1000 * i + rank;
  expect(right, "alltoall");
  free(all);
  free(other);
  free(counts);
  free(starts);
}

/* ---- communicators ---- */

static void test_communicators(void)
{
  MPI_Comm half, copy, self = MPI_COMM_SELF;
  int size, own, sum, result;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_size(half, &size);
  MPI_Comm_rank(half, &own);
  expect(size == (ranks + 1 - rank % 2) / 2, "split: size");
  expect(own == size - 1 - rank / 2, "split: order by key");
  MPI_Comm_dup(half, &copy);
  MPI_Comm_compare(half, copy, &result);
  expect(result == MPI_CONGRUENT, "compare");
  MPI_Request request;
  int out = rank, in = -1;
  MPI_Irecv(&in, 1, MPI_INT, (own + 1) % size, 3, copy, &request);
  MPI_Send(&out, 1, MPI_INT, (own + size - 1) % size, 3, copy);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(in % 2 == rank % 2, "dup: neighbour");
  MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, half);
  int expected = 0;
  for (int i = rank % 2; i < ranks; i += 2)
    expected += i;
  expect(sum == expected, "split: allreduce");
  MPI_Comm_size(self, &size);
  expect(size == 1, "self");
  MPI_Group group;
  MPI_Comm_group(half, &group);
  MPI_Group_size(group, &size);
  expect(size == (ranks + 1 - rank % 2) / 2, "group");
  MPI_Group_free(&group);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
  expect(half == MPI_COMM_NULL, "free");
}

/* Tests the counts of elements in a message of two structures, which is received with room for
 * three. Each structure has three elements. */
static void test_elements(void)
{
  struct three {
    int one;
    double two[2];
  } out[2] = {{rank, {1.0, 2.0}}, {rank, {3.0, 4.0}}}, in[3];
  MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE}, three;
  MPI_Aint places[2], start;
  MPI_Count many = 0;
  MPI_Status status;
  int lengths[] = {1, 2}, elements = 0, whole = 0;
  MPI_Get_address(out, &start);
  MPI_Get_address(&out->one, &places[0]);
  MPI_Get_address(out->two, &places[1]);
  places[0] -= start;
  places[1] -= start;
  MPI_Type_create_struct(2, lengths, places, types, &three);
  MPI_Type_commit(&three);
  MPI_Sendrecv(out, 2, three, next, 92, in, 3, three, previous, 92, MPI_COMM_WORLD, &status);
  MPI_Get_elements(&status, three, &elements);
  MPI_Get_elements_x(&status, three, &many);
  MPI_Get_count(&status, three, &whole);
  expect(elements == 6 && many == 6 && whole == 2 && in[1].two[1] == 4.0, "get_elements");
  MPI_Get_elements(&status, MPI_INT, &elements);
  expect(elements == 10, "get_elements of a predefined type");
  MPI_Type_free(&three);
}

/* Tests that a nonblocking duplication does not wait for other ranks. The last rank begins its
 * duplication only after a message has told it that rank 0 has begun. */
static void test_duplicate(void)
{
  MPI_Comm copy;
  MPI_Request request;
  int last = ranks - 1, in = -1, out = round_number, sum = 0;
  if (rank == last && ranks > 1)
    MPI_Ssend(&out, 1, MPI_INT, 0, 90, MPI_COMM_WORLD);
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  if (rank == 0 && ranks > 1)
    MPI_Recv(&in, 1, MPI_INT, last, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(in == round_number || rank > 0 || ranks == 1, "while a communicator is duplicated");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
  MPI_Sendrecv(&rank, 1, MPI_INT, next, 91, &in, 1, MPI_INT, previous, 91, copy, MPI_STATUS_IGNORE);
  expect(sum == ranks * (ranks - 1) / 2 && in == previous, "a duplicate");
  MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
  int rounds = begin(argc, argv);
  static void (*const tests[])(void) = {
      test_blocking,       test_large,      test_order,         test_wildcards, test_probes,
      test_matched_probes, test_completion, test_persistent,    test_nobody,    test_types,
      test_reductions,     test_movement,   test_communicators, test_duplicate, test_elements};
  for (round_number = 1; round_number <= rounds; round_number++)
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
      tests[i]();
      smpi_execute_flops(1e4 * (rank + 1));
    }
  return end(rounds);
}
