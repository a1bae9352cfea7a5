/* The server: file server and event logger, on the service host. While it is down, what it stores
 * or reads waits; what was under way begins anew. What it has stored outlives the failure, unless
 * it returns empty (dispatcher.c). */
#ifndef RECLINE_SERVER_H
#define RECLINE_SERVER_H

#include "sim/host/rank/rank.h"

/* It fails now, and serves again when it is repaired. False: it is down already. */
bool server_fail(const struct failure *);

/* Returns whether one of these steps needs it. */
bool server_is_in(const struct step_of_transfer *, unsigned count);

/* Puts the wait for it, if it is down and needed, in front of the steps, among which there must be
 * room for one more. Returns their number. */
unsigned server_await(struct step_of_transfer *, unsigned count);

#endif
