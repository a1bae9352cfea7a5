/* Gives receipts of synchronous sends, if ranks go back alone.
 *
 * A sender that goes on has learned that its message was taken. If the receiver may go back behind
 * that point by itself, the protocol has to know what the sender has learned, as it has to know of
 * messages. So the sender learns it by a message: a rank that has taken the message of a
 * synchronous send sends a receipt, and the send is complete when the receipt has come. A protocol
 * that logs decides what to keep before the receipt leaves, and a sender with a receipt whose
 * sending was undone goes back, as for any message.
 *
 * The moment at which a receive takes its message depends on time. So the choice of the next
 * receipt, or that none is due, is a decision of which the protocol hears, like a decision of
 * MPI_Waitany. Ranks decide when they wait in a call of MPI, poll, or are in a collective. Each
 * decision is an event, so decisions are made only if the program names a function for synchronous
 * sends. */
#ifndef RECLINE_RECEIPT_H
#define RECLINE_RECEIPT_H

#include "sim/host/rank/request.h"

/* Returns whether the program, or a library of it, names MPI_Ssend, MPI_Issend or MPI_Ssend_init.
 * For a recording (RECLINE_REPLAY names its folder), returns whether the recorded program did. */
bool receipts_are_named(void);

/* Returns whether ranks decide on receipts. They do if the protocol needs receipts and
 * receipts_are_named() is true. */
bool receipts_are_given(void);

/* Posts the receive of the receipt for synchronous send `number` to that rank of the program.
 * Returns NULL if there are no receipts. */
struct request *receipt_expect(struct rank *, int peer, uint32_t number);

/* receipt_due() returns the outcome of the decision: 0 if no receipt is due, else a number from 1
 * on that names the receipt. receipt_give() waits until the receipt that the decision names is due,
 * and sends it.
 */
uint32_t receipt_due(const struct rank *);
void receipt_give(struct rank *, uint32_t decision);

/* Gives receipts, within a collective, until `done` returns true or no receipt is chosen.
 * Afterwards the caller waits for `done`. `what` points into the arena or the stack. */
void receipts_give_until(struct rank *, bool (*done)(const struct rank *, const void *),
                         const void *what);

#endif
