/* Lets the server fail, that is, the file server and event logger on the service host. While it is
 * down, writes and reads wait; transfers under way begin anew. Stored data survive the failure,
 * unless the server returns empty (dispatcher.c). */
#ifndef RECLINE_SERVER_H
#define RECLINE_SERVER_H

#include "sim/host/rank/rank.h"

/* Makes the server fail now, and serve again when it is repaired. Returns false if the server is
 * already down. */
bool server_fail(const struct failure *);

/* Returns whether one of these steps needs the server. */
bool server_is_in(const struct step_of_transfer *, unsigned count);

/* If the steps need the server and the server is down, puts the wait for the server before the
 * steps; their array must have room for one more. Returns the number of steps. */
unsigned server_await(struct step_of_transfer *, unsigned count);

#endif
