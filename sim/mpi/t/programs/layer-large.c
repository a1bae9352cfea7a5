/* Tests calls with large counts that take lists of counts, or return a count. large.t tests the
 * other calls: it renames calls of existing programs. All calls are in a loop, so that crashes and
 * checkpoints can happen between any two of them, and every result is checked. The program is
 * compiled as C and as C++, and runs on 5 ranks. Usage: layer-large ROUNDS. */
#define PROGRAM "layer-large"
#include "layer-rounds.h"

enum { RANKS = 5, ROOM = 4 * RANKS };

static int out[ROOM], in[ROOM];

static void clear(void)
{
  memset(in, -1, sizeof in);
  for (int i = 0; i < ROOM; i++)
    out[i] = value(rank, i);
}

/* ---- collectives: blocking, nonblocking and persistent ---- */

enum { BLOCKING, NONBLOCKING, PERSISTENT, KINDS };

static MPI_Comm ring;
static MPI_Count counts[RANKS], ones[RANKS];
static MPI_Aint starts[RANKS], bytes[RANKS], pairs[RANKS];
static MPI_Datatype types[RANKS];
static MPI_Request request;

static void lay_out(void)
{
  int dimension = RANKS, periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &dimension, &periodic, 0, &ring);
  for (int i = 0; i < RANKS; i++) {
    counts[i] = 1 + i % 2;
    ones[i] = 1;
    starts[i] = 2 * i;
    pairs[i] = 2 * i;
    bytes[i] = i * (MPI_Aint)sizeof(int);
    types[i] = MPI_INT;
  }
}

static void finish(int kind)
{
  if (kind == PERSISTENT)
    MPI_Start(&request);
  if (kind != BLOCKING)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (kind == PERSISTENT)
    MPI_Request_free(&request);
}

#define EACH(KIND, NAME, BEGIN, ...)                                                               \
  do {                                                                                             \
    clear();                                                                                       \
    if ((KIND) == BLOCKING)                                                                        \
      MPI_##NAME##_c(__VA_ARGS__);                                                                 \
    else if ((KIND) == NONBLOCKING)                                                                \
      MPI_##BEGIN##_c(__VA_ARGS__, &request);                                                      \
    else                                                                                           \
      MPI_##NAME##_init_c(__VA_ARGS__, MPI_INFO_NULL, &request);                                   \
    finish(KIND);                                                                                  \
  } while (0)

/* Returns whether `in` has value `place` of each rank, with `step` ints from one rank to the
 * next. */
static bool one_each(int place, int step)
{
  bool right = true;
  for (int i = 0; i < RANKS; i++)
    right &= in[i * step] == value(i, place);
  return right;
}

/* Returns whether `in` has the number of elements of each rank that `counts` says, and no more. */
static bool are_counted(void)
{
  bool right = true;
  for (int i = 0; i < RANKS; i++)
    for (int k = 0; k < 2; k++)
      right &= in[2 * i + k] == (k < counts[i] ? value(i, k) : -1);
  return right;
}

static void test_collectives(int kind)
{
  MPI_Comm world = MPI_COMM_WORLD;
  bool roots = rank == 2;
  EACH(kind, Gatherv, Igatherv, out, counts[rank], MPI_INT, in, roots ? counts : NULL,
       roots ? starts : NULL, MPI_INT, 2, world);
  expect(!roots || are_counted(), "gatherv_c");
  EACH(kind, Scatterv, Iscatterv, out, roots ? counts : NULL, roots ? starts : NULL, MPI_INT, in,
       counts[rank], MPI_INT, 2, world);
  expect(in[0] == value(2, 2 * rank) && in[1] == (counts[rank] > 1 ? value(2, 2 * rank + 1) : -1),
         "scatterv_c");
  EACH(kind, Allgatherv, Iallgatherv, out, counts[rank], MPI_INT, in, counts, starts, MPI_INT,
       world);
  expect(are_counted(), "allgatherv_c");
  EACH(kind, Alltoallv, Ialltoallv, out, ones, starts, MPI_INT, in, ones, pairs, MPI_INT, world);
  expect(one_each(2 * rank, 2), "alltoallv_c");
  EACH(kind, Alltoallw, Ialltoallw, out, ones, bytes, types, in, ones, bytes, types, world);
  expect(one_each(rank, 1), "alltoallw_c");
  EACH(kind, Reduce_scatter, Ireduce_scatter, out, in, ones, MPI_INT, MPI_SUM, world);
  expect(in[0] == 5 * value(0, rank) + 100 * 10, "reduce_scatter_c");
  EACH(kind, Neighbor_allgatherv, Ineighbor_allgatherv, out, 1, MPI_INT, in, ones, pairs, MPI_INT,
       ring);
  expect(in[0] == value(previous, 0) && in[2] == value(next, 0), "neighbor_allgatherv_c");
  EACH(kind, Neighbor_alltoallv, Ineighbor_alltoallv, out, ones, starts, MPI_INT, in, ones, pairs,
       MPI_INT, ring);
  expect(in[0] == value(previous, 2) && in[2] == value(next, 0), "neighbor_alltoallv_c");
  EACH(kind, Neighbor_alltoallw, Ineighbor_alltoallw, out, ones, bytes, types, in, ones, bytes,
       types, ring);
  expect(in[0] == value(previous, 1) && in[1] == value(next, 0), "neighbor_alltoallw_c");
}

/* ---- datatypes ---- */

/* Tests that `type` has `count` ints, at the given places of `out`, and the extent in bytes. Frees
 * the type. */
static void expect_type(MPI_Datatype *type, int count, const int *places, MPI_Count extent,
                        const char *what)
{
  int packed[ROOM];
  MPI_Count size, lower, whole, at = 0, room;
  bool right = true;
  MPI_Type_commit(type);
  MPI_Type_size_c(*type, &size);
  MPI_Type_get_extent_c(*type, &lower, &whole);
  MPI_Pack_size_c(1, *type, MPI_COMM_WORLD, &room);
  right = size == count * (MPI_Count)sizeof(int) && whole == extent && lower == 0 && room >= size;
  MPI_Pack_c(out, 1, *type, packed, sizeof packed, &at, MPI_COMM_WORLD);
  right &= at == size;
  for (int i = 0; i < count; i++)
    right &= packed[i] == out[places[i]];
  at = 0;
  memset(in, -1, sizeof in);
  MPI_Unpack_c(packed, size, &at, in, 1, *type, MPI_COMM_WORLD);
  for (int i = 0; i < count; i++)
    right &= in[places[i]] == out[places[i]];
  expect(right && at == size, what);
  MPI_Type_free(type);
}

static void test_types(void)
{
  static const int strided[] = {0, 3, 6}, first[] = {0, 1, 2}, listed[] = {0, 1, 5};
  static const int blocks[] = {0, 4}, inner[] = {3, 4, 6, 7};
  MPI_Count lengths[] = {2, 1}, places[] = {0, 5}, far[] = {0, 20}, two[] = {0, 4},
            apart[] = {0, 16};
  MPI_Count sizes[] = {3, 3}, parts[] = {2, 2}, from[] = {1, 0}, lower, extent;
  MPI_Datatype type, part, both[] = {MPI_INT, MPI_INT};
  clear();
  MPI_Type_contiguous_c(3, MPI_INT, &type);
  expect_type(&type, 3, first, 12, "type_contiguous_c");
  MPI_Type_vector_c(3, 1, 3, MPI_INT, &type);
  expect_type(&type, 3, strided, 28, "type_vector_c");
  MPI_Type_create_hvector_c(3, 1, 12, MPI_INT, &type);
  expect_type(&type, 3, strided, 28, "type_create_hvector_c");
  MPI_Type_indexed_c(2, lengths, places, MPI_INT, &type);
  expect_type(&type, 3, listed, 24, "type_indexed_c");
  MPI_Type_create_hindexed_c(2, lengths, far, MPI_INT, &type);
  expect_type(&type, 3, listed, 24, "type_create_hindexed_c");
  MPI_Type_create_indexed_block_c(2, 1, two, MPI_INT, &type);
  expect_type(&type, 2, blocks, 20, "type_create_indexed_block_c");
  MPI_Type_create_hindexed_block_c(2, 1, apart, MPI_INT, &type);
  expect_type(&type, 2, blocks, 20, "type_create_hindexed_block_c");
  MPI_Type_create_struct_c(2, lengths, far, both, &type);
  expect_type(&type, 3, listed, 24, "type_create_struct_c");
  MPI_Type_create_subarray_c(2, sizes, parts, from, MPI_ORDER_C, MPI_INT, &type);
  expect_type(&type, 4, inner, 36, "type_create_subarray_c");
  MPI_Type_contiguous_c(3, MPI_INT, &part);
  MPI_Type_create_resized_c(part, 0, 40, &type);
  MPI_Type_get_true_extent_c(type, &lower, &extent);
  expect(lower == 0 && extent == 12, "type_get_true_extent_c");
  expect_type(&type, 3, first, 40, "type_create_resized_c");
  MPI_Type_free(&part);
}

/* ---- counts that calls return ---- */

static void test_statuses(void)
{
  static char room[4096];
  char *detached;
  MPI_Count count, elements, size;
  MPI_Status status;
  clear();
  MPI_Buffer_attach_c(room, sizeof room);
  MPI_Bsend_c(out, 3, MPI_INT, next, 1, MPI_COMM_WORLD);
  MPI_Recv_c(in, ROOM, MPI_INT, previous, 1, MPI_COMM_WORLD, &status);
  MPI_Buffer_detach_c(&detached, &size);
  expect(detached == room && size == sizeof room, "buffer_attach_c, buffer_detach_c");
  MPI_Get_count_c(&status, MPI_INT, &count);
  MPI_Get_elements_c(&status, MPI_INT, &elements);
  expect(count == 3 && elements == 3 && in[2] == value(previous, 2), "get_count_c, get_elements_c");
  MPI_Status_set_elements_c(&status, MPI_INT, 7);
  MPI_Get_count_c(&status, MPI_INT, &count);
  expect(count == 7, "status_set_elements_c");
  MPI_Reduce_local_c(out, in, 2, MPI_INT, MPI_SUM);
  expect(in[1] == value(rank, 1) + value(previous, 1), "reduce_local_c");
}

static void test_windows_and_files(void)
{
  MPI_Win window;
  MPI_Aint bytes_there, unit;
  MPI_Count extent;
  MPI_File file;
  int *own, *there;
  MPI_Win_allocate_shared_c(8, 4, MPI_INFO_NULL, MPI_COMM_SELF, &own, &window);
  own[1] = value(rank, 1);
  MPI_Win_shared_query_c(window, 0, &bytes_there, &unit, &there);
  expect(bytes_there == 8 && unit == 4 && there[1] == value(rank, 1), "win_shared_query_c");
  MPI_Win_free(&window);
  MPI_File_open(MPI_COMM_WORLD, "layer-large-file", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                &file);
  MPI_File_get_type_extent_c(file, MPI_DOUBLE, &extent);
  expect(extent == sizeof(double), "file_get_type_extent_c");
  MPI_File_close(&file);
}

int main(int argc, char **argv)
{
  int rounds = begin(argc, argv);
  lay_out();
  for (round_number = 1; round_number <= rounds; round_number++) {
    for (int kind = 0; kind < KINDS; kind++) {
      test_collectives(kind);
      compute(1e-4);
    }
    test_types();
    test_statuses();
    test_windows_and_files();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&ring);
  round_number = rounds;
  return end(rounds);
}
