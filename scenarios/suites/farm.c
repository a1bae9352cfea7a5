/* Lets a master give tasks to its workers in three ways: by Waitany over one receive for each
 * worker, by receives from any source with any tag, and by Testsome over a window of requests.
 * Which worker gets which task depends on time; the sum over all tasks does not. `farm [TASKS]`
 * uses Waitany, Testsome, ANY_SOURCE, ANY_TAG, Ssend, usleep, and strtok across a barrier. */
#include "suite.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READY = 1, TASK = 2, RESULT = 3, END = 4 };

static int me, ranks, tasks = 120;

/* Returns the length of the 3n + 1 sequence. Long sequences take longer. */
static long length_of(long number)
{
  long length = 1;
  for (; number != 1; length++)
    number = number % 2 ? 3 * number + 1 : number / 2;
  return length;
}

static void work(void)
{
  MPI_Status status;
  long task, result = 0;
  MPI_Send(&result, 1, MPI_LONG, 0, READY, MPI_COMM_WORLD);
  for (;;) {
    MPI_Recv(&task, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == END)
      return;
    result = length_of(task);
    usleep((useconds_t)result);
    if (task % 3 == 0)
      MPI_Ssend(&result, 1, MPI_LONG, 0, RESULT, MPI_COMM_WORLD);
    else
      MPI_Send(&result, 1, MPI_LONG, 0, RESULT, MPI_COMM_WORLD);
  }
}

/* Gives a worker its next task, or tells it that there are no more. */
static void give(int worker, long *next)
{
  MPI_Send(next, 1, MPI_LONG, worker, *next <= tasks ? TASK : END, MPI_COMM_WORLD);
  (*next)++;
}

static long by_wait_any(void)
{
  MPI_Request *request = malloc((size_t)ranks * sizeof *request);
  long *result = calloc((size_t)ranks, sizeof *result), sum = 0, next = 1;
  request[0] = MPI_REQUEST_NULL;
  for (int worker = 1; worker < ranks; worker++)
    MPI_Irecv(&result[worker], 1, MPI_LONG, worker, MPI_ANY_TAG, MPI_COMM_WORLD, &request[worker]);
  for (int home = 0; home < ranks - 1;) {
    int worker;
    MPI_Waitany(ranks, request, &worker, MPI_STATUS_IGNORE);
    sum += result[worker];
    if (next > tasks)
      home++;
    else
      MPI_Irecv(&result[worker], 1, MPI_LONG, worker, RESULT, MPI_COMM_WORLD, &request[worker]);
    give(worker, &next);
  }
  free(request);
  free(result);
  return sum;
}

static long by_any_source(void)
{
  long result, sum = 0, next = 1;
  for (int home = 0; home < ranks - 1;) {
    MPI_Status status;
    MPI_Recv(&result, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    sum += status.MPI_TAG == RESULT ? result : 0;
    home += next > tasks;
    give(status.MPI_SOURCE, &next);
  }
  return sum;
}

static long by_test_some(void)
{
  enum { WINDOW = 3 };
  MPI_Request request[WINDOW];
  MPI_Status status[WINDOW];
  long result[WINDOW] = {0}, sum = 0, next = 1;
  int expected = tasks + ranks - 1, posted = 0, done = 0, count, index[WINDOW];
  for (int i = 0; i < WINDOW; i++, posted++)
    MPI_Irecv(&result[i], 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[i]);
  while (done < expected) {
    MPI_Testsome(WINDOW, request, &count, index, status);
    for (int i = 0; i < count; i++, done++) {
      int at = index[i];
      sum += status[i].MPI_TAG == RESULT ? result[at] : 0;
      if (posted++ < expected)
        MPI_Irecv(&result[at], 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &request[at]);
      give(status[i].MPI_SOURCE, &next);
    }
  }
  return sum;
}

/* Parses the arguments as if they were a line of a configuration file. */
static void parse(int argc, char **argv)
{
  char line[100] = "tasks=";
  snprintf(line + strlen(line), sizeof line - strlen(line), "%s", argc > 1 ? argv[1] : "60");
  char *key = strtok(line, "=");
  MPI_Barrier(MPI_COMM_WORLD);
  char *value = strtok(NULL, "=");
  if (key && value && strcmp(key, "tasks") == 0)
    tasks = atoi(value);
}

int main(int argc, char **argv)
{
  long (*const ways[])(void) = {by_wait_any, by_any_source, by_test_some};
  long sum = 0, expected = 0, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  parse(argc, argv);
  if (tasks < ranks)
    tasks = ranks;
  for (int way = 0; way < 3; way++) {
    if (me == 0)
      sum += ways[way]();
    else
      work();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (long task = 1; task <= tasks; task++)
    expected += 3 * length_of(task);
  if (me == 0)
    wrong += sum != expected;
  int status = suite_verdict("farm", wrong);
  MPI_Finalize();
  return status;
}
