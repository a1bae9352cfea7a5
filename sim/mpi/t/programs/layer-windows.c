/* Tests one-sided communication between calls that both sides make. All calls are in a loop, so
 * that crashes and checkpoints fall everywhere, and every result is checked. It is compiled as
 * C and as C++. Usage: layer-windows ROUNDS */
#define PROGRAM "layer-windows"
#include "layer-rounds.h"

enum { CELLS = 64, RANKS_MAX = 16 };

/* ---- fences ---- */

/* Tests fences. The window exists in all rounds, and each round finds the values that the round
 * before it has left. */
static void test_fence(MPI_Win window, int *memory)
{
  int out[4], in[4] = {0}, sum = rank + 1, before = memory[20];
  if (round_number > 0)
    expect(memory[0] == value(previous, 0) - 10000 && memory[3] == value(previous, 3) - 10000,
           "what the last round has put");
  for (int i = 0; i < 4; i++)
    out[i] = value(rank, i);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  MPI_Put(out, 4, MPI_INT, next, 0, 4, MPI_INT, window);
  for (int i = 0; i < ranks; i++)
    MPI_Accumulate(&sum, 1, MPI_INT, i, 20, 1, MPI_INT, MPI_SUM, window);
  MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect(memory[0] == value(previous, 0) && memory[3] == value(previous, 3), "put");
  expect(memory[20] == before + ranks * (ranks + 1) / 2, "accumulate");
  MPI_Get(in, 4, MPI_INT, next, 0, 4, MPI_INT, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  expect(memcmp(in, out, sizeof in) == 0, "get");
}

/* Tests accesses whose types differ: every second integer at the origin, every third at the
 * target. */
static void test_types(MPI_Win window, int *memory)
{
  int out[8], in[8];
  MPI_Datatype pairs, triples;
  MPI_Type_vector(4, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Type_vector(2, 1, 3, MPI_INT, &triples);
  MPI_Type_commit(&triples);
  for (int i = 0; i < 8; i++)
    out[i] = value(rank, i), in[i] = -1;
  for (int i = 24; i < 40; i++)
    memory[i] = i;
  MPI_Win_fence(0, window);
  MPI_Put(out, 1, pairs, next, 24, 2, triples, window);
  MPI_Win_fence(0, window);
  /* the first element lies at 24 and 27; the second begins where the first ends: 28 and 31 */
  expect(memory[24] == value(previous, 0) && memory[27] == value(previous, 2) &&
             memory[28] == value(previous, 4) && memory[31] == value(previous, 6) &&
             memory[25] == 25 && memory[30] == 30,
         "put of a type into another");
  MPI_Accumulate(out, 1, pairs, next, 24, 2, triples, MPI_MAX, window);
  MPI_Get(in, 1, pairs, previous, 32, 4, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect(memory[24] == value(previous, 0) && in[0] == 32 && in[1] == -1 && in[6] == 35, "types");
  MPI_Type_free(&pairs);
  MPI_Type_free(&triples);
}

/* ---- calls that fetch and change a value ---- */

static void test_fetching(MPI_Win window, int *memory)
{
  int one = 1, old = -1, all = -1, compared = 7, mine = 100 + rank, swapped = -1, read = -1;
  memory[40] = 0;
  memory[41] = 7;
  memory[42] = 5;
  MPI_Win_fence(0, window);
  MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 40, MPI_SUM, window);
  MPI_Compare_and_swap(&mine, &compared, &swapped, MPI_INT, 0, 41, window);
  MPI_Get_accumulate(&one, 1, MPI_INT, &all, 1, MPI_INT, next, 42, 1, MPI_INT, MPI_REPLACE, window);
  MPI_Win_fence(0, window);
  expect(old >= 0 && old < ranks && all == 5 && memory[42] == 1, "fetch_and_op");
  if (rank == 0)
    expect(memory[40] == ranks && memory[41] >= 100, "compare_and_swap");
  MPI_Get_accumulate(NULL, 0, MPI_INT, &read, 1, MPI_INT, 0, 41, 1, MPI_INT, MPI_NO_OP, window);
  MPI_Win_fence(0, window);
  expect(swapped == 7 ? read == mine : swapped == read, "one has swapped");
}

/* ---- groups of ranks ---- */

static void test_groups(void)
{
  int *memory, in = -1, out = value(rank, 9);
  MPI_Group world, to, from;
  MPI_Win window;
  MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  memory[0] = -1;
  memory[1] = value(rank, 8);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &next, &to);
  MPI_Group_incl(world, 1, &previous, &from);
  MPI_Win_post(from, 0, window);
  MPI_Win_start(to, 0, window);
  MPI_Put(&out, 1, MPI_INT, next, 0, 1, MPI_INT, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  expect(memory[0] == value(previous, 9), "put between complete and wait");
  /* one rank reads, and the window of the other rank is read */
  if (rank % 2 == 0 && next % 2 == 1) {
    MPI_Win_start(to, 0, window);
    MPI_Get(&in, 1, MPI_INT, next, 1, 1, MPI_INT, window);
    MPI_Win_complete(window);
    expect(in == value(next, 8), "get between start and complete");
  } else if (rank % 2 == 1 && previous % 2 == 0) {
    int over = 0;
    MPI_Win_post(from, 0, window);
    while (!over)
      MPI_Win_test(window, &over);
  }
  MPI_Group_free(&world);
  MPI_Group_free(&to);
  MPI_Group_free(&from);
  MPI_Win_free(&window);
  expect(window == MPI_WIN_NULL, "free");
}

/* ---- attributes, names, hints and error handlers ---- */

static void test_questions(MPI_Win window, int *memory)
{
  void *base;
  MPI_Aint *size;
  int *unit, found, length, members;
  char name[MPI_MAX_OBJECT_NAME], hint[10] = "";
  MPI_Group group;
  MPI_Info info;
  MPI_Errhandler errors;
  MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &found);
  MPI_Win_get_attr(window, MPI_WIN_SIZE, &size, &found);
  MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &unit, &found);
  expect(found && base == (void *)memory && *size == CELLS * 4 && *unit == 4, "get_attr");
  MPI_Win_set_name(window, "cells");
  MPI_Win_get_name(window, name, &length);
  expect(length == 5 && strcmp(name, "cells") == 0, "get_name");
  MPI_Info_create(&info);
  MPI_Info_set(info, "hint", "value");
  MPI_Win_set_info(window, info);
  MPI_Info_free(&info);
  MPI_Win_get_info(window, &info);
  MPI_Info_get(info, "hint", 9, hint, &found);
  expect(found && strcmp(hint, "value") == 0, "get_info");
  MPI_Info_free(&info);
  MPI_Win_get_group(window, &group);
  MPI_Group_size(group, &members);
  MPI_Group_free(&group);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win_get_errhandler(window, &errors);
  expect(members == ranks && errors == MPI_ERRORS_RETURN, "get_group");
  expect(MPI_Put(&length, 1, MPI_INT, ranks, 0, 1, MPI_INT, window) == MPI_ERR_RANK, "no rank");
  MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL);
  expect(window == MPI_Win_f2c(MPI_Win_c2f(window)), "f2c");
  MPI_Win_sync(window);
}

static int deleted;

static int delete_value(MPI_Win window, int key, void *value, void *extra)
{
  (void)window;
  (void)key;
  deleted += *(int *)value + *(int *)extra;
  return MPI_SUCCESS;
}

static void test_attributes(void)
{
  static int value = 1000, extra = 1;
  int key, found, *memory, *read;
  MPI_Win window;
  deleted = 0;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_value, &key, &extra);
  MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_get_attr(window, key, &read, &found);
  expect(!found, "no attribute yet");
  MPI_Win_set_attr(window, key, &value);
  MPI_Win_get_attr(window, key, &read, &found);
  expect(found && read == &value, "set_attr");
  MPI_Win_delete_attr(window, key);
  MPI_Win_get_attr(window, key, &read, &found);
  expect(!found && deleted == 1001, "delete_attr");
  MPI_Win_set_attr(window, key, &value);
  MPI_Win_free(&window);
  expect(deleted == 2002, "attributes end with their window");
  MPI_Win_free_keyval(&key);
}

static MPI_Win troubled;
static int trouble;

static void handle(MPI_Win *window, int *error, ...)
{
  troubled = *window;
  trouble = *error;
}

static void test_handlers(MPI_Win window)
{
  MPI_Errhandler errors;
  MPI_Win_create_errhandler(handle, &errors);
  MPI_Win_set_errhandler(window, errors);
  MPI_Put(&rank, 1, MPI_INT, ranks, 0, 1, MPI_INT, window);
  expect(troubled == window && trouble == MPI_ERR_RANK, "the handler is told of an error");
  MPI_Win_call_errhandler(window, MPI_ERR_OTHER);
  expect(trouble == MPI_ERR_OTHER, "call_errhandler");
  MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&errors);
}

/* Tests a dynamic window: memory is attached and detached, and accessed by its address. */
static void test_dynamic(void)
{
  int *own = (int *)malloc(8 * sizeof *own), out = value(rank, 3), in = -1;
  MPI_Win window;
  MPI_Aint here, there;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, own, 8 * sizeof *own);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  expect(MPI_Win_attach(window, own + 4, 4) == MPI_ERR_RMA_ATTACH, "attached twice");
  expect(MPI_Win_detach(window, own + 4) == MPI_ERR_RMA_ATTACH, "detached, never attached");
  own[5] = own[6] = -1;
  MPI_Get_address(own, &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, previous, 60, &there, 1, MPI_AINT, next, 60, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Win_fence(0, window);
  MPI_Put(&out, 1, MPI_INT, next, MPI_Aint_add(there, 5 * sizeof *own), 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Get(&in, 1, MPI_INT, next, MPI_Aint_add(there, 5 * sizeof *own), 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect(own[5] == value(previous, 3) && own[6] == -1 && in == out, "a dynamic window");
  expect(MPI_Win_detach(window, own) == MPI_SUCCESS, "detach");
  MPI_Win_free(&window);
  free(own);
}

/* Tests a shared window. Each rank is alone on its node. */
static void test_shared(void)
{
  MPI_Comm node;
  MPI_Win window;
  MPI_Aint size;
  int *memory, *same, unit, in = -1, nodes;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &nodes);
  MPI_Win_allocate_shared(4 * sizeof *memory, 4, MPI_INFO_NULL, node, &memory, &window);
  MPI_Win_shared_query(window, MPI_PROC_NULL, &size, &unit, &same);
  expect(nodes == 1 && same == memory && size == 16 && unit == 4, "shared_query");
  MPI_Win_fence(0, window);
  memory[2] = value(rank, 2);
  MPI_Get(&in, 1, MPI_INT, 0, 2, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect(in == value(rank, 2), "a shared window");
  MPI_Win_free(&window);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window) ==
             MPI_ERR_RMA_SHARED,
         "memory of several nodes");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&node);
}

/* Tests which rank has the largest and the least value, by MPI_MAXLOC and MPI_MINLOC. */
static void test_places(void)
{
  struct {
    int value, place;
  } pair = {(rank + round_number) % ranks, rank}, *most;
  MPI_Win window;
  MPI_Win_allocate(2 * sizeof *most, sizeof *most, MPI_INFO_NULL, MPI_COMM_WORLD, &most, &window);
  most[0].value = -1;
  most[1].value = ranks;
  MPI_Win_fence(0, window);
  for (int i = 0; i < ranks; i++) {
    MPI_Accumulate(&pair, 1, MPI_2INT, i, 0, 1, MPI_2INT, MPI_MAXLOC, window);
    MPI_Accumulate(&pair, 1, MPI_2INT, i, 1, 1, MPI_2INT, MPI_MINLOC, window);
  }
  MPI_Win_fence(0, window);
  expect(most[0].value == ranks - 1 && (most[0].place + round_number) % ranks == ranks - 1,
         "where the largest value is");
  expect(most[1].value == 0 && (most[1].place + round_number) % ranks == 0,
         "where the least value is");
  MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
  int rounds = begin(argc, argv);
  static int memory[CELLS];
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, sizeof memory[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (round_number = 0; round_number < rounds; round_number++) {
    compute(5e-4);
    test_fence(window, memory);
    test_types(window, memory);
    smpi_execute_benched(5e-4);
    test_fetching(window, memory);
    test_groups();
    test_questions(window, memory);
    test_attributes();
    test_handlers(window);
    test_dynamic();
    test_shared();
    test_places();
  }
  MPI_Win_free(&window);
  return end(rounds);
}
