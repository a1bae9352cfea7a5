#include "sim/net/transport.h"

#include "sim/memory/die.h"
#include "sim/net/control_mail.h"
#include "sim/net/machine.h"
#include "sim/net/parked.h"
#include "sim/net/placement.h"

#include <math.h>
#include <simgrid/actor.h>

/* SPARE_LEAST and SPARE_MOST bound the number of transfers that can begin while a rank waits. A
 * rank that needs more such transfers gets more, but only up to a limit, because each of them makes
 * the rank's waits longer. */
enum { SPARE_LEAST = 4, SPARE_MOST = 64 };

enum { ANY_SOURCE = -1 };

/* Describes the end at which a rank's messages come in. An end may exist before its rank begins. */
struct end {
  sg_mailbox_t mailbox;
  uint64_t put;          /* number of transfers to this end */
  bool busy;             /* list of control messages and notices that have come */
  GQueue door;           /* list of envelopes that have come without a transfer */
  struct parked *parked; /* the messages whose transfer waits for the receiver */
  /* struct unseen: messages that are at the rank's daemon until the rank looks */
  GQueue unseen;
};

/* Describes a control message that is at a daemon, because its receiver has not looked for it
 * yet. */
struct unseen {
  struct message *message; /* the message, or NULL if the receiver has it */
};

struct send {
  uint32_t number;
  int destination;
  sg_comm_t transfer;
  struct payload *payload;
};

struct fetch {
  bool parked;        /* the complete message is here, but is not matched yet */
  sg_comm_t transfer; /* the transfer, or NULL if the payload is on its way to the end */
  struct message *message;
  void (*done)(struct message *, void *);
  void *data;
  void *item; /* the transfer sets it */
};

/* Describes a transfer that this rank takes from its end, or awaits there. */
struct reception {
  sg_comm_t transfer;
  void *item;  /* the transfer sets it */
  bool looked; /* has_come() has looked at the transfer */
};

struct transport {
  struct end *end;
  int index;
  uint64_t taken; /* number of transfers that have come to the end */
  double polled;  /* time at which the rank last looked for arrivals */
  guint spare;
  GPtrArray *receptions; /* struct reception, in the order of posting */
  GPtrArray *fetches;    /* struct fetch */
  GArray *sends;         /* struct send: payloads of rendezvous under way */
  sg_comm_t *transfers;  /* scratch space for a wait */
  guint transfers_room;
  uint32_t sends_started;
  uint32_t *sent, *got; /* by peer: serial of the last message */
  uint32_t *wanted;     /* by peer: serial of the last message that must not be parked */
  GQueue *early;        /* by peer: messages that have overtaken an earlier message */
  /* by peer: messages of the program have gone between the two since connections were closed */
  bool *connected;
};

static struct network network;
static struct traffic traffic;
static struct end *ends; /* by rank; the last one is the dispatcher's */
static char nudge;       /* the item that wakes a receiver to look at its door */
static int eager_bytes;

/* Returns the mailbox of an end. The search for a mailbox lets other actors run, so it is made only
 * when needed. */
static sg_mailbox_t mailbox_of(int index)
{
  struct end *end = &ends[index];
  if (!end->mailbox)
    end->mailbox = wire_end(index);
  return end->mailbox;
}

void transport_begin(const struct network *what)
{
  network = *what;
  ends = g_new0(struct end, (gsize)network.ranks + 1);
  for (int i = 0; i <= network.ranks; i++)
    ends[i].parked = parked_new();
  eager_bytes = MAX(machine_eager_bytes(), 256);
  wire_begin(network.overhead);
  control_mail_begin(network.ranks);
}

struct transport *transport_new(int index)
{
  int count = network.ranks + 1;
  struct transport *transport = g_new0(struct transport, 1);
  transport->end = &ends[index];
  transport->index = index;
  transport->polled = -1.0;
  transport->spare = SPARE_LEAST;
  transport->receptions = g_ptr_array_new();
  transport->fetches = g_ptr_array_new();
  transport->sends = g_array_new(FALSE, FALSE, sizeof(struct send));
  transport->sent = g_new0(uint32_t, (gsize)count);
  transport->got = g_new0(uint32_t, (gsize)count);
  transport->wanted = g_new0(uint32_t, (gsize)count);
  transport->early = g_new0(GQueue, (gsize)count);
  transport->connected = g_new0(bool, (gsize)count);
  wire_own_end(index);
  return transport;
}

/* ---- sending ---- */

/* Returns how many seconds a daemon takes for a message, as the platform says. Returns 0 if control
 * messages travel like other messages. */
static double daemon_time(void)
{
  static double seconds = -1.0;
  if (seconds < 0.0)
    seconds = network.out_of_band && machine_property("control_daemon_s")
                  ? machine_figure("control_daemon_s", 0.0)
                  : 0.0;
  return seconds;
}

static bool may_be_mail(const struct message *message)
{
  return message->kind == MESSAGE_CONTROL && network.mail && daemon_time() <= 0.0;
}

/* Returns whether control messages ride on a message of the program. A message that bears control
 * messages is always expected, because the program may wait for the effect of these control
 * messages. */
static bool bears_control(const struct message *message)
{
  return message->riders_count > 0;
}

/* Puts a message on its way. Uses a lane if the receiver does not expect the message now. No other
 * actor may run between the call of network.expects() and the put, so the lane is reserved
 * before. */
static void put_eager(struct message *message, uint64_t bytes)
{
  struct end *end = &ends[message->destination];
  sg_mailbox_t mailbox = mailbox_of(message->destination);
  struct lane *lane = wire_lane();
  if (network.expects(message) || bears_control(message)) {
    wire_lane_free(lane);
    end->put++;
    wire_put(mailbox, message, bytes);
  } else {
    message->lane = lane;
    message_set_in_transit(message, false);
    parked_add(end->parked, message);
    wire_lane_put(lane, bytes);
  }
}

/* Returns how many seconds pass until the receiver of a control message looks for it. Ranks do not
 * look at the same time, because each counts its pauses from a moment of its own. Multiples of the
 * golden ratio spread these moments evenly over a pause. */
static double until_look(const struct message *message)
{
  static const double golden = 0.61803398874989485;
  double every = machine_property("control_poll_s") ? machine_figure("control_poll_s", 0.0) : 0.0;
  if (every <= 0.0 || network.spins(message))
    return 0.0;
  double since = machine_now() / every - message->destination * golden;
  return (ceil(since) - since) * every;
}

/* Leaves a message at the daemon of its receiver, until the receiver looks. */
static void leave_daemons(void *data)
{
  struct message *message = data;
  double pause = until_look(message);
  if (pause > 0.0) {
    struct unseen *unseen = g_new0(struct unseen, 1);
    unseen->message = message;
    GQueue *queue = &ends[message->destination].unseen;
    g_queue_push_tail(queue, unseen);
    machine_sleep(pause);
    message = unseen->message;
    if (message)
      g_queue_remove(queue, unseen);
    g_free(unseen);
  }
  if (message)
    put_eager(message, 0);
}

/* Takes from the daemon of a rank the first message for which the rank looks without a pause, or
 * NULL if there is none. */
static struct message *take_unseen(int index)
{
  GQueue *queue = &ends[index].unseen;
  for (GList *item = queue->head; item; item = item->next) {
    struct unseen *unseen = item->data;
    struct message *message = unseen->message;
    if (network.spins(message)) {
      unseen->message = NULL;
      g_queue_delete_link(queue, item);
      return message;
    }
  }
  return NULL;
}

void transport_look(int index)
{
  for (struct message *message; (message = take_unseen(index));)
    put_eager(message, 0);
}

static void send_eager(struct message *message, bool blocking)
{
  message->eager = true;
  payload_settle(message->payload);
  if (!message->joined)
    wire_charge(blocking ? WIRE_SEND : WIRE_SEND_NONBLOCKING, message->wire_bytes);
  if (message->kind == MESSAGE_CONTROL && daemon_time() > 0.0) {
    machine_relay(node_of(message->source), node_of(message->destination), daemon_time(),
                  leave_daemons, message);
  } else if (!may_be_mail(message) || !control_mail_post(message)) {
    put_eager(message, message->wire_bytes);
  }
}

/* Sends by rendezvous. In SMPI, a blocking send that waits for its receiver has no overhead, unless
 * the send is synchronous. The receiver owns the message as soon as the message is at the door. */
static uint32_t send_rendezvous(struct transport *transport, struct message *message, bool blocking)
{
  uint64_t bytes = message->wire_bytes;
  struct end *end = &ends[message->destination];
  struct send send = {.number = ++transport->sends_started,
                      .destination = message->destination,
                      .payload = payload_hold(message->payload)};
  sg_mailbox_t mailbox = mailbox_of(message->destination);
  if (!blocking || message->mode == SEND_SYNCHRONOUS)
    wire_charge(blocking ? WIRE_SEND : WIRE_SEND_NONBLOCKING, bytes);
  struct lane *lane = wire_lane();
  bool expected = network.expects(message), wakes = expected || bears_control(message);
  g_queue_push_tail(&end->door, message);
  message_set_in_transit(message, wakes);
  end->put += wakes;
  if (expected && (message->mode != SEND_SYNCHRONOUS || network.is_awaited(message))) {
    wire_lane_free(lane);
    message->flight = FLIGHT_UNDER_WAY;
    message->self = message;
    send.transfer = wire_put_waitable(mailbox, &message->self, bytes);
  } else {
    message->lane = lane;
    if (wakes)
      wire_put(mailbox, &nudge, 0);
    send.transfer = wire_lane_put_waitable(lane, bytes);
  }
  g_array_append_val(transport->sends, send);
  return send.number;
}

static bool is_of_program(const struct message *message)
{
  return message->kind == MESSAGE_PROGRAM || message->kind == MESSAGE_BYPASS;
}

static void count_traffic(const struct message *message, uint64_t bytes)
{
  if (message->kind == MESSAGE_NOTICE)
    return;
  (*(is_of_program(message) ? &traffic.messages : &traffic.control))++;
  traffic.bytes += bytes;
}

/* ---- connections ---- */

/* Notes that a message has connected the rank to the peer. Open MPI's drivers, too, connect two
 * ranks only when one sends the other a message. */
static void connect_for(struct transport *transport, const struct message *message, int peer)
{
  transport->connected[peer] |= is_of_program(message);
}

unsigned transport_close(struct transport *transport)
{
  unsigned count = 0;
  for (int i = 0; i < network.ranks; i++) {
    bool shares_memory = node_of(i) == node_of(transport->index); /* names are interned */
    count += transport->connected[i] && !shares_memory;
    transport->connected[i] = false;
  }
  return count;
}

struct traffic transport_traffic(void)
{
  return traffic;
}

uint32_t transport_send(struct transport *transport, struct message *message, uint64_t bytes,
                        bool blocking)
{
  REQUIRE(message->source == transport->index && !message->lane && message->serial == 0,
          "a rank sends its own messages, each once");
  message->wire_bytes = bytes;
  count_traffic(message, bytes);
  connect_for(transport, message, message->destination);
  message_set_in_transit(message, true);
  message->serial = ++transport->sent[message->destination];
  if (!is_of_program(message))
    ends[message->destination].busy = true;
  bool large = bytes >= (uint64_t)eager_bytes && message->mode != SEND_BUFFERED;
  if (large || message->mode == SEND_SYNCHRONOUS)
    return send_rendezvous(transport, message, blocking);
  send_eager(message, blocking);
  return 0;
}

bool transport_sent(const struct transport *transport, uint32_t number)
{
  for (guint i = 0; i < transport->sends->len; i++)
    if (g_array_index(transport->sends, struct send, i).number == number)
      return false;
  return true;
}

bool transport_carries(const struct transport *transport, const struct payload *payload)
{
  for (guint i = 0; i < transport->sends->len; i++)
    if (g_array_index(transport->sends, struct send, i).payload == payload)
      return true;
  return false;
}

void transport_wake(int index)
{
  sg_mailbox_t mailbox = mailbox_of(index);
  ends[index].put++;
  wire_put(mailbox, &nudge, 0);
}

/* Finishes a send: from here on the program may change what it has sent. */
static void finish_send(struct transport *transport, guint i)
{
  payload_call_in(g_array_index(transport->sends, struct send, i).payload);
  g_array_remove_index(transport->sends, i);
}

/* ---- receiving ---- */

static void let_in(struct transport *, int source);

/* Hands a message on, unless it has overtaken an earlier message of its source. In that case the
 * message waits for the earlier one. If the earlier one is parked, lets it in. */
static void hand_on(struct transport *transport, struct message *message, GQueue *inbox)
{
  REQUIRE(message->destination == transport->index, "a message comes to its destination");
  REQUIRE(message->serial > transport->got[message->source], "a message comes once");
  GQueue *early = &transport->early[message->source];
  if (message->serial != transport->got[message->source] + 1) {
    g_queue_push_tail(early, message);
    transport->wanted[message->source] = message->serial;
    let_in(transport, message->source);
    return;
  }
  connect_for(transport, message, message->source);
  transport->got[message->source]++;
  message_set_in_transit(message, false);
  g_queue_push_tail(inbox, message);
  for (GList *item = early->head; item; item = item->next) {
    struct message *next = item->data;
    if (next->serial == message->serial + 1) {
      g_queue_delete_link(early, item);
      hand_on(transport, next, inbox);
      return;
    }
  }
}

/* ---- payloads ---- */

static void begin_fetch(struct transport *transport, const struct fetch *what)
{
  struct fetch *fetch = g_memdup2(what, sizeof *what);
  g_ptr_array_add(transport->fetches, fetch);
  if (fetch->message->lane)
    fetch->transfer = wire_lane_take(fetch->message->lane, &fetch->item);
}

void transport_fetch(struct transport *transport, struct message *message,
                     void (*done)(struct message *, void *), void *data)
{
  if (message->lane || message->flight != FLIGHT_NONE) {
    begin_fetch(transport, &(struct fetch){.message = message, .done = done, .data = data});
    return;
  }
  done(message, data);
  message_free(message);
}

static void finish_fetch(struct transport *transport, struct fetch *fetch, GQueue *inbox)
{
  struct message *message = fetch->message;
  g_ptr_array_remove(transport->fetches, fetch);
  if (message->lane)
    wire_lane_free(message->lane);
  message->lane = NULL;
  if (fetch->parked) {
    hand_on(transport, message, inbox);
  } else {
    fetch->done(message, fetch->data);
    message_free(message);
  }
  g_free(fetch);
}

static struct fetch *unfinished_fetch(struct transport *transport)
{
  for (guint i = 0; i < transport->fetches->len; i++)
    if (!((struct fetch *)transport->fetches->pdata[i])->parked)
      return transport->fetches->pdata[i];
  return NULL;
}

void transport_finish_fetches(struct transport *transport, GQueue *inbox)
{
  while (unfinished_fetch(transport))
    transport_wait(transport, inbox, G_MAXUINT, -1.0);
}

bool transport_fetches(const struct transport *transport)
{
  return transport->fetches->len > 0;
}

/* Forgets all that is under way. If a fetch has a transfer, the memory of the fetch stays, because
 * the transfer still writes into that memory. A message that is not matched yet goes on, because
 * later messages wait for it. */
void transport_abandon(struct transport *transport)
{
  struct fetch *fetch;
  while ((fetch = unfinished_fetch(transport))) {
    g_ptr_array_remove(transport->fetches, fetch);
    message_free(fetch->message);
    if (!fetch->transfer)
      g_free(fetch);
  }
  while (transport->sends->len > 0)
    finish_send(transport, transport->sends->len - 1);
}

void transport_disconnect(struct transport *transport, int peer)
{
  for (guint i = transport->sends->len; i-- > 0;)
    if (g_array_index(transport->sends, struct send, i).destination == peer)
      finish_send(transport, i);
}

uint32_t transport_last_send(const struct transport *transport)
{
  return transport->sends_started;
}

void transport_give_up(struct transport *transport, uint32_t first, uint32_t last)
{
  for (guint i = transport->sends->len; i-- > 0;) {
    uint32_t number = g_array_index(transport->sends, struct send, i).number;
    if (number >= first && number <= last)
      finish_send(transport, i);
  }
}

/* ---- parked messages ---- */

/* Lets in the messages of each peer, or of one source, up to the wanted serial. */
static void let_in(struct transport *transport, int source)
{
  GQueue wanted = G_QUEUE_INIT;
  struct message *message;
  if (source == ANY_SOURCE)
    parked_take(transport->end->parked, transport->wanted, &wanted);
  else
    parked_take_from(transport->end->parked, source, transport->wanted[source], &wanted);
  while ((message = g_queue_pop_head(&wanted))) {
    message_set_in_transit(message, true);
    begin_fetch(transport, &(struct fetch){.message = message, .parked = true});
  }
}

void transport_let_in(struct transport *transport,
                      bool (*wanted)(const struct message *, const void *), const void *what)
{
  bool any = false;
  for (const GList *item = parked_all(transport->end->parked); item; item = item->next) {
    const struct message *message = item->data;
    if (!wanted || wanted(message, what)) {
      transport->wanted[message->source] = message->serial;
      any = true;
    }
  }
  if (any)
    let_in(transport, ANY_SOURCE);
}

void transport_let_in_from(struct transport *transport, enum message_kind kind, int source,
                           int comm, int32_t tag)
{
  uint32_t serial = parked_last(transport->end->parked, kind, source, comm, tag);
  if (!serial)
    return;
  transport->wanted[source] = serial;
  let_in(transport, source);
}

/* ---- what comes to the end ---- */

static void charge_reception(const struct message *message)
{
  if (!message->joined)
    wire_charge(WIRE_RECEIVE, message->wire_bytes);
}

bool transport_answer_door(struct transport *transport, GQueue *inbox)
{
  struct message *message;
  bool any = false;
  while ((message = g_queue_pop_head(&transport->end->door))) {
    hand_on(transport, message, inbox);
    any = true;
  }
  while ((message = control_mail_take(transport->index))) {
    charge_reception(message);
    hand_on(transport, message, inbox);
    any = true;
  }
  return any;
}

static void payload_landed(struct transport *transport, struct message *message, GQueue *inbox)
{
  bool in_vain = message->flight == FLIGHT_IN_VAIN;
  message->flight = FLIGHT_NONE;
  if (in_vain)
    message_free(message);
  for (guint i = 0; !in_vain && i < transport->fetches->len; i++) {
    struct fetch *fetch = transport->fetches->pdata[i];
    if (fetch->message == message) {
      finish_fetch(transport, fetch, inbox);
      return;
    }
  }
}

static void finish_reception(struct transport *transport, guint i, GQueue *inbox)
{
  struct reception *reception = g_ptr_array_remove_index(transport->receptions, i);
  void *item = reception->item;
  g_free(reception);
  transport->taken++;
  REQUIRE(transport->taken <= transport->end->put, "no more comes than was put");
  transport_answer_door(transport, inbox);
  if (item == &nudge)
    return;
  struct message *message = item;
  if (may_be_mail(message))
    control_mail_carried(message);
  if (message->flight != FLIGHT_NONE) {
    payload_landed(transport, message, inbox);
    return;
  }
  if (!is_of_program(message))
    charge_reception(message);
  hand_on(transport, message, inbox);
}

static guint under_way(const struct transport *transport)
{
  return (guint)(transport->end->put - transport->taken);
}

/* Takes all transfers that are under way, and `spare` transfers more. */
static void post_receptions(struct transport *transport, guint spare)
{
  while (transport->receptions->len < under_way(transport) + spare) {
    struct reception *reception = g_new0(struct reception, 1);
    g_ptr_array_add(transport->receptions, reception);
    reception->transfer = wire_take(mailbox_of(transport->index), &reception->item);
  }
}

/* ---- looking and waiting ---- */

/* Returns whether a transfer has ended. If the transfer had ended before it was taken, only this
 * look sets its item. */
static bool has_come(struct reception *reception)
{
  bool was_there = !reception->item && !reception->looked && wire_test(reception->transfer);
  reception->looked = true;
  return was_there || wire_taken(reception->transfer, reception->item);
}

void transport_poll(struct transport *transport, GQueue *inbox)
{
  transport_answer_door(transport, inbox);
  if (transport->polled == machine_now()) /* nothing can have come since the last look */
    return;
  transport->polled = machine_now();
  post_receptions(transport, 0);
  for (guint i = 0; i < MIN(under_way(transport), transport->receptions->len);)
    if (has_come(transport->receptions->pdata[i]))
      finish_reception(transport, i, inbox);
    else
      i++;
  for (guint i = 0; i < transport->sends->len;)
    if (wire_test(g_array_index(transport->sends, struct send, i).transfer))
      finish_send(transport, i);
    else
      i++;
  for (guint i = 0; i < transport->fetches->len;) {
    struct fetch *fetch = transport->fetches->pdata[i];
    if (fetch->transfer && wire_lane_taken(fetch->message->lane, fetch->transfer, fetch->item))
      finish_fetch(transport, fetch, inbox);
    else
      i++;
  }
}

/* Lists everything that can wake this rank, in a fixed order: envelopes, then sends, then fetches.
 * Returns the length of the list. */
static guint collect_transfers(struct transport *transport)
{
  const GPtrArray *receptions = transport->receptions, *fetches = transport->fetches;
  guint most = receptions->len + transport->sends->len + fetches->len, count = 0;
  if (most > transport->transfers_room) {
    transport->transfers_room = 2 * most;
    transport->transfers = g_renew(sg_comm_t, transport->transfers, transport->transfers_room);
  }
  sg_comm_t *transfers = transport->transfers;
  for (guint i = 0; i < receptions->len; i++)
    transfers[count++] = ((const struct reception *)receptions->pdata[i])->transfer;
  for (guint i = 0; i < transport->sends->len; i++)
    transfers[count++] = g_array_index(transport->sends, struct send, i).transfer;
  for (guint i = 0; i < fetches->len; i++)
    if (((const struct fetch *)fetches->pdata[i])->transfer)
      transfers[count++] = ((const struct fetch *)fetches->pdata[i])->transfer;
  return count;
}

static struct fetch *fetch_by(struct transport *transport, sg_comm_t transfer)
{
  for (guint i = 0; i < transport->fetches->len; i++)
    if (((struct fetch *)transport->fetches->pdata[i])->transfer == transfer)
      return transport->fetches->pdata[i];
  return NULL;
}

/* Ends a send. If the send was synchronous, the receiver runs before the sender goes on, because
 * the receiver may take the message at this instant. */
static void end_send(struct transport *transport, guint i)
{
  const struct payload *payload = g_array_index(transport->sends, struct send, i).payload;
  bool synchronous = payload && payload->synchronous;
  finish_send(transport, i);
  if (synchronous)
    sg_actor_yield();
}

/* Looks at the door after post_receptions(), because post_receptions() lets other actors run, and
 * they may leave messages at the door. */
void transport_wait(struct transport *transport, GQueue *inbox, unsigned awaited, double until)
{
  if (under_way(transport) > transport->receptions->len)
    transport->spare = MIN(2 * transport->spare, SPARE_MOST);
  bool few = !transport->end->busy && awaited < transport->spare;
  post_receptions(transport, few ? awaited + 1 : transport->spare);
  if (transport_answer_door(transport, inbox))
    return;
  guint count = collect_transfers(transport);
  double due = control_mail_due(transport->index);
  if (until >= 0.0 && (due < 0.0 || until < due))
    due = until;
  int ended =
      wire_wait(transport->transfers, (int)count, due < 0.0 ? -1.0 : MAX(due - machine_now(), 0.0));
  guint i = (guint)ended;
  if (ended < 0)
    transport_answer_door(transport, inbox);
  else if (i < transport->receptions->len)
    finish_reception(transport, i, inbox);
  else if (i < transport->receptions->len + transport->sends->len)
    end_send(transport, i - transport->receptions->len);
  else
    finish_fetch(transport, fetch_by(transport, transport->transfers[i]), inbox);
}
