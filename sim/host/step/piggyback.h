/* Carries the control messages of a protocol that piggybacks. The control messages that a step
 * sends to a rank travel with the program's message that the step sends to that rank. If there is
 * no such message, these control messages travel together as one message. */
#ifndef RECLINE_PIGGYBACK_H
#define RECLINE_PIGGYBACK_H

#include "sim/host/rank/rank.h"

/* Returns whether the protocol piggybacks. In runs by schedule the answer is false, because each
 * control message has its own turn. */
bool piggyback_on(void);

/* Keeps a CONTROL action of the present step. */
void piggyback_add(struct rank *, const struct rcl_action *);

/* Attaches to the message the control messages that go to its destination. Returns their size in
 * bytes. */
uint64_t piggyback_attach(struct rank *, struct message *);

/* Returns the destination of a control message that no message has taken along, or -1 if there is
 * none or if the rank is dead. */
int piggyback_left(const struct rank *);

#endif
