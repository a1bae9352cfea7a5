/* Synchronous sends: when they end.
 *
 * MPI lets such a send end when a receive has begun to take its message, and programs rely on that,
 * for example to exchange messages with unknown partners by MPI_Issend and MPI_Ibarrier. If a
 * protocol has moved a message into a log or an image, or sends it again from there, the network
 * cannot tell that moment. So the sender numbers its synchronous sends to each rank, the number
 * stays with the bytes, and the receiver notes which numbers its receives have taken. Both counts
 * lie in the memory of their ranks and go back with it.
 *
 * A number is 0 if no message is moved: without a protocol, in runs by schedule, and at the
 * application level, whose images do not have these counts. */
#ifndef RECLINE_SYNCHRONOUS_H
#define RECLINE_SYNCHRONOUS_H

#include "sim/host/rank/rank.h"

/* Returns the number of the next synchronous send of `sender` to that rank of the program. */
uint32_t synchronous_number(struct rank *sender, int peer);

/* Returns whether a receive of `peer` has taken the message with that number; true for number 0. */
bool synchronous_is_taken(const struct rank *sender, int peer, uint32_t number);

/* A receive of `receiver` takes that payload of `source`. Wakes the sender where no transfer of the
 * payload will. */
void synchronous_take(struct rank *receiver, int source, const struct payload *);

/* Wakes the senders of synchronous messages to this rank, which has gone back and goes on. */
void synchronous_return(const struct rank *);

#endif
