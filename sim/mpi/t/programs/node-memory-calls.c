/* Tests the calls about memory that the ranks of a node share, in a run without failures. The
 * argument is the number of ranks of a node. Prints errors, and a last line. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, here, size, wrong;
static MPI_Comm node;

static void expect(int right, const char *what)
{
  if (right)
    return;
  wrong++;
  printf("rank %d: %s\n", rank, what);
}

/* Tests that a communicator of a node has exactly the ranks that have the same processor name. */
static void test_split(int per_node)
{
  enum { LENGTH = MPI_MAX_PROCESSOR_NAME };
  int length, same = 0, guided, first;
  char name[LENGTH] = "", *names = calloc((size_t)ranks, LENGTH);
  MPI_Comm other;
  MPI_Info info;
  MPI_Get_processor_name(name, &length);
  MPI_Allgather(name, LENGTH, MPI_CHAR, names, LENGTH, MPI_CHAR, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    same += !strcmp(name, names + (size_t)i * LENGTH);
  expect(size == same && size == per_node, "ranks of a node by split_type");
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, -rank, info, &other);
  MPI_Comm_size(other, &guided);
  MPI_Comm_rank(other, &first);
  expect(guided == size && first == size - 1 - here, "ranks of a node by a guided split");
  MPI_Comm_free(&other);
  MPI_Info_free(&info);
  free(names);
}

/* Tests parts of several sizes and units; the first one has no bytes. */
static void test_parts(int apart)
{
  int unit, *base;
  char *own, *first, *other, *last = NULL;
  MPI_Aint bytes, lasts = 0;
  MPI_Win window;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false");
  MPI_Win_allocate_shared(12 * here, 1 + here, info, node, &own, &window);
  MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &unit);
  expect(unit && (char *)base == own, "base of a part");
  MPI_Win_shared_query(window, MPI_PROC_NULL, &bytes, &unit, &first);
  if (size > 1)
    expect(bytes == 12 && unit == 2, "the first part with bytes");
  for (int i = 0; i < size; i++) {
    MPI_Win_shared_query(window, i, &bytes, &unit, &other);
    expect(bytes == 12 * i && unit == 1 + i && (i != 1 || other == first), "a part");
    expect(!last || apart || other == last + lasts, "parts are contiguous");
    last = other, lasts = bytes;
  }
  MPI_Win_fence(0, window);
  memset(own, 'a' + here, (size_t)(12 * here));
  MPI_Win_fence(0, window);
  for (int i = 1; i < size; i++) {
    MPI_Win_shared_query(window, i, &bytes, &unit, &other);
    expect(other[0] == 'a' + i && other[bytes - 1] == 'a' + i, "what another rank has stored");
  }
  MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  expect(MPI_Win_shared_query(window, size, &bytes, &unit, &other) == MPI_ERR_RANK, "no such part");
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Info_free(&info);
}

static void test_nothing(void)
{
  int unit;
  void *own;
  MPI_Aint bytes;
  MPI_Win window;
  MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, node, &own, &window);
  MPI_Win_shared_query(window, MPI_PROC_NULL, &bytes, &unit, &own);
  expect(bytes == 0, "a window without memory");
  MPI_Win_free(&window);
}

/* Tests accesses by calls to the part of each rank, also by address. */
static void test_calls(void)
{
  int *own, got = -1, sum = 1;
  MPI_Win window;
  MPI_Win_allocate_shared(4 * sizeof *own, sizeof *own, MPI_INFO_NULL, node, &own, &window);
  MPI_Win_fence(0, window);
  own[2] = 10 + here;
  MPI_Put(&here, 1, MPI_INT, (here + 1) % size, 0, 1, MPI_INT, window);
  for (int i = 0; i < size; i++)
    MPI_Accumulate(&sum, 1, MPI_INT, i, 1, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Get(&got, 1, MPI_INT, (here + 1) % size, 2, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect(own[0] == (here + size - 1) % size && own[1] == size, "put and accumulate");
  expect(got == 10 + (here + 1) % size, "get");
  MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
  int *memory, all;
  MPI_Win window;
  MPI_Comm those;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &here);
  MPI_Comm_size(node, &size);
  test_split(argc > 1 ? atoi(argv[1]) : 1);
  if (argc <= 2) {
    test_parts(0);
    test_parts(1);
    test_nothing();
    test_calls();
  }
  those = argc > 2 ? node : MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(those, MPI_ERRORS_RETURN);
  if (argc > 2 || size < ranks)
    expect(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, those, &memory, &window) ==
                   MPI_ERR_RMA_SHARED &&
               window == MPI_WIN_NULL,
           "memory that ranks cannot share");
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d are wrong\n", all);
  MPI_Finalize();
  return all != 0;
}
