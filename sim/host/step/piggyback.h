/* Carries the control messages of a protocol that piggybacks. The control messages of a step to a
 * rank travel with the program's message that the step sends to that rank; if there is no such
 * message, they travel as one message. */
#ifndef RECLINE_PIGGYBACK_H
#define RECLINE_PIGGYBACK_H

#include "sim/host/rank/rank.h"

/* Returns whether the protocol piggybacks; false in runs by schedule, where each control message
 * has its own turn. */
bool piggyback_on(void);

/* Keeps a CONTROL action of the present step. */
void piggyback_add(struct rank *, const struct rcl_action *);

/* Attaches the control messages to the message's destination. Returns their bytes. */
uint64_t piggyback_attach(struct rank *, struct message *);

/* Returns the destination of a control message that no message has taken, or -1 if there is none,
 * or the rank is dead. */
int piggyback_left(const struct rank *);

#endif
