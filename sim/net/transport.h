/* Envelopes and payloads between ranks, over SimGrid's network (wire.h).
 *
 * As under SMPI, a transfer begins when its receiver expects the message: it has posted a receive
 * that accepts it, or waits for any. Until then the message is *parked*. A stale message is dropped
 * after it has come, never left there. Messages of one source are handed on in the order of
 * sending: a message that must be handed on calls in earlier ones that are parked.
 *
 *     eager        envelope and payload in one transfer; the send is complete at once. Small
 *                  messages, and all of MPI_Bsend
 *     rendezvous   the receiver sees the envelope at once, as under SMPI it finds a send that waits
 *                  for it. The payload follows and completes the send: at once when the receiver
 *                  expects the message, else when it fetches it.
 *     synchronous  a rendezvous whose payload begins by itself only where a receive is posted for
 *                  it, as the send must not end before the match. Otherwise an empty transfer wakes
 *                  a receiver that expects it.
 *
 * The overhead of receiving an eager message of a program is charged where the program completes
 * its receive (request.c), as under SMPI; for other messages, on arrival.
 *
 * Control messages and notices are always expected, and so are messages of the program on which
 * control messages ride; of a rendezvous only the envelope comes then. Most control messages above
 * the matching are no transfers (control_mail.h).
 */
#ifndef RECLINE_TRANSPORT_H
#define RECLINE_TRANSPORT_H

#include "sim/net/message.h"
#include "sim/net/wire.h"

#include <glib.h>

/* Services of the host for the transport. */
struct network {
  int ranks;                            /* of the program; the dispatcher is one more */
  const char *overhead[WIRE_OVERHEADS]; /* costs of messages, as the platform says (wire.h) */
  bool mail;        /* control messages may overtake messages of the program, and so travel as mail
                       (control_mail.h) */
  bool out_of_band; /* control messages pass the daemons of the nodes, where the platform has some:
                       they take control_daemon_s for each, and ranks look for them every
                       control_poll_s since they last sent one */
  /* Returns whether the receiver would go on, or do something for its protocol, if it had that
   * message now. */
  bool (*expects)(const struct message *);
  /* Returns whether its program has posted a receive that takes the message. */
  bool (*is_awaited)(const struct message *);
};

/* To be called before all transports are made. No other actor runs meanwhile. */
void transport_begin(const struct network *);

/* Makes the transport of the calling rank, or of the dispatcher, whose index follows those of the
 * ranks. */
struct transport *transport_new(int index);

/* Sends a message that counts for `wire_bytes` on the network, and owns it from here on. Returns
 * the number of the send, or 0 when it is complete. */
uint32_t transport_send(struct transport *, struct message *, uint64_t wire_bytes, bool blocking);
bool transport_sent(const struct transport *, uint32_t send);

/* Returns whether a send of that payload is under way, of which the end wakes its sender. */
bool transport_carries(const struct transport *, const struct payload *);

/* That rank, which may wait, looks again at what it waits for, as soon as an empty message from the
 * caller is there. */
void transport_wake(int index);

/* The traffic between ranks so far, without the dispatcher's notices: messages of the program and
 * of its collectives, control messages, and the bytes of all. */
struct traffic {
  uint64_t messages, control, bytes;
};
struct traffic transport_traffic(void);

/* Asks for the payload of a rendezvous message, and calls `done` with `data` when it has come, or
 * at once for other messages; owns the message. */
void transport_fetch(struct transport *, struct message *,
                     void (*done)(struct message *, void *data), void *data);
void transport_finish_fetches(struct transport *, GQueue *inbox); /* until all payloads are here */

/* Parked messages that are `wanted` (NULL: all) begin to come in. */
void transport_let_in(struct transport *, bool (*wanted)(const struct message *, const void *what),
                      const void *what);
/* The same for messages with that envelope, without a wildcard. */
void transport_let_in_from(struct transport *, enum message_kind, int source, int comm,
                           int32_t tag);

/* Return the number of messages of all ranks, without notices, that are on their way and do not
 * wait for their receiver; and of messages of programs alone. */
unsigned transport_in_transit(void);
unsigned transport_program_in_transit(void);

/* Returns whether the bytes of a message that was taken are still under way. */
bool transport_fetches(const struct transport *);

/* Forgets sends and fetches under way; they may still end, without effect. */
void transport_abandon(struct transport *);

/* Sends to `peer` that are under way will never be received: marks them as complete. */
void transport_disconnect(struct transport *, int peer);

/* The first returns the number of the send begun last. The second gives up the sends from `first`
 * to `last`: they count as complete, and their buffers belong to the program again. */
uint32_t transport_last_send(const struct transport *);
void transport_give_up(struct transport *, uint32_t first, uint32_t last);

/* Take in messages that have come: append envelopes to `inbox`. The first takes those that come
 * without a transfer (envelopes of rendezvous, control mail), and returns whether there were any.
 */
bool transport_answer_door(struct transport *, GQueue *inbox);
void transport_poll(struct transport *, GQueue *inbox); /* all that has come, without waiting */
/* Waits until something completes, or until that time (negative: none). `awaited`: the number of
 * messages of the program that may come, besides others; readiness for more costs time. */
void transport_wait(struct transport *, GQueue *inbox, unsigned awaited, double until);

#endif
