/* Measures messages between two processes of the same node, and between processes of two nodes.
 * Also measures collectives, as a check. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/calibrate/calibrate_inside.h"

enum { TAG_DATA, TAG_GO };

/* Returns the number of messages in a batch. It is so large that a batch of short messages takes
 * much longer than a step of the clock. */
static int batch_of(long bytes)
{
  enum { SHORT = 100, LONG = 4, LIMIT = 65536 };
  return bytes < LIMIT ? SHORT : LONG;
}

/* ---- there and back ---- */

/* Returns how many seconds a message takes one way. */
static double ping_pong(char *bytes, int size, int peer, bool first, int batch)
{
  double begin = MPI_Wtime();
  for (int i = 0; i < batch; i++) {
    if (first)
      MPI_Send(bytes, size, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD);
    MPI_Recv(bytes, size, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!first)
      MPI_Send(bytes, size, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - begin) / (2 * batch);
}

static void put_ping_pong(struct calibration *c, const char *link, int other, char *bytes,
                          long size)
{
  char head[TEXT];
  double *seconds = calibrate_room(c->repetitions);
  bool first = c->rank == 0, takes_part = first || c->rank == other;
  MPI_Barrier(MPI_COMM_WORLD);
  if (takes_part)
    /* makes the connections before the measurement */
    ping_pong(bytes, (int)size, first ? other : 0, first, 1);
  for (int i = 0; i < c->repetitions && takes_part; i++)
    seconds[i] = ping_pong(bytes, (int)size, first ? other : 0, first, batch_of(size));
  snprintf(head, sizeof head, "ping-pong.%s bytes=%ld", link, size);
  calibrate_put(c, head, seconds, first ? c->repetitions : 0);
  free(seconds);
}

/* ---- software at both ends ---- */

/* Returns how many seconds a call takes at one end. The calls are sends that do not wait, or
 * receives of messages that have come already. */
static double calls(char *bytes, int peer, bool sends, int batch)
{
  double begin = MPI_Wtime();
  for (int i = 0; i < batch; i++)
    if (sends)
      MPI_Send(bytes, 1, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD);
    else
      MPI_Recv(bytes, 1, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return (MPI_Wtime() - begin) / batch;
}

/* Writes the overhead at each end. Rank 0 measures sends, and the other end measures receives. */
static void put_overhead(struct calibration *c, const char *link, int other, char *bytes)
{
  enum { BATCH = 32 };
  char head[TEXT];
  double *seconds = calibrate_room(c->repetitions);
  int there = 0;
  bool first = c->rank == 0, takes_part = first || c->rank == other;
  for (int i = 0; i < c->repetitions && takes_part; i++) {
    if (first) {
      seconds[i] = calls(bytes, other, true, BATCH);
      MPI_Send(NULL, 0, MPI_BYTE, other, TAG_GO, MPI_COMM_WORLD);
      MPI_Recv(NULL, 0, MPI_BYTE, other, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      continue;
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iprobe(0, TAG_DATA, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    seconds[i] = calls(bytes, 0, false, BATCH);
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_GO, MPI_COMM_WORLD);
  }
  snprintf(head, sizeof head, "overhead.%s", link);
  calibrate_put(c, head, seconds, takes_part ? c->repetitions : 0);
  free(seconds);
}

/* ---- the eager limit ---- */

/* Returns whether a send of `size` bytes ends before its receive is posted. The receiver posts the
 * receive only when the sender says so. */
static int is_eager(char *bytes, int size, int other, bool first)
{
  enum { POLLS = 2000 };
  int done = 0;
  MPI_Request request;
  if (!first) {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(bytes, size, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
  }
  MPI_Isend(bytes, size, MPI_BYTE, other, TAG_DATA, MPI_COMM_WORLD, &request);
  for (int i = 0; i < POLLS && !done; i++)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  MPI_Send(NULL, 0, MPI_BYTE, other, TAG_GO, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return done;
}

/* Finds the eager limit by bisection. Messages of fewer bytes than the limit are eager. */
static long eager_limit(const struct calibration *c, char *bytes, int other)
{
  long low = 0, high = c->largest + 1;
  while (high - low > 1) {
    long middle = low + (high - low) / 2;
    int eager = is_eager(bytes, (int)middle, other, c->rank == 0);
    if (c->rank == 0)
      MPI_Send(&eager, 1, MPI_INT, other, TAG_GO, MPI_COMM_WORLD);
    else
      MPI_Recv(&eager, 1, MPI_INT, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    low = eager ? middle : low;
    high = eager ? high : middle;
  }
  return high;
}

static void put_eager(struct calibration *c, const char *link, int other, char *bytes)
{
  enum { TIMES = 3 };
  char head[TEXT];
  double limit[TIMES];
  bool takes_part = c->rank == 0 || c->rank == other;
  for (int i = 0; i < TIMES && takes_part; i++)
    limit[i] = (double)eager_limit(c, bytes, other);
  snprintf(head, sizeof head, "eager.%s", link);
  calibrate_put(c, head, limit, c->rank == 0 ? TIMES : 0);
}

/* ---- the whole ---- */

static void put_link(struct calibration *c, const char *link, int other, char *bytes)
{
  if (other < 0)
    return;
  for (long size = 1; size <= c->largest; size *= size < 64 ? 64 : 4)
    put_ping_pong(c, link, other, bytes, size);
  put_overhead(c, link, other, bytes);
  put_eager(c, link, other, bytes);
}

void calibrate_messages(struct calibration *c)
{
  char *bytes = memory_grow(NULL, (size_t)c->largest + 1);
  memset(bytes, 1, (size_t)c->largest + 1);
  put_link(c, "within", c->near, bytes);
  put_link(c, "between", c->far, bytes);
  free(bytes);
}

/* ---- collectives ---- */

static void put_collective(struct calibration *c, const char *head, int numbers)
{
  enum { BATCH = 50 };
  double *seconds = calibrate_room(c->repetitions), *to = calibrate_room(numbers);
  double *from = calibrate_room(numbers);
  for (int i = 0; i < c->repetitions; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int j = 0; j < BATCH; j++)
      if (numbers)
        MPI_Allreduce(from, to, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      else
        MPI_Barrier(MPI_COMM_WORLD);
    seconds[i] = (MPI_Wtime() - begin) / BATCH;
  }
  calibrate_put(c, head, seconds, c->rank == 0 ? c->repetitions : 0);
  free(from);
  free(to);
  free(seconds);
}

void calibrate_collectives(struct calibration *c)
{
  put_collective(c, "barrier", 0);
  put_collective(c, "allreduce bytes=8", 1);
  put_collective(c, "allreduce bytes=4096", 512);
}
