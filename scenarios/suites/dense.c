/* Dense LU factorization with partial pivoting on a grid of processes, in the manner of HPL: the
 * matrix is spread cyclically, and pivots are found by a reduction in columns of processes. Rows
 * change places, and multipliers go round rings in the rows of processes, where Iprobe looks for
 * them. Rank 0 gathers the factors and multiplies them.
 *
 *     dense [ORDER]
 *
 * It uses Comm_split, MAXLOC on pairs, Sendrecv_replace, rings by Isend and Iprobe, Bcast and
 * Gatherv. */
#include "suite.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int n = 40, me, ranks, rows, columns, p, q;
static double *part; /* element (i, j) is here if i % rows == p and j % columns == q */
static int *pivots;
static MPI_Comm row, column; /* this rank's row and column of processes */

static double element(int i, int j)
{
  return (double)(suite_hash((uint64_t)(i * 1000 + j)) % 2001) / 1000.0 - 1.0;
}

static double *at(int i, int j)
{
  return &part[i / rows * n + j / columns];
}

/* Returns the row of the largest element of column k, from row k on. All processes of the column
 * of processes get it. */
static int find_pivot(int k)
{
  struct {
    double size;
    int row;
  } best = {-1, 0};
  for (int i = k; i < n; i++)
    if (i % rows == p && fabs(*at(i, k)) > best.size) {
      best.size = fabs(*at(i, k));
      best.row = i;
    }
  MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, column);
  return best.row;
}

static void swap_rows(int a, int b)
{
  if (a == b)
    return;
  for (int j = q; j < n; j += columns) {
    if (a % rows == b % rows && a % rows == p) {
      double kept = *at(a, j);
      *at(a, j) = *at(b, j);
      *at(b, j) = kept;
    } else if (a % rows == p) {
      MPI_Sendrecv_replace(at(a, j), 1, MPI_DOUBLE, b % rows, 1, b % rows, 1, column,
                           MPI_STATUS_IGNORE);
    } else if (b % rows == p) {
      MPI_Sendrecv_replace(at(b, j), 1, MPI_DOUBLE, a % rows, 1, a % rows, 1, column,
                           MPI_STATUS_IGNORE);
    }
  }
}

/* Passes the values from `root` along the row of processes, from each process to the next. */
static void pass_round(double *values, int count, int root)
{
  MPI_Request request = MPI_REQUEST_NULL;
  int there = 0, next = (q + 1) % columns;
  if (q != root) {
    while (!there)
      MPI_Iprobe((q + columns - 1) % columns, 2, row, &there, MPI_STATUS_IGNORE);
    MPI_Recv(values, count, MPI_DOUBLE, (q + columns - 1) % columns, 2, row, MPI_STATUS_IGNORE);
  }
  if (next != root)
    MPI_Isend(values, count, MPI_DOUBLE, next, 2, row, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void eliminate(int k, double *multiplier, double *pivot_row)
{
  int home = k % columns;
  double pivot = 0;
  if (q == home) {
    pivots[k] = find_pivot(k);
  }
  MPI_Bcast(&pivots[k], 1, MPI_INT, home, row);
  swap_rows(k, pivots[k]);
  if (q == home) {
    if (k % rows == p)
      pivot = *at(k, k);
    MPI_Bcast(&pivot, 1, MPI_DOUBLE, k % rows, column);
    for (int i = k + 1; i < n; i++)
      if (i % rows == p)
        multiplier[i / rows] = *at(i, k) /= pivot;
  }
  pass_round(multiplier, (n + rows - 1) / rows, home);
  for (int j = q; j < n; j += columns)
    if (k % rows == p)
      pivot_row[j / columns] = *at(k, j);
  MPI_Bcast(pivot_row, (n + columns - 1) / columns, MPI_DOUBLE, k % rows, column);
  for (int i = k + 1; i < n; i++)
    for (int j = k + 1; j < n; j++)
      if (i % rows == p && j % columns == q)
        *at(i, j) -= multiplier[i / rows] * pivot_row[j / columns];
}

/* Compares the permuted matrix with L times U, row by row. */
static long compare(double (*factor)(int, int))
{
  int *origin = malloc((size_t)n * sizeof *origin);
  long wrong = 0;
  for (int i = 0; i < n; i++)
    origin[i] = i;
  for (int k = 0; k < n; k++) {
    int kept = origin[k];
    origin[k] = origin[pivots[k]];
    origin[pivots[k]] = kept;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = i <= j ? factor(i, j) : 0;
      for (int k = 0; k < (i <= j ? i : j + 1); k++)
        sum += factor(i, k) * factor(k, j);
      wrong += !(fabs(sum - element(origin[i], j)) < 1e-10 * n);
    }
  free(origin);
  return wrong;
}

static double *gathered;
static int *starts;

static double factor(int i, int j)
{
  int owner = i % rows * columns + j % columns;
  return gathered[starts[owner] + i / rows * n + j / columns];
}

static long verify(int size)
{
  int *counts = malloc((size_t)ranks * sizeof *counts);
  starts = malloc((size_t)ranks * sizeof *starts);
  for (int rank = 0; rank < ranks; rank++) {
    counts[rank] = size;
    starts[rank] = rank * (size + 3);
  }
  gathered = malloc((size_t)(ranks * (size + 3)) * sizeof *gathered);
  MPI_Gatherv(part, size, MPI_DOUBLE, gathered, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  long wrong = me == 0 ? compare(factor) : 0;
  free(gathered);
  free(counts);
  free(starts);
  return wrong;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  n = argc > 1 ? atoi(argv[1]) : n;
  for (rows = (int)sqrt(ranks); ranks % rows; rows--)
    continue;
  columns = ranks / rows;
  p = me / columns;
  q = me % columns;
  MPI_Comm_split(MPI_COMM_WORLD, p, q, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rows + q, p, &column);
  int size = (n + rows - 1) / rows * n;
  part = calloc((size_t)size, sizeof *part);
  pivots = calloc((size_t)n, sizeof *pivots);
  double *multiplier = calloc((size_t)n, sizeof *multiplier);
  double *pivot_row = calloc((size_t)n, sizeof *pivot_row);
  for (int i = p; i < n; i += rows)
    for (int j = q; j < n; j += columns)
      *at(i, j) = element(i, j);
  for (int k = 0; k < n; k++)
    eliminate(k, multiplier, pivot_row);
  long wrong = verify(size);
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  free(part);
  free(pivots);
  free(multiplier);
  free(pivot_row);
  int status = suite_verdict("dense", wrong);
  MPI_Finalize();
  return status;
}
