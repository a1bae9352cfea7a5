/* Keeps messages that wait at their receiver for a receive, in the order of arrival. A root can be
 * thousands of calls ahead of other ranks, so messages are also found by envelope. */
#ifndef RECLINE_PARKED_H
#define RECLINE_PARKED_H

#include "sim/net/message.h"

#include <glib.h>

struct parked;

struct parked *parked_new(void);
void parked_add(struct parked *, struct message *);

/* Returns the messages in the order of arrival. The caller must not change the list. */
const GList *parked_all(const struct parked *);

/* Returns the serial of the last message of that kind with that envelope, or 0 if there is no such
 * message. The envelope must have no wildcard. */
uint32_t parked_last(const struct parked *, enum message_kind, int source, int comm, int32_t tag);

/* Both functions move messages to `to`, in the order of arrival. parked_take_from() moves the
 * messages from `source` whose serials are at most `serial`. parked_take() does this for each
 * source, with serials[source] as the limit. */
void parked_take_from(struct parked *, int source, uint32_t serial, GQueue *to);
void parked_take(struct parked *, const uint32_t *serials, GQueue *to);

#endif
