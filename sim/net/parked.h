/* Messages that wait at one end for a receive, in the order in which they have come there. A root
 * can be thousands of calls ahead of the others, so messages are also found by envelope. */
#ifndef RECLINE_PARKED_H
#define RECLINE_PARKED_H

#include "sim/net/message.h"

#include <glib.h>

struct parked;

struct parked *parked_new(void);
void parked_add(struct parked *, struct message *);

/* Returns them in the order of arrival; the caller must not change the list. */
const GList *parked_all(const struct parked *);

/* Returns the serial of the last message of that kind with that envelope, which has no wildcard; 0:
 * there is none.
 */
uint32_t parked_last(const struct parked *, enum message_kind, int source, int comm, int32_t tag);

/* Both move messages to `to`, in the order of arrival: the first those of `source` up to that
 * serial; the second those of all sources, of each up to its own serial. */
void parked_take_from(struct parked *, int source, uint32_t serial, GQueue *to);
void parked_take(struct parked *, const uint32_t *serials, GQueue *to);

#endif
