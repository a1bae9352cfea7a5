/* Implements the transport with real MPI, in a shared object of its own, with which nothing else is
 * linked. With checkpoints, all messages go through the host for real MPI, as the messages of other
 * programs do. */
#define _DEFAULT_SOURCE
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/breach.h"
#include "base/memory.h"
#include "mpi/real_host.h"
#include "verify/distribute/process_transport.h"

#if !defined(OPEN_MPI) && !defined(MPICH_VERSION)
#error "expected mpi.h of Open MPI or MPICH"
#endif

/* Describes a send that is under way. */
struct outgoing {
  void *bytes;
  size_t size;
};

static struct outgoing *outgoing;
static MPI_Request *requests; /* the request of each send */
static uint32_t count, room, requests_room;
static size_t queued_bytes;
static unsigned idle_turns;

/* Frees messages that have been sent. */
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

/* Pauses, because MPI libraries poll. Polling takes the processor away from processes with work if
 * there are more processes than processors; otherwise it wastes the user's processor time. */
static void idle(void)
{
  enum { YIELDS = 10, SLEEP = 50000 /* ns */ };
  if (idle_turns++ < YIELDS)
    sched_yield();
  else
    nanosleep(&(struct timespec){.tv_nsec = SLEEP}, NULL);
}

static void combine_by(uint64_t *values, unsigned number, MPI_Op op)
{
  MPI_Request request;
  int done = 0;
  MPI_Iallreduce(MPI_IN_PLACE, values, (int)number, MPI_UINT64_T, op, MPI_COMM_WORLD, &request);
  for (idle_turns = 0; !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
    idle();
}

static void combine(uint64_t *values, unsigned sums, unsigned most)
{
  if (sums)
    combine_by(values, sums, MPI_SUM);
  if (most)
    combine_by(values + sums, most, MPI_MAX);
}

static void end(void)
{
  for (idle_turns = 0; queued(); idle())
    ;
  free(outgoing);
  free(requests);
  MPI_Finalize();
}

static void safe_point(void)
{
}

static void last(bool keep)
{
  (void)keep;
}

/* ---- with checkpoints ---- */

static bool keeps, over;

static void kept_send(unsigned to, void *bytes, size_t size)
{
  real_send((int)to, 0, REAL_WORLD, bytes, size);
  free(bytes);
}

static void *kept_receive(size_t *size)
{
  int peer;
  return real_poll(REAL_WORLD, size, &peer);
}

static void kept_combine(uint64_t *values, unsigned sums, unsigned most)
{
  real_combine(values, sums, most, !over);
}

static void kept_safe_point(void)
{
  if (!over)
    real_safe_point(0);
}

static void kept_last(bool keep)
{
  over = true;
  keeps = keep;
  real_end_checkpoints();
}

static void kept_end(void)
{
  kept_last(keeps);
  real_end(keeps);
  MPI_Finalize();
}

static struct transport transport = {.send = send_bytes,
                                     .receive = receive_bytes,
                                     .queued = queued,
                                     .idle = idle,
                                     .combine = combine,
                                     .safe_point = safe_point,
                                     .last = last,
                                     .end = end};

/* Limits the number of messages that are kept for a process while they are under way to it. */
enum { CAPACITY = 1 << 14 };

static bool checkpoint(const struct transport_checkpoints *checkpoints)
{
  struct real_options options = real_options_of_environment();
  options.protocol = checkpoints->protocol;
  options.folder = checkpoints->folder;
  options.every = checkpoints->every;
  options.capacity = CAPACITY;
  options.varies = true;
  transport.send = kept_send;
  transport.receive = kept_receive;
  transport.queued = real_queued;
  transport.idle = real_idle;
  transport.combine = kept_combine;
  transport.safe_point = kept_safe_point;
  transport.last = kept_last;
  transport.end = kept_end;
  real_begin(MPI_COMM_WORLD, &options);
  real_protect_stream(1, &(const struct real_stream){.ctx = checkpoints->ctx,
                                                     .save = checkpoints->save,
                                                     .restore = checkpoints->restore});
  return real_restore() != REAL_NOWHERE;
}

transport_begin recline_transport;

const struct transport *recline_transport(void)
{
  int rank, size;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  transport.checkpoint = checkpoint;
  transport.rank = (unsigned)rank;
  transport.size = (unsigned)size;
  return &transport;
}
