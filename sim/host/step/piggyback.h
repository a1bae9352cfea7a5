/* Control messages of a protocol that piggybacks: what a step tells a rank is part of the message
 * of the program that the step sends it, or else one message. */
#ifndef RECLINE_PIGGYBACK_H
#define RECLINE_PIGGYBACK_H

#include "sim/host/rank/rank.h"

/* Returns whether the protocol does that. By schedule each control message has its own turn. */
bool piggyback_on(void);

/* Keeps a CONTROL action of the present step. */
void piggyback_add(struct rank *, const struct rcl_action *);

/* Those to the message's destination go with it. Returns how many bytes they are. */
uint64_t piggyback_attach(struct rank *, struct message *);

/* The destination of one that no message has taken; -1: there is none, or the rank is dead. */
int piggyback_left(const struct rank *);

#endif
