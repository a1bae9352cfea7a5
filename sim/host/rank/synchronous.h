/* Decides when synchronous sends end.
 *
 * MPI lets a synchronous send end when a receive has begun to take its message. Programs rely on
 * this rule, for example to exchange messages with unknown partners by MPI_Issend and MPI_Ibarrier.
 * If a protocol has moved a message into a log or an image, or sends it again from there, the
 * network cannot tell that moment. So the sender numbers its synchronous sends to each rank, the
 * number stays with the bytes, and the receiver notes which numbers its receives have taken. The
 * sender's count and the receiver's notes lie in the memory of their ranks, so they go back with
 * the ranks.
 *
 * If ranks go back alone, a receipt tells the sender: a message of which the protocol knows
 * (sim/mpi/layer/receipt.h). `hybrid`, whose programs are deterministic, needs no receipts.
 *
 * Numbers are 0 where no message is moved: without a protocol, in runs by schedule, and at the
 * application level, whose images do not have these counts. */
#ifndef RECLINE_SYNCHRONOUS_H
#define RECLINE_SYNCHRONOUS_H

#include "sim/host/rank/rank.h"

/* Returns the number of the next synchronous send of `sender` to that rank of the program. */
uint32_t synchronous_number(struct rank *sender, int peer);

/* Returns whether receivers tell senders by receipts. */
bool synchronous_gives_receipts(void);

/* synchronous_is_due() returns whether a receipt for that number is due to `source`.
 * synchronous_given() returns the number up to which `source` has been given all receipts. */
bool synchronous_is_due(const struct rank *, int source, uint32_t number);
uint32_t synchronous_given(const struct rank *, int source);

/* Notes that `source` is given the receipt for that number, which is due. */
void synchronous_give(struct rank *, int source, uint32_t number);

/* Returns whether a receive of `peer` has taken the message with that number; true also for number
 * 0, and if there are receipts. */
bool synchronous_is_taken(const struct rank *sender, int peer, uint32_t number);

/* Notes that a receive of `receiver` takes that payload of `source`. Wakes the sender if no
 * transfer of the payload will wake it, or notes that a receipt is due. */
void synchronous_take(struct rank *receiver, int source, const struct payload *);

/* Wakes the senders of synchronous messages to this rank, which has gone back and goes on. */
void synchronous_return(const struct rank *);

#endif
