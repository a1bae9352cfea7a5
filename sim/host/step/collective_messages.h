/* Carries the messages of a collective past the protocol, if the protocol handles collective calls
 * and not their messages. No event tells the protocol of these messages. The tag of a message
 * assigns it to one call (collectives.h). */
#ifndef RECLINE_COLLECTIVE_MESSAGES_H
#define RECLINE_COLLECTIVE_MESSAGES_H

#include "sim/host/rank/rank.h"

void bypass_begin(struct rank *); /* must be called when the rank begins */
void bypass_clear(struct rank *); /* must be called when the rank goes back */

/* Sends a message of the program; host_ready() must have been called. Returns what host_offer()
 * returns. */
uint32_t bypass_send(struct rank *, int peer, int context, int32_t tag, struct payload *payload,
                     bool blocking);

/* Posts a receive of the program; host_ready() must have been called. */
void bypass_receive(struct rank *, struct request *);
void bypass_withdraw(struct rank *, const struct request *); /* withdraws all receives if NULL */

/* Returns whether a message with one of `tags` tags from `first` on has come and was not received.
 */
bool bypass_has(const struct rank *, int peer, int context, int32_t first, int tags);
/* Returns whether a posted receive takes the message, or the rank passes on messages of the
 * message's call. */
bool bypass_expects(const struct rank *, const struct message *);

/* Takes a message of this incarnation that has come, and owns the message. */
void bypass_take(struct rank *, struct message *);

/* Carries out REJOIN: passes messages of that call with root `root` on to the ranks that get them
 * from this rank, or drops them. The passing happens in the background, because the program has
 * gone past the call. */
void bypass_rejoin(struct rank *, int comm, int root, int number);

#endif
