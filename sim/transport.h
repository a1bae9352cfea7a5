/* Envelopes and payloads between ranks, over PMPI point to point on the real MPI_COMM_WORLD.
 *
 * Everything of the layer travels under one wire tag; each rank keeps WINDOW receives posted for
 * it, from any source, and takes in whatever comes. What has gone stale is dropped after it was
 * received, never left in SMPI, which would count it and match nothing behind it.
 *
 *     eager        one message: envelope and payload
 *     rendezvous   an envelope without payload; the payload follows under a tag of its own as soon
 *                  as the receiver asks for it with transport_fetch(), and completes the send
 *
 * The first 8 bytes on the wire are the address of the envelope, so a message has at least
 * WIRE_LEAST bytes. Otherwise it has as many as the payload and what the protocol adds.
 */
#ifndef RECLINE_TRANSPORT_H
#define RECLINE_TRANSPORT_H

#include "layer.h"

enum { WIRE_LEAST = 8, NOTICE_BYTES = 64 };

struct message *message_new(enum message_kind, int source, int destination);
void message_free(struct message *);

/* Posts the receives of the calling rank, or of the dispatcher (with `window` 0: sends only). */
struct transport *transport_new(int window);

/* Sends, and owns the message from here on. The number of the send, or 0 when it is complete. */
uint32_t transport_send(struct transport *, struct message *, bool blocking);
bool transport_sent(const struct transport *, uint32_t send);

/* Asks for the payload of a rendezvous message, and calls `done` with `data` when it is here, or
 * now for others; owns the message. */
void transport_fetch(struct transport *, struct message *,
                     void (*done)(struct message *, void *data), void *data);
bool transport_fetching(const struct transport *);
void transport_finish_fetches(struct transport *); /* blocks until all payloads are here */

/* Sends and fetches under way are forgotten; SMPI may still complete them, into nowhere. */
void transport_abandon(struct transport *);

/* Sends to `peer` that are under way will never be received: they count as complete. */
void transport_disconnect(struct transport *, int peer);

/* Takes in what has come: appends envelopes to `inbox`. */
void transport_poll(struct transport *, GQueue *inbox); /* without waiting */
void transport_wait(struct transport *, GQueue *inbox); /* until something completes */

#endif
