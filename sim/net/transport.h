/* Carries envelopes and payloads between ranks, over SimGrid's network (wire.h).
 *
 * As under SMPI, a transfer begins when its receiver expects the message: the receiver has posted a
 * receive that accepts it, or waits for any message. Until then the message is *parked*. A stale
 * message also comes in, and its receiver drops it. Messages of one source are handed on in the
 * order of sending, so a message that must be handed on makes earlier parked messages come in, too.
 *
 *     eager        envelope and payload in one transfer; the send is complete at once. Small
 *                  messages and all messages of MPI_Bsend are eager
 *     rendezvous   the receiver sees the envelope at once, as it finds a waiting send under SMPI.
 *                  The payload follows and completes the send. It follows at once if the receiver
 *                  expects the message, else when the receiver fetches it.
 *     synchronous  a rendezvous whose payload begins by itself only if a receive is posted for it,
 *                  because the send must not end before the match. Otherwise an empty transfer
 *                  wakes a receiver that expects the message.
 *
 * The overhead of receiving an eager message of a program is charged where the program completes
 * its receive (request.c), as under SMPI; for other messages, on arrival.
 *
 * Control messages and notices are always expected, and so are messages of the program on which
 * control messages ride; if such a message is a rendezvous, only its envelope comes. Most control
 * messages above the matching are not transfers (control_mail.h).
 */
#ifndef RECLINE_TRANSPORT_H
#define RECLINE_TRANSPORT_H

#include "sim/net/message.h"
#include "sim/net/wire.h"

#include <glib.h>

/* Holds what the transport needs from its host. */
struct network {
  /* number of ranks of the program; the dispatcher comes after them */
  int ranks;
  const char *overhead[WIRE_OVERHEADS]; /* costs of messages, as the platform says (wire.h) */
  /* Control messages may overtake messages of the program, so they travel as mail
   * (control_mail.h). */
  bool mail;
  /* Control messages pass the daemons of the nodes, if the platform has daemons. Each daemon takes
   * control_daemon_s for a message, and a rank looks for messages every control_poll_s (Open MPI
   * 1.3: opal_progress()). */
  bool out_of_band;
  /* Returns whether the receiver looks for that control message without a pause. */
  bool (*spins)(const struct message *);
  /* Returns whether the receiver would go on, or take a step of its protocol, with that message. */
  bool (*expects)(const struct message *);
  /* Returns whether the receiver's program has posted a receive that takes the message. */
  bool (*is_awaited)(const struct message *);
};

/* Prepares transports. Call it before the first is made. No other actor runs meanwhile. */
void transport_begin(const struct network *);

/* Hands to a rank the control messages at its daemon for which the rank now looks without a
 * pause. */
void transport_look(int index);

/* Makes the transport of the calling rank, or of the dispatcher, whose index is the number of
 * ranks. */
struct transport *transport_new(int index);

/* Sends a message that counts for `wire_bytes` on the network, and takes ownership of the message.
 * Returns the number of the send, or 0 if the send is complete. */
uint32_t transport_send(struct transport *, struct message *, uint64_t wire_bytes, bool blocking);
bool transport_sent(const struct transport *, uint32_t send);

/* Returns whether a send of that payload is under way. The end of such a send wakes its sender. */
bool transport_carries(const struct transport *, const struct payload *);

/* Wakes a rank with an empty message, so that it looks again at what it waits for. */
void transport_wake(int index);

/* Counts the traffic between ranks so far: messages of the program and of its collectives, control
 * messages, and the bytes of all. The dispatcher's notices do not count. */
struct traffic {
  uint64_t messages, control, bytes;
};
struct traffic transport_traffic(void);

/* Asks for the payload of a rendezvous message. Calls `done` with `data` when the payload has come;
 * for other messages, at once. Takes ownership of the message. */
void transport_fetch(struct transport *, struct message *,
                     void (*done)(struct message *, void *data), void *data);
void transport_finish_fetches(struct transport *, GQueue *inbox); /* waits for all payloads */

/* Lets the parked messages come in for which `wanted` returns true, or all if `wanted` is NULL. */
void transport_let_in(struct transport *, bool (*wanted)(const struct message *, const void *what),
                      const void *what);
/* Lets parked messages with that envelope come in. The envelope must have no wildcard. */
void transport_let_in_from(struct transport *, enum message_kind, int source, int comm,
                           int32_t tag);

/* Both functions count messages on their way that do not wait for their receiver:
 * transport_in_transit() counts all but notices, transport_program_in_transit() only messages of
 * programs. */
unsigned transport_in_transit(void);
unsigned transport_program_in_transit(void);

/* Returns whether the bytes of a message that was taken are still on their way. */
bool transport_fetches(const struct transport *);

/* Closes the rank's connections and returns their number. A rank has a connection to each rank on
 * another node with which it has exchanged a message of the program since the last call. */
unsigned transport_close(struct transport *);

/* Forgets sends and fetches under way, which may still end, but without any effect. */
void transport_abandon(struct transport *);

/* Marks sends to `peer` that are under way as complete, because they will never be received. */
void transport_disconnect(struct transport *, int peer);

/* transport_last_send() returns the number of the send that began last. transport_give_up() gives
 * up sends `first` to `last`: they count as complete, and their buffers belong to the program
 * again. */
uint32_t transport_last_send(const struct transport *);
void transport_give_up(struct transport *, uint32_t first, uint32_t last);

/* The next three functions take in messages that have come and append their envelopes to `inbox`.
 * transport_answer_door() only takes messages without a transfer (envelopes of rendezvous, control
 * mail), and returns whether there were any. */
bool transport_answer_door(struct transport *, GQueue *inbox);
/* Takes all that has come, without waiting. */
void transport_poll(struct transport *, GQueue *inbox);
/* Waits until something completes or until time `until`, which is negative for no limit. `awaited`
 * is the number of messages of the program that may come; control messages and notices may also
 * come. A wait that is ready for more messages takes longer to compute. */
void transport_wait(struct transport *, GQueue *inbox, unsigned awaited, double until);

#endif
