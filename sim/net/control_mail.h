/* Control messages that travel without a transfer of SimGrid's.
 *
 * A protocol in which every rank writes to every other has so many messages on the way at once that
 * sharing out links among them takes the square of their number. Their time can be told without: a
 * message leaves its sender behind those before it, at the bandwidth of its route; is on the way
 * for the latency of its route times the network's *pace*; and is taken in behind what came before
 * it. The pace is that of the fastest control message so far that was a transfer, so it has in it
 * whatever SimGrid and the platform say. Mail takes no bandwidth from other messages.
 *
 * Nothing but a transfer wakes a rank that waits for transfers. So a control message is one, unless
 * its receiver is awake by then in any case: for another control message, which is a transfer, or
 * for mail of which it knows.
 */
#ifndef RECLINE_CONTROL_MAIL_H
#define RECLINE_CONTROL_MAIL_H

#include "sim/net/message.h"

/* Before any other function here. */
void control_mail_begin(int ranks);

/* Posts a control message of the calling rank, and owns it then. False: it has to go as a transfer,
 * and control_mail_carried() told of its arrival. */
bool control_mail_post(struct message *);
void control_mail_carried(const struct message *);

/* When the next one comes in at that rank, in seconds; negative: none is on the way. */
double control_mail_due(int rank);

/* The next one that is here, for its receiver, who owns it; NULL: none. */
struct message *control_mail_take(int rank);

#endif
