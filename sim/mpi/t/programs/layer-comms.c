/* Tests topologies, attributes, and communicators that are made in rare ways. All calls are in a
 * loop, so that crashes and checkpoints fall everywhere, and every result is checked. Usage:
 * layer-comms ROUNDS. */
#define PROGRAM "layer-comms"
#include "layer-rounds.h"

static int copies, deletes;

/* ---- topologies ---- */

/* Tests a halo exchange, in which each rank gets the ranks of its neighbours. */
static void exchange(MPI_Comm grid, int dimension, int own, int size, bool periodic, int here)
{
  int from, to, in = -7;
  MPI_Cart_shift(grid, dimension, 1, &from, &to);
  MPI_Sendrecv(&own, 1, MPI_INT, to, 4, &in, 1, MPI_INT, from, 4, grid, MPI_STATUS_IGNORE);
  if (!periodic && here == 0)
    expect(from == MPI_PROC_NULL && in == -7, "shift: edge");
  else
    expect(in == from, "shift: neighbour");
  if (!periodic && here == size - 1)
    expect(to == MPI_PROC_NULL, "shift: other edge");
}

static void test_grid(void)
{
  int sizes[2] = {0, 0}, periodic[2] = {0, 1}, here[2], own, same, got_sizes[2], got_periodic[2];
  MPI_Comm grid, row, copy;
  MPI_Dims_create(ranks - 1, 2, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &grid);
  expect((grid == MPI_COMM_NULL) == (rank == ranks - 1), "cart_create: who is in it");
  if (grid == MPI_COMM_NULL)
    return;
  MPI_Comm_dup(grid, &copy);
  MPI_Comm_rank(copy, &own);
  MPI_Cart_get(copy, 2, got_sizes, got_periodic, here);
  expect(got_sizes[0] == sizes[0] && got_periodic[1] == 1, "cart_get");
  MPI_Cart_coords(grid, own, 2, got_sizes);
  expect(memcmp(here, got_sizes, sizeof here) == 0, "cart_coords");
  MPI_Cart_rank(grid, here, &same);
  expect(same == own && here[0] * sizes[1] + here[1] == own, "cart_rank");
  here[1] += sizes[1];
  MPI_Cart_rank(grid, here, &same);
  expect(same == own, "cart_rank: around");
  here[1] -= sizes[1];
  exchange(copy, 0, own, sizes[0], false, here[0]);
  exchange(grid, 1, own, sizes[1], true, here[1]);
  int remain[2] = {0, 1}, count, sum, dimensions;
  MPI_Cart_sub(grid, remain, &row);
  MPI_Comm_size(row, &count);
  MPI_Cartdim_get(row, &dimensions);
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, row);
  expect(count == sizes[1] && dimensions == 1, "cart_sub: shape");
  expect(sum == count * (here[0] * sizes[1]) + count * (count - 1) / 2, "cart_sub: members");
  MPI_Comm_free(&row);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&grid);
}

/* ---- attributes ---- */

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *value, void *made, int *flag)
{
  (void)comm;
  (void)key;
  int *copied = (int *)malloc(sizeof *copied);
  *copied = *(int *)value + *(int *)extra;
  memcpy(made, &copied, sizeof copied);
  *flag = 1;
  copies++;
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
  (void)comm;
  (void)key;
  (void)extra;
  free(value);
  deletes++;
  return MPI_SUCCESS;
}

static int fail_to_copy(MPI_Comm comm, int key, void *extra, void *value, void *made, int *flag)
{
  (void)comm;
  (void)key;
  (void)extra;
  (void)value;
  (void)made;
  *flag = 1;
  return MPI_ERR_OTHER;
}

/* Tests that a call returns the error that the key's function has returned. */
static void test_attribute_errors(void)
{
  int key;
  MPI_Comm first, second;
  MPI_Comm_create_keyval(fail_to_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_errhandler(first, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(first, key, NULL);
  expect(MPI_Comm_dup(first, &second) == MPI_ERR_OTHER, "attribute: not copied");
  MPI_Comm_free(&first);
  MPI_Comm_free_keyval(&key);
}

static int *new_int(int value)
{
  int *made = (int *)malloc(sizeof *made);
  *made = value;
  return made;
}

static void test_attributes(void)
{
  static int step = 10;
  int key, flag, *value, *most;
  MPI_Comm first, second;
  copies = deletes = 0;
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, &step);
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_get_attr(first, key, &value, &flag);
  expect(!flag, "attribute: none yet");
  MPI_Comm_set_attr(first, key, new_int(rank));
  MPI_Comm_set_attr(first, key, new_int(rank + round_number));
  MPI_Comm_dup(first, &second);
  MPI_Barrier(second);
  MPI_Comm_get_attr(second, key, &value, &flag);
  expect(flag && *value == rank + round_number + 10, "attribute: copied");
  MPI_Comm_delete_attr(second, key);
  MPI_Comm_get_attr(second, key, &value, &flag);
  expect(!flag, "attribute: deleted");
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
  expect(copies == 1 && deletes == 3, "attribute: functions");
  MPI_Comm_free_keyval(&key);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
  expect(flag && *most >= 32767, "attribute: MPI_TAG_UB");
}

static int copy_of_type(MPI_Datatype type, int key, void *extra, void *value, void *made, int *flag)
{
  (void)type;
  return copy_attribute(MPI_COMM_NULL, key, extra, value, made, flag);
}

static int delete_of_type(MPI_Datatype type, int key, void *value, void *extra)
{
  (void)type;
  return delete_attribute(MPI_COMM_NULL, key, value, extra);
}

static void test_attributes_of_types(void)
{
  static int step = 10;
  int key, flag, *value;
  MPI_Datatype first, second;
  copies = deletes = 0;
  MPI_Type_create_keyval(copy_of_type, delete_of_type, &key, &step);
  MPI_Type_contiguous(3, MPI_INT, &first);
  MPI_Type_get_attr(first, key, &value, &flag);
  expect(!flag, "attribute of a type: none yet");
  MPI_Type_set_attr(first, key, new_int(rank + round_number));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_dup(first, &second);
  MPI_Type_get_attr(second, key, &value, &flag);
  expect(flag && *value == rank + round_number + 10, "attribute of a type: copied");
  MPI_Type_delete_attr(second, key);
  MPI_Type_get_attr(second, key, &value, &flag);
  expect(!flag, "attribute of a type: deleted");
  MPI_Type_free(&second);
  MPI_Type_free(&first);
  expect(copies == 1 && deletes == 2, "attribute of a type: functions");
  MPI_Type_free_keyval(&key);
}

/* ---- other ways to make communicators ---- */

/* Tests a call that makes two communicators at once, of groups without a common rank. */
static void test_halves(MPI_Group world)
{
  MPI_Group half;
  MPI_Comm comm;
  int range[1][3] = {{rank % 2, ranks - 1, 2}}, size, least;
  MPI_Group_range_incl(world, 1, range, &half);
  MPI_Comm_create(MPI_COMM_WORLD, half, &comm);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &least, 1, MPI_INT, MPI_MIN, comm);
  expect(size == (ranks + 1 - rank % 2) / 2 && least == rank % 2, "create: halves");
  MPI_Comm_free(&comm);
  MPI_Group_free(&half);
}

static void test_making(void)
{
  MPI_Group world, some;
  MPI_Comm comm = MPI_COMM_NULL, alone;
  int range[1][3] = {{ranks - 1, 1, -1}}, own, size, sum, length;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, range, &some);
  if (rank != 0)
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 1, &comm);
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &size);
    expect(own == ranks - 1 - rank && size == ranks - 1, "create_group");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == ranks * (ranks - 1) / 2, "create_group: allreduce");
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_set_name(comm, "all but the first");
    MPI_Comm_get_name(comm, name, &length);
    expect(strcmp(name, "all but the first") == 0 && length == 17, "name");
    MPI_Comm_free(&comm);
  }
  MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
  expect((comm == MPI_COMM_NULL) == (rank == 0), "create");
  if (comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
  test_halves(world);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &alone);
  MPI_Comm_size(alone, &size);
  expect(size == 1, "split_type");
  MPI_Comm_free(&alone);
  MPI_Group_free(&some);
  MPI_Group_free(&world);
}

/* ---- memory ---- */

static void test_memory(void)
{
  static int *kept; /* lives through all rounds */
  char *buffer = (char *)malloc(1000), *attached;
  int bytes;
  if (!kept) {
    MPI_Alloc_mem(sizeof *kept, MPI_INFO_NULL, &kept);
    *kept = 0;
  }
  expect(++*kept == round_number, "alloc_mem: rolled back");
  MPI_Buffer_attach(buffer, 1000);
  MPI_Buffer_detach(&attached, &bytes);
  expect(attached == buffer && bytes == 1000, "buffer");
  free(buffer);
}

int main(int argc, char **argv)
{
  int rounds = begin(argc, argv);
  static void (*const tests[])(void) = {
      test_grid,   test_attributes, test_attribute_errors, test_attributes_of_types,
      test_making, test_memory};
  for (round_number = 1; round_number <= rounds; round_number++)
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
      tests[i]();
      smpi_execute_flops(1e5 * (rank + 1));
    }
  return end(rounds);
}
