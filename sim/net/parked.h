/* Messages that wait at one end for a receive, in the order in which they have come there. A root
 * can be thousands of calls ahead of the others, so they are found by envelope, too. */
#ifndef RECLINE_PARKED_H
#define RECLINE_PARKED_H

#include "sim/net/message.h"

#include <glib.h>

struct parked;

struct parked *parked_new(void);
void parked_add(struct parked *, struct message *);

/* In the order of their coming; the caller changes nothing. */
const GList *parked_all(const struct parked *);

/* The serial of the last of that kind with that envelope, which has no wildcard; 0: there is none.
 */
uint32_t parked_last(const struct parked *, enum message_kind, int source, int comm, int32_t tag);

/* Moves messages to `to`, in the order of their coming: of `source` up to that serial; of all each
 * source's up to its own. */
void parked_take_from(struct parked *, int source, uint32_t serial, GQueue *to);
void parked_take(struct parked *, const uint32_t *serials, GQueue *to);

#endif
