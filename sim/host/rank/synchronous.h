/* Decides when synchronous sends end.
 *
 * MPI lets a synchronous send end when a receive has begun to take its message, and programs rely
 * on that, for example to exchange messages with unknown partners by MPI_Issend and MPI_Ibarrier.
 * If a protocol has moved a message into a log or an image, or sends it again from there, the
 * network cannot tell that moment. So the sender numbers its synchronous sends to each rank, the
 * number stays with the bytes, and the receiver notes which numbers its receives have taken. Both
 * counts lie in the memory of their ranks and go back with it.
 *
 * If ranks go back alone, a receipt tells the sender: a message of which the protocol knows
 * (sim/mpi/layer/receipt.h). `hybrid`, whose programs are deterministic, needs no receipts.
 *
 * A number is 0 if no message is moved: without a protocol, in runs by schedule, and at the
 * application level, whose images do not have these counts. */
#ifndef RECLINE_SYNCHRONOUS_H
#define RECLINE_SYNCHRONOUS_H

#include "sim/host/rank/rank.h"

/* Returns the number of the next synchronous send of `sender` to that rank of the program. */
uint32_t synchronous_number(struct rank *sender, int peer);

/* Returns whether receivers tell senders by receipts. */
bool synchronous_gives_receipts(void);

/* synchronous_is_due() returns whether a receipt for that number is due to `source`;
 * synchronous_given(), up to which number `source` has been given all receipts. */
bool synchronous_is_due(const struct rank *, int source, uint32_t number);
uint32_t synchronous_given(const struct rank *, int source);

/* Notes that `source` is given that receipt, which is due. */
void synchronous_give(struct rank *, int source, uint32_t number);

/* Returns whether a receive of `peer` has taken the message with that number; true for number 0,
 * and where there are receipts. */
bool synchronous_is_taken(const struct rank *sender, int peer, uint32_t number);

/* Notes that a receive of `receiver` takes that payload of `source`. Wakes the sender if no
 * transfer of the payload will, or notes that a receipt is due. */
void synchronous_take(struct rank *receiver, int source, const struct payload *);

/* Wakes the senders of synchronous messages to this rank, which has gone back and goes on. */
void synchronous_return(const struct rank *);

#endif
