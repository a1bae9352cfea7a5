/* Tests nonblocking collectives, several at a time, on several communicators, among messages and
 * blocking collectives. Also tests receives that are cancelled. All calls are in a loop, so that
 * crashes and checkpoints fall everywhere, and every result is checked. It is compiled as C and as
 * C++. Usage: layer-nonblocking ROUNDS [all]. With `all` it also tests calls that plain SMPI 3.32
 * computes wrongly. */
#define PROGRAM "layer-nonblocking"
#include "layer-rounds.h"

enum { RANKS_MAX = 16, BIG = 20000 }; /* BIG ints are beyond every eager threshold */

static bool everything;

static void work(void)
{
  smpi_execute_flops(3e4 * (1 + (rank * 7 + round_number) % ranks));
}

/* ---- collectives that move data, all at once ---- */

/* In calls with counts and displacements, rank i has 1 + i % 2 elements. */
static int counts[RANKS_MAX], starts[RANKS_MAX];

static void lay_out(void)
{
  for (int i = 0; i < ranks; i++) {
    counts[i] = 1 + i % 2;
    starts[i] = i == 0 ? 0 : starts[i - 1] + counts[i - 1];
  }
}

static void test_rooted(void)
{
  int root = round_number % ranks, own[2] = {value(rank, 0), value(rank, 1)};
  int told = rank == root ? value(root, 77) : 0, part = 0, parts[2] = {0, 0};
  int gathered[RANKS_MAX] = {0}, varied[2 * RANKS_MAX] = {0};
  int out[RANKS_MAX], varied_out[2 * RANKS_MAX];
  MPI_Request request[5];
  for (int i = 0; i < ranks; i++) {
    out[i] = value(rank, i);
    varied_out[starts[i]] = value(rank, i);
    if (counts[i] > 1)
      varied_out[starts[i] + 1] = -value(rank, i);
  }
  MPI_Ibcast(&told, 1, MPI_INT, root, MPI_COMM_WORLD, &request[0]);
  MPI_Igather(own, 1, MPI_INT, gathered, 1, MPI_INT, root, MPI_COMM_WORLD, &request[1]);
  MPI_Igatherv(own, counts[rank], MPI_INT, varied, counts, starts, MPI_INT, root, MPI_COMM_WORLD,
               &request[2]);
  work();
  MPI_Iscatter(out, 1, MPI_INT, &part, 1, MPI_INT, root, MPI_COMM_WORLD, &request[3]);
  MPI_Iscatterv(varied_out, counts, starts, MPI_INT, parts, counts[rank], MPI_INT, root,
                MPI_COMM_WORLD, &request[4]);
  /* the data were given to MPI, so these buffers may change */
  own[0] = out[0] = varied_out[0] = -1;
  MPI_Waitall(5, request, MPI_STATUSES_IGNORE);
  bool right = true;
  for (int i = 0; i < ranks && rank == root; i++)
    right &= gathered[i] == value(i, 0) && varied[starts[i]] == value(i, 0) &&
             (counts[i] == 1 || varied[starts[i] + 1] == value(i, 1));
  expect(told == value(root, 77), "ibcast");
  expect(right, "igather, igatherv");
  expect(part == value(root, rank) && parts[0] == value(root, rank), "iscatter, iscatterv");
  expect(counts[rank] == 1 || parts[1] == -value(root, rank), "iscatterv: second");
  for (int i = 0; i < 5; i++)
    expect(request[i] == MPI_REQUEST_NULL, "waitall: null");
}

static void test_all(void)
{
  int own[2] = {value(rank, 0), value(rank, 1)}, index, flag = 0;
  int all[RANKS_MAX] = {0}, varied[2 * RANKS_MAX] = {0}, swapped[RANKS_MAX];
  int out[2 * RANKS_MAX], in[2 * RANKS_MAX] = {0}, given[RANKS_MAX], taken[RANKS_MAX];
  int out_starts[RANKS_MAX], in_starts[RANKS_MAX];
  MPI_Request request[4];
  for (int i = 0; i < ranks; i++) {
    swapped[i] = value(rank, i);
    given[i] = counts[i]; /* rank i gets the same number of elements as it gives */
    taken[i] = counts[rank];
    out_starts[i] = starts[i];
    in_starts[i] = i * counts[rank];
    for (int k = 0; k < given[i]; k++)
      out[out_starts[i] + k] = value(rank, i) + 1000000 * k;
  }
  MPI_Iallgather(own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request[0]);
  MPI_Iallgatherv(own, counts[rank], MPI_INT, varied, counts, starts, MPI_INT, MPI_COMM_WORLD,
                  &request[1]);
  MPI_Ialltoall(MPI_IN_PLACE, 1, MPI_INT, swapped, 1, MPI_INT, MPI_COMM_WORLD, &request[2]);
  work();
  MPI_Ialltoallv(out, given, out_starts, MPI_INT, in, taken, in_starts, MPI_INT, MPI_COMM_WORLD,
                 &request[3]);
  MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE);
  expect(index >= 0 && index < 4 && request[index] == MPI_REQUEST_NULL, "waitany");
  while (!flag)
    MPI_Testall(4, request, &flag, MPI_STATUSES_IGNORE);
  bool right = true;
  for (int i = 0; i < ranks; i++) {
    right &= all[i] == value(i, 0) && varied[starts[i]] == value(i, 0);
    right &= swapped[i] == value(i, rank);
    for (int k = 0; k < taken[i]; k++)
      right &= in[in_starts[i] + k] == value(i, rank) + 1000000 * k;
  }
  expect(right, "iallgather, iallgatherv, ialltoall, ialltoallv");
}

/* Tests an exchange in which each block has its own type: a block to or from an even rank has ints,
 * a block to or from an odd rank has pairs with a gap. */
static void test_types(void)
{
  int out[3 * RANKS_MAX], in[3 * RANKS_MAX], later[3 * RANKS_MAX], ones[RANKS_MAX];
  int places[RANKS_MAX];
  MPI_Datatype pair, types[RANKS_MAX], own[RANKS_MAX];
  MPI_Request request;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int i = 0; i < ranks; i++) {
    ones[i] = 1;
    places[i] = 3 * i * (int)sizeof(int);
    types[i] = i % 2 ? pair : MPI_INT;
    own[i] = rank % 2 ? pair : MPI_INT;
    for (int k = 0; k < 3; k++) {
      out[3 * i + k] = value(rank, i) + k;
      in[3 * i + k] = later[3 * i + k] = -1;
    }
  }
  MPI_Ialltoallw(out, ones, places, types, later, ones, places, own, MPI_COMM_WORLD, &request);
  MPI_Alltoallw(out, ones, places, types, in, ones, places, own, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  bool right = memcmp(in, later, 3 * (size_t)ranks * sizeof *in) == 0;
  for (int i = 0; i < ranks; i++)
    right &= in[3 * i] == value(i, rank) && in[3 * i + 1] == -1 &&
             in[3 * i + 2] == (rank % 2 ? value(i, rank) + 2 : -1);
  expect(right, "alltoallw, ialltoallw");
  for (int i = 0; i < ranks; i++)
    out[3 * i] = value(rank, i);
  for (int i = 0; i < ranks; i++)
    types[i] = MPI_INT;
  MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, out, ones, places, types, MPI_COMM_WORLD);
  right = true;
  for (int i = 0; i < ranks; i++)
    right &= out[3 * i] == value(i, rank);
  expect(right, "alltoallw in place");
  MPI_Type_free(&pair);
}

/* ---- reductions ---- */

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

/* Returns whether `seen` is the product of the matrices of the ranks below `end`. */
static bool is_product(const long *seen, int end)
{
  long product[4], factor[4];
  int four = 4;
  matrix_of(end - 1, product);
  for (int i = end - 2; i >= 0; i--) {
    matrix_of(i, factor);
    multiply(factor, product, &four, NULL);
  }
  return memcmp(seen, product, sizeof product) == 0;
}

static void test_reductions(void)
{
  long own[4], all[4], at_root[4] = {0}, up_to[4], below[4] = {0};
  int root = (round_number + 1) % ranks, blocks[2 * RANKS_MAX], part = 0, parts[2] = {0, 0};
  MPI_Op op;
  MPI_Request request[6];
  MPI_Op_create(multiply, 0, &op);
  matrix_of(rank, own);
  matrix_of(rank, all);
  for (int i = 0; i < 2 * ranks; i++)
    blocks[i] = rank * i;
  MPI_Ireduce(own, at_root, 4, MPI_LONG, op, root, MPI_COMM_WORLD, &request[0]);
  MPI_Iallreduce(MPI_IN_PLACE, all, 4, MPI_LONG, op, MPI_COMM_WORLD, &request[1]);
  MPI_Iscan(own, up_to, 4, MPI_LONG, op, MPI_COMM_WORLD, &request[2]);
  work();
  MPI_Iexscan(own, below, 4, MPI_LONG, op, MPI_COMM_WORLD, &request[3]);
  MPI_Ireduce_scatter_block(blocks, &part, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[4]);
  MPI_Ireduce_scatter(blocks, parts, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[5]);
  int left = 6;
  while (left > 0) {
    int done, indices[6];
    MPI_Waitsome(6, request, &done, indices, MPI_STATUSES_IGNORE);
    left -= done;
  }
  int sum = ranks * (ranks - 1) / 2;
  expect(rank != root || is_product(at_root, ranks), "ireduce");
  expect(is_product(all, ranks), "iallreduce in place");
  expect(is_product(up_to, rank + 1), "iscan");
  if (everything)
    expect(rank == 0 || is_product(below, rank), "iexscan");
  expect(part == rank * sum && parts[0] == starts[rank] * sum, "ireduce_scatter");
  MPI_Reduce_scatter(MPI_IN_PLACE, blocks, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(blocks[0] == starts[rank] * sum, "reduce_scatter");
  MPI_Op_free(&op);
}

/* ---- among other calls ---- */

/* Tests large collectives on two communicators. The collectives are completed in reverse order,
 * with messages and other collectives in between. */
static void test_communicators(void)
{
  static int first[BIG], second[BIG], sum[BIG];
  MPI_Comm copy, half;
  MPI_Request request[3];
  int out = rank, in = -1, size, members, flag = 0;
  for (int i = 0; i < BIG; i++) {
    first[i] = rank == 0 ? i : -1;
    second[i] = rank + i;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_size(half, &size);
  MPI_Ibcast(first, BIG, MPI_INT, 0, copy, &request[0]);
  MPI_Iallreduce(second, sum, BIG, MPI_INT, MPI_SUM, half, &request[1]);
  MPI_Ibarrier(copy, &request[2]);
  MPI_Sendrecv(&out, 1, MPI_INT, next, 3, &in, 1, MPI_INT, previous, 3, copy, MPI_STATUS_IGNORE);
  expect(in == previous, "sendrecv between");
  MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_MAX, copy);
  expect(in == ranks - 1, "allreduce between");
  MPI_Wait(&request[2], MPI_STATUS_IGNORE);
  while (!flag)
    MPI_Request_get_status(request[1], &flag, MPI_STATUS_IGNORE);
  members = rank % 2 ? (ranks / 2) * (ranks / 2) : ((ranks + 1) / 2) * ((ranks + 1) / 2 - 1);
  if (!everything)
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
  expect(sum[0] == members && sum[BIG - 1] == members + size * (BIG - 1), "iallreduce: large");
  MPI_Wait(&request[1], MPI_STATUS_IGNORE);
  flag = 0;
  while (!flag)
    MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
  expect(first[1] == 1 && first[BIG - 1] == BIG - 1, "ibcast: large");
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
}

/* Tests collectives that begin in one round and are completed in the next, so that checkpoints find
 * some that are pending. */
static void test_pending(void)
{
  static MPI_Request request = MPI_REQUEST_NULL;
  static int sum, gathered[RANKS_MAX];
  static MPI_Request other = MPI_REQUEST_NULL;
  int own = rank + round_number;
  if (round_number > 1) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(sum == ranks * (ranks - 1) / 2 + ranks * (round_number - 1), "pending: iallreduce");
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks; i++)
      expect(gathered[i] == i + round_number - 1, "pending: iallgather");
  }
  MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Iallgather(&own, 1, MPI_INT, gathered, 1, MPI_INT, MPI_COMM_WORLD, &other);
}

/* ---- requests that are cancelled ---- */

static bool give_up(MPI_Request *request)
{
  MPI_Status status;
  int cancelled;
  MPI_Cancel(request);
  MPI_Wait(request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  return cancelled;
}

static void test_cancel(void)
{
  int never = 5, in = -1, again = -1, out = rank * round_number;
  MPI_Request request;
  MPI_Irecv(&never, 1, MPI_INT, previous, 99, MPI_COMM_WORLD, &request);
  expect(give_up(&request) && never == 5, "cancel: nothing is sent");
  /* the message comes before the receive is cancelled, or later: it is received once in any case */
  MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &request);
  MPI_Send(&out, 1, MPI_INT, next, 40, MPI_COMM_WORLD);
  work();
  if (give_up(&request))
    MPI_Recv(&in, 1, MPI_INT, previous, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(in == previous * round_number, "cancel: once");
  MPI_Sendrecv(&out, 1, MPI_INT, next, 40, &again, 1, MPI_INT, previous, 40, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect(again == previous * round_number, "cancel: the next one");
  MPI_Recv_init(&in, 1, MPI_INT, previous, 98, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  expect(give_up(&request) && request != MPI_REQUEST_NULL, "cancel: persistent");
  MPI_Request_free(&request);
  /* cancelling a send has no effect: its message is received */
  MPI_Isend(&out, 1, MPI_INT, next, 41, MPI_COMM_WORLD, &request);
  expect(!give_up(&request) || !everything, "cancel: a send");
  MPI_Recv(&in, 1, MPI_INT, previous, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(in == previous * round_number, "cancel: its message");
}

int main(int argc, char **argv)
{
  int rounds = begin(argc, argv);
  everything = argc > 2;
  if (ranks > RANKS_MAX)
    MPI_Abort(MPI_COMM_WORLD, 1);
  lay_out();
  static void (*const tests[])(void) = {test_pending,    test_rooted,        test_all,   test_types,
                                        test_reductions, test_communicators, test_cancel};
  for (round_number = 1; round_number <= rounds; round_number++)
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
      tests[i]();
      work();
    }
  test_pending();
  round_number++;
  test_pending();
  MPI_Barrier(MPI_COMM_WORLD);
  return end(rounds);
}
