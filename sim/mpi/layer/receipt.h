/* Receipts of synchronous sends, where ranks go back alone.
 *
 * A sender that goes on has learned that its message was taken. Where the receiver may go back
 * behind that by itself, its protocol has to know of it as of a message. So it is one: whoever has
 * taken the message of a synchronous send sends a receipt, and the send is complete when that has
 * come. A protocol that logs decides what to keep before the receipt leaves, and a sender that has
 * a receipt which nobody has sent goes back, as with any message.
 *
 * When a receive takes its message depends on time, so the choice of the next receipt, or that
 * there is none, is a decision of which the protocol hears, as of Waitany's. Ranks decide where
 * they wait in a call of MPI, poll, or are in a collective. That costs events, so it is done only
 * where the program names a synchronous send. */
#ifndef RECLINE_RECEIPT_H
#define RECLINE_RECEIPT_H

#include "sim/host/rank/request.h"

/* Returns whether the program, or a library of it, names MPI_Ssend, MPI_Issend or MPI_Ssend_init.
 * Of a recording (RECLINE_REPLAY names its folder) it returns what was so when it was made. */
bool receipts_are_named(void);

/* Returns whether ranks decide on receipts: the protocol needs them, and they are named. */
bool receipts_are_given(void);

/* Posts the receive of the receipt for synchronous send `number` to that rank of the program.
 * Returns NULL where there are no receipts. */
struct request *receipt_expect(struct rank *, int peer, uint32_t number);

/* The decision: 0 no receipt is due, else its number, from 1. The second waits until the receipt of
 * that number is due, and sends it. */
uint32_t receipt_due(const struct rank *);
void receipt_give(struct rank *, uint32_t decision);

/* Within a collective: gives receipts until `done` says so. The caller then waits for that. `what`
 * points into the arena or the stack. */
void receipts_give_until(struct rank *, bool (*done)(const struct rank *, const void *),
                         const void *what);

#endif
