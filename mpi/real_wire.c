/* Sends messages by the MPI library underneath. Program and control messages between two processes
 * go through the same channel, as protocols assume. Messages with the same envelope keep their
 * order (MPI 3.1, section 3.5). All calls here use the PMPI_ names, because the MPI_ names are the
 * host's own functions for programs. */
#define _DEFAULT_SOURCE
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/breach.h"
#include "base/memory.h"
#include "mpi/real_inside.h"

enum { CONTROL_COMM = -1 };

/* Describes the head of every message. */
struct frame {
  int16_t comm; /* number of the communicator, or CONTROL_COMM for a control message */
  uint16_t pad;
  int32_t tag;
  uint32_t words[RCL_WORDS];
};

struct outgoing {
  void *bytes;
  size_t size;
  MPI_Request request;
};

static MPI_Comm channels = MPI_COMM_NULL, own = MPI_COMM_NULL;
static struct outgoing *outgoing;
static uint32_t count, room;
static size_t queued;
static unsigned idle_turns;

void real_wire_begin(MPI_Comm comm)
{
  PMPI_Comm_dup(comm, &channels);
  PMPI_Comm_dup(comm, &own);
  PMPI_Comm_rank(channels, &real.rank);
  PMPI_Comm_size(channels, &real.ranks);
}

void real_wire_end(void)
{
  PMPI_Comm_free(&channels);
  PMPI_Comm_free(&own);
  free(outgoing);
  outgoing = NULL;
  count = room = 0;
}

MPI_Comm real_wire_comm(void)
{
  return own;
}

/* ---- sending ---- */

/* Frees the messages whose sends have ended. */
static void progress(void)
{
  int done;
  for (uint32_t i = 0; i < count;) {
    PMPI_Test(&outgoing[i].request, &done, MPI_STATUS_IGNORE);
    if (!done) {
      i++;
      continue;
    }
    queued -= outgoing[i].size;
    free(outgoing[i].bytes);
    outgoing[i] = outgoing[--count];
  }
}

static void put(int peer, const struct frame *frame, const void *bytes, size_t size)
{
  if (size > INT_MAX - sizeof *frame)
    real_die(64, "process %d sends a message of %zu bytes, expected fewer than 2^31", real.rank,
             size);
  progress();
  outgoing = memory_room(outgoing, count, &room, sizeof *outgoing);
  struct outgoing *out = &outgoing[count++];
  *out = (struct outgoing){.bytes = memory_grow(NULL, sizeof *frame + size),
                           .size = sizeof *frame + size};
  memcpy(out->bytes, frame, sizeof *frame);
  if (size)
    memcpy((char *)out->bytes + sizeof *frame, bytes, size);
  queued += out->size;
  PMPI_Isend(out->bytes, (int)out->size, MPI_BYTE, peer, 0, channels, &out->request);
}

void real_wire_send(int peer, const struct real_message *message)
{
  struct frame frame = {.comm = message->comm, .tag = message->tag};
  memcpy(frame.words, message->words, sizeof frame.words);
  put(peer, &frame, message->payload->bytes, message->payload->size);
}

void real_wire_control(int peer, const uint32_t words[RCL_WORDS])
{
  struct frame frame = {.comm = CONTROL_COMM};
  memcpy(frame.words, words, sizeof frame.words);
  put(peer, &frame, NULL, 0);
}

size_t real_queued(void)
{
  progress();
  return queued;
}

void real_wire_flush(void)
{
  for (; real_queued(); real_idle())
    continue;
}

/* ---- receiving ---- */

struct real_message *real_wire_receive(void)
{
  int there, bytes;
  MPI_Message matched;
  MPI_Status status;
  progress();
  PMPI_Improbe(MPI_ANY_SOURCE, 0, channels, &there, &matched, &status);
  if (!there)
    return NULL;
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  struct frame frame;
  REQUIRE(bytes >= (int)sizeof frame, "each message has a frame");
  /* The frame is received into payload->bytes, too. After that, payload->bytes contains only the
   * bytes behind the frame. */
  struct real_payload *payload = real_payload_new((size_t)bytes);
  PMPI_Mrecv(payload->bytes, bytes, MPI_BYTE, &matched, MPI_STATUS_IGNORE);
  memcpy(&frame, payload->bytes, sizeof frame);
  payload->size -= sizeof frame;
  memmove(payload->bytes, payload->bytes + sizeof frame, payload->size);
  struct real_message *message = memory_grow(NULL, sizeof *message);
  *message = (struct real_message){
      .peer = (int16_t)status.MPI_SOURCE, .comm = frame.comm, .tag = frame.tag, .payload = payload};
  memcpy(message->words, frame.words, sizeof frame.words);
  if (frame.comm == CONTROL_COMM) {
    real_payload_drop(payload);
    message->payload = NULL;
  }
  return message;
}

/* ---- waiting ---- */

/* Sleeps. MPI libraries poll instead. If there are more processes than processors, polling takes
 * the processor away from processes that have work. */
void real_idle(void)
{
  enum { YIELDS = 10, SLEEP = 50000 /* ns */ };
  if (idle_turns++ < YIELDS)
    sched_yield();
  else
    nanosleep(&(struct timespec){.tv_nsec = SLEEP}, NULL);
}

void real_wire_busy(void)
{
  idle_turns = 0;
}

uint32_t real_wire_agree(uint32_t value, MPI_Op op)
{
  PMPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT32_T, op, own);
  return value;
}
