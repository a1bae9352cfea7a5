/* This is the smallest layer that rolls a program back. It captures every rank at the k-th
 * MPI_Barrier, and restores it r times at the m-th one. At a barrier no message is under way
 * between ranks, so messages do not matter. Settings: IMAGE_TEST="k m r", without which the layer
 * only counts barriers; and IMAGE_TEST_TRAP=1, with which one entry point forgets to leave program
 * mode. The layer prints to standard error what it has done, so that the test can see that it has
 * done something. */
#include "sim/memory/heap.h"
#include "sim/memory/image.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <xbt/config.h>

struct rank {
  struct arena *arena;
  struct image_source *source;
  struct image *image;
  int barriers, rollbacks, came_back;
  double capture_s, restore_s;
};

static struct rank ranks[HEAP_RANKS];
static int capture_at, restore_at, rollbacks;

/* Ends a wrapped call: from here on the program runs. */
static int leave_layer(struct arena *mode, int result)
{
  heap_enter(mode);
  return result;
}

static struct rank *self(void)
{
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return &ranks[rank];
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void give_up(const char *what)
{
  perror(what);
  abort();
}

static void start_rank(struct rank *rank, const void *program)
{
  static char buffer[BUFSIZ]; /* all ranks share stdout, so no rank may give it a buffer */
  setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
  const char *plan = getenv("IMAGE_TEST");
  if (!plan)
    return;
  if (sscanf(plan, "%d %d %d", &capture_at, &restore_at, &rollbacks) != 3)
    give_up("IMAGE_TEST");
  rank->arena = heap_arena((int)(rank - ranks));
  if (!rank->arena)
    give_up("heap_arena");
  rank->source =
      image_source_new(program, rank->arena, 1024 * (size_t)sg_cfg_get_int("contexts/stack-size"));
  if (!rank->source)
    give_up("image_source_new");
}

int MPI_Init(int *argc, char ***argv)
{
  int result = PMPI_Init(argc, argv);
  struct rank *rank = self();
  start_rank(rank, __builtin_return_address(0));
  return leave_layer(rank->arena, result);
}

static void capture(struct rank *rank)
{
  double start = now();
  switch (image_capture(rank->source, &rank->image)) {
  case IMAGE_FAILED:
    give_up("image_capture");
    break;
  case IMAGE_CAPTURED:
    rank->capture_s = now() - start;
    break;
  case IMAGE_RESTORED:
    rank->restore_s = now() - rank->restore_s;
    rank->came_back++;
    rank->barriers = capture_at;
    break;
  }
}

int MPI_Barrier(MPI_Comm comm)
{
  struct arena *mode = heap_leave();
  int result = PMPI_Barrier(comm);
  struct rank *rank = self();
  rank->barriers++;
  if (rank->barriers == capture_at) {
    capture(rank);
  } else if (rank->barriers == restore_at && rank->rollbacks < rollbacks) {
    rank->rollbacks++;
    rank->restore_s = now();
    image_restore(rank->image);
  }
  return leave_layer(mode, result);
}

int MPI_Finalize(void)
{
  heap_leave(); /* the simulator runs until the end */
  struct rank *rank = self();
  fprintf(stderr, "layer: rank %d: %d barriers, %d restores, %zu bytes, %.2f ms, %.2f ms\n",
          (int)(rank - ranks), rank->barriers, rank->came_back,
          rank->image ? image_bytes(rank->image) : 0, 1e3 * rank->capture_s, 1e3 * rank->restore_s);
  image_free(rank->image);
  image_source_free(rank->source);
  return PMPI_Finalize();
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
  struct arena *mode = heap_leave();
  return leave_layer(mode, PMPI_Comm_rank(comm, rank));
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
  MPI_Comm copy;
  if (getenv("IMAGE_TEST_TRAP"))
    PMPI_Comm_dup(comm, &copy);
  struct arena *mode = heap_leave();
  return leave_layer(mode, PMPI_Comm_size(comm, size));
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
  struct arena *mode = heap_leave();
  return leave_layer(mode, PMPI_Allreduce(send, receive, count, type, op, comm));
}

int MPI_Sendrecv(const void *send, int send_count, MPI_Datatype send_type, int to, int send_tag,
                 void *receive, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                 MPI_Status *status)
{
  struct arena *mode = heap_leave();
  return leave_layer(mode, PMPI_Sendrecv(send, send_count, send_type, to, send_tag, receive, count,
                                         type, from, tag, comm, status));
}

/* smpicc makes the program call these functions for malloc and its like. */
void *smpi_shared_malloc_intercept(size_t bytes, const char *file, int line)
{
  (void)file, (void)line;
  return malloc(bytes);
}

void *smpi_shared_calloc_intercept(size_t count, size_t bytes, const char *file, int line)
{
  (void)file, (void)line;
  return calloc(count, bytes);
}

void *smpi_shared_realloc_intercept(void *pointer, size_t bytes, const char *file, int line)
{
  (void)file, (void)line;
  return realloc(pointer, bytes);
}

void smpi_shared_free(void *pointer)
{
  free(pointer);
}
