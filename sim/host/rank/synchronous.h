/* Synchronous sends: when they end.
 *
 * MPI lets such a send end when a receive has begun to take its message, and programs rely on it
 * (they exchange with whom they do not know by MPI_Issend and MPI_Ibarrier). Of a message that a
 * protocol has moved into a log or an image, or sends again from there, the network does not say
 * when that is. So the sender numbers what it sends to each rank, the number stays with the bytes,
 * and the receiver notes which numbers its receives have taken. Both counts are memory of their
 * ranks: they go back with it.
 *
 * A number is 0 where nothing is moved: without a protocol, by schedule, and at the application
 * level, whose images do not have these counts. */
#ifndef RECLINE_SYNCHRONOUS_H
#define RECLINE_SYNCHRONOUS_H

#include "sim/host/rank/rank.h"

/* Returns the number of the next synchronous send of `sender` to that rank of the program. */
uint32_t synchronous_number(struct rank *sender, int peer);

/* Returns whether a receive of `peer` has taken it; true for number 0. */
bool synchronous_is_taken(const struct rank *sender, int peer, uint32_t number);

/* A receive of `receiver` takes that payload of `source`. Wakes the sender where no transfer of the
 * payload will. */
void synchronous_take(struct rank *receiver, int source, const struct payload *);

/* The rank has gone back and goes on: those from whom it has taken something look again. */
void synchronous_return(const struct rank *);

#endif
