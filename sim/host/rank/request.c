#include "sim/host/rank/request.h"

#include "sim/host/rank/agreement.h"
#include "sim/host/rank/faults.h"
#include "sim/host/rank/node_memory.h"
#include "sim/host/rank/synchronous.h"
#include "sim/net/transport.h"

#include <string.h>

void request_empty_status(MPI_Status *status)
{
  if (status != MPI_STATUS_IGNORE)
    *status = (MPI_Status){
        .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};
}

int request_source(const struct comm *on, int member)
{
  const struct comm *comm = comm_peers(on);
  if (member < comm->size &&
      comm->member[member] == member) /* the member has the same number as in MPI_COMM_WORLD */
    return member;
  int rank = 0;
  while (rank < comm->size && comm->member[rank] != member)
    rank++;
  return rank;
}

static void store(const struct request *request, const char *bytes, size_t taken)
{
  const struct rank *r = &layer.rank[heap_owner(request)];
  typemap_unpack(typemap_of(request->type), bytes, request->buffer, (MPI_Count)taken);
  if (r->mpi->sharings)
    sharing_stored(r, request->buffer, request->type, taken);
}

/* Moves the bytes of a message to the place where the program wants to have them. */
static void put(struct request *request, const char *bytes, size_t length, int source, int32_t tag)
{
  const struct typemap *map = typemap_of(request->type);
  size_t room = (size_t)map->size * (size_t)request->count;
  size_t taken = MIN(length, room);
  if (taken > 0)
    store(request, bytes, taken);
  request->status = (MPI_Status){.MPI_SOURCE = source,
                                 .MPI_TAG = tag,
                                 .MPI_ERROR = length > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS,
                                 .count = (int)taken};
}

static void make_room(struct request *request, size_t bytes)
{
  request->buffer = rank_alloc_unset(&layer.rank[heap_owner(request)], bytes);
  request->count = (int)bytes;
}

void request_fill(struct request *request, const struct payload *payload, int source, int32_t tag)
{
  synchronous_take(&layer.rank[heap_owner(request)], source, payload);
  if (request->sized)
    make_room(request, payload->size);
  put(request, payload->bytes, payload->size, request_source(request->comm, source), tag);
}

void request_hand_over(struct request *sized, struct request *request)
{
  put(request, sized->buffer, (size_t)sized->count, sized->status.MPI_SOURCE,
      sized->status.MPI_TAG);
  request->eager = sized->eager;
  request->wire_bytes = sized->wire_bytes;
  request->done = true;
  rank_free(sized->buffer);
  request_free(sized);
}

void request_take(struct request *request, struct message *message)
{
  request_fill(request, message->payload, message->source, message->tag);
  request->eager = message->eager;
  request->wire_bytes = message->wire_bytes;
  payload_drop(message->payload);
  message->payload = NULL;
}

void request_complete(struct request *request)
{
  request->done = true;
  request->filling = false;
  if (request->orphan)
    rank_free(request);
}

static bool all_parts_are_done(const struct rank *r, const struct whole *whole)
{
  for (int i = 0; i < whole->parts; i++)
    if (!request_is_done(r, whole->part[i]))
      return false;
  return whole->missing == 0 && (!whole->agreement || agreement_decision(whole->agreement));
}

bool request_is_complete(const struct rank *r, const struct request *request)
{
  if (!request || (request->persistent && !request->active) || request->done)
    return true;
  if (request->kind == REQUEST_WHOLE)
    return all_parts_are_done(r, &request->whole);
  return request->kind == REQUEST_SEND && transport_sent(r->transport, request->send) &&
         synchronous_is_taken(r, request->peer, request->synchronous) &&
         (!request->receipt || request->receipt->done);
}

bool request_is_done(const struct rank *r, const struct request *request)
{
  return request_is_complete(r, request) || (!request->filling && faults_of_request(r, request));
}

/* Drops the receive of the receipt. When a receipt comes depends on time, so MPI_COMM_WORLD does
 * not count that receive among its requests.
 */
static void drop_receipt(struct request *request)
{
  struct request *receipt = request->receipt;
  request->receipt = NULL;
  if (receipt && receipt->done)
    rank_free(receipt);
  else if (receipt)
    receipt->orphan = true;
}

void request_free(struct request *request)
{
  drop_receipt(request);
  if (request->comm)
    request->comm->requests--;
  if (request->kind == REQUEST_WHOLE && request->whole.recipe) {
    request->whole.recipe->end(request->whole.recipe);
    rank_free(request->whole.recipe);
  }
  rank_free(request);
}

void request_end(const struct request *request)
{
  if (request->kind != REQUEST_GENERAL && !request->collective)
    rank_self()->mpi->pending--;
}

int request_retire(struct request **handle, MPI_Status *status)
{
  struct request *request = *handle;
  if (!request || (request->persistent && !request->active)) {
    request_empty_status(status);
    return MPI_SUCCESS;
  }
  request_end(request);
  if (request->eager)
    wire_charge(WIRE_RECEIVE, request->wire_bytes);
  request->eager = false;
  if (status != MPI_STATUS_IGNORE)
    *status = request->status;
  int error = request->status.MPI_ERROR;
  if (request->persistent) {
    drop_receipt(request);
    request->active = false;
  } else {
    request_free(request);
    *handle = NULL;
  }
  return error;
}
