/* Lets control messages travel without transfers of SimGrid.
 *
 * If every rank of a protocol writes to every other, many messages are on the way at once, and
 * SimGrid's model of shared links takes time that grows with the square of the number of messages.
 * Mail computes the times of messages itself. A message leaves its sender after earlier messages,
 * at the bandwidth of its route. It is on the way for the latency of its route times the network's
 * *pace*, and is taken in after earlier arrivals. The pace is measured by the fastest control
 * message so far that was a transfer, so it reflects SimGrid and the platform. Mail takes no
 * bandwidth from other messages.
 *
 * Only a transfer wakes a rank that waits for transfers. So a control message travels as mail only
 * if its receiver will be awake when the message is due: another control message wakes the receiver
 * by a transfer, or the receiver already waits for earlier mail.
 */
#ifndef RECLINE_CONTROL_MAIL_H
#define RECLINE_CONTROL_MAIL_H

#include "sim/net/message.h"

/* Prepares mail. Call it before any other function here. */
void control_mail_begin(int ranks);

/* Posts a control message of the calling rank, and takes ownership of it. Returns false if the
 * message must be sent as a transfer; then the caller keeps the message, and reports its arrival by
 * control_mail_carried(). */
bool control_mail_post(struct message *);
void control_mail_carried(const struct message *);

/* Returns when to wake that rank for messages on the way, in seconds, or a negative number if there
 * are none. */
double control_mail_due(int rank);

/* Returns the next message that has come, which the caller owns, or NULL if there is none. */
struct message *control_mail_take(int rank);

#endif
