/* Raw messages: those of which a collective consists, under a protocol that handles collectives by
 * themselves. No event tells of them, so each belongs to one call by its tag (collectives.h). */
#ifndef RECLINE_COLLECTIVE_MESSAGES_H
#define RECLINE_COLLECTIVE_MESSAGES_H

#include "sim/host/rank/rank.h"

void bypass_begin(struct rank *); /* when the rank begins */
void bypass_clear(struct rank *); /* when it goes back */

/* The program, which is ready, sends: as host_offer(). */
uint32_t bypass_send(struct rank *, int peer, int context, int32_t tag, struct payload *payload,
                     bool blocking);

/* The program, which is ready, receives. */
void bypass_receive(struct rank *, struct request *);
void bypass_withdraw(struct rank *, const struct request *); /* NULL: all receives */

/* Returns whether a message with one of so many tags, `first` on, has come and was not received. */
bool bypass_has(const struct rank *, int peer, int context, int32_t first, int tags);
bool bypass_expects(const struct rank *,
                    const struct message *); /* a receive, or a call passed on */

/* A message of this incarnation has come; owns it. */
void bypass_take(struct rank *, struct message *);

/* REJOIN: what comes for that call of the root `root` is passed on to those who get it from here,
 * and otherwise dropped. It happens in the background: the program has gone past the call. */
void bypass_rejoin(struct rank *, int comm, int root, int number);

#endif
