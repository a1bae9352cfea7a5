/* Tests collectives over types with gaps, over types with bounds of their own, and over types
 * whose data are in another order in memory. All data must come to their places, and nothing else
 * may change. */
#include "types-values.h"

#include <stdlib.h>

enum { MARGIN = 32, DATA_MAX = 2, NOTHING = -1 };

/* Describes a type. An element has `data` integers at these places; elements are `extent` integers
 * apart. */
struct layout {
  const char *name;
  MPI_Datatype type;
  int data, extent, place[DATA_MAX];
};

static int *memory, *other;
static int room;

static int *datum(int *in, const struct layout *of, int element, int which)
{
  return &in[MARGIN + element * of->extent + of->place[which]];
}

static int given(int by, int block, int element, int which)
{
  return by * 100000 + block * 10000 + element * 2 + which;
}

static void clear(int *what)
{
  for (int i = 0; i < room; i++)
    what[i] = NOTHING;
}

/* Fills in the blocks that this rank gives, one for each rank. */
static void fill(const struct layout *of, int count)
{
  clear(memory);
  clear(other);
  for (int block = 0; block < ranks; block++)
    for (int i = 0; i < count; i++)
      for (int k = 0; k < of->data; k++)
        *datum(memory, of, block * count + i, k) = given(rank, block, i, k);
}

/* Tests that `blocks` blocks have come to `in`, and nothing else. Each block must be the one that
 * its sender calls `block`. The sender of block b is `from`, or rank b if `from` is negative. */
static void came(const char *call, const struct layout *of, int *in, int count, int blocks,
                 int from, int block)
{
  int different = 0, changed = 0;
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < count; i++)
      for (int k = 0; k < of->data; k++)
        different += *datum(in, of, b * count + i, k) != given(from < 0 ? b : from, block, i, k);
  for (int i = 0; i < room; i++)
    changed += in[i] != NOTHING;
  value(of->name, call, different, 0);
  value(of->name, "how much has changed", changed, blocks * count * of->data);
}

static void test_layout(const struct layout *of, int count)
{
  int counts[16], starts[16];
  MPI_Datatype type = of->type;
  room = 2 * MARGIN + (ranks * count + 2) * of->extent;
  memory = malloc((size_t)room * sizeof *memory);
  other = malloc((size_t)room * sizeof *other);
  for (int i = 0; i < ranks; i++) {
    counts[i] = count;
    starts[i] = i * count;
  }
  int *out = memory + MARGIN, *in = other + MARGIN;
  fill(of, count);
  for (int i = 0; rank == 1 && i < count; i++)
    for (int k = 0; k < of->data; k++)
      *datum(other, of, i, k) = given(1, 0, i, k);
  MPI_Bcast(in, count, type, 1, MPI_COMM_WORLD);
  came("Bcast", of, other, count, 1, 1, 0);
  clear(other);
  MPI_Gather(out, count, type, in, count, type, 0, MPI_COMM_WORLD);
  came("Gather", of, other, count, rank ? 0 : ranks, -1, 0);
  clear(other);
  MPI_Scatter(out, count, type, in, count, type, 2, MPI_COMM_WORLD);
  came("Scatter", of, other, count, 1, 2, rank);
  clear(other);
  MPI_Allgather(out, count, type, in, count, type, MPI_COMM_WORLD);
  came("Allgather", of, other, count, ranks, -1, 0);
  clear(other);
  MPI_Allgatherv(out, count, type, in, counts, starts, type, MPI_COMM_WORLD);
  came("Allgatherv", of, other, count, ranks, -1, 0);
  clear(other);
  MPI_Alltoall(out, count, type, in, count, type, MPI_COMM_WORLD);
  came("Alltoall", of, other, count, ranks, -1, rank);
  clear(other);
  MPI_Alltoallv(out, counts, starts, type, in, counts, starts, type, MPI_COMM_WORLD);
  came("Alltoallv", of, other, count, ranks, -1, rank);
  free(memory);
  free(other);
}

static MPI_Datatype resized(MPI_Datatype type, int low, int extent)
{
  MPI_Datatype made;
  int bytes = sizeof(int);
  MPI_Type_create_resized(type, low * bytes, extent * bytes, &made);
  return made;
}

int main(int argc, char **argv)
{
  begin(&argc, &argv);
  MPI_Datatype gaps, turned, fields;
  MPI_Type_vector(2, 1, 3, MPI_INT, &gaps);
  MPI_Type_create_indexed_block(2, 1, (const int[]){3, 1}, MPI_INT, &turned);
  MPI_Type_create_struct(2, (const int[]){1, 1}, (const MPI_Aint[]){2 * sizeof(int), 0},
                         (const MPI_Datatype[]){MPI_INT, MPI_INT}, &fields);
  struct layout layouts[] = {{"a vector", gaps, 2, 4, {0, 3}},
                             {"an int behind its lower bound", resized(MPI_INT, -2, 4), 1, 4, {0}},
                             {"a vector with an extent", resized(gaps, 0, 5), 2, 5, {0, 3}},
                             {"blocks that go backwards", turned, 2, 3, {3, 1}},
                             {"fields that go backwards", fields, 2, 3, {2, 0}}};
  const int counts[] = {1, 50, 3000};
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    MPI_Type_commit(&layouts[i].type);
    for (int k = 0; k < 3; k++)
      test_layout(&layouts[i], counts[k]);
  }
  return end("collectives");
}
