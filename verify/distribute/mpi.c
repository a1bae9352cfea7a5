/* The transport over real MPI: a shared object of its own, which no other part is linked with. */
#define _DEFAULT_SOURCE
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verify/base/breach.h"
#include "verify/base/memory.h"
#include "verify/distribute/transport.h"

#if !defined(OPEN_MPI) && !defined(MPICH_VERSION)
#error "expected mpi.h of Open MPI or MPICH"
#endif

/* A send that is under way. */
struct outgoing {
  void *bytes;
  size_t size;
};

static struct outgoing *outgoing;
static MPI_Request *requests; /* of each */
static uint32_t count, room, requests_room;
static size_t queued_bytes;
static unsigned idle_turns;

/* Frees what has been sent. */
static void progress(void)
{
  int done;
  for (uint32_t i = 0; i < count;) {
    MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    if (!done) {
      i++;
      continue;
    }
    queued_bytes -= outgoing[i].size;
    free(outgoing[i].bytes);
    outgoing[i] = outgoing[--count];
    requests[i] = requests[count];
  }
}

static void send_bytes(unsigned to, void *bytes, size_t size)
{
  REQUIRE(size <= INT_MAX, "a message has as many bytes as MPI counts");
  outgoing = memory_room(outgoing, count, &room, sizeof *outgoing);
  requests = memory_room(requests, count, &requests_room, sizeof *requests);
  outgoing[count] = (struct outgoing){bytes, size};
  MPI_Isend(bytes, (int)size, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD, &requests[count++]);
  queued_bytes += size;
}

static void *receive_bytes(size_t *size)
{
  int there, bytes;
  MPI_Message message;
  MPI_Status status;
  progress();
  MPI_Improbe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &message, &status);
  if (!there)
    return NULL;
  idle_turns = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  *size = (size_t)bytes;
  void *to = memory_grow(NULL, *size + 1);
  MPI_Mrecv(to, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  return to;
}

static size_t queued(void)
{
  progress();
  return queued_bytes;
}

/* MPI libraries poll, which takes the processor from those that have work where there are more
 * processes than processors, and processor time from the user where there are not. */
static void idle(void)
{
  enum { YIELDS = 10, SLEEP = 50000 /* ns */ };
  if (idle_turns++ < YIELDS)
    sched_yield();
  else
    nanosleep(&(struct timespec){.tv_nsec = SLEEP}, NULL);
}

static void combine(uint64_t *values, unsigned number, MPI_Op op)
{
  MPI_Request request;
  int done = 0;
  MPI_Iallreduce(MPI_IN_PLACE, values, (int)number, MPI_UINT64_T, op, MPI_COMM_WORLD, &request);
  for (idle_turns = 0; !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
    idle();
}

static void sum(uint64_t *values, unsigned number)
{
  combine(values, number, MPI_SUM);
}

static void largest(uint64_t *values, unsigned number)
{
  combine(values, number, MPI_MAX);
}

static void end(void)
{
  for (idle_turns = 0; queued(); idle())
    ;
  free(outgoing);
  free(requests);
  MPI_Finalize();
}

transport_begin recline_transport;

const struct transport *recline_transport(void)
{
  static struct transport transport = {.send = send_bytes,
                                       .receive = receive_bytes,
                                       .queued = queued,
                                       .idle = idle,
                                       .sum = sum,
                                       .largest = largest,
                                       .end = end};
  int rank, size;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  transport.rank = (unsigned)rank;
  transport.size = (unsigned)size;
  return &transport;
}
