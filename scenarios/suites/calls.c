/* Calls every class of collectives many times, and uses features that micro benchmarks use and few
 * applications do, in the manner of IMB and the OSU benchmarks. The expected result of each call
 * follows from rank and round. `calls [ROUNDS]` uses v-forms, MPI_IN_PLACE, derived datatypes,
 * MPI_BOTTOM, packing, operations of the program, MINLOC, C99 complex, long double, bool, groups,
 * attributes, error handlers and clocks. */
#include "suite.h"

#include <complex.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 128 };

static int me, ranks;
static long wrong;

static void expect(bool good, const char *what, int round)
{
  static int told; /* number of errors that this rank has reported */
  if (good)
    return;
  wrong++;
  if (told++ < 3)
    printf("rank %d, round %d: %s\n", me, round, what);
}

/* Multiplies 2 x 2 matrices, an operation that does not commute. */
static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
  unsigned *a = in, *b = inout;
  (void)type;
  for (int i = 0; i < *count; i++, a += 4, b += 4) {
    unsigned c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                     a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
    memcpy(b, c, sizeof c);
  }
}

static void matrix(unsigned *m, int rank, int round)
{
  for (unsigned i = 0; i < 4; i++)
    m[i] = (unsigned)suite_hash((uint64_t)(rank * 4096 + round) * 4 + i);
}

static void reductions(int round, MPI_Op product, MPI_Datatype four)
{
  double _Complex z = me + round * I, sum;
  long double most = 1.0L / (me + 1 + round), found;
  _Bool all = round != me, conjunction;
  int least[2] = {(me * 7 + round) % ranks, me}, where[2];
  unsigned mine[4], before[4], through[4], serial[4], next[4];
  MPI_Allreduce(&z, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == ranks * (ranks - 1) / 2 + (double)ranks * round * I, "complex sum", round);
  MPI_Allreduce(&most, &found, 1, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  expect(found == 1.0L / (1 + round), "long double maximum", round);
  MPI_Allreduce(&all, &conjunction, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
  expect(conjunction == (round >= ranks), "bool and", round);
  MPI_Allreduce(least, where, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  int first = ranks, smallest = ranks;
  for (int rank = 0; rank < ranks; rank++)
    if ((rank * 7 + round) % ranks < smallest) {
      smallest = (rank * 7 + round) % ranks;
      first = rank;
    }
  expect(where[0] == smallest && where[1] == first, "minloc", round);
  matrix(mine, me, round);
  MPI_Exscan(mine, before, 1, four, product, MPI_COMM_WORLD);
  MPI_Scan(mine, through, 1, four, product, MPI_COMM_WORLD);
  matrix(serial, 0, round);
  for (int rank = 1, one = 1; rank <= me; rank++) {
    expect(rank < me || memcmp(before, serial, sizeof serial) == 0, "exscan", round);
    matrix(next, rank, round);
    multiply(serial, next, &one, NULL);
    memcpy(serial, next, sizeof serial);
  }
  expect(memcmp(through, serial, sizeof serial) == 0, "scan", round);
  for (int rank = me + 1, one = 1; rank < ranks; rank++) {
    matrix(next, rank, round);
    multiply(serial, next, &one, NULL);
    memcpy(serial, next, sizeof serial);
  }
  int root = round % ranks;
  MPI_Reduce(me == root ? MPI_IN_PLACE : mine, me == root ? mine : NULL, 1, four, product, root,
             MPI_COMM_WORLD);
  expect(me != root || memcmp(mine, serial, sizeof serial) == 0, "ordered reduce", round);
}

/* Exchanges blocks of unequal length: rank r has r % 3 + 1 items, and item i is r * 10 + i + round.
 */
static void blocks(int round)
{
  int counts[MOST], starts[MOST], flat[4 * MOST], total = 0, root = (round * 5) % ranks;
  for (int rank = 0; rank < ranks; rank++) {
    counts[rank] = rank % 3 + 1;
    starts[rank] = total;
    total += counts[rank] + 1; /* leaves a hole of one item */
  }
  memset(flat, -1, sizeof flat);
  for (int i = 0; i < counts[me]; i++)
    flat[starts[me] + i] = me * 10 + i + round;
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, flat, counts, starts, MPI_INT, MPI_COMM_WORLD);
  for (int rank = 0; rank < ranks; rank++) {
    for (int i = 0; i < counts[rank]; i++)
      expect(flat[starts[rank] + i] == rank * 10 + i + round, "allgatherv", round);
    expect(flat[starts[rank] + counts[rank]] == -1, "allgatherv's hole", round);
  }
  int mine[3] = {0}, back[4 * MOST] = {0};
  MPI_Scatterv(flat, counts, starts, MPI_INT, mine, counts[me], MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < counts[me]; i++)
    expect(mine[i] == me * 10 + i + round, "scatterv", round);
  MPI_Gatherv(mine, counts[me], MPI_INT, back, counts, starts, MPI_INT, root, MPI_COMM_WORLD);
  for (int rank = 0; me == root && rank < ranks; rank++)
    expect(back[starts[rank]] == rank * 10 + round, "gatherv", round);
  int shares[MOST], addends[4 * MOST], sum[4];
  total = 0;
  for (int rank = 0; rank < ranks; rank++)
    for (int i = 0; i < (shares[rank] = rank % 2 + 1); i++)
      addends[total++] = me + rank * 100 + i;
  MPI_Reduce_scatter(addends, sum, shares, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < shares[me]; i++)
    expect(sum[i] == ranks * (ranks - 1) / 2 + ranks * (me * 100 + i), "reduce_scatter", round);
  for (int rank = 0; rank < ranks; rank++)
    addends[rank] = me * ranks + rank + round;
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, addends, 1, MPI_INT, MPI_COMM_WORLD);
  for (int rank = 0; rank < ranks; rank++)
    expect(addends[rank] == rank * ranks + me + round, "alltoall in place", round);
}

/* Sends a struct by absolute addresses, a pattern of indices, and the same items packed by hand. */
static void layouts(int round)
{
  struct {
    double x;
    char tag[5];
    int list[6];
  } out = {me + 0.5, "abcd", {1, 2, 3, 4, 5, 6}}, in = {0};
  int lengths[3] = {1, 5, 1}, some[2] = {2, 1}, at[2] = {0, 4}, right = (me + 1) % ranks,
      left = (me + ranks - 1) % ranks, position = 0;
  MPI_Aint address[2][3];
  MPI_Datatype pattern, parts[3] = {MPI_DOUBLE, MPI_CHAR, MPI_DATATYPE_NULL}, whole[2];
  MPI_Type_indexed(2, some, at, MPI_INT, &pattern);
  parts[2] = pattern;
  for (int side = 0; side < 2; side++) {
    MPI_Get_address(side ? &in.x : &out.x, &address[side][0]);
    MPI_Get_address(side ? in.tag : out.tag, &address[side][1]);
    MPI_Get_address(side ? in.list : out.list, &address[side][2]);
    MPI_Type_create_struct(3, lengths, address[side], parts, &whole[side]);
    MPI_Type_commit(&whole[side]);
  }
  MPI_Sendrecv(MPI_BOTTOM, 1, whole[0], right, round, MPI_BOTTOM, 1, whole[1], left, round,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(in.x == left + 0.5 && strcmp(in.tag, "abcd") == 0, "struct", round);
  expect(in.list[0] == 1 && in.list[1] == 2 && in.list[2] == 0 && in.list[4] == 5, "indexed",
         round);
  char packed[100];
  MPI_Status status;
  MPI_Pack(&out.x, 1, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_WORLD);
  MPI_Pack(out.list, 6, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Isend(packed, position, MPI_PACKED, left, round, MPI_COMM_WORLD, &request);
  char unpacked[100];
  MPI_Recv(unpacked, sizeof unpacked, MPI_PACKED, right, round, MPI_COMM_WORLD, &status);
  position = 0;
  MPI_Unpack(unpacked, sizeof unpacked, &position, &in.x, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Unpack(unpacked, sizeof unpacked, &position, in.list, 6, MPI_INT, MPI_COMM_WORLD);
  expect(in.x == right + 0.5 && in.list[5] == 6, "unpack", round);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&pattern);
  MPI_Type_free(&whole[0]);
  MPI_Type_free(&whole[1]);
}

/* Copies the attribute of a communicator to its duplicate. */
static int inherit(MPI_Comm from, int key, void *extra, void *value, void *copy, int *flag)
{
  (void)from, (void)key;
  int *counted = malloc(sizeof *counted);
  *counted = *(int *)value + *(int *)extra;
  *(void **)copy = counted;
  *flag = 1;
  return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
  (void)comm, (void)key, (void)extra;
  free(value);
  return MPI_SUCCESS;
}

static void communicators(int round)
{
  static int step = 3;
  MPI_Group world, even;
  MPI_Comm comm, copy;
  int range[1][3] = {{0, ranks - 1, 2}}, key, flag, *value, sum;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, range, &even);
  MPI_Comm_create(MPI_COMM_WORLD, even, &comm);
  MPI_Group_free(&even);
  MPI_Group_free(&world);
  expect((comm != MPI_COMM_NULL) == (me % 2 == 0), "comm_create", round);
  if (comm == MPI_COMM_NULL)
    return;
  MPI_Comm_create_keyval(inherit, drop, &key, &step);
  value = malloc(sizeof *value);
  *value = round;
  MPI_Comm_set_attr(comm, key, value);
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_get_attr(copy, key, &value, &flag);
  expect(flag && *value == round + step, "attribute", round);
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, copy);
  expect(sum == (ranks - 1) / 2 * ((ranks - 1) / 2 + 1), "sum over even ranks", round);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
}

/* Takes times as a benchmark reports them: the time of the slowest rank, and averages. No time may
 * go backwards. */
static void timing(double *last, int round)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double times[2] = {MPI_Wtime(), (double)now.tv_sec + 1e-9 * (double)now.tv_nsec}, most[2];
  MPI_Reduce(times, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  expect(times[0] >= *last, "time goes backwards", round);
  expect(me != 0 || (most[0] >= times[0] && most[1] >= times[1]), "latest time", round);
  *last = times[0];
}

int main(int argc, char **argv)
{
  MPI_Op product;
  MPI_Datatype four;
  int provided, flag, *most_tag;
  double last = 0;
  char name[MPI_MAX_PROCESSOR_NAME];
  setvbuf(stdout, NULL, _IONBF, 0);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most_tag, &flag);
  expect(flag && *most_tag >= 32767, "MPI_TAG_UB", -1);
  MPI_Get_processor_name(name, &flag);
  expect(flag == (int)strlen(name), "processor name", -1);
  MPI_Op_create(multiply, 0, &product);
  MPI_Type_contiguous(4, MPI_UNSIGNED, &four);
  MPI_Type_commit(&four);
  for (int round = 0; round < (argc > 1 ? atoi(argv[1]) : 6); round++) {
    reductions(round, product, four);
    blocks(round);
    layouts(round);
    communicators(round);
    timing(&last, round);
  }
  MPI_Type_free(&four);
  MPI_Op_free(&product);
  int status = suite_verdict("calls", wrong);
  MPI_Finalize();
  return status;
}
