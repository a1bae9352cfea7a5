#include "sim/host/step/collective_messages.h"

#include "sim/host/rank/communicators.h"
#include "sim/host/rank/request.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/step/matching.h"
#include "sim/host/step/piggyback_collectives.h"
#include "sim/net/transport.h"

#include <string.h>

struct rejoined {
  int comm, root, number;
};

void bypass_begin(struct rank *r)
{
  r->rejoined = g_array_new(FALSE, FALSE, sizeof(struct rejoined));
}

void bypass_clear(struct rank *r)
{
  struct message *message;
  while ((message = g_queue_pop_head(&r->bypass_arrived)))
    message_free(message);
  g_array_set_size(r->rejoined, 0);
}

/* ---- sending ---- */

static struct message *new_message(struct rank *r, int peer, int context, int32_t tag,
                                   struct payload *payload)
{
  struct message *message = message_new(MESSAGE_BYPASS, r->index, peer);
  message->comm = context;
  message->tag = tag;
  message->bytes = words_in_full(tag) ? words_bytes() : (uint32_t)payload->size;
  message->payload = payload;
  return message;
}

static uint32_t transmit(struct rank *r, struct message *message, bool blocking)
{
  message->incarnation = shadow_rank(r->index)->incarnation;
  message->life = r->life;
  message->line = shadow_rank(r->index)->line;
  if (!words_only(message->tag))
    layer.result.messages.sent++;
  return transport_send(r->transport, message, message->bytes, blocking);
}

uint32_t bypass_send(struct rank *r, int peer, int context, int32_t tag, struct payload *payload,
                     bool blocking)
{
  struct message *message = new_message(r, peer, context, tag, payload);
  words_attach(r, message);
  return transmit(r, message, blocking);
}

/* ---- receiving ---- */

static bool is_from(const struct message *message, int peer, int context, int32_t tag)
{
  return (message->source == peer || peer == RCL_ANY) && message->tag == tag &&
         message->comm == context;
}

static bool fits(const struct request *request, const struct message *message)
{
  return is_from(message, request->peer, request->context, request->tag);
}

static bool is_for(const struct message *message, const void *request)
{
  return message->kind == MESSAGE_BYPASS && fits(request, message);
}

static void receive_filled(struct message *message, void *request)
{
  words_detach(&layer.rank[message->destination], message);
  request_complete(request);
}

static void fill_receive(struct rank *r, struct message *message, struct request *request)
{
  request_take(request, message);
  transport_fetch(r->transport, message, receive_filled, request);
}

void bypass_receive(struct rank *r, struct request *request)
{
  for (GList *item = r->bypass_arrived.head; item; item = item->next) {
    struct message *message = item->data;
    if (fits(request, message)) {
      g_queue_delete_link(&r->bypass_arrived, item);
      fill_receive(r, message, request);
      return;
    }
  }
  struct request **end = &r->mpi->bypass_posted;
  while (*end)
    end = &(*end)->next;
  request->next = NULL;
  *end = request;
  if (request->peer >= 0)
    transport_let_in_from(r->transport, MESSAGE_BYPASS, request->peer, request->context,
                          request->tag);
  else
    transport_let_in(r->transport, is_for, request);
}

void bypass_withdraw(struct rank *r, const struct request *request)
{
  struct request **link = &r->mpi->bypass_posted;
  while (*link)
    if (!request || *link == request)
      *link = (*link)->next;
    else
      link = &(*link)->next;
}

bool bypass_has(const struct rank *r, int peer, int context, int32_t first, int tags)
{
  for (const GList *item = r->bypass_arrived.head; item; item = item->next) {
    int32_t tag = ((const struct message *)item->data)->tag;
    if (tag >= first && tag < first + tags && is_from(item->data, peer, context, tag))
      return true;
  }
  return false;
}

/* ---- calls that the program has passed ---- */

void bypass_rejoin(struct rank *r, int comm, int root, int number)
{
  struct rejoined entry = {comm, root, number};
  g_array_append_val(r->rejoined, entry);
}

static const struct rejoined *find_rejoined(const struct rank *r, const struct message *message)
{
  for (guint i = 0; i < r->rejoined->len; i++) {
    const struct rejoined *entry = &g_array_index(r->rejoined, struct rejoined, i);
    if (message->comm / 2 == entry->comm && message->tag / CALL_KINDS == entry->number)
      return entry;
  }
  return NULL;
}

static int place_in(const struct members *members, int rank)
{
  int place = 0;
  while (place < members->size && members->member[place] != rank)
    place++;
  return place;
}

static void send_copy(struct rank *r, int peer, const struct message *message)
{
  payload_settle(message->payload);
  struct message *copy =
      new_message(r, peer, message->comm, message->tag, payload_hold(message->payload));
  copy->bytes = message->bytes;
  copy->shares = message->shares;
  memcpy(copy->words, message->words, sizeof copy->words);
  transmit(r, copy, false);
}

/* Passes a message on to the ranks below this rank in a tree. broadcast() uses that tree, and so do
 * the words that travel with its data. */
static void pass_on(struct message *message, void *data)
{
  struct rank *r = data;
  const struct rejoined *entry = find_rejoined(r, message);
  const struct members *members = communicator_members(message->comm / 2);
  int kind = message->tag % CALL_KINDS;
  if (!entry || !members || (kind != TAG_BCAST && kind != TAG_WORDS_DOWN))
    return;
  int size = members->size, root = place_in(members, entry->root);
  int place = (place_in(members, r->index) - root + size) % size, bit = 1;
  while (bit < size && !(place & bit))
    bit *= 2;
  for (bit /= 2; bit > 0; bit /= 2)
    if (place + bit < size)
      send_copy(r, members->member[(place + bit + root) % size], message);
}

bool bypass_expects(const struct rank *r, const struct message *message)
{
  const struct request *request = r->mpi->bypass_posted;
  while (request && !fits(request, message))
    request = request->next;
  return request || find_rejoined(r, message);
}

void bypass_take(struct rank *r, struct message *message)
{
  if (find_rejoined(r, message)) {
    transport_fetch(r->transport, message, pass_on, r);
    return;
  }
  for (struct request **link = &r->mpi->bypass_posted; *link; link = &(*link)->next)
    if (fits(*link, message)) {
      struct request *request = *link;
      *link = request->next;
      fill_receive(r, message, request);
      return;
    }
  g_queue_push_tail(&r->bypass_arrived, message);
}
