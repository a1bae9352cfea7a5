/* Raw messages: the messages of a collective, under a protocol that handles collectives as such. No
 * event tells the protocol of them; its tag assigns each to one call (collectives.h). */
#ifndef RECLINE_COLLECTIVE_MESSAGES_H
#define RECLINE_COLLECTIVE_MESSAGES_H

#include "sim/host/rank/rank.h"

void bypass_begin(struct rank *); /* when the rank begins */
void bypass_clear(struct rank *); /* when it goes back */

/* The program, which is ready, sends; returns as host_offer() does. */
uint32_t bypass_send(struct rank *, int peer, int context, int32_t tag, struct payload *payload,
                     bool blocking);

/* The program, which is ready, receives. */
void bypass_receive(struct rank *, struct request *);
void bypass_withdraw(struct rank *, const struct request *); /* of that receive; NULL: of all */

/* Returns whether a message with one of that many tags, from `first` on, has come and was not
 * received. */
bool bypass_has(const struct rank *, int peer, int context, int32_t first, int tags);
bool bypass_expects(const struct rank *,
                    const struct message *); /* counts as a receive, or as a call passed on */

/* Takes a message of this incarnation that has come, and owns it. */
void bypass_take(struct rank *, struct message *);

/* Carries out REJOIN: passes messages of that call with root `root` on to the ranks that get them
 * from here, or drops them. That happens in the background, as the program has gone past the
 * call. */
void bypass_rejoin(struct rank *, int comm, int root, int number);

#endif
