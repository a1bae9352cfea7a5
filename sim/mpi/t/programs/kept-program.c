/* Tests types and groups that are made, used and freed again and again, so that crashes and
 * checkpoints fall everywhere. It is compiled as C and as C++. Usage: kept-program ROUNDS. */
#define PROGRAM "kept-program"
#include "layer-rounds.h"

enum { CELLS = 64 };

static int out[CELLS], in[CELLS];

/* Tests that a message of `type` brings those cells of the previous rank for which is_part() is
 * true, and no others. Frees the type. */
static void exchange(MPI_Datatype type, bool (*is_part)(int cell), const char *what)
{
  bool right = true;
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  for (int i = 0; i < CELLS; i++) {
    out[i] = value(rank, i);
    in[i] = -1;
  }
  MPI_Type_commit(&type);
  MPI_Type_get_name(type, name, &length);
  expect(length == 0, "a name from before");
  MPI_Type_set_name(type, what);
  MPI_Sendrecv(out, 1, type, next, 1, in, 1, type, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < CELLS; i++)
    right &= in[i] == (is_part(i) ? value(previous, i) : -1);
  expect(right, what);
  MPI_Type_free(&type);
}

/* Returns whether a cell of the 8 by 8 cells is in this round's column. */
static bool is_column(int cell)
{
  return cell % 8 == round_number % 4;
}

static bool is_block(int cell)
{
  return cell / 8 >= 1 && cell / 8 < 3 && cell % 8 >= 2 && cell % 8 < 4;
}

static bool is_first(int cell)
{
  return cell <= round_number % 4;
}

static void test_types(void)
{
  MPI_Datatype column, part, block, row;
  MPI_Aint place = round_number % 4 * (int)sizeof(int);
  int one = 1, sizes[2] = {8, 8}, lengths[2] = {2, 2}, starts[2] = {1, 2};
  MPI_Type_vector(8, 1, 8, MPI_INT, &column);
  MPI_Type_create_hindexed(1, &one, &place, column, &part);
  MPI_Type_free(&column); /* this type is freed before the type that is made of it */
  exchange(part, is_column, "a column");
  MPI_Type_create_subarray(2, sizes, lengths, starts, MPI_ORDER_C, MPI_INT, &block);
  exchange(block, is_block, "a block");
  MPI_Type_contiguous(1 + round_number % 4, MPI_INT, &row);
  MPI_Type_dup(row, &part);
  MPI_Type_free(&row);
  exchange(part, is_first, "a row");
}

/* Tests that two types made by the same calls are different: only one of them gets the name. */
static void test_two(void)
{
  MPI_Datatype one, other;
  MPI_Type_contiguous(3, MPI_INT, &one);
  MPI_Type_contiguous(3, MPI_INT, &other);
  MPI_Type_set_name(one, "one");
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Type_get_name(other, name, &length);
  expect(one != other && length == 0, "two types");
  MPI_Type_free(&one);
  MPI_Type_free(&other);
}

static void test_groups(void)
{
  MPI_Group world, some, rest;
  int range[1][3] = {{0, round_number % ranks, 1}}, size, left, equal;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, range, &some);
  MPI_Group_difference(world, some, &rest);
  MPI_Group_size(some, &size);
  MPI_Group_size(rest, &left);
  expect(size == round_number % ranks + 1 && left == ranks - size, "sizes of groups");
  MPI_Group_free(&some);
  MPI_Group_range_excl(world, 1, range, &some);
  MPI_Group_compare(some, rest, &equal);
  expect(equal == MPI_IDENT, "equal groups");
  MPI_Group_free(&some);
  MPI_Group_free(&rest);
  MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
  int rounds = begin(argc, argv);
  for (round_number = 1; round_number <= rounds; round_number++) {
    test_types();
    test_two();
    test_groups();
    compute(4e-5);
  }
  return end(rounds);
}
