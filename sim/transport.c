#include "transport.h"

#include "audit.h"

#include <string.h>
#include <sys/mman.h>

enum {
  WINDOW = 4, /* messages that can come in while the program computes */
  WIRE_TAG = 1,
  FIRST_PAYLOAD_TAG = 1 << 22,
  PAYLOAD_TAGS = 1 << 29 /* then they start again */
};

/* Payloads travel by reference; these bytes are sent and received in their place. The pages of
 * the source are never written, so that all are the one zero page. */
static const size_t WIRE_ROOM = (size_t)1 << 31;
static char *wire_source, *wire_sink;

struct send {
  uint32_t number;
  int destination;
  MPI_Request request;
};

struct fetch {
  MPI_Request request;
  struct message *message;
  void (*done)(struct message *, void *);
  void *data;
};

struct transport {
  int window;
  MPI_Request window_request[WINDOW];
  char *window_buffer[WINDOW];
  char *send_buffer;
  int eager_bytes;
  uint32_t sends_started;
  GArray *sends;            /* struct send: rendezvous payloads under way */
  GArray *fetches;          /* struct fetch */
  GArray *requests;         /* MPI_Request: scratch of one wait */
  GHashTable *sent, *taken; /* by peer: serial of the last message */
  GHashTable *early;        /* by peer: GQueue of messages that overtook an earlier one */
};

static int next_payload_tag = FIRST_PAYLOAD_TAG;

struct message *message_new(enum message_kind kind, int source, int destination)
{
  struct message *message = g_new0(struct message, 1);
  message->kind = kind;
  message->source = source;
  message->destination = destination;
  return message;
}

void message_free(struct message *message)
{
  if (message->payload)
    g_bytes_unref(message->payload);
  g_free(message);
}

static void *reserve(size_t bytes, int protection)
{
  void *memory = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    layer_die(3, "no address space for %zu bytes of wire buffers", bytes);
  return memory;
}

static void post(struct transport *transport, int i)
{
  PMPI_Irecv(transport->window_buffer[i], transport->eager_bytes, MPI_BYTE, MPI_ANY_SOURCE,
             WIRE_TAG, MPI_COMM_WORLD, &transport->window_request[i]);
}

struct transport *transport_new(int window)
{
  if (!wire_source) {
    wire_source = reserve(WIRE_ROOM, PROT_READ);
    wire_sink = reserve(WIRE_ROOM, PROT_READ | PROT_WRITE);
  }
  struct transport *transport = g_new0(struct transport, 1);
  transport->window = MIN(window, WINDOW);
  transport->eager_bytes = MAX(machine_eager_bytes(), 256);
  transport->send_buffer = g_malloc0((size_t)transport->eager_bytes);
  transport->sends = g_array_new(FALSE, FALSE, sizeof(struct send));
  transport->fetches = g_array_new(FALSE, FALSE, sizeof(struct fetch));
  transport->requests = g_array_new(FALSE, FALSE, sizeof(MPI_Request));
  transport->sent = g_hash_table_new(NULL, NULL);
  transport->taken = g_hash_table_new(NULL, NULL);
  transport->early = g_hash_table_new(NULL, NULL);
  for (int i = 0; i < transport->window; i++) {
    transport->window_buffer[i] = g_malloc0((size_t)transport->eager_bytes);
    post(transport, i);
  }
  return transport;
}

/* ---- sending ---- */

static uint32_t count_up(GHashTable *table, int peer)
{
  uint32_t count = GPOINTER_TO_UINT(g_hash_table_lookup(table, GINT_TO_POINTER(peer))) + 1;
  g_hash_table_insert(table, GINT_TO_POINTER(peer), GUINT_TO_POINTER(count));
  return count;
}

static uint64_t wire_bytes(const struct message *message)
{
  if (message->kind == MESSAGE_PROGRAM)
    return (uint64_t)message->bytes + audit_protocol()->piggyback_bytes;
  if (message->kind == MESSAGE_RAW)
    return message->bytes;
  return message->kind == MESSAGE_CONTROL ? audit_protocol()->control_bytes : NOTICE_BYTES;
}

/* SMPI copies an eager message before it lets anybody else run. */
static void send_envelope(struct transport *transport, struct message *message, uint64_t bytes,
                          bool blocking)
{
  int length = (int)CLAMP(bytes, WIRE_LEAST, (uint64_t)transport->eager_bytes - 1);
  memcpy(transport->send_buffer, &message, sizeof message);
  if (blocking) {
    PMPI_Send(transport->send_buffer, length, MPI_BYTE, message->destination, WIRE_TAG,
              MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    PMPI_Isend(transport->send_buffer, length, MPI_BYTE, message->destination, WIRE_TAG,
               MPI_COMM_WORLD, &request);
  }
}

/* SMPI charges the overhead of a nonblocking send for Isend and Issend, and none for a Send of that
 * size, which must not block here: a persistent send is started like one. */
static uint32_t send_payload(struct transport *transport, int destination, int tag, uint64_t bytes,
                             bool blocking)
{
  struct send send = {.number = ++transport->sends_started, .destination = destination};
  int length = (int)MIN(bytes, WIRE_ROOM - 1);
  if (blocking && length >= transport->eager_bytes) {
    PMPI_Send_init(wire_source, length, MPI_BYTE, destination, tag, MPI_COMM_WORLD, &send.request);
    PMPI_Start(&send.request);
  } else {
    PMPI_Issend(wire_source, length, MPI_BYTE, destination, tag, MPI_COMM_WORLD, &send.request);
  }
  g_array_append_val(transport->sends, send);
  return send.number;
}

uint32_t transport_send(struct transport *transport, struct message *message, bool blocking)
{
  uint64_t bytes = wire_bytes(message);
  message->serial = count_up(transport->sent, message->destination);
  if (bytes < (uint64_t)transport->eager_bytes && !message->synchronous) {
    send_envelope(transport, message, bytes, blocking);
    return 0;
  }
  int tag = next_payload_tag++;
  if (next_payload_tag == FIRST_PAYLOAD_TAG + PAYLOAD_TAGS)
    next_payload_tag = FIRST_PAYLOAD_TAG;
  message->payload_tag = tag;
  int destination = message->destination; /* the message is its receiver's from the envelope on */
  send_envelope(transport, message, WIRE_LEAST, false);
  return send_payload(transport, destination, tag, bytes, blocking);
}

bool transport_sent(const struct transport *transport, uint32_t number)
{
  for (guint i = 0; i < transport->sends->len; i++)
    if (g_array_index(transport->sends, struct send, i).number == number)
      return false;
  return true;
}

/* ---- receiving ---- */

void transport_fetch(struct transport *transport, struct message *message,
                     void (*done)(struct message *, void *), void *data)
{
  if (message->payload_tag == 0) {
    done(message, data);
    message_free(message);
    return;
  }
  struct fetch fetch = {.message = message, .done = done, .data = data};
  PMPI_Irecv(wire_sink, (int)MIN(wire_bytes(message), WIRE_ROOM - 1), MPI_BYTE, message->source,
             message->payload_tag, MPI_COMM_WORLD, &fetch.request);
  g_array_append_val(transport->fetches, fetch);
}

bool transport_fetching(const struct transport *transport)
{
  return transport->fetches->len > 0;
}

static void fetched(struct transport *transport, guint i)
{
  struct fetch fetch = g_array_index(transport->fetches, struct fetch, i);
  g_array_remove_index(transport->fetches, i);
  fetch.done(fetch.message, fetch.data);
  message_free(fetch.message);
}

void transport_finish_fetches(struct transport *transport)
{
  while (transport->fetches->len > 0) {
    PMPI_Wait(&g_array_index(transport->fetches, struct fetch, 0).request, MPI_STATUS_IGNORE);
    fetched(transport, 0);
  }
}

void transport_abandon(struct transport *transport)
{
  for (guint i = 0; i < transport->fetches->len; i++)
    message_free(g_array_index(transport->fetches, struct fetch, i).message);
  g_array_set_size(transport->fetches, 0);
  g_array_set_size(transport->sends, 0);
}

void transport_disconnect(struct transport *transport, int peer)
{
  for (guint i = transport->sends->len; i-- > 0;)
    if (g_array_index(transport->sends, struct send, i).destination == peer)
      g_array_remove_index(transport->sends, i);
}

/* A large message can be overtaken by a small one behind it, which here waits for it. */
static void take(struct transport *transport, struct message *message, GQueue *inbox)
{
  gpointer peer = GINT_TO_POINTER(message->source);
  uint32_t last = GPOINTER_TO_UINT(g_hash_table_lookup(transport->taken, peer));
  GQueue *early = g_hash_table_lookup(transport->early, peer);
  if (message->serial != last + 1) {
    if (!early) {
      early = g_queue_new();
      g_hash_table_insert(transport->early, peer, early);
    }
    g_queue_push_tail(early, message);
    return;
  }
  count_up(transport->taken, message->source);
  g_queue_push_tail(inbox, message);
  for (GList *item = early ? early->head : NULL; item; item = item->next) {
    struct message *next = item->data;
    if (next->serial == message->serial + 1) {
      g_queue_delete_link(early, item);
      take(transport, next, inbox);
      return;
    }
  }
}

static void envelope_came(struct transport *transport, int i, GQueue *inbox)
{
  struct message *message;
  memcpy(&message, transport->window_buffer[i], sizeof message);
  take(transport, message, inbox);
  post(transport, i);
}

/* The requests of one wait, in a fixed order: envelopes, sends, fetches. */
static MPI_Request *collect(struct transport *transport)
{
  GArray *requests = transport->requests;
  g_array_set_size(requests, 0);
  g_array_append_vals(requests, transport->window_request, (guint)transport->window);
  for (guint i = 0; i < transport->sends->len; i++)
    g_array_append_val(requests, g_array_index(transport->sends, struct send, i).request);
  for (guint i = 0; i < transport->fetches->len; i++)
    g_array_append_val(requests, g_array_index(transport->fetches, struct fetch, i).request);
  return (MPI_Request *)(void *)requests->data;
}

static void sent(struct transport *transport, guint i)
{
  MPI_Request *left =
      &g_array_index(transport->requests, MPI_Request, (guint)transport->window + i);
  if (*left != MPI_REQUEST_NULL)
    PMPI_Request_free(left); /* it was persistent */
  g_array_remove_index(transport->sends, i);
}

static void completed(struct transport *transport, int index, GQueue *inbox)
{
  guint i = (guint)index;
  guint window = (guint)transport->window;
  if (i < window)
    envelope_came(transport, index, inbox);
  else if (i < window + transport->sends->len)
    sent(transport, i - window);
  else
    fetched(transport, i - window - transport->sends->len);
}

void transport_poll(struct transport *transport, GQueue *inbox)
{
  int flag = 1;
  while (flag) {
    int index = MPI_UNDEFINED;
    MPI_Request *requests = collect(transport);
    PMPI_Testany((int)transport->requests->len, requests, &index, &flag, MPI_STATUS_IGNORE);
    if (flag && index != MPI_UNDEFINED)
      completed(transport, index, inbox);
    else
      flag = 0;
  }
}

void transport_wait(struct transport *transport, GQueue *inbox)
{
  int index = MPI_UNDEFINED;
  MPI_Request *requests = collect(transport);
  PMPI_Waitany((int)transport->requests->len, requests, &index, MPI_STATUS_IGNORE);
  if (index == MPI_UNDEFINED)
    layer_die(3, "SMPI waits for nothing");
  completed(transport, index, inbox);
}
