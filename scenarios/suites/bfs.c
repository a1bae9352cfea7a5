/* Breadth-first search in a random graph, in the manner of Graph500: vertices are spread over the
 * ranks, visits travel in packets that fill up, receivers look for them by Iprobe from any source,
 * and a packet marked as the last from each peer ends a level. The levels must be the serial ones.
 *
 *     bfs [LOG2 OF VERTICES]
 *
 * It uses Isend, Test, Iprobe, ANY_SOURCE, ANY_TAG, Get_count, an in-place reduction, and drand48
 * on each rank. */
#include "suite.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { PACKET = 16, DEGREE = 6, VISIT = 1, LAST = 2 };

struct outbox {
  int item[2][PACKET]; /* one buffer is filled while the other is under way */
  int filling, count;
  MPI_Request request;
};

static int me, ranks, vertices;
static int (*edge)[2], edges;
static int *level, *queue, *next_queue, queued, next_queued, last_seen;
static struct outbox *outbox;

static void make_graph(void)
{
  edges = vertices * DEGREE / 2;
  edge = malloc((size_t)edges * sizeof *edge);
  srand48(2718);
  for (int i = 0; i < edges; i++) {
    edge[i][0] = (int)(drand48() * vertices);
    edge[i][1] = (int)(drand48() * drand48() * vertices); /* some vertices have many neighbours */
    if (i % 100 == 0)
      MPI_Barrier(MPI_COMM_WORLD); /* the other ranks also draw random numbers */
  }
}

static void visit(int vertex, int now)
{
  if (level[vertex] >= 0)
    return;
  level[vertex] = now;
  next_queue[next_queued++] = vertex;
}

static void look_for_packets(int now)
{
  MPI_Status status;
  int there, count, item[PACKET];
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  if (!there)
    return;
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Recv(item, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  for (int i = 0; i < count; i++)
    visit(item[i], now);
  last_seen += status.MPI_TAG == LAST;
}

static void flush(int peer, int tag, int now)
{
  struct outbox *box = &outbox[peer];
  for (int done = 0; !done;) {
    MPI_Test(&box->request, &done, MPI_STATUS_IGNORE);
    if (!done)
      look_for_packets(now);
  }
  MPI_Isend(box->item[box->filling], box->count, MPI_INT, peer, tag, MPI_COMM_WORLD, &box->request);
  box->filling ^= 1;
  box->count = 0;
}

static void tell(int vertex, int now)
{
  int peer = vertex % ranks;
  if (peer == me) {
    visit(vertex, now);
    return;
  }
  struct outbox *box = &outbox[peer];
  box->item[box->filling][box->count++] = vertex;
  if (box->count == PACKET)
    flush(peer, VISIT, now);
}

static void expand(int now)
{
  for (int i = 0; i < queued; i++)
    for (int e = 0; e < edges; e++)
      for (int side = 0; side < 2; side++)
        if (edge[e][side] == queue[i])
          tell(edge[e][!side], now);
  for (int peer = 0; peer < ranks; peer++)
    if (peer != me)
      flush(peer, LAST, now);
  while (last_seen < ranks - 1)
    look_for_packets(now);
  last_seen = 0;
}

static void search(int root)
{
  long more = 1;
  if (root % ranks == me)
    visit(root, 0);
  for (int now = 1; more; now++) {
    int *swap = queue;
    queue = next_queue;
    queued = next_queued;
    next_queue = swap;
    next_queued = 0;
    expand(now);
    more = next_queued;
    MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_LONG, MPI_LOR, MPI_COMM_WORLD);
  }
}

static long check(int root)
{
  int *serial = malloc((size_t)vertices * sizeof *serial);
  long wrong = 0;
  memset(serial, -1, (size_t)vertices * sizeof *serial);
  serial[root] = 0;
  for (int now = 0, more = 1; more; now++) {
    more = 0;
    for (int e = 0; e < edges; e++)
      for (int side = 0; side < 2; side++)
        if (serial[edge[e][side]] == now && serial[edge[e][!side]] < 0) {
          serial[edge[e][!side]] = now + 1;
          more = 1;
        }
  }
  for (int vertex = me; vertex < vertices; vertex += ranks)
    wrong += level[vertex] != serial[vertex];
  free(serial);
  return wrong;
}

int main(int argc, char **argv)
{
  long wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  vertices = 1 << (argc > 1 ? atoi(argv[1]) : 9);
  make_graph();
  level = malloc((size_t)vertices * sizeof *level);
  queue = malloc((size_t)vertices * sizeof *queue);
  next_queue = malloc((size_t)vertices * sizeof *next_queue);
  outbox = calloc((size_t)ranks, sizeof *outbox);
  for (int peer = 0; peer < ranks; peer++)
    outbox[peer].request = MPI_REQUEST_NULL;
  for (int root = 1; root <= 3; root++) {
    memset(level, -1, (size_t)vertices * sizeof *level);
    queued = next_queued = 0;
    search(root);
    wrong += check(root);
  }
  for (int peer = 0; peer < ranks; peer++)
    MPI_Wait(&outbox[peer].request, MPI_STATUS_IGNORE);
  int status = suite_verdict("bfs", wrong);
  MPI_Finalize();
  return status;
}
