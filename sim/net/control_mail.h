/* Control messages that travel without a transfer of SimGrid's.
 *
 * A protocol in which every rank writes to every other has so many messages on the way at once that
 * sharing out links among them takes the square of their number. Their times can be computed
 * without that: a message leaves its sender after earlier ones, at the bandwidth of its route; is
 * on the way for the latency of its route times the network's *pace*; and is taken in after earlier
 * arrivals. The pace comes from the fastest control message so far that was a transfer, so it
 * reflects SimGrid and the platform. Mail takes no bandwidth from other messages.
 *
 * Only a transfer wakes a rank that waits for transfers. So a control message is a transfer, unless
 * its receiver will be awake by then in any case: for another control message, which is a transfer,
 * or for mail of which it knows.
 */
#ifndef RECLINE_CONTROL_MAIL_H
#define RECLINE_CONTROL_MAIL_H

#include "sim/net/message.h"

/* Before any other function here. */
void control_mail_begin(int ranks);

/* Posts a control message of the calling rank, and then owns it. Returns false if it has to go as a
 * transfer; then control_mail_carried() must be told of its arrival. */
bool control_mail_post(struct message *);
void control_mail_carried(const struct message *);

/* Returns when the next message comes in at that rank, in seconds; negative: none is on the way. */
double control_mail_due(int rank);

/* Returns the next message that has come, for its receiver, which owns it; NULL: none. */
struct message *control_mail_take(int rank);

#endif
