#include "sim/mpi/p2p.h"

#include "sim/host/bypass.h"
#include "sim/host/copy_cost.h"
#include "sim/host/host.h"
#include "sim/host/matching.h"
#include "sim/host/shadow.h"
#include "sim/net/transport.h"

#include <string.h>

static const double POLL_SECONDS = 1e-4; /* SMPI's default for smpi/test and smpi/iprobe */

void p2p_empty_status(MPI_Status *status)
{
  if (status != MPI_STATUS_IGNORE)
    *status = (MPI_Status){
        .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};
}

void p2p_poll_cost(void)
{
  machine_sleep(POLL_SECONDS);
}

static int world_rank(const struct comm *comm, int rank)
{
  if (rank == MPI_ANY_SOURCE)
    return RCL_ANY;
  if (rank < 0 || rank >= comm->size)
    layer_die(64, "rank %d in a communicator of %d ranks", rank, comm->size);
  return comm->member[rank];
}

static enum send_mode mode_of(unsigned flags)
{
  if (flags & P2P_BUFFERED)
    return SEND_BUFFERED;
  return flags & P2P_SYNCHRONOUS ? SEND_SYNCHRONOUS : SEND_STANDARD;
}

struct request *p2p_prepare(struct rank *r, enum request_kind kind, void *buffer, int count,
                            MPI_Datatype type, int peer, int tag, struct comm *comm, unsigned flags)
{
  struct request *request = face_alloc(r, sizeof *request);
  *request = (struct request){.kind = kind,
                              .persistent = true,
                              .mode = mode_of(flags),
                              .reused = (flags & P2P_REUSED) != 0,
                              .collective = (flags & (P2P_COLLECTIVE | P2P_RAW)) != 0,
                              .raw = (flags & P2P_RAW) != 0,
                              .buffer = buffer,
                              .count = count,
                              .type = type,
                              .comm = comm,
                              .peer = peer == MPI_PROC_NULL ? peer : world_rank(comm, peer),
                              .tag = tag == MPI_ANY_TAG ? RCL_ANY : tag};
  return request;
}

/* What it sends, one element behind the other. */
static struct payload *pack(const struct request *request)
{
  size_t plain = plain_bytes(request->type) * (size_t)request->count;
  if (plain > 0) {
    struct payload *payload = payload_lend(request->buffer, plain);
    if (request->reused)
      payload_settle(payload);
    return payload;
  }
  int size = 0, position = 0;
  PMPI_Type_size(request->type, &size);
  size_t bytes = (size_t)size * (size_t)request->count;
  struct payload *payload = payload_new(bytes);
  if (bytes)
    items_pack(request->buffer, request->count, request->type, payload->own, (int)bytes, &position);
  return payload;
}

static int rank_in(const struct comm *comm, int member)
{
  int rank = 0;
  while (rank < comm->size && comm->member[rank] != member)
    rank++;
  return rank;
}

void p2p_fill(struct request *request, const struct payload *payload, int source, int32_t tag)
{
  int size = 0, position = 0;
  PMPI_Type_size(request->type, &size);
  size_t room = (size_t)size * (size_t)request->count;
  size_t taken = MIN(payload->size, room);
  if (taken > 0 && plain_bytes(request->type) > 0)
    memcpy(request->buffer, payload->bytes, taken);
  else if (size > 0 && taken > 0)
    items_unpack(payload->bytes, (int)payload->size, &position, request->buffer,
                 (int)(taken / (size_t)size), request->type);
  request->status = (MPI_Status){.MPI_SOURCE = rank_in(request->comm, source),
                                 .MPI_TAG = tag,
                                 .MPI_ERROR = payload->size > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS,
                                 .count = (int)taken};
}

void p2p_take(struct request *request, struct message *message)
{
  p2p_fill(request, message->payload, message->source, message->tag);
  payload_drop(message->payload);
  message->payload = NULL;
}

void p2p_complete(struct request *request)
{
  request->done = true;
  request->filling = false;
  if (request->orphan)
    face_free(request);
}

static double bytes_of(const struct request *request)
{
  int size = 0;
  PMPI_Type_size(request->type, &size);
  return (double)size * request->count;
}

static void begin(struct rank *r, struct request *request, bool blocking)
{
  request->done = false;
  request->send = 0;
  p2p_empty_status(&request->status);
  if (request->peer == MPI_PROC_NULL) {
    request->status.MPI_SOURCE = MPI_PROC_NULL;
    request->done = true;
  } else if (request->raw && request->kind == REQUEST_RECEIVE) {
    raw_receive(r, request);
  } else if (request->kind == REQUEST_RECEIVE) {
    request->announced = false;
    host_receive(r, request);
  } else {
    host_handle(r);
    if (audit_protocol()->header)
      copy_tagged(r, bytes_of(request));
    if (request->raw)
      host_ready(r);
    else
      host_await_turn(r);
    struct payload *payload = pack(request);
    int context = matching_context(request->comm, request->collective);
    request->send =
        request->raw
            ? raw_send(r, request->peer, context, request->tag, payload, blocking)
            : host_offer(r, request->peer, context, request->tag, payload, blocking, request->mode);
    request->done = request->send == 0;
  }
}

void p2p_start(struct rank *r, struct request *request)
{
  request->active = true;
  begin(r, request, false);
}

struct request *p2p_send(struct rank *r, const void *buffer, int count, MPI_Datatype type, int to,
                         int tag, struct comm *comm, unsigned flags)
{
  struct request *request =
      p2p_prepare(r, REQUEST_SEND, (void *)(uintptr_t)buffer, count, type, to, tag, comm, flags);
  request->persistent = false;
  begin(r, request, (flags & P2P_BLOCKING) != 0);
  return request;
}

struct request *p2p_receive(struct rank *r, void *buffer, int count, MPI_Datatype type, int from,
                            int tag, struct comm *comm, unsigned flags)
{
  struct request *request =
      p2p_prepare(r, REQUEST_RECEIVE, buffer, count, type, from, tag, comm, flags);
  request->persistent = false;
  begin(r, request, false);
  return request;
}

struct request *p2p_whole(struct rank *r, int parts)
{
  struct request *request = face_alloc(r, sizeof *request);
  request->kind = REQUEST_WHOLE;
  request->whole.part = face_alloc(r, (size_t)parts * sizeof *request->whole.part);
  p2p_empty_status(&request->status);
  return request;
}

void p2p_add(struct request *whole, struct request *part)
{
  whole->whole.part[whole->whole.parts++] = part;
}

void p2p_conclude_with(struct request *whole, void (*conclude)(struct rank *, void *rest),
                       void *rest)
{
  whole->whole.conclude = conclude;
  whole->whole.rest = rest;
}

static bool all_parts_are_done(const struct rank *r, const struct whole *whole)
{
  for (int i = 0; i < whole->parts; i++)
    if (!p2p_is_done(r, whole->part[i]))
      return false;
  return true;
}

/* Once, by the first who sees that all parts are complete. */
static void conclude(struct rank *r, struct request *request)
{
  struct whole *whole = &request->whole;
  for (int i = 0; i < whole->parts; i++) {
    int error = p2p_retire(&whole->part[i], MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS)
      request->status.MPI_ERROR = error;
  }
  if (whole->conclude)
    whole->conclude(r, whole->rest);
  face_free(whole->part);
  face_free(whole->rest);
  *whole = (struct whole){0};
  request->done = true;
}

bool p2p_is_done(const struct rank *r, const struct request *request)
{
  if (!request || (request->persistent && !request->active) || request->done)
    return true;
  if (request->kind == REQUEST_WHOLE)
    return all_parts_are_done(r, &request->whole);
  return request->kind == REQUEST_SEND && transport_sent(r->transport, request->send);
}

static bool is_done(const struct rank *r, const void *request)
{
  return p2p_is_done(r, request);
}

void p2p_wait(struct rank *r, struct request *request)
{
  host_wait_posted(r, is_done, request);
  if (request && request->kind == REQUEST_WHOLE && !request->done)
    conclude(r, request);
}

int p2p_retire(struct request **handle, MPI_Status *status)
{
  struct request *request = *handle;
  if (!request || (request->persistent && !request->active)) {
    p2p_empty_status(status);
    return MPI_SUCCESS;
  }
  if (status != MPI_STATUS_IGNORE)
    *status = request->status;
  int error = request->status.MPI_ERROR;
  if (request->persistent) {
    request->active = false;
  } else {
    face_free(request);
    *handle = NULL;
  }
  return error;
}

int p2p_finish(struct rank *r, struct request *request, MPI_Status *status)
{
  p2p_wait(r, request);
  return p2p_retire(&request, status);
}
