/* Carries the messages of a collective past the protocol, if the protocol handles collectives as
 * such. No event tells the protocol of these messages. The tag of a message assigns it to one call
 * (collectives.h). */
#ifndef RECLINE_COLLECTIVE_MESSAGES_H
#define RECLINE_COLLECTIVE_MESSAGES_H

#include "sim/host/rank/rank.h"

void bypass_begin(struct rank *); /* call it when the rank begins */
void bypass_clear(struct rank *); /* call it when the rank goes back */

/* Sends a message of the program, which must be ready. Returns what host_offer() returns. */
uint32_t bypass_send(struct rank *, int peer, int context, int32_t tag, struct payload *payload,
                     bool blocking);

/* Posts a receive of the program, which must be ready. */
void bypass_receive(struct rank *, struct request *);
void bypass_withdraw(struct rank *, const struct request *); /* NULL: withdraws all receives */

/* Returns whether a message with one of `tags` tags from `first` on has come and was not received.
 */
bool bypass_has(const struct rank *, int peer, int context, int32_t first, int tags);
/* Returns whether a posted receive takes the message, or the rank passes messages of its call on.
 */
bool bypass_expects(const struct rank *, const struct message *);

/* Takes a message of this incarnation that has come, and owns the message. */
void bypass_take(struct rank *, struct message *);

/* Carries out REJOIN: passes messages of that call with root `root` on to the ranks that get them
 * from this rank, or drops them. This happens in the background, because the program has gone past
 * the call. */
void bypass_rejoin(struct rank *, int comm, int root, int number);

#endif
