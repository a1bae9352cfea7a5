/* Threads within ranks and files between them, in the manner of hybrid proxy applications: OpenMP
 * loops, tasks and critical sections between exchanges. Each rank writes a table, and reads the
 * tables of all others.
 *
 *     hybrid [STEPS]
 *
 * It uses OpenMP, fopen, fprintf, fscanf, gethostname, getenv, atexit and memory on the stack. */
#include "suite.h"

#include <alloca.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 400 };

static int me, ranks, left_open;
static long value[N];

static void at_end(void)
{
  if (left_open)
    fprintf(stderr, "rank %d has left a file open\n", me);
}

static void file_name(char *name, size_t size, int rank)
{
  const char *folder = getenv("HYBRID_TABLES");
  snprintf(name, size, "%s/hybrid-%d.txt", folder ? folder : ".", rank);
}

static long threads_sum(int step)
{
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 16)
  for (int i = 0; i < N; i++) {
    value[i] = value[i] * 3 + (long)(suite_hash((uint64_t)(step * N + i)) % 100) + me;
    value[i] %= 1000003;
    sum += value[i];
  }
  long again = 0;
#pragma omp parallel
  {
#pragma omp single
    for (int part = 0; part < 4; part++)
#pragma omp task firstprivate(part)
    {
      long *copy = malloc(N / 4 * sizeof *copy), mine = 0;
      memcpy(copy, &value[part * N / 4], N / 4 * sizeof *copy);
      for (int i = 0; i < N / 4; i++)
        mine += copy[i];
      free(copy);
#pragma omp critical(adding)
      again += mine;
    }
  }
  return again == sum ? sum : -1;
}

static long serial_sum(int rank, int steps)
{
  long *all = alloca(N * sizeof *all), sum = 0;
  memset(all, 0, N * sizeof *all);
  for (int step = 0; step < steps; step++)
    for (int i = 0; i < N; i++)
      all[i] = (all[i] * 3 + (long)(suite_hash((uint64_t)(step * N + i)) % 100) + rank) % 1000003;
  for (int i = 0; i < N; i++)
    sum += all[i];
  return sum;
}

static void write_table(long sum)
{
  char name[200], host[100];
  file_name(name, sizeof name, me);
  gethostname(host, sizeof host);
  FILE *file = fopen(name, "w");
  left_open = 1;
  if (!file)
    MPI_Abort(MPI_COMM_WORLD, 2);
  fprintf(file, "%s %d %ld\n", host, me, sum);
  fclose(file);
  left_open = 0;
}

static long read_tables(int steps)
{
  long wrong = 0;
  for (int rank = 0; rank < ranks; rank++) {
    char name[200], host[100];
    int number;
    long sum;
    file_name(name, sizeof name, rank);
    FILE *file = fopen(name, "r");
    if (!file || fscanf(file, "%99s %d %ld", host, &number, &sum) != 3)
      MPI_Abort(MPI_COMM_WORLD, 2);
    fclose(file);
    wrong += number != rank || sum != serial_sum(rank, steps);
  }
  return wrong;
}

int main(int argc, char **argv)
{
  int provided, steps = argc > 1 ? atoi(argv[1]) : 25;
  long sum = 0, next, wrong = 0;
  atexit(at_end);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int step = 0; step < steps; step++) {
    sum = threads_sum(step);
    MPI_Sendrecv(&sum, 1, MPI_LONG, (me + 1) % ranks, step, &next, 1, MPI_LONG,
                 (me + ranks - 1) % ranks, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += next != serial_sum((me + ranks - 1) % ranks, step + 1);
  }
  write_table(sum);
  MPI_Barrier(MPI_COMM_WORLD);
  wrong += read_tables(steps);
  MPI_Barrier(MPI_COMM_WORLD);
  int status = suite_verdict("hybrid", wrong);
  MPI_Finalize();
  return status;
}
