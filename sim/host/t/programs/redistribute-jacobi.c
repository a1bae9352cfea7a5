/* Relaxes a grid of ROWS by COLUMNS whose rows are spread over any number of ranks, as evenly as
 * possible: `redistribute-jacobi [WORD]`. Each rank protects its rows and the rows beside them; its
 * neighbours have the latter, too. Prints a digest of all items, the same for any number of ranks,
 * and the sum of the last changes, which depends on the order of sums.
 *
 * WORD does one thing wrong:
 *
 *     own         protects a number in which ranks differ
 *     later       protects this number only after a restart on other ranks
 *     stale       does not refresh the rows beside a rank's own
 *     extents     has an array of other extents
 *     gap         rank 0 does not protect some rows, all of which its neighbour has
 *     hole        rank 0 does not protect more rows than its neighbour has
 *     untyped     protects the step as bytes
 *     unrestored  never puts the data back
 *     ahead       makes a communicator before the data are put back
 *     apart       relaxes nothing, and ranks drift apart in iterations
 *     broadcasts  relaxes nothing, and ranks drift apart across broadcasts */
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 37, COLUMNS = 24, STEPS = 60, BARRIER_EVERY = 8 };
enum { ID_STEP = 1, ID_FIELD, ID_CHANGE, ID_OWN };

static int rank, ranks, first, rows;
static const char *word = "";
static double (*field)[COLUMNS], (*next)[COLUMNS], change;

static int is(const char *name)
{
  return !strcmp(word, name);
}

static void exchange(void)
{
  int above = rank ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(field[1], COLUMNS, MPI_DOUBLE, above, 1, field[rows + 1], COLUMNS, MPI_DOUBLE, below,
               1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(field[rows], COLUMNS, MPI_DOUBLE, below, 2, field[0], COLUMNS, MPI_DOUBLE, above, 2,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double relax(void)
{
  double sum = 0.0;
  memcpy(next, field, ((size_t)rows + 2) * sizeof *field);
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j + 1 < COLUMNS; j++) {
      int row = first + i - 1;
      if (row == 0 || row == ROWS - 1)
        continue;
      next[i][j] = 0.25 * (field[i - 1][j] + field[i + 1][j] + field[i][j - 1] + field[i][j + 1]);
      sum += (next[i][j] - field[i][j]) * (next[i][j] - field[i][j]);
    }
  memcpy(field + 1, next + 1, (size_t)rows * sizeof *field);
  smpi_execute_flops(8.0e4 * rows);
  return sum;
}

static uint64_t mixed(uint64_t value)
{
  value = (value ^ value >> 31) * UINT64_C(0x9E3779B97F4A7C15);
  return value ^ value >> 29;
}

static void report(int steps)
{
  uint64_t digest = 0, all;
  for (int i = 1; i <= rows; i++)
    for (int j = 0; j < COLUMNS; j++) {
      uint64_t bits;
      memcpy(&bits, &field[i][j], sizeof bits);
      digest += mixed(bits + mixed((uint64_t)(first + i - 1) * COLUMNS + (uint64_t)j));
    }
  MPI_Reduce(&digest, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d steps: digest %016llx\nchange: %a\n", steps, (unsigned long long)all, change);
}

/* Protects the rank's own rows and the rows beside them, as far as these lie in the array. */
static void protect_field(void)
{
  int above = first > 0, below = first + rows < ROWS;
  long long whole[2] = {ROWS + is("extents"), COLUMNS};
  long long from[2] = {first - above, 0}, part[2] = {rows + above + below, COLUMNS};
  if (is("gap") && rank == 0)
    part[0] -= 2;
  if (is("hole") && rank == 0)
    part[0] -= 4;
  recline_protect_distributed(ID_FIELD, field[1 - above], RECLINE_DOUBLE, 2, whole, from, part);
}

static void begin(void)
{
  rows = ROWS / ranks + (rank < ROWS % ranks);
  first = rank * (ROWS / ranks) + (rank < ROWS % ranks ? rank : ROWS % ranks);
  field = calloc((size_t)rows + 2, sizeof *field);
  next = calloc((size_t)rows + 2, sizeof *next);
  for (int i = 0; i < rows + 2; i++)
    for (int j = 0; j < COLUMNS; j++)
      field[i][j] = 1.0 / (1 + (first + i + 12) % 7 + j % 5);
}

/* With `apart` or `broadcasts`, lets this rank drift apart from the others, and returns true. */
static int drifts(int step)
{
  if (is("apart"))
    recline_iteration((unsigned)step + 1);
  if (is("broadcasts")) {
    /* other ranks are captured after later broadcasts */
    if (rank == 0 || step % BARRIER_EVERY == 0)
      recline_potential_checkpoint();
    MPI_Bcast(&change, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  if (is("apart") || is("broadcasts"))
    smpi_execute_flops(is("apart") == (rank > 0) ? 4.0e6 : 1.0e6);
  return is("apart") || is("broadcasts");
}

static void advance(int step)
{
  if (drifts(step))
    return;
  if (!is("unrestored"))
    recline_iteration((unsigned)step + 1);
  if (is("stale"))
    exchange();
  double mine = relax();
  if (!is("stale"))
    exchange();
  MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  int step = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1)
    word = argv[1];
  printf("rank %d begins\n", rank);
  begin();
  MPI_Comm other = MPI_COMM_WORLD;
  if (is("ahead"))
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &other);
  if (is("untyped"))
    recline_protect(ID_STEP, &step, sizeof step);
  else
    recline_protect_items(ID_STEP, &step, 1, RECLINE_INT32);
  recline_protect_items(ID_CHANGE, &change, 1, RECLINE_DOUBLE);
  protect_field();
  int own = rank, restarts = recline_restarts() != RECLINE_NO_RESTART;
  int late = is("later") && restarts && !recline_protected_bytes(ID_OWN);
  if (is("own") || (is("later") && !late))
    recline_protect_items(ID_OWN, &own, 1, RECLINE_INT32);
  enum recline_place place = is("unrestored") ? RECLINE_NO_RESTART : recline_restore();
  if (late)
    recline_protect_items(ID_OWN, &own, 1, RECLINE_INT32);
  for (; step < STEPS && place != RECLINE_AT_END; step++) {
    if (place != RECLINE_AT_BARRIER)
      advance(step);
    if (step % BARRIER_EVERY == 0 && !is("apart") && !is("broadcasts"))
      MPI_Barrier(MPI_COMM_WORLD);
    place = RECLINE_NO_RESTART;
  }
  if (place != RECLINE_AT_END)
    report(step);
  MPI_Finalize();
  free(field);
  free(next);
  return 0;
}
