#include "sim/host/step/matching.h"

#include "sim/host/storage/storage.h"

int matching_context(const struct comm *comm, bool collective)
{
  return 2 * comm->number + collective;
}

void matching_post(struct mpi_state *mpi, struct request *request)
{
  struct request **end = &mpi->posted;
  while (*end)
    end = &(*end)->next;
  request->next = NULL;
  *end = request;
}

void matching_withdraw(struct mpi_state *mpi, struct request *request)
{
  for (struct request **link = &mpi->posted; *link; link = &(*link)->next)
    if (*link == request) {
      *link = request->next;
      request->next = NULL;
      return;
    }
}

struct request *matching_numbered(const struct mpi_state *mpi, uint32_t number)
{
  struct request *request = mpi->posted;
  while (request && request->number != number)
    request = request->next;
  return request;
}

struct request *matching_unannounced(const struct mpi_state *mpi)
{
  struct request *request = mpi->posted;
  while (request && request->announced)
    request = request->next;
  return request;
}

static bool fits(const struct message *message, int peer, int tag, int context)
{
  return message->comm == context && rcl_matches(peer, tag, message->source, message->tag);
}

bool matching_accepts(const struct request *request, const struct message *message)
{
  return request->announced && fits(message, request->from, request->from_tag, request->context);
}

struct request *matching_receive(const struct mpi_state *mpi, const struct message *message)
{
  struct request *request = mpi->posted;
  while (request && !matching_accepts(request, message))
    request = request->next;
  return request;
}

struct message *matching_pair(struct rank *r, struct request **request)
{
  if (!r->mpi->posted)
    return NULL;
  for (GList *item = r->unexpected.head; item; item = item->next) {
    *request = matching_receive(r->mpi, item->data);
    if (*request)
      return item->data;
  }
  return NULL;
}

struct message *matching_unclaimed(struct rank *r, int peer)
{
  for (GList *item = r->unexpected.head; item; item = item->next) {
    struct message *message = item->data;
    if ((peer == RCL_ANY || peer == message->source) && !matching_receive(r->mpi, message))
      return message;
  }
  return NULL;
}

bool matching_probe(const struct rank *r, int peer, int tag, int context, struct found *found)
{
  const struct slot *slot = storage_waiting(r, peer, tag, context);
  if (slot) {
    *found = (struct found){slot->source, slot->tag, (uint32_t)slot->payload->size};
    return true;
  }
  for (const GList *item = r->unexpected.head; item; item = item->next) {
    const struct message *message = item->data;
    if (fits(message, peer, tag, context)) {
      *found = (struct found){message->source, message->tag, message->bytes};
      return true;
    }
  }
  return false;
}
